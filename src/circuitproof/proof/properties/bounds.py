"""Bounds that a user gives for counts and measures: `accuracy >= 4046`, `loss <= 0.13`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from circuitproof.errors import DeclarationError, UsageError
from circuitproof.files.reading import alone
from circuitproof.proof.brackets import ClaimedBracket

_SPELLED = re.compile(r"\s*([a-z ]*[a-z])\s*([<>=!]+)\s*(\S.*?)\s*")


class BoundedNumber(StrEnum):
    """What may be bounded."""

    ACCURACY = "accuracy"
    """How many prompts are right."""
    LOSS = "loss"
    LEAST = "least difference"
    MEAN = "mean difference"
    GREATEST = "greatest difference"
    RECOVERED = "recovered"
    """The mean share of the model's logit difference."""


@dataclass(frozen=True, slots=True)
class AskedBound:
    """What a number is no less than, or no more than."""

    number: BoundedNumber
    is_lower: bool
    end: Fraction

    def __str__(self) -> str:
        return f"{self.number} {'>=' if self.is_lower else '<='} {self.end}"


def parse_bounds(spelled: Sequence[str]) -> tuple[AskedBound, ...]:
    """Read bounds, of which a number has at most one of each direction."""
    found = tuple(map(parse_bound, spelled))
    ends = [(one.number, one.is_lower) for one in found]
    if twice := [one for one, end in zip(found, ends, strict=True) if ends.count(end) > 1]:
        raise UsageError(f"the bounds {twice[0]} and {twice[1]} are of one direction; give one of them")
    return found


def parse_bound(spelled: str) -> AskedBound:
    """Read a bound: a number's name, <= or >=, and a rational."""
    said = f"the bound {spelled!r}"
    if (parts := _SPELLED.fullmatch(spelled)) is None:
        raise UsageError(f"{said} is no bound; want such as 'accuracy >= 4046' or 'loss <= 0.13'")
    name, sign, end = parts.groups()
    if name not in list(BoundedNumber):
        raise UsageError(f"{said} is of {name!r}; want one of {', '.join(BoundedNumber)}")
    if sign not in {"<=", ">="}:
        raise UsageError(f"{said} has the sign {sign}; want <= or >=")
    found = AskedBound(BoundedNumber(name), sign == ">=", alone(end, said).rational(""))
    if found.number is BoundedNumber.ACCURACY:
        _refuse_no_count(said, found)
    return found


def _refuse_no_count(said: str, bound: AskedBound) -> None:
    """Refuse a bound on accuracy that does not say how many prompts are right at least."""
    if not bound.is_lower:
        raise UsageError(
            f"{said} is from above; want how many prompts are right at least, such as 'accuracy >= 4046'"
        )
    if bound.end < 1 or bound.end.denominator != 1:
        raise UsageError(f"{said} is no number of prompts; want a whole number of at least 1, and no share")


def bracket_of(bounds: Sequence[AskedBound], number: BoundedNumber) -> ClaimedBracket | None:
    """Return the bracket that bounds make for a number, if one of them is of it."""
    ends = {one.is_lower: one.end for one in bounds if one.number is number}
    if not ends:
        return None
    try:
        return ClaimedBracket(ends.get(True), ends.get(False))
    except DeclarationError as error:
        raise UsageError(f"the bounds of {number}: {error}") from error


def bounds_given(bounds: Sequence[AskedBound], *numbers: BoundedNumber) -> str:
    """Return in words that some numbers are bounded; nothing where they are not."""
    found = [one for one in bounds if one.number in numbers]
    return f"the bound {found[0]}" if found else ""
