"""Which device torch computes on, and what is different on one that is not the processor.

A model knows where it is (`Transformer.device`), and what is computed with it is brought there. Random
numbers are drawn in main memory, so that they are the same for every device; what is measured or written down
is brought back. Torch is imported when it is needed: the processor can be chosen without it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from circuitproof.errors import InputError
from circuitproof.files.devices import CPU, Device, DeviceChoice

if TYPE_CHECKING:
    import torch

_WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
"""Read by cuBLAS before its first product; without it, equal products of matrices may differ on cuda."""


def device_of(choice: DeviceChoice, *, in_doubles: bool = False) -> Device:
    """Return the device of a choice; refuse one that is not there, or has no FP64 where that is needed."""
    if choice is DeviceChoice.CPU:
        return CPU
    there = [one for one in (DeviceChoice.CUDA, DeviceChoice.MPS, DeviceChoice.CPU) if _is_there(one)]
    usable = [one for one in there if not in_doubles or has_doubles(one)]
    if choice is DeviceChoice.AUTO:
        return _named(usable[0])
    if choice not in usable:
        lack = (
            f"{choice} has no FP64, in which this is" if choice in there else f"torch finds no {choice} here"
        )
        raise InputError(f"device: {lack}; choose {' or '.join(usable)}, or auto")
    return _named(choice)


def _is_there(choice: DeviceChoice) -> bool:
    import torch

    match choice:
        case DeviceChoice.CUDA:
            return torch.cuda.is_available()
        case DeviceChoice.MPS:
            return torch.backends.mps.is_available()
        case _:
            return True


def _named(choice: DeviceChoice) -> Device:
    """Return the name of a device that is there; each process that torchrun starts takes its own."""
    import torch

    if choice is not DeviceChoice.CUDA:
        return Device(choice)
    os.environ.setdefault(*_WORKSPACE)
    return Device(f"{choice}:{int(os.environ.get('LOCAL_RANK', '0')) % torch.cuda.device_count()}")


def has_doubles(kind: str) -> bool:
    """Say whether devices of a kind have FP64 at all."""
    return kind != DeviceChoice.MPS


@contextmanager
def deterministic(device: "torch.device") -> Iterator[None]:
    """Let equal work give equal bits: an operation that cannot is an error, off the processor a warning."""
    import torch

    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error" if device.type == CPU else "warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)
