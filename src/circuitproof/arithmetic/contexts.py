"""Sums over the keys of contexts, in limbs: products of queries with keys, and values weighed."""

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate

import numpy as np

from circuitproof.arithmetic import limbs
from circuitproof.arithmetic.limbs import Integers, Limbs, limbs_of
from circuitproof.arithmetic.protocol import Contexts

_MOST_AT_ONCE = 1 << 16
"""How many products of queries with keys, or of weights with values, are formed at once."""


def pair_products(queries: Limbs, keys: Limbs, contexts: Contexts) -> Iterator[int]:
    """Return for each context in turn the products of its query with each of its keys."""
    sizes = [len(context.keys) * queries.shape[1] for context in contexts]
    for start, end in _blocks(sizes):
        block = contexts[start:end]
        asked = [context.query for context in block for _ in context.keys]
        chosen = [key for context in block for key in context.keys]
        yield from limbs.row_products(queries[asked], keys[chosen]).integers().tolist()


def weighed(weights: Sequence[Sequence[int]], chosen: Sequence[Sequence[int]], values: Limbs) -> Limbs:
    """Return sums of chosen rows, each with its weights."""
    sizes = [len(row) * values.shape[1] for row in chosen]
    parts = [_weighed(weights[start:end], chosen[start:end], values) for start, end in _blocks(sizes)]
    return limbs.joined(parts) if parts else values[:0]


def _weighed(weights: Sequence[Sequence[int]], chosen: Sequence[Sequence[int]], values: Limbs) -> Limbs:
    most = max(map(len, chosen))
    if not most:
        return limbs_of(np.zeros((len(chosen), values.shape[1]), dtype=np.int64))
    shares = limbs_of(_filled(weights, most))
    rows = _filled(chosen, most).astype(np.int64)
    sums = [limbs.multiply(shares[:, place : place + 1], values[rows[:, place]]) for place in range(most)]
    return reduce(limbs.add, sums)


def _filled(rows: Sequence[Sequence[int]], most: int) -> Integers:
    """Return rows of different lengths as a matrix, with zeros where they have ended."""
    filled = np.zeros((len(rows), most), dtype=object)
    for place, row in enumerate(rows):
        filled[place, : len(row)] = row
    return filled


def _blocks(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divide a list into parts, by where they begin and end, whose sizes do not add up to too much."""
    start, done = 0, 0
    for end, size in enumerate(accumulate(sizes), start=1):
        if size - done >= _MOST_AT_ONCE or end == len(sizes):
            yield start, end
            start, done = end, size
