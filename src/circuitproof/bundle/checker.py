"""How the independent checker is started: in a process of its own, which imports nothing of the prover."""

import sys
from importlib.util import find_spec
from pathlib import Path

from circuitproof.errors import InputError


def checker_command() -> list[str]:
    """Return the words that start the checker, to be followed by its arguments."""
    spec = find_spec("circuitproof_check")
    if spec is None or spec.origin is None:
        raise InputError("the checker, circuitproof_check, is not installed; install circuitproof again")
    return [sys.executable, "-I", "-S", str(Path(spec.origin).parent)]
