"""What a count or a measure claims, in words for the line of a verdict and as data."""

from collections.abc import Iterator
from fractions import Fraction

from .claim import Property
from .counted import SPANS, MeasureBracket
from .decimals import shortened
from .work import paid, spend, weight


def counted_words(claimed: Property, count: int, *, is_proved: bool) -> list[str]:
    """Say what is claimed of so many prompts; only of what is proved brackets are rounded, outward."""
    counted = claimed.counted
    if claimed.kind == "accuracy":
        right = counted.least or count - len(counted.listed)
        return [f"right on {'at least' if counted.least else 'exactly'} {right:,} of {count:,} prompts"]
    return [f"{name} {_between(one, is_proved=is_proved)}" for name, one in _brackets(claimed) if one]


def counted_facts(claimed: Property) -> dict[str, object]:
    """Return what is claimed, as the claim has it."""
    counted, found = claimed.counted, dict[str, object]()
    if claimed.kind == "accuracy":
        found |= {"least": counted.least} if counted.least else {"wrong": list(paid(counted.listed))}
    if claimed.kind == "recovered difference":
        found |= {"without": list(paid(counted.listed))}
    return found | {name: one and [_spelled(one.low), _spelled(one.high)] for name, one in _brackets(claimed)}


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
