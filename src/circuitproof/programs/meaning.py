"""What a program means: for each query of a prompt, the exact weights of the keys it attends to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, repeat
from math import lcm
from typing import TypeAlias, assert_never

from circuitproof.errors import InputError
from circuitproof.programs.atoms import Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Feature, Operand, comparing
from circuitproof.programs.syntax import AllOf, AnyOf, Formula, Not, Otherwise, Pick, Program, Scan

AttentionRow: TypeAlias = tuple[tuple[int, Fraction], ...]
"""The keys with weight, by position, and their weights, which sum to 1 unless there are none."""

_Filter: TypeAlias = Callable[[Sequence[int], Sequence[int]], Sequence[int]]
"""From the tokens up to the query, the last of them, and some keys: those that are kept, in order."""
_Test: TypeAlias = Callable[[int], bool]


def row(program: Program, prompt: Sequence[int], query: int) -> AttentionRow:
    r"""Return the attention of position `query`: each causal key's weight divided by their sum.

    Keys without weight are left out. When no key has any, `otherwise` decides: the query's own position,
    or an empty row. Nothing behind the query is looked at.

    >>> from circuitproof.programs.text import parse
    >>> row(parse("default 0\nadd 1 when key_token in {7}\notherwise self"), (7, 8, 7), 2)
    ((0, Fraction(1, 2)), (2, Fraction(1, 2)))
    """
    if not 0 <= query < len(prompt):
        raise InputError(
            f"query {query} is outside a prompt of {len(prompt)} tokens; want 0 to {len(prompt) - 1}"
        )
    scaled, filters = whole_weights(program), _filters(program)
    seen = prompt[: query + 1]
    weights = [scaled.default] * len(seen)
    for weight, keep in zip(scaled.rules, filters, strict=True):
        for key in keep(seen, range(len(seen))):
            weights[key] += weight
    itself = ((query, Fraction(1)),) if program.otherwise is Otherwise.SELF else ()
    return normalised(weights) or itself


@dataclass(frozen=True, slots=True)
class WholeWeights:
    """The weights of a program as integers: all times their common denominator, which rows cancel."""

    default: int
    rules: tuple[int, ...]


@lru_cache(maxsize=256)
def whole_weights(program: Program) -> WholeWeights:
    """Return the weights of a program, in the order of its rules, without their common denominator."""
    weights = [rule.weight for rule in program.rules]
    scale = lcm(*(weight.denominator for weight in (program.default, *weights)))
    return WholeWeights(int(program.default * scale), tuple(int(weight * scale) for weight in weights))


def closings(seen: Sequence[int], brackets: Brackets) -> dict[int, int | None]:
    """Return, for each opener's position, the position of the closer that takes it off the stack, if any."""
    openers, pairs = brackets.openers, frozenset(brackets.pairs)
    closed: dict[int, int | None] = {}
    stack: list[int] = []
    for position, token in enumerate(seen):
        if token in openers:
            stack.append(position)
            closed[position] = None
        elif stack and (seen[stack[-1]], token) in pairs:
            closed[stack.pop()] = position
    return closed


@lru_cache(maxsize=256)
def _filters(program: Program) -> tuple[_Filter, ...]:
    return tuple(_all_of(rule.conditions) for rule in program.rules)


def _filter(formula: Formula) -> _Filter:
    match formula:
        case Condition(feature, comparison, value):
            return partial(_compared, feature, comparing(comparison, value))
        case Tally(comparison=comparison, value=value):
            return partial(_tallied, formula, comparing(comparison, value))
        case Bracketed(link, brackets):
            return partial(_linked, link, brackets)
        case Not(part):
            return partial(_others, _filter(part))
        case Scan(pick, part):
            return partial(_picked, pick, _filter(part))
        case AllOf(parts):
            return _all_of(parts)
        case AnyOf(parts):
            return partial(_united, [_filter(part) for part in parts])
        case _:
            assert_never(formula)


def _all_of(formulas: Iterable[Formula]) -> _Filter:
    return partial(_chained, [_filter(formula) for formula in formulas])


def _compared(feature: Feature, holds: _Test, seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    columns = [_column(operand, seen, keys) for operand in feature.operands]
    return [key for key, found in zip(keys, map(feature.compute, *columns), strict=True) if holds(found)]


def _column(operand: Operand, seen: Sequence[int], keys: Sequence[int]) -> Iterable[int]:
    """Return an operand for each of the keys."""
    match operand:
        case Operand.QUERY_POSITION:
            return repeat(len(seen) - 1, len(keys))
        case Operand.KEY_POSITION:
            return keys
        case Operand.QUERY_TOKEN:
            return repeat(seen[-1], len(keys))
        case Operand.KEY_TOKEN:
            return map(seen.__getitem__, keys)
        case _:
            assert_never(operand)


def _tallied(tally: Tally, holds: _Test, seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    counts = _counts(seen, tally.of)
    if tally.at is PairEnd.QUERY:
        return keys if holds(min(counts[-1], tally.bound)) else ()
    return [key for key in keys if holds(min(counts[key], tally.bound))]


def _counts(seen: Sequence[int], of: tuple[int, ...] | Brackets) -> Sequence[int]:
    """Return the count at each position."""
    if not isinstance(of, Brackets):
        return tuple(accumulate(token in of for token in seen))
    steps = [0] * len(seen)
    for opener, closer in closings(seen, of).items():
        steps[opener] += 1
        if closer is not None:
            steps[closer] -= 1
    return tuple(accumulate(steps))


def _linked(link: Link, brackets: Brackets, seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    wanted = None if link is Link.UNMATCHED else len(seen) - 1
    linked = {opener for opener, closer in closings(seen, brackets).items() if closer == wanted}
    return [key for key in keys if key in linked]


def _others(keep: _Filter, seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    kept = frozenset(keep(seen, keys))
    return [key for key in keys if key not in kept]


def _picked(pick: Pick, keep: _Filter, seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    found = keep(seen, range(len(seen) - 1 if pick is Pick.NEAREST else len(seen)))
    place = 0 if pick is Pick.FIRST else -1
    return [key for key in keys if key == found[place]] if found else ()


def _chained(filters: Sequence[_Filter], seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    for keep in filters:
        keys = keep(seen, keys)
    return keys


def _united(filters: Sequence[_Filter], seen: Sequence[int], keys: Sequence[int]) -> Sequence[int]:
    kept = frozenset[int]().union(*(keep(seen, keys) for keep in filters))
    return [key for key in keys if key in kept]


def normalised(weights: Sequence[int]) -> AttentionRow:
    """Return the weights of keys in proportion to whole numbers; keys without weight are left out."""
    total = sum(weights)
    shares = {weight: Fraction(weight, total) for weight in set(weights) if weight}
    return tuple((key, shares[weight]) for key, weight in enumerate(weights) if weight)
