"""How much work a bundle is for the checker, told before somebody waits for it in vain."""

from pathlib import Path

from circuitproof_check.main import Beside, inspect
from circuitproof_check.work import spent, usual

MOST_COUNTED = 300_000_000
"""How many operations are counted, which takes about ten seconds."""


def bound_needed(bundle: Path, model: Path) -> str | None:
    """Return the command that checks a bundle, where the checker's usual bound would not do.

    The checker does its work once, and counts. A bundle whose usual bound is more than is counted here is
    large, and is allowed much: nothing is said of it.
    """
    usually = usual(sum(file.stat().st_size for file in bundle.iterdir() if file.name != "manifest.json"))
    if usually >= MOST_COUNTED:
        return None
    inspect(bundle, Beside(against=model, operations=MOST_COUNTED))
    if spent() <= usually:
        return None
    is_counted = spent() <= MOST_COUNTED
    command = f"circuitproof-check {bundle} --against {model} --operations "
    return command + (f"{_rounded_up(spent())}" if is_counted else f"{10 * MOST_COUNTED} or more")


def _rounded_up(count: int) -> int:
    """Return a count with two digits that are not zero, or a little more.

    >>> _rounded_up(80_421_900), _rounded_up(81_000_000)
    (81000000, 81000000)
    """
    step = 10 ** (len(str(count)) - 2)
    return -(-count // step) * step
