import subprocess
from dataclasses import dataclass

import pytest
import torch

from circuitproof.errors import InputError, NumericError
from circuitproof.files.devices import CPU
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import train_recipe
from circuitproof_lab.train import precision
from circuitproof_lab.train.loop import Watcher
from circuitproof_lab.train.precision import Computation, Precision, tiny_step
from models import random_model, tiny_architecture
from recipes import write_recipe

PLAIN = Computation(Precision.FLOAT32, is_compiled=False)
MIXED = Computation(Precision.BFLOAT16, is_compiled=False)


@dataclass(frozen=True)
class Done:
    """How a child process ended."""

    returncode: int
    stderr: str = ""


def test_what_works_everywhere_is_not_tried(monkeypatch):
    """A run in float32 starts no other process."""
    monkeypatch.setattr(subprocess, "run", None)
    PLAIN.refuse_unworkable(torch.device(CPU))


@pytest.mark.parametrize(
    ("done", "reason"),
    [
        (Done(-4), "a tiny step was ended by SIGILL"),
        (Done(1, "Traceback:\n  a line\nRuntimeError: no compiler\n"), "RuntimeError: no compiler"),
    ],
)
def test_what_fails_in_a_child_process_is_refused_with_the_reason(monkeypatch, done, reason):
    """An illegal instruction ends the child and not the run."""
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(InputError, match=rf"'bfloat16' with compile false does not work .*\({reason}\); lea"):
        MIXED.refuse_unworkable(torch.device(CPU))


def test_a_trial_that_does_not_end_is_refused(monkeypatch):
    """A compiler may wait for something that never comes."""

    def wait(*_, **__):
        raise subprocess.TimeoutExpired("python", 300)

    monkeypatch.setattr(subprocess, "run", wait)
    with pytest.raises(InputError, match="a tiny step took more than 300 seconds"):
        Computation(Precision.FLOAT32, is_compiled=True).refuse_unworkable(torch.device(CPU))


def test_a_trial_runs_the_tiny_step(monkeypatch):
    """What the child is told to run is what is tried here, in this process."""
    told: list[str] = []

    def run(command, **_):
        told.append(command[-1])
        return Done(0)

    monkeypatch.setattr(subprocess, "run", run)
    MIXED.refuse_unworkable(torch.device(CPU))
    (code,) = told
    assert "tiny_step(Computation(Precision('bfloat16'), is_compiled=False), 'cpu')" in code
    exec(code.replace("bfloat16", "float32"), {})  # noqa: S102  # the very line, in what works everywhere


def test_a_tiny_step_without_gradients_fails(monkeypatch):
    """That a process ends well is not enough."""
    monkeypatch.setattr(precision, "next_token_loss", lambda logits, _: logits.sum() * torch.nan)
    with pytest.raises(NumericError, match="a gradient is missing or not finite"):
        tiny_step(PLAIN, CPU)


def test_losses_alone_are_computed_in_the_precision():
    """What is done between them, such as backward, is not."""
    inside: list[bool] = []

    def losses():
        for number in range(2):
            inside.append(torch.is_autocast_enabled("cpu"))
            yield torch.tensor(float(number))

    found = []
    for loss in Precision.BFLOAT16.through(losses(), CPU):
        assert not torch.is_autocast_enabled("cpu")
        found.append(loss.item())
    assert (found, inside) == ([0.0, 1.0], [True, True])
    list(Precision.FLOAT32.through(losses(), CPU))
    assert inside[2:] == [False, False]


def test_a_model_is_compiled_while_it_is_trained_and_not_after(monkeypatch):
    """What is measured and saved afterwards is the model as everybody runs it."""
    monkeypatch.setattr(Transformer, "compile", lambda self: setattr(self, "_compiled_call_impl", len))
    model = random_model(tiny_architecture())
    with PLAIN.ready(model):
        assert model._compiled_call_impl is None
    with Computation(Precision.FLOAT32, is_compiled=True).ready(model):
        assert model._compiled_call_impl is len
    assert model._compiled_call_impl is None


def test_a_recipe_asks_for_precision_and_compiling(tmp_path, monkeypatch):
    """And is refused before the first step where they do not work."""
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Done(-4))
    changes = {"training.precision": '"bfloat16"', "training.compile": "true"}
    recipe = load_recipe(write_recipe(tmp_path / "tiny.toml", changes))
    assert recipe.plan.computation == Computation(Precision.BFLOAT16, is_compiled=True)
    with pytest.raises(InputError, match="'bfloat16' with compile true does not work on this machine"):
        train_recipe(recipe, tmp_path / "run", Watcher())
    with pytest.raises(InputError, match=r"training.precision is 'float16', want one of"):
        load_recipe(write_recipe(tmp_path / "other.toml", {"training.precision": '"float16"'}))
