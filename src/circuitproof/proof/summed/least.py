"""Cheapest paths through a lattice, many at once, in floats that are never above what they stand for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.proof.summed.lattice import Lattice, TokenMasks, allowed
from circuitproof.proof.summed.tables import Bools, FloatArray

TokenCosts: TypeAlias = Callable[[int], FloatArray]
"""For a position but the last, what tokens cost there: by row, one of many questions, and column."""
TokenColumns: TypeAlias = npt.NDArray[np.int64]
"""Tokens of a position, or their places among all that may stand there."""


class LatticeStep(NamedTuple):
    """A way of a region: nodes, and the columns of its tokens."""

    source: int
    target: int
    columns: TokenColumns


@dataclass(frozen=True, eq=False)
class LatticeRegion:
    """The prompts of a lattice with tokens of some masks."""

    lattice: Lattice
    masks: TokenMasks

    @property
    def size(self) -> int:
        return self.lattice.count(self.masks)

    @cached_property
    def columns(self) -> tuple[TokenColumns, ...]:
        """Return for each position but the last the tokens that ways have, in order."""
        return tuple(
            np.unique(np.concatenate([allowed(way.tokens, mask) for way in ways])) if ways else _NO_COLUMNS
            for ways, mask in zip(self.lattice.layers, self.masks, strict=False)
        )

    @cached_property
    def steps(self) -> tuple[tuple[LatticeStep, ...], ...]:
        """Return for each position but the last the ways that have tokens; the same tokens share columns."""
        return tuple(tuple(self._steps(position)) for position in range(self.lattice.length - 1))

    def _steps(self, position: int) -> Iterator[LatticeStep]:
        known = dict[int, TokenColumns]()
        for way in self.lattice.layers[position]:
            if id(way.tokens) not in known:
                tokens = allowed(way.tokens, self.masks[position])
                known[id(way.tokens)] = np.searchsorted(self.columns[position], tokens)
            if len(known[id(way.tokens)]):
                yield LatticeStep(way.source, way.target, known[id(way.tokens)])


_NO_COLUMNS: TokenColumns = np.zeros(0, dtype=np.int64)


def down(numbers: FloatArray) -> FloatArray:
    """Return sums that were rounded once, from below."""
    return np.nextafter(numbers, -np.inf)


def leasts(region: LatticeRegion, costs: TokenCosts, lasts: FloatArray, ended: Bools) -> FloatArray:
    """Return for each question the least sum over prompts, from below; infinite where there is none.

    `lasts` says what the last token costs, `ended` which nodes of the last layer it may end at (by row).
    """
    behind = _behind(region, costs, lasts, ended)
    return np.min(behind[0][:, list(region.lattice.starts)], axis=1)


def _behind(region: LatticeRegion, costs: TokenCosts, lasts: FloatArray, ended: Bools) -> list[FloatArray]:
    """Return for each layer what is least from its nodes to the end."""
    lattice = region.lattice
    tables = [np.where(ended, lasts[:, None], np.inf)]
    for position in reversed(range(lattice.length - 1)):
        tables.append(np.full((len(lasts), lattice.sizes[position]), np.inf))
        price, known = costs(position), dict[int, FloatArray]()
        for source, target, columns in region.steps[position]:
            if id(columns) not in known:
                known[id(columns)] = price[:, columns].min(axis=1)
            found = down(known[id(columns)] + tables[-2][:, target])
            np.minimum(tables[-1][:, source], found, out=tables[-1][:, source])
    return tables[::-1]


def path(
    region: LatticeRegion, costs: TokenCosts, last: float, ended: Bools, token: int
) -> tuple[int, ...] | None:
    """Return a prompt whose sum is about the least, for a single question whose last token is given."""
    behind = _behind(region, costs, np.array([last]), ended)
    lattice = region.lattice
    node = min(lattice.starts, key=lambda start: behind[0][0, start])
    if np.isinf(behind[0][0, node]):
        return None
    prompt: list[int] = []
    for position in range(lattice.length - 1):
        price, best = costs(position)[0], (np.inf, 0, 0)
        for source, target, columns in region.steps[position]:
            if source == node:
                place = columns[int(np.argmin(price[columns]))]
                total = float(price[place] + behind[position + 1][0, target])
                best = min(best, (total, target, int(region.columns[position][place])))
        _, node, chosen = best
        prompt.append(chosen)
    return (*prompt, token)


def least_paths(region: LatticeRegion, costs: TokenCosts, lasts: FloatArray, ended: Bools) -> TokenColumns:
    """Return for each question the tokens, but for the last, of a prompt whose sum is about the least."""
    lattice, count = region.lattice, len(lasts)
    below = np.where(ended, lasts[:, None], np.inf)
    choices: list[tuple[TokenColumns, TokenColumns]] = []
    for position in reversed(range(lattice.length - 1)):
        here = np.full((count, lattice.sizes[position]), np.inf)
        tokens, targets = (np.zeros(here.shape, dtype=np.int64) for _ in range(2))
        price = costs(position)
        for source, target, columns in region.steps[position]:
            own = price[:, columns]
            place = own.argmin(axis=1)
            total = own[np.arange(count), place] + below[:, target]
            is_less = total < here[:, source]
            here[is_less, source] = total[is_less]
            tokens[is_less, source] = region.columns[position][columns[place[is_less]]]
            targets[is_less, source] = target
        choices.append((tokens, targets))
        below = here
    starts = np.array(lattice.starts)
    node = starts[below[:, starts].argmin(axis=1)]
    found = np.zeros((count, lattice.length - 1), dtype=np.int64)
    for position, (tokens, targets) in enumerate(reversed(choices)):
        found[:, position] = tokens[np.arange(count), node]
        node = targets[np.arange(count), node]
    return found


def through(region: LatticeRegion, costs: TokenCosts, lasts: FloatArray, ended: Bools) -> list[FloatArray]:
    """Return by position, question and column about the least sum of the prompts that have it there."""
    behind = _behind(region, costs, lasts, ended)
    lattice = region.lattice
    ahead = np.full((len(lasts), lattice.sizes[0]), np.inf)
    ahead[:, list(lattice.starts)] = 0.0
    tables: list[FloatArray] = []
    for position in range(lattice.length - 1):
        price = costs(position)
        found = np.full(price.shape, np.inf)
        after = np.full((len(lasts), lattice.sizes[position + 1]), np.inf)
        for source, target, columns in region.steps[position]:
            own = price[:, columns] + ahead[:, source, None]
            rest = own + behind[position + 1][:, target, None]
            found[:, columns] = np.minimum(found[:, columns], rest)
            after[:, target] = np.minimum(after[:, target], own.min(axis=1))
        tables.append(found)
        ahead = after
    return tables
