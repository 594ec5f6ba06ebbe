"""Freed memory is kept where glibc can keep it, and given back afterwards."""

import platform
import resource
import subprocess
import sys

import pytest
import torch

from circuitproof_lab.train import memory
from circuitproof_lab.train.memory import freed_memory_kept

MANY = 1 << 24
"""Bytes of a tensor that the C library would return to the system as soon as it is freed."""


def faults():
    """Return how many pages the system hands out while a large tensor is made and freed eight times."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(8):
        torch.ones(4 * MANY, dtype=torch.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def resident():
    """Return how many pages the process has."""
    with open("/proc/self/statm") as file:  # noqa: PTH123  # a file of the system
        return int(file.read().split()[1])


needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="only glibc can be told to keep memory"
)


@needs_glibc
def test_freed_memory_is_handed_out_again_without_asking_the_system():
    """And at the end the system has it back."""
    page = resource.getpagesize()
    with freed_memory_kept():
        faults()
        assert faults() < MANY // page
        large = resident()
    assert resident() < large - 3 * MANY // page


AFTERWARDS = f"""
import resource
from circuitproof_lab.train.memory import freed_memory_kept
with freed_memory_kept():
    pass
bytearray({MANY})
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(8):
    bytearray({MANY})
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@needs_glibc
def test_what_comes_after_training_is_not_slower_than_before():
    """A forward makes hundreds of tensors: what one frees must not go back to the system each time."""
    done = subprocess.run([sys.executable, "-c", AFTERWARDS], check=True, capture_output=True, text=True)  # noqa: S603  # our own interpreter
    assert int(done.stdout) < MANY // resource.getpagesize()


@needs_glibc
def test_an_error_gives_memory_back_too():
    """Nobody's process stays large because training failed."""
    page = resource.getpagesize()

    def fail():
        with freed_memory_kept():
            torch.ones(4 * MANY, dtype=torch.uint8)
            raise RuntimeError(str(resident()))

    with pytest.raises(RuntimeError) as caught:
        fail()
    assert resident() < int(str(caught.value)) - 3 * MANY // page


def test_without_glibc_nothing_is_called(monkeypatch):
    """Other systems have other ways, or none."""
    monkeypatch.setattr(memory.platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(memory.ctypes, "CDLL", None)
    with freed_memory_kept():
        assert faults() >= 0
