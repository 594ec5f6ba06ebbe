import pytest
import torch

from circuitproof.cli.table import commands
from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest
from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import begin_run
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import quote_model
from recipes import write_recipe

COMPUTING = {
    *("train", "remove-norm", "variants", "extract", "evaluate", "localise", "synthesise", "distill"),
    *("construct", "run", "surrogate", "verify", "model", "import-hf"),
}
"""The commands that compute with torch."""


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """Let torch find the processor alone."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.fixture
def stored(tmp_path):
    """Return the directory of a model that closes quotes."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    return tmp_path / "model"


def test_every_command_that_computes_with_torch_takes_a_device(run):
    """Spelled once, with the same words."""
    helps = {name: run(name, "--help")[1] for name in commands() if name in COMPUTING}
    assert helps.keys() == COMPUTING
    assert {name for name, text in helps.items() if "<auto|cpu|cuda|mps>" in text} == COMPUTING


def test_a_device_that_is_not_there_is_bad_input(run, tmp_path, stored):
    """One sentence, before anything is made."""
    recipe, out = write_recipe(tmp_path / "tiny.toml"), tmp_path / "out"
    for line in (
        ("train", recipe, "--out", out),
        ("evaluate", "--model", stored, "--task", "quotes"),
        ("extract", "--model", stored, "--task", "quotes", "--out", out),
        ("verify", "--model", stored, "--task", "quotes", "--measure-floats"),
    ):
        code, said, told = run(*line, "--device", "cuda")
        assert (code, said) == (3, "")
        assert "device: torch finds no cuda here; choose cpu, or auto" in told
        assert not out.exists()


def test_auto_is_the_processor_where_there_is_nothing_else(run, stored):
    """The same numbers as without the option."""
    line = ("evaluate", "--model", stored, "--task", "quotes", "--json")
    assert run(*line, "--device", "auto") == run(*line)


def test_a_device_that_computes_nothing_is_refused(run, tmp_path, stored):
    """Proofs never do; a device beside one would promise something."""
    for line, why in (
        (("verify", "--model", stored, "--task", "quotes"), "without --measure-floats"),
        (("model", stored), "without --compare"),
        (("import-hf", stored, "--out", tmp_path / "other"), "without --compare"),
    ):
        code, _, told = run(*line, "--device", "cpu")
        assert code == 2
        assert f"--device does nothing here: torch computes nothing {why}; leave it out" in told


def test_a_run_goes_on_on_the_device_where_it_was_begun(tmp_path):
    """Of whichever number; another kind rounds otherwise, and the run would be that of neither."""
    digest = Digest("0" * 64)
    with begin_run(tmp_path / "run", "one", digest, 0, device=Device("cuda:0")) as begun:
        (begun.folder / "stage").touch()
    with begin_run(tmp_path / "run", "one", digest, 0, device=Device("cuda:1")) as again:
        assert again.within("part").device == "cuda:1"
    sentence = "was begun with --device cuda, and cpu rounds otherwise; go on with --device cuda or choose"
    with pytest.raises(InputError, match=sentence), begin_run(tmp_path / "run", "one", digest, 0, device=CPU):
        pass
