"""Counts and measures as they are claimed: prompts that are named, numbers of them, brackets of rationals."""

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .exact import reckon
from .reading import fields, integer, integers, items, kind, mapping, rational, require, text
from .work import NUMBER, paid, spend

MEASURES = ("loss", "logit difference", "recovered difference")
COUNTED = ("accuracy", *MEASURES)
_NUMBER = re.compile("[1-9][0-9]{0,3999}", re.ASCII)
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
    exactly: int = 0
    """How many prompts of a pattern are said to be right, if that is said."""


NOTHING_COUNTED = Counted()
"""What is said beside the name of any other property."""


def read_counted(value: object, where: str, count: int, *, is_pattern: bool) -> Counted:
    """Read what is claimed of a list of so many prompts, or in their presence of a pattern."""
    match kind(value, where):
        case "accuracy" if is_pattern:
            return _read_count(value, where, count)
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


def _read_count(value: object, where: str, count: int) -> Counted:
    """Read what is claimed of all prompts of a pattern, how many they are is compared later."""
    names = [name for name in ("least", "exactly") if name in mapping(value, where)]
    if not names:
        listed = fields(value, where, "kind", "wrong")[1]
        return Counted(_read_listed(listed, where, count, is_pattern=True))
    spelled = text(fields(value, where, "kind", *names)[1], where)
    require("numbers_of_prompts_are_decimal", _NUMBER.fullmatch(spelled), where, spelled)
    spend(NUMBER + (len(spelled) ** 2 >> 13))
    number = int(spelled)
    return Counted(least=number) if names[0] == "least" else Counted(exactly=number)


def _read_bracket(value: object, where: str) -> MeasureBracket:
    ends = [None if one is None else rational(one, where) for one in items(value, where)]
    require("brackets_have_two_ends", len(ends) == len(("low", "high")), where, len(ends))
    low, high = ends
    require("brackets_bound_something", low is not None or high is not None, where)
    if low is not None and high is not None:
        reckon((low, high))
        require("ends_of_brackets_are_in_order", low <= high, where, low, high)
    return MeasureBracket(low, high)


def _read_listed(value: object, where: str, count: int, *, is_pattern: bool = False) -> tuple[int, ...]:
    listed = integers(value, where, 0)
    increase = not listed or (listed[-1] < count and all(a < b for a, b in pairwise(paid(listed))))
    require("listed_prompts_increase_in_the_domain", increase, where, listed, count)
    require("some_prompt_is_not_listed", is_pattern or len(listed) < count, where, count)
    return listed
