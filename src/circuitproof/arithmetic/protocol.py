"""What a forward pass asks of an arithmetic: never to compare numbers itself, only for these operations.

A value `V` is a batch of rows. Weights are always exact constants (`Grid`). How branches are taken is the
arithmetic's own affair: exact numbers choose and record, others may follow a record or keep every branch.
Operators that have no value in an arithmetic raise `NotExactError`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from circuitproof.arithmetic.grid import Grid
from circuitproof.models.operators import Activation, Attention, Norm

V = TypeVar("V")
W = TypeVar("W")

RationalRow: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Weights of a sum: pairs (row of a batch, weight)."""


class Context(NamedTuple):
    """What one output of a head is made of: the row of its query, and the rows of its keys and values."""

    query: int
    keys: tuple[int, ...]
    values: tuple[int, ...]
    at: int = 0
    """At which of the keys' positions the query stands."""


Contexts: TypeAlias = Sequence[Context]


class Arithmetic(Protocol[V, W]):
    """Operations on batches of rows `V`; `W` are rows of attention weights of different lengths."""

    def constant(self, rows: Grid) -> V:
        """Return known numbers as values."""
        ...

    def take(self, values: V, rows: Sequence[int]) -> V:
        """Return the rows at these places, repeats allowed."""
        ...

    def add(self, left: V, right: V) -> V:
        """Return the sum, row by row; a single row is added to every row."""
        ...

    def affine(self, values: V, weight: Grid, bias: Grid | None) -> V:
        """Return weight · row + bias for every row; `weight` is [out, in], `bias` a single row."""
        ...

    def mix(self, rows: Sequence[RationalRow], values: V) -> V:
        """Return sums of rows with known weights; an empty sum is zero."""
        ...

    def rotate(self, values: V, cosines: Grid, sines: Grid) -> V:
        """Rotate pairs of coordinates of each row by the same row of the tables, or by their only one.

        With h columns in a table, (a, b) at m and m + h become (a·cos − b·sin, b·cos + a·sin); coordinates
        from 2h on stay.
        """
        ...

    def scores(self, queries: V, keys: V, contexts: Contexts, scale: Fraction) -> W:
        """Return for each context the scaled products of its query with its keys."""
        ...

    def attention(self, scores: W, attention: Attention) -> W:
        """Return weights for each row of scores."""
        ...

    def weigh(self, weights: W, contexts: Contexts, values: V) -> V:
        """Return for each context the sum of its values, weighted."""
        ...

    def activate(self, values: V, activation: Activation) -> V:
        """Apply an activation to every number."""
        ...

    def normalise(self, values: V, norm: Norm, gain: tuple[Grid, Grid]) -> V:
        """Apply a norm to every row, then scale and shift its columns (`gain`, single rows)."""
        ...
