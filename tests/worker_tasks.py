"""Work that is divided among processes in tests: functions of a module, which a worker can find."""

import mmap
import os
import signal
import time
from pathlib import Path

from circuitproof.errors import DeclarationError
from circuitproof.proof.fold_parts import compute_part
from circuitproof.workers import clock


def added(shared, part):
    return shared + part


def where(_shared, part):
    return part, os.getpid(), os.environ.get("OMP_NUM_THREADS")


def refused(_shared, part):
    if part:
        time.sleep(0.3 * (part == 1))
        raise DeclarationError(f"part {part} is 3, want less")
    return part


def crashed(_shared, part):
    if part == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def read(file: mmap.mmap, part):
    return file[part]


def waited(started: str, part):
    """Wait until the work is to end, and say that one waits."""
    (Path(started) / f"{part}-{os.getpid()}").touch()
    deadline = time.monotonic() + 30
    while clock() < float("inf"):
        if time.monotonic() > deadline:
            raise AssertionError("nobody told the worker that time is over")
        time.sleep(0.01)
    return part


def stuck(started: str, part):
    """Wait for longer than anybody."""
    (Path(started) / f"{part}-{os.getpid()}").touch()
    time.sleep(60)
    return part


def begun(_shared, part):
    """Return the process at once for the first part, and never for others."""
    time.sleep(60 * bool(part))
    return os.getpid()


def computed_slowly(task, part):
    """Compute a part of a fold, but leave time to kill the process before."""
    (Path(os.environ["WORKER_TASKS_STARTED"]) / f"{os.getpid()}").touch()
    time.sleep(1)
    return compute_part(task, part)
