"""All prompts of one length as the paths of a small graph: nodes from which the same goes on are one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.proof.patterns.regions import PromptRegion
from circuitproof.proof.patterns.runs import Runs, Step, build_runs
from circuitproof.tasks.labelled import Label, Labelled

TokenMask: TypeAlias = npt.NDArray[np.bool_]
"""For each token of the vocabulary whether it is meant."""
Masks: TypeAlias = tuple[TokenMask | None, ...]
"""For each position the tokens that may stand there, or nothing where the lattice alone says it."""
_Way: TypeAlias = tuple[int, frozenset[int]]
"""A node of the next layer, and the atoms that lead to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """Steps from one node to one other, by any of some tokens."""

    source: int
    target: int
    tokens: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lattice:
    """The prompts of `length` tokens with some label, or with any: a layer per position, then the last token.

    Each prompt is just one path: a choice of ways, and of a token in each, and of a last token.
    """

    length: int
    vocabulary: int
    starts: tuple[int, ...]
    layers: tuple[tuple[Ways, ...], ...]
    """For each position but the last."""
    sizes: tuple[int, ...]
    """How many nodes each layer has, that of the last position included."""
    ends: npt.NDArray[np.bool_]
    """By node of the last layer and token: whether a prompt may end so."""

    @cached_property
    def free(self) -> Masks:
        return (None,) * self.length

    def last_tokens(self, masks: Masks) -> list[int]:
        """Return the tokens with which prompts end."""
        ahead = self._ahead(masks)[-1]
        found = self.ends[ahead].any(axis=0)
        return [int(token) for token in np.flatnonzero(_met(found, masks[-1]))]

    def count(self, masks: Masks) -> int:
        """Return how many prompts there are."""
        return sum(self._counts(masks)[0][start] for start in self.starts)

    def _counts(self, masks: Masks) -> list[list[int]]:
        """Return for each layer how many ways to the end its nodes have."""
        last = self.ends if masks[-1] is None else self.ends & masks[-1]
        found: list[list[int]] = [[int(count) for count in last.sum(axis=1)]]
        for position in reversed(range(self.length - 1)):
            here = [0] * self.sizes[position]
            for way in self.layers[position]:
                here[way.source] += len(allowed(way.tokens, masks[position])) * found[-1][way.target]
            found.append(here)
        return found[::-1]

    def draw(self, random: Random) -> tuple[int, ...]:
        """Return a prompt, each as likely as every other."""
        counts, prompt = self._counts(self.free), list[int]()
        node = random.choices(self.starts, [counts[0][start] for start in self.starts])[0]
        for position in range(self.length - 1):
            ways = [way for way in self.layers[position] if way.source == node]
            sizes = [len(way.tokens) * counts[position + 1][way.target] for way in ways]
            way = random.choices(ways, sizes)[0]
            prompt.append(int(random.choice(way.tokens)))
            node = way.target
        return (*prompt, int(random.choice(np.flatnonzero(self.ends[node]))))

    def prompts(self, masks: Masks) -> Iterator[tuple[int, ...]]:
        """Return every prompt."""
        for start in self.starts:
            yield from self._from(start, (), masks)

    def _from(self, node: int, begun: tuple[int, ...], masks: Masks) -> Iterator[tuple[int, ...]]:
        position = len(begun)
        if position == self.length - 1:
            found = np.flatnonzero(_met(self.ends[node], masks[-1]))
            yield from ((*begun, int(token)) for token in found)
            return
        for way in self.layers[position]:
            if way.source == node:
                for token in allowed(way.tokens, masks[position]):
                    yield from self._from(way.target, (*begun, int(token)), masks)

    def pairs(self, last: int, masks: Masks) -> npt.NDArray[np.bool_]:
        """Return by position and token whether some prompt that ends in a token has it there."""
        found = np.zeros((self.length, self.vocabulary), dtype=bool)
        found[-1, last] = True
        ahead = self._ahead(masks)
        alive = ahead[-1] & self.ends[:, last]
        for position in reversed(range(self.length - 1)):
            behind = np.zeros(self.sizes[position], dtype=bool)
            for way in self.layers[position]:
                if ahead[position][way.source] and alive[way.target]:
                    tokens = allowed(way.tokens, masks[position])
                    found[position, tokens] = True
                    behind[way.source] |= bool(len(tokens))
            alive = behind
        return found

    def _ahead(self, masks: Masks) -> list[npt.NDArray[np.bool_]]:
        """Return for each layer the nodes to which some beginning leads."""
        here = np.zeros(self.sizes[0], dtype=bool)
        here[list(self.starts)] = True
        found = [here]
        for position, ways in enumerate(self.layers):
            after = np.zeros(self.sizes[position + 1], dtype=bool)
            for way in ways:
                if found[-1][way.source] and len(allowed(way.tokens, masks[position])):
                    after[way.target] = True
            found.append(after)
        return found


def allowed(tokens: npt.NDArray[np.int64], mask: TokenMask | None) -> npt.NDArray[np.int64]:
    return tokens if mask is None else tokens[mask[tokens]]


def _met(found: TokenMask, mask: TokenMask | None) -> TokenMask:
    return found if mask is None else found & mask


def build_lattice(task: Labelled, label: Label | None, length: int) -> Lattice | None:
    """Return the lattice of the prompts of a label and a length; nothing if there are none."""
    runs = build_runs(task, PromptRegion(label, length), {})
    return None if runs is None else _Builder(runs, length, task.vocabulary).lattice()


class _Builder:
    """Joins the nodes of runs from the end on: those with the same ways on are one."""

    def __init__(self, runs: Runs, length: int, vocabulary: int) -> None:
        self.runs, self.length, self.vocabulary = runs, length, vocabulary
        self.atoms = [np.array(members, dtype=np.int64) for members in runs.machine.atoms]

    def lattice(self) -> Lattice:
        last: dict[frozenset[int], int] = {}
        number: dict[Any, int] = {
            node: last.setdefault(frozenset(step.atom for step in steps), len(last))
            for node, steps in self.runs.layers[self.length - 1].items()
        }
        ends = np.zeros((len(last), self.vocabulary), dtype=bool)
        for atoms, place in last.items():
            ends[place, self._tokens(atoms)] = True
        layers, sizes = list[tuple[Ways, ...]](), [len(last)]
        for position in reversed(range(self.length - 1)):
            known: dict[frozenset[_Way], int] = {}
            number = {
                node: known.setdefault(_ways(steps, number), len(known))
                for node, steps in self.runs.layers[position].items()
            }
            layers.append(tuple(self._joined(known)))
            sizes.append(len(known))
        starts = tuple(sorted({number[start] for start in self.runs.starts if start in number}))
        return Lattice(self.length, self.vocabulary, starts, tuple(layers[::-1]), tuple(sizes[::-1]), ends)

    def _joined(self, known: dict[frozenset[_Way], int]) -> Iterator[Ways]:
        tokens = dict[frozenset[int], npt.NDArray[np.int64]]()
        for ways, place in known.items():
            for target, atoms in sorted(ways, key=lambda way: way[0]):
                yield Ways(place, target, tokens.setdefault(atoms, self._tokens(atoms)))

    def _tokens(self, atoms: frozenset[int]) -> npt.NDArray[np.int64]:
        return np.sort(np.concatenate([self.atoms[atom] for atom in sorted(atoms)]))


def _ways(steps: Sequence[Step], number: dict[Any, int]) -> frozenset[_Way]:
    found: dict[int, set[int]] = {}
    for step in steps:
        if step.target is not None:
            found.setdefault(number[step.target], set()).add(step.atom)
    return frozenset((target, frozenset(atoms)) for target, atoms in found.items())
