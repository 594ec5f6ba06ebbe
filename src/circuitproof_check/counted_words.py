"""What a count or a measure claims, in words for the line of a verdict and as data."""

from collections.abc import Iterator
from fractions import Fraction

from .claim import Property
from .counted import SPANS, Counted, MeasureBracket
from .decimals import shortened
from .work import paid, spend, weight

_SHOWN_DIGITS = 40


def counted_words(claimed: Property, count: int, *, is_proved: bool) -> list[str]:
    """Say what is claimed of so many prompts; only of what is proved brackets are rounded, outward."""
    counted = claimed.counted
    if claimed.kind == "accuracy":
        right = counted.least or counted.exactly or count - len(counted.listed)
        how = "at least" if counted.least else "exactly"
        return [f"right on {how} {_number(right)} of {_number(count)} prompts"]
    return [f"{name} {_between(one, is_proved=is_proved)}" for name, one in _brackets(claimed) if one]


def _number(number: int) -> str:
    """Show a number of prompts."""
    spend(weight(number.bit_length()))
    is_short = number < 10**_SHOWN_DIGITS
    return f"{number:,}" if is_short else f"a number of {number.bit_length()} bits"


def counted_facts(claimed: Property, *, is_pattern: bool) -> dict[str, object]:
    """Return what is claimed, as the claim has it."""
    counted, found = claimed.counted, dict[str, object]()
    if claimed.kind == "accuracy":
        found |= _counts(counted, is_pattern=is_pattern)
    if claimed.kind == "recovered difference":
        found |= {"without": list(paid(counted.listed))}
    return found | {name: one and [_spelled(one.low), _spelled(one.high)] for name, one in _brackets(claimed)}


def _counts(counted: Counted, *, is_pattern: bool) -> dict[str, object]:
    """Return what accuracy says; of a pattern, numbers are strings."""
    number = counted.least or counted.exactly
    if not number:
        return {"wrong": list(paid(counted.listed))}
    spend(weight(number.bit_length()))
    return {"least" if counted.least else "exactly": str(number) if is_pattern else number}


def _brackets(claimed: Property) -> Iterator[tuple[str, MeasureBracket | None]]:
    brackets = claimed.counted.brackets
    return zip(SPANS if len(brackets) > 1 else SPANS[1:2], brackets, strict=False)


def _between(bracket: MeasureBracket, *, is_proved: bool) -> str:
    low = None if bracket.low is None else _end(bracket.low, is_raised=False, is_proved=is_proved)
    high = None if bracket.high is None else _end(bracket.high, is_raised=True, is_proved=is_proved)
    if low is not None and high is not None:
        return f"from {low} to {high}"
    return f"at most {high}" if low is None else f"at least {low}"


def _end(value: Fraction, *, is_raised: bool, is_proved: bool) -> str:
    """Show an end; what is not proved of a bracket may be so of a wider one, which is not to be shown."""
    below, above = shortened(value, is_raised=False), shortened(value, is_raised=True)
    if below != above and not is_proved:
        return f"about {below}"
    return above if is_raised else below


def _spelled(end: Fraction | None) -> str | None:
    if end is None:
        return None
    spend(weight(max(end.numerator.bit_length(), end.denominator.bit_length())))
    return str(end)
