"""How much work a bundle is for the checker, told before somebody waits for it in vain."""

import re
from pathlib import Path

from circuitproof.bundle.files import CERTIFICATE, WEIGHTS, is_detached, long_rows
from circuitproof.circuits.ablation import Zero
from circuitproof.files.reading import read_fields
from circuitproof.files.sealed import MANIFEST
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.fold import Fold
from circuitproof.proof.verdict import Battery

MOST_COUNTED = 300_000_000
"""How many operations are counted, which takes about ten seconds."""


def bound_needed(bundle: Path, model: Path, battery: Battery) -> str | None:
    """Return the command that checks a bundle, where the checker's usual bound would not do.

    Of enclosed arithmetic the checker foresees its work, and does nothing else here. Of exact arithmetic it
    does its work once, and counts, where cut edges carry something: other work is seldom too much, and the
    checker is not even loaded. Where digests stand for rows of logits, it is what the rows would be allowed.
    """
    claim, command = battery.claim, f"circuitproof-check {bundle} --against {model} --operations "
    if isinstance(claim.arithmetic, EnclosedNumbers):
        return _foreseen(bundle, model, command)
    if spared := _spared(bundle, battery):
        from circuitproof_check.work import usual

        return command + f"{_rounded_up(usual(_size(bundle, model) + spared))}"
    if isinstance(claim.circuit.ablation, Zero):
        return None
    return _counted(bundle, model, command)


def _spared(bundle: Path, battery: Battery) -> int:
    """Return how many bytes all long rows of logits take, if digests stand for some of them."""
    if not any(isinstance(row, str) for row in read_fields(bundle / CERTIFICATE).items("folds")):
        return 0
    return sum(long_rows(one for one in battery.folded.folds if isinstance(one, Fold)))


def _foreseen(bundle: Path, model: Path, command: str) -> str | None:
    from circuitproof_check.main import Beside, inspect

    said = inspect(bundle, Beside(against=model, only_foreseen=True)).reason
    return None if (wanted := re.search(r"--operations (\d+)$", said)) is None else command + wanted[1]


def _counted(bundle: Path, model: Path, command: str) -> str | None:
    """Return the command with what was counted.

    A bundle whose usual bound is more than is counted here is large, and is allowed much: nothing is said of
    it.
    """
    from circuitproof_check.main import Beside, inspect
    from circuitproof_check.work import spent, usual

    usually = usual(_size(bundle, model))
    if usually >= MOST_COUNTED:
        return None
    inspect(bundle, Beside(against=model, operations=MOST_COUNTED))
    if spent() <= usually:
        return None
    is_counted = spent() <= MOST_COUNTED
    return command + (f"{_rounded_up(spent())}" if is_counted else f"{10 * MOST_COUNTED} or more")


def _size(bundle: Path, model: Path) -> int:
    """Return how many bytes count: those of the bundle, and of tensors that it names and does not hold."""
    held = sum(file.stat().st_size for file in bundle.iterdir() if file.name != MANIFEST)
    return held + ((model / WEIGHTS).stat().st_size if is_detached(bundle) else 0)


def _rounded_up(count: int) -> int:
    """Return a count with two digits that are not zero, or a little more.

    >>> _rounded_up(80_421_900), _rounded_up(81_000_000)
    (81000000, 81000000)
    """
    step = 10 ** (len(str(count)) - 2)
    return -(-count // step) * step
