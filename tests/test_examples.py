"""The examples run from their first cell to their last, and every cell that shows something shows it."""

import ast
import builtins
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from places import RECIPES, ROOT

EXAMPLES = ROOT / "examples"
NAMES = ("max_of_four", "own_task", "prove_a_circuit", "where_it_breaks")
RUN = [
    pytest.param(
        "max_of_four",
        marks=pytest.mark.skipif(
            "CIRCUITPROOF_NOTEBOOKS" not in os.environ,
            reason="trains three models for minutes; make nightly runs it, as CIRCUITPROOF_NOTEBOOKS=1 does",
        ),
    ),
    *NAMES[1:],
]
CONVERTER = runpy.run_path(str(EXAMPLES / "to_notebook.py"))


def test_every_example_is_known():
    """A new one is run, too."""
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*NAMES, "to_notebook"}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_an_example_runs_as_a_notebook_would(name, tmp_path, monkeypatch, capfd):
    """Cell by cell; the last line of a cell shows something, as Jupyter's `display` draws it.

    Training rounds by the machine, so a claim may be refuted elsewhere; the checker agrees with the answer.
    """
    (tmp_path / "examples").mkdir()
    monkeypatch.chdir(tmp_path / "examples")  # where Jupyter runs a notebook
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "recipes").symlink_to(RECIPES)
    known, shown = {"__name__": "__main__"}, []
    monkeypatch.setattr(builtins, "display", shown.append, raising=False)
    for kind, source in CONVERTER["cells"]((EXAMPLES / f"{name}.py").read_text()):
        if kind == "code":
            exec(compile(source, name, "exec"), known)  # noqa: S102  # ours
            assert source.splitlines()[-1].startswith("show("), source
    assert capfd.readouterr() == ("", "")
    assert sum(hasattr(one, "_repr_html_") and bool(one._repr_html_()) for one in shown) >= 4
    outcomes = {"proved": "valid", "refuted": "refuted", "undecided": "incomplete"}
    assert known["checked"].outcome == outcomes[known["answers"].verdict]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_an_example_that_is_run_as_a_script_prints_what_it_shows(name):
    """A script that says nothing tells a reader nothing."""
    ended = subprocess.run(  # noqa: S603  # ours
        [sys.executable, str(EXAMPLES / f"{name}.py")], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert "ablation zero, " in ended.stdout
    assert re.search(r"^(valid|refuted|incomplete): ", ended.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_becomes_a_notebook(name, tmp_path, monkeypatch):
    """As Jupyter reads it: cells of text and code, none of them empty, with nothing of the other kind."""
    (tmp_path / f"{name}.py").write_text((EXAMPLES / f"{name}.py").read_text())
    monkeypatch.setattr(sys, "argv", ["to_notebook.py", str(tmp_path / f"{name}.py")])
    runpy.run_path(str(EXAMPLES / "to_notebook.py"), run_name="__main__")
    made = json.loads(Path(tmp_path / f"{name}.ipynb").read_text())
    assert made["nbformat"] == 4
    assert [cell["cell_type"] for cell in made["cells"][:2]] == ["markdown", "code"]
    for cell in made["cells"]:
        source = "".join(cell["source"])
        assert source.startswith("#") or cell["cell_type"] == "code" or source[0].isupper()
        if cell["cell_type"] == "code":
            ast.parse(source)
