"""`import circuitproof`: names that stay, quick to import, and without torch until torch is needed."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import circuitproof as cp
import circuitproof_lab.api as lab
from places import DOCS

INIT = Path(cp.__file__)


def test_every_name_is_there_and_documented():
    """Also those that were not asked for before; and docs/api.md speaks of each."""
    page = (DOCS / "api.md").read_text()
    for name in cp.__all__:
        assert getattr(cp, name) is not None
        assert f"`{name}" in page or f"cp.{name}" in page or name == "__version__", name
    assert set(cp.__all__) <= set(dir(cp))
    with pytest.raises(AttributeError, match="module 'circuitproof' has no attribute 'prove_everything'"):
        _ = cp.prove_everything


def test_type_checkers_and_python_look_in_the_same_place():
    """The imports that only type checkers read are those that names are found by."""
    (block,) = [
        node
        for node in ast.parse(INIT.read_text()).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    ]
    seen = {node.module.removeprefix("circuitproof."): {a.name for a in node.names} for node in block.body}
    assert seen == {home: set(names) for home, names in cp._HOMES.items()}
    assert {"__version__"} | set().union(*seen.values()) == set(cp.__all__)


def test_every_call_on_the_page_can_be_made():
    """Its blocks are Python, and every argument that they name is one of the function's."""
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / "api.md").read_text(), re.MULTILINE | re.DOTALL)
    calls = [node for block in blocks for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
    assert len(calls) > 15
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        values = {word.arg: None for word in call.keywords}
        inspect.signature(getattr({"cp": cp, "lab": lab}[call.func.value.id], call.func.attr)).bind(
            *call.args, **values
        )


def test_every_argument_and_result_has_a_type():
    """And a sentence that says what the call does."""
    for name in cp.__all__:
        called = getattr(cp, name)
        if inspect.isfunction(called):
            assert called.__doc__, name
            signature = inspect.signature(called)
            assert signature.return_annotation is not inspect.Signature.empty, name
            for parameter in signature.parameters.values():
                assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)
    assert (INIT.parent / "py.typed").exists()


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import circuitproof", {"torch", "numpy", "rich", "typer", "circuitproof.errors"}),
        ("from circuitproof import *", {"torch", "rich", "typer"}),
    ],
)
def test_an_import_loads_nothing_that_is_not_asked_for(code, absent):
    """The first takes no time; all names together load no torch."""
    ended = subprocess.run(  # noqa: S603  # ours
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert not absent & set(ended.stdout.split())
    assert not ended.stderr
