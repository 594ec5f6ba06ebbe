"""Cheapest paths through a lattice, many at once, in floats that are never above what they stand for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from circuitproof.proof.summed.lattice import Lattice, Masks, allowed
from circuitproof.proof.summed.tables import Bools, Floats

Costs: TypeAlias = Callable[[int], Floats]
"""For a position, what each token costs there: by row, one of many questions, and token."""


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The prompts of a lattice with tokens of some masks."""

    lattice: Lattice
    masks: Masks

    @property
    def size(self) -> int:
        return self.lattice.count(self.masks)


def down(numbers: Floats) -> Floats:
    """Return sums that were rounded once, from below."""
    return np.nextafter(numbers, -np.inf)


def leasts(region: Region, costs: Costs, lasts: Floats, ended: Bools) -> Floats:
    """Return for each question the least sum over prompts, from below; infinite where there is none.

    `lasts` says what the last token costs, `ended` which nodes of the last layer it may end at (by row).
    """
    behind = _behind(region, costs, lasts, ended)
    return np.min(behind[0][:, list(region.lattice.starts)], axis=1)


def _behind(region: Region, costs: Costs, lasts: Floats, ended: Bools) -> list[Floats]:
    """Return for each layer what is least from its nodes to the end."""
    lattice = region.lattice
    tables = [np.where(ended, lasts[:, None], np.inf)]
    for position in reversed(range(lattice.length - 1)):
        tables.append(np.full((len(lasts), lattice.sizes[position]), np.inf))
        for source, target, step in _steps(region, position, costs(position)):
            found = down(step.min(axis=1) + tables[-2][:, target])
            np.minimum(tables[-1][:, source], found, out=tables[-1][:, source])
    return tables[::-1]


def _steps(region: Region, position: int, costs: Floats) -> Iterator[tuple[int, int, Floats]]:
    """Return the ways at a position with what their tokens cost; ways of the same tokens share it."""
    known = dict[int, Floats]()
    for way in region.lattice.layers[position]:
        if id(way.tokens) not in known:
            known[id(way.tokens)] = costs[:, allowed(way.tokens, region.masks[position])]
        if known[id(way.tokens)].shape[1]:
            yield way.source, way.target, known[id(way.tokens)]


def path(region: Region, costs: Costs, last: float, ended: Bools, token: int) -> tuple[int, ...] | None:
    """Return a prompt whose sum is about the least, for a single question whose last token is given."""
    behind = _behind(region, costs, np.array([last]), ended)
    lattice = region.lattice
    node = min(lattice.starts, key=lambda start: behind[0][0, start])
    if np.isinf(behind[0][0, node]):
        return None
    prompt: list[int] = []
    for position in range(lattice.length - 1):
        best = (np.inf, 0, 0)
        for way in lattice.layers[position]:
            tokens = allowed(way.tokens, region.masks[position])
            if way.source == node and len(tokens):
                own = costs(position)[0, tokens]
                place = int(np.argmin(own))
                total = float(own[place] + behind[position + 1][0, way.target])
                best = min(best, (total, way.target, int(tokens[place])))
        _, node, chosen = best
        prompt.append(chosen)
    return (*prompt, token)


def through(region: Region, costs: Costs, lasts: Floats, ended: Bools) -> list[Floats]:
    """Return by position, question and token about the least sum of the prompts that have it there."""
    behind = _behind(region, costs, lasts, ended)
    lattice = region.lattice
    ahead = np.full((len(lasts), lattice.sizes[0]), np.inf)
    ahead[:, list(lattice.starts)] = 0.0
    tables: list[Floats] = []
    for position in range(lattice.length - 1):
        price = costs(position)
        found = np.full(price.shape, np.inf)
        after = np.full((len(lasts), lattice.sizes[position + 1]), np.inf)
        for way in lattice.layers[position]:
            tokens = allowed(way.tokens, region.masks[position])
            own = price[:, tokens] + ahead[:, way.source, None]
            rest = own + behind[position + 1][:, way.target, None]
            found[:, tokens] = np.minimum(found[:, tokens], rest)
            if len(tokens):
                after[:, way.target] = np.minimum(after[:, way.target], own.min(axis=1))
        tables.append(found)
        ahead = after
    return tables
