"""Where program heads attend in a batch of prompts, worked out for all of them at once."""

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias, assert_never

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from circuitproof.nn.devices import has_doubles
from circuitproof.programs.atoms import Bracketed, Brackets, Condition, Link, PairEnd, Tally
from circuitproof.programs.features import Comparison, FeatureValue, Operand
from circuitproof.programs.meaning import AttentionRow, row, whole_weights
from circuitproof.programs.syntax import AllOf, AnyOf, Formula, Not, Otherwise, Pick, Program, Scan

_EXACT = 2**53
"""Integers up to here are FP64 numbers, so sums below are exact and a quotient is rounded once."""
_LARGEST = 2**62
"""More than any token, position or count: what a larger number is compared as."""

AttentionPattern: TypeAlias = Float[Tensor, "prompt query key"]


class Patterns:
    """Where programs attend in a batch of prompts; no program is worked out twice."""

    def __init__(self, tokens: Int[Tensor, "prompt position"]) -> None:
        self._device = tokens.device
        self._pairs = _Pairs(tokens if has_doubles(tokens.device.type) else tokens.cpu())
        self._known: dict[Program, Tensor] = {}

    def of(self, program: Program) -> AttentionPattern:
        """Return the rows of a program: each exact weight rounded to FP64 and that to FP32.

        That is the FP32 number nearest to the weight as long as the program's weights, as integers without
        a common denominator, sum to less than 2^24 in a row.
        """
        if program not in self._known:
            self._known[program] = _pattern(program, self._pairs).to(self._device)
        return self._known[program]


class _Pairs:
    """The pairs of query and key of each prompt; tensors are (prompt, query, key) or broadcast to it."""

    def __init__(self, tokens: Int[Tensor, "prompt position"]) -> None:
        self.tokens = tokens.long()
        places = torch.arange(tokens.shape[1], device=tokens.device)
        self.keys, self.queries = places[None, None], places[None, :, None]
        self.causal = self.keys <= self.queries
        self._operands = {
            Operand.QUERY_POSITION: self.queries,
            Operand.KEY_POSITION: self.keys,
            Operand.QUERY_TOKEN: _at(self.tokens, PairEnd.QUERY),
            Operand.KEY_TOKEN: _at(self.tokens, PairEnd.KEY),
        }
        self._closings: dict[Brackets, Tensor] = {}

    def hold(self, formula: Formula) -> Bool[Tensor, "_ _ _"]:
        """Say of each pair whether a formula holds; what it says of keys behind the query means nothing."""
        match formula:
            case Condition(feature, comparison, value):
                found = feature.compute(*(self._operands[operand] for operand in feature.operands))
                return _compare(found, comparison, value)
            case Tally(at, of, bound, comparison, value):
                return _compare(_at(self._counts(of).clamp(max=_clip(bound)), at), comparison, value)
            case Bracketed(link, brackets):
                return self._linked(link, brackets)
            case Not(part):
                return ~self.hold(part)
            case Scan(pick, part):
                return self._pick(pick, self.hold(part))
            case AllOf(parts):
                return reduce(torch.logical_and, map(self.hold, parts))
            case AnyOf(parts):
                return reduce(torch.logical_or, map(self.hold, parts))
            case _:
                assert_never(formula)

    def _pick(self, pick: Pick, held: Tensor) -> Tensor:
        allowed = held & (self.keys < self.queries if pick is Pick.NEAREST else self.causal)
        if not allowed.shape[-1]:
            return allowed
        if pick is Pick.FIRST:
            chosen = torch.where(allowed, self.keys, allowed.shape[-1]).amin(-1, keepdim=True)
        else:
            chosen = torch.where(allowed, self.keys, -1).amax(-1, keepdim=True)
        return self.keys == chosen

    def _counts(self, of: tuple[int, ...] | Brackets) -> Int[Tensor, "prompt position"]:
        if not isinstance(of, Brackets):
            return _among(self.tokens, of).cumsum(1)
        opened = _among(self.tokens, sorted(of.openers)).long()
        closed = opened.new_zeros(opened.shape[0], opened.shape[1] + 1)
        closed.scatter_add_(1, self._closing(of), opened)
        return (opened - closed[:, :-1]).cumsum(1)

    def _linked(self, link: Link, brackets: Brackets) -> Tensor:
        closing = _at(self._closing(brackets), PairEnd.KEY)
        if link is Link.PARTNER:
            return closing == self.queries
        return (closing > self.queries) & _at(_among(self.tokens, sorted(brackets.openers)), PairEnd.KEY)

    def _closing(self, brackets: Brackets) -> Int[Tensor, "prompt position"]:
        if brackets not in self._closings:
            self._closings[brackets] = _closing(self.tokens, brackets)
        return self._closings[brackets]


def _pattern(program: Program, pairs: _Pairs) -> AttentionPattern:
    prompts, length = pairs.tokens.shape
    whole = whole_weights(program)
    if (whole.default + sum(whole.rules)) * length >= _EXACT:
        return _slow_pattern(program, pairs.tokens)
    weights = pairs.causal.double() * whole.default
    for weight, rule in zip(whole.rules, program.rules, strict=True):
        if weight:
            held = reduce(torch.logical_and, map(pairs.hold, rule.conditions), pairs.causal)
            weights = weights + held.double() * weight
    totals = weights.sum(-1, keepdim=True)
    alone = (pairs.keys == pairs.queries) & (program.otherwise is Otherwise.SELF)
    rows = torch.where(totals > 0, weights / totals.clamp(min=1), alone.to(weights.dtype))
    return rows.float().expand(prompts, length, length)


def _slow_pattern(program: Program, tokens: Tensor) -> AttentionPattern:
    """Return the rows of a program whose weights are too large for FP64, prompt by prompt."""
    length = tokens.shape[1]
    rows = [
        [_dense(row(program, prompt, query), length) for query in range(length)] for prompt in tokens.tolist()
    ]
    return tokens.new_tensor(rows, dtype=torch.float32).reshape(len(rows), length, length)


def _dense(weights: AttentionRow, length: int) -> Sequence[float]:
    found = dict(weights)
    return [float(found.get(key, 0)) for key in range(length)]


def _closing(tokens: Tensor, brackets: Brackets) -> Int[Tensor, "prompt position"]:
    """Return where the opener at each position is closed: beyond the end for those that are not, and others.

    One pass over the positions at which some prompt has a bracket, with a stack of positions per prompt.
    """
    prompts, length = tokens.shape
    opens = _among(tokens, sorted(brackets.openers))
    openers, closers = tokens.new_tensor([list(map(_clip, pair)) for pair in brackets.pairs]).T
    closed, stack = torch.full_like(tokens, length), torch.zeros_like(tokens)
    height, every = tokens.new_zeros(prompts), torch.arange(prompts, device=tokens.device)
    for place in (opens | torch.isin(tokens, closers)).any(0).nonzero().flatten().tolist():
        top = stack[every, (height - 1).clamp(min=0)]
        is_pair = (tokens[every, top, None] == openers) & (tokens[:, place, None] == closers)
        closes = is_pair.any(1) & (height > 0)
        closed[every, top] = torch.where(closes, place, closed[every, top])
        stack[every, height] = place
        height = height + opens[:, place].long() - closes.long()
    return closed


def _compare(found: Tensor, comparison: Comparison, value: FeatureValue) -> Tensor:
    if isinstance(value, tuple):
        return _among(found, value)
    return comparison.of_constant(_clip(value))(found)


def _among(found: Tensor, numbers: Sequence[int]) -> Tensor:
    return torch.isin(found, found.new_tensor([_clip(number) for number in numbers]))


def _clip(number: int) -> int:
    return min(number, _LARGEST)


def _at(values: Tensor, place: PairEnd) -> Tensor:
    """Return what stands at each position as something that stands at the key or the query of a pair."""
    return values[:, None, :] if place is PairEnd.KEY else values[:, :, None]
