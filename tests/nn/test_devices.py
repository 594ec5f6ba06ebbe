import ast
import os
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import circuitproof
from circuitproof.errors import InputError
from circuitproof.files.devices import CPU, DeviceChoice
from circuitproof.nn import ops
from circuitproof.nn.devices import deterministic, device_of
from circuitproof.nn.ops import scanned, sparsemax
from circuitproof.nn.transformer import causal_mask
from devices import FACTORIES, META, Elsewhere, MixedDevicesError, NamedDevices, UnnamedDeviceError
from floats import within
from models import random_model, random_tokens, tiny_architecture

SOURCES = Path(circuitproof.__file__).parent.parent


@pytest.fixture
def there(monkeypatch):
    """Return what says which devices torch finds."""

    def say(*, cuda: int = 0, mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    return say


@pytest.mark.parametrize(
    ("found", "chosen"),
    [({}, "cpu"), ({"mps": True}, "mps"), ({"cuda": 2}, "cuda:0"), ({"cuda": 1, "mps": True}, "cuda:0")],
)
def test_auto_takes_cuda_then_mps_then_the_processor(there, found, chosen):
    """The fastest that is there."""
    there(**found)
    assert device_of(DeviceChoice.AUTO) == chosen


@pytest.mark.parametrize("choice", [DeviceChoice.CUDA, DeviceChoice.MPS])
def test_a_device_that_is_not_there_is_refused(there, choice):
    """With what there is instead."""
    there()
    with pytest.raises(InputError, match=f"^device: torch finds no {choice} here; choose cpu, or auto$"):
        device_of(choice)


def test_where_fp64_is_needed_mps_is_not_taken(there):
    """It has none: asked for it is refused, and auto passes over it."""
    there(mps=True)
    assert device_of(DeviceChoice.AUTO, in_doubles=True) == CPU
    with pytest.raises(InputError, match="device: mps has no FP64, in which this is; choose cpu"):
        device_of(DeviceChoice.MPS, in_doubles=True)


def test_processes_of_torchrun_take_a_device_each(there, monkeypatch):
    """By their number on the machine; where there are fewer devices, they share them."""
    there(cuda=2)
    for rank, device in (("1", "cuda:1"), ("2", "cuda:0")):
        monkeypatch.setenv("LOCAL_RANK", rank)
        assert device_of(DeviceChoice.CUDA) == device


def test_cublas_is_asked_for_equal_products_before_it_is_used(there, monkeypatch):
    """Unless somebody chose a workspace."""
    there(cuda=1)
    device_of(DeviceChoice.AUTO)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    device_of(DeviceChoice.CUDA)
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


def test_the_processor_is_chosen_without_torch(monkeypatch):
    """Proofs need none, and a command says itself what it lacks."""
    monkeypatch.setitem(sys.modules, "torch", None)
    assert device_of(DeviceChoice.CPU) == CPU


@pytest.mark.parametrize(("device", "mode"), [(CPU, 2), (META, 1)])
def test_what_is_not_deterministic_is_an_error_on_the_processor_and_elsewhere_a_warning(device, mode):
    """Here it would break the promise of equal bits; elsewhere torch may have nothing better."""
    before = torch.get_deterministic_debug_mode()
    with deterministic(torch.device(device)):
        assert torch.get_deterministic_debug_mode() == mode
    assert torch.get_deterministic_debug_mode() == before


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=40), st.integers(0, 3))
def test_running_sums_by_doubling_are_running_sums(numbers, hidden):
    """Exact numbers, and behind them entries that do not count."""
    row = torch.tensor([*numbers, *[-torch.inf] * hidden], dtype=torch.float64)
    assert torch.equal(scanned(row), row.cumsum(-1))


@pytest.mark.parametrize("in_doubles", [True, False])
def test_sparsemax_as_it_is_computed_elsewhere_is_sparsemax(monkeypatch, in_doubles):
    """Torch's own sort, sums by doubling, and FP32 where there is no FP64; the scores are exact in both."""
    scores = torch.randint(-64, 64, (3, 9, 9), generator=torch.Generator().manual_seed(0)) / 32
    own = sparsemax(scores, causal_mask(scores))
    monkeypatch.setattr(ops, "CPU", "another")
    monkeypatch.setattr(ops, "has_doubles", lambda _: in_doubles)
    found = sparsemax(scores, causal_mask(scores))
    assert within(found, own, roundings=0 if in_doubles else 2, size=2)  # the threshold, and what it leaves


def test_tensors_of_two_devices_do_not_meet():
    """What the tests on the meta device rest on: it alone lets matrices and indices of two devices meet."""
    model = random_model(tiny_architecture()).to(META)
    tokens = random_tokens(model.architecture)
    away, here = torch.zeros(2, 2, device=META), torch.zeros(2, 2)
    with Elsewhere() as mode:
        for meet in (
            lambda: away @ here,
            lambda: away[here.long()],
            lambda: away.gather(0, here.long()),
            lambda: away + here,
            lambda: model(tokens),
        ):
            with pytest.raises(MixedDevicesError, match="on cpu and meta"):
                meet()
        assert model(tokens.to(META)).is_meta
        assert mode.calls > 100
    with (
        Elsewhere(in_doubles=False),
        pytest.raises(MixedDevicesError, match="which the device does not have"),
    ):
        away.double()


def test_a_tensor_that_our_code_makes_without_a_device_is_refused(monkeypatch):
    """What the tests under `NamedDevices` rest on; tests and torch itself may."""
    with NamedDevices():
        torch.zeros(2)
        monkeypatch.setitem(globals(), "__name__", "circuitproof.nn.somewhere")
        torch.zeros(2, device=CPU)
        with pytest.raises(UnnamedDeviceError, match=r"zeros in circuitproof\.nn\.somewhere names no device"):
            torch.zeros(2)


def unnamed(path: Path) -> list[str]:
    """Return the calls in a module that make a tensor or a generator and do not say where."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    made = [(call, ast.unparse(call.func)) for call in calls]
    tensors = {f"torch.{name}" for name in FACTORIES}
    return [
        f"{path.name}:{call.lineno}: {name}"
        for call, name in made
        if (name in tensors and "device" not in {word.arg for word in call.keywords})
        or (name == "torch.Generator" and not call.args)
    ]


@pytest.mark.parametrize("package", ["circuitproof", "circuitproof_lab"])
def test_every_tensor_is_made_on_a_device_that_is_named(package):
    """In every line, also in those that no test of devices runs."""
    modules = sorted((SOURCES / package).rglob("*.py"))
    assert len(modules) > 50
    assert [call for module in modules for call in unnamed(module)] == []


def test_the_stages_of_recipes_hand_on_the_device_of_their_run():
    """What is left out there would be computed on the processor, and nobody would be told."""
    names = {
        *("begin_run", "circuit_relation", "find_circuits", "fit_network", "load_model", "remove_norms"),
        *("train", "train_on", "train_recipe", "train_tried"),
    }
    calls = [
        call
        for path in (SOURCES / "circuitproof_lab" / "pipeline").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
    ]
    assert {ast.unparse(call.func) for call in calls} == names
    assert [text for call in calls if "device" not in (text := ast.unparse(call))] == []


def test_no_default_device_is_set():
    """A hidden global would decide where things are; arguments do."""
    texts = [path.read_text() for path in SOURCES.rglob("circuitproof*/**/*.py")]
    assert not any("set_default_device" in text or "set_default_tensor_type" in text for text in texts)
