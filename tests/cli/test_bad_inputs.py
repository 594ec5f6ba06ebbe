"""Whatever is wrong with an input, the answer is one sentence that names it, and nothing is left behind."""

from shutil import copytree

import pytest

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from faults import Case, cases
from hand_models import quote_model

CASES = {case.name: case for case in cases()}
UNREADABLE = (
    "Traceback",
    "please report",
    "Fraction(",
    "Decimal(",
    "PosixPath(",
    "[Errno",
    "None:",
    "shape None",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Return the directory of a good model."""
    path = tmp_path_factory.mktemp("good") / "model"
    save_model(path, StoredModel(quote_model(programs={}), TOY))
    return path


def test_there_are_many_cases():
    """Over all commands, and each has a name of its own."""
    assert len(CASES) == len(cases()) > 300


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_answered_in_one_sentence(name, run, good, tmp_path):
    """With the right exit code, no traceback, the thing that is wrong, and no output half written."""
    case: Case = CASES[name]
    copytree(good, tmp_path / "model")
    arguments = case.make(tmp_path)
    before = {path for path in tmp_path.rglob("*") if path.name != "model"}
    code, out, err = run(*arguments)
    assert code == case.code, err
    assert not any(word in out + err for word in UNREADABLE), err
    assert all(word.replace("AT", str(tmp_path)) in err for word in case.words), err
    if code == 3:
        assert err.startswith("circuitproof: ")
        assert len(err.strip().splitlines()) == (3 if err.rstrip().endswith("^") else 1), err
        assert len(err) < 600, err
    assert {path for path in tmp_path.rglob("*") if path.name != "model"} == before
