"""The command that compares variants of a language model: its table, its figure, its JSON."""

import json
import signal
import sys

import pytest

from circuitproof.cli.main import main
from variants import write_variants


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs the command in this process, just as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C

    def run_command(*arguments: object):
        monkeypatch.setattr(sys, "argv", ["circuitproof", "variants", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr()

    return run_command


def test_a_comparison_is_a_table_a_figure_and_a_gate(run, tmp_path):
    """Our numbers and the paper's stand beside each other; a second call repeats no training."""
    recipe, out = write_variants(tmp_path), tmp_path / "run"
    code, said = run(recipe, "--out", out, "--seeds", 1, "--figure", tmp_path / "changes.png")
    assert code == 0
    for words in (
        "baseline",
        "norm-free",
        "+0.5000",
        "-2.0000",
        "mean of 1 seeds",
        "of loss against its source",
    ):
        assert words in said.out
    assert (tmp_path / "changes.png").read_bytes().startswith(b"\x89PNG")
    code, said = run(recipe, "--out", out, "--seeds", 1, "--json")
    assert code == 0
    found = json.loads(said.out)
    assert [row["name"] for row in found["variants"]] == ["baseline", "plain", "band", "norm-free"]
    assert found["gate"]["passes"] == (found["gate"]["above_gate"]["most"] < 0)
