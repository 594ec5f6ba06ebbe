"""Counts and measures as they are claimed of a list: prompts that are named, and brackets of rationals."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .exact import reckon
from .reading import fields, integer, integers, items, kind, mapping, rational, require
from .work import paid

MEASURES = ("loss", "logit difference", "recovered difference")
COUNTED = ("accuracy", *MEASURES)
SPANS = ("least", "mean", "greatest")
"""What is said of the logit differences of all prompts, each by a bracket."""


@dataclass(frozen=True, slots=True)
class MeasureBracket:
    """Between which rationals a number is said to lie; None bounds nothing."""

    low: Fraction | None
    high: Fraction | None


@dataclass(frozen=True, slots=True)
class Counted:
    """What a count or a measure says beside its name."""

    listed: tuple[int, ...] = ()
    """The prompts that are said to be wrong, or that are left out."""
    least: int = 0
    """How many prompts are said to be right at least; 0 where the wrong ones are listed."""
    brackets: tuple[MeasureBracket | None, ...] = ()


NOTHING_COUNTED = Counted()
"""What is said beside the name of any other property."""


def read_counted(value: object, where: str, count: int) -> Counted:
    """Read what is claimed of a list of so many prompts."""
    match kind(value, where):
        case "accuracy" if "least" in mapping(value, where):
            return Counted(least=integer(fields(value, where, "kind", "least")[1], where, 1, count))
        case "accuracy":
            return Counted(_read_listed(fields(value, where, "kind", "wrong")[1], where, count))
        case "loss":
            mean = _read_bracket(fields(value, where, "kind", "mean")[1], where)
            is_bounded = mean.high is not None or (mean.low is not None and mean.low > 0)
            require("losses_are_bounded_by_more_than_zero", is_bounded, where, mean.low)
            return Counted(brackets=(mean,))
        case "logit difference":
            _, *spans = fields(value, where, "kind", *SPANS)
            found = tuple(None if one is None else _read_bracket(one, where) for one in paid(spans))
            require("some_bracket_is_claimed", any(one is not None for one in paid(found)), where)
            return Counted(brackets=found)
        case _:
            _, mean, without = fields(value, where, "kind", "mean", "without")
            return Counted(_read_listed(without, where, count), brackets=(_read_bracket(mean, where),))


def _read_bracket(value: object, where: str) -> MeasureBracket:
    ends = [None if one is None else rational(one, where) for one in items(value, where)]
    require("brackets_have_two_ends", len(ends) == len(("low", "high")), where, len(ends))
    low, high = ends
    require("brackets_bound_something", low is not None or high is not None, where)
    if low is not None and high is not None:
        reckon((low, high))
        require("ends_of_brackets_are_in_order", low <= high, where, low, high)
    return MeasureBracket(low, high)


def _read_listed(value: object, where: str, count: int) -> tuple[int, ...]:
    listed = integers(value, where, 0)
    increase = not listed or (listed[-1] < count and all(a < b for a, b in pairwise(paid(listed))))
    require("listed_prompts_increase_in_the_domain", increase, where, listed, count)
    require("some_prompt_is_not_listed", len(listed) < count, where, count)
    return listed
