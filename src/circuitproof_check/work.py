"""The work of a check, bounded before it is done.

An operation is about a tenth of a microsecond, or eight bytes that are kept: a step of an enumeration or a
word of a number counts a few of them. What would exceed a bound ends the check with no verdict, whatever the
machine.
"""

import marshal
from collections.abc import Sequence, Sized
from typing import TypeVar

Entries = TypeVar("Entries", bound=Sized)

MOST_DIGITS = 1_000_000
SIZES = {
    "vocabulary": 1 << 21,
    "context": 1 << 21,
    "layers": 1 << 12,
    "heads": 1 << 12,
    "width": 1 << 18,
    "head_width": 1 << 18,
    "mlp_width": 1 << 20,
}
"""The largest architectures that are read."""
MOST_BYTES, MOST_JSON, MOST_LISTED, MOST_HEADER = 1 << 34, 1 << 28, 1 << 20, 1 << 20
"""The largest file that is read; the largest of JSON, manifest, and what is not numbers in one of tensors."""
ONCE, PER_BYTE, BEYOND = 45_000_000, 40, 150
"""How many operations a bundle is allowed: so many, so many a byte, and more for each after a million."""
_UNFORESEEN = 60_000
"""Operations beside those that are foreseen, of the smallest models and claims."""
STEP, NUMBER, OBJECT = 3, 10, 30
"""Operations for an entry that is looked at, and for a small number or object that is made and kept."""


class ExceededError(Exception):
    """A bound is exceeded: nothing is decided."""


class _Meter:
    """How many operations are left, and of how many."""

    def __init__(self) -> None:
        self.allowed = self.left = ONCE
        self.enough = 0
        """How many are known to be enough, if that was foreseen."""
        self.only_foresees = False
        """Whether the check ends once it is foreseen how many are needed."""


_METER = _Meter()


def usual(size: int) -> int:
    """Return how many operations a bundle of so many bytes is allowed unless told."""
    return ONCE + PER_BYTE * size + BEYOND * max(0, size - 1_000_000)


def allow(operations: int) -> None:
    """Begin a check that may take so many operations."""
    _METER.allowed = _METER.left = operations
    _METER.enough, _METER.only_foresees = 0, False


def only_foresee() -> None:
    """Let the check that was begun end once it is foreseen how many operations it takes."""
    _METER.only_foresees = True


def allow_more(operations: int) -> None:
    """Add to the operations of a check."""
    _METER.allowed += operations
    _METER.left += operations


def spend(operations: int) -> None:
    """Take operations from those that are left, before they are done."""
    _METER.left -= operations
    if _METER.left < 0:
        wanted = f" {_METER.enough}" if _METER.enough > _METER.allowed else ""
        raise ExceededError(
            f"more than {_METER.allowed} operations are needed; allow more of them with --operations{wanted}"
        )


def foresee(least: int, further: int) -> None:
    """Refuse to begin what takes more operations than are left, and say how many are enough.

    What is foreseen is about so much, and perhaps further work: half as much again of both is enough.
    """
    _METER.enough = _METER.allowed - _METER.left + 3 * (least + further) // 2 + _UNFORESEEN
    if least > _METER.left:
        raise ExceededError(
            f"about {least} operations are needed, more than the {_METER.left} that are left; "
            f"allow them with --operations {_METER.enough}"
        )
    if _METER.only_foresees:
        raise ExceededError(f"about {least} operations are needed, and {_METER.left} are left")


def spent() -> int:
    """Return how many operations the last check took; of one that was ended, more than it was allowed."""
    return _METER.allowed - _METER.left


def paid(entries: Entries, each: int = STEP) -> Entries:
    """Return something that is about to be gone through, once that is paid for."""
    spend(each * len(entries))
    return entries


def spend_numbers(count: int, bits: int) -> None:
    """Pay for so many numbers of so many bits, which are then computed and kept."""
    spend(count * (NUMBER + bits // 50))


def key(numbers: Sequence[int]) -> bytes:
    """Return what stands for numbers in sets and dictionaries.

    Python hashes an integer modulo 2^61 - 1, and tuples with no secret, so that a bundle could choose any
    number of them that have the same hash. Bytes are hashed with a secret.
    """
    spend(NUMBER + len(numbers))
    spelled = marshal.dumps(tuple(numbers), 2)  # the last version that spells equal numbers alike
    spend(len(spelled) >> 3)
    return spelled


def bound(number: int, most: int, what: str) -> None:
    """Refuse to go on with something too large."""
    if number > most:
        raise ExceededError(f"{what} is {number}, more than the {most} that are read")


def weight(bits: int) -> int:
    """Return what it costs to bring a number of so many bits to lowest terms with another."""
    return 4 + bits // 25 + (bits * bits >> 16)
