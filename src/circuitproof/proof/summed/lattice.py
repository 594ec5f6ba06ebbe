"""All prompts of one length as the paths of a small graph: nodes from which the same goes on are one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.tasks.labelled import Label, Labelled
from circuitproof.tasks.labelling import LabelState

TokenMask: TypeAlias = npt.NDArray[np.bool_]
"""For each token of the vocabulary whether it is meant."""
TokenMasks: TypeAlias = tuple[TokenMask | None, ...]
"""For each position the tokens that may stand there, or nothing where the lattice alone says it."""
_GraphNode: TypeAlias = Any
"""The automaton's state, and what was seen of the label."""
_Way: TypeAlias = tuple[_GraphNode, frozenset[int]]
"""A node of the next layer, and the atoms that lead to it."""
_Numbered: TypeAlias = tuple[int, frozenset[int]]
"""The same, nodes being numbers."""
_MOST_STEPS = 4_000_000


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
    def free(self) -> TokenMasks:
        return (None,) * self.length

    def last_tokens(self, masks: TokenMasks) -> list[int]:
        """Return the tokens with which prompts end."""
        ahead = self._ahead(masks)[-1]
        found: TokenMask = np.asarray(self.ends[ahead].any(axis=0), dtype=bool)
        return [int(token) for token in np.flatnonzero(_met(found, masks[-1]))]

    def count(self, masks: TokenMasks) -> int:
        """Return how many prompts there are."""
        return sum(self._counts(masks)[0][start] for start in self.starts)

    def _counts(self, masks: TokenMasks) -> list[list[int]]:
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

    def prompts(self, masks: TokenMasks) -> Iterator[tuple[int, ...]]:
        """Return every prompt."""
        for start in self.starts:
            yield from self._from(start, (), masks)

    def _from(self, node: int, begun: tuple[int, ...], masks: TokenMasks) -> Iterator[tuple[int, ...]]:
        position = len(begun)
        if position == self.length - 1:
            found = np.flatnonzero(_met(self.ends[node], masks[-1]))
            yield from ((*begun, int(token)) for token in found)
            return
        for way in self.layers[position]:
            if way.source == node:
                for token in allowed(way.tokens, masks[position]):
                    yield from self._from(way.target, (*begun, int(token)), masks)

    def pairs(self, last: int, masks: TokenMasks) -> npt.NDArray[np.bool_]:
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

    def _ahead(self, masks: TokenMasks) -> list[npt.NDArray[np.bool_]]:
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


class PromptGraph:
    """All ways to begin a prompt of a pattern, from which the lattices of lengths and labels are cut."""

    def __init__(self, task: Labelled) -> None:
        self.task, self.machine = task, task.machine
        self._atoms = [np.array(members, dtype=np.int64) for members in self.machine.atoms]
        self._layers: list[dict[_GraphNode, tuple[_Way, ...]]] = []
        """By position, where the tokens of each node lead."""
        self._ends: list[dict[_GraphNode, tuple[tuple[Label | None, int], ...]]] = []
        """By position, for each node the labels of prompts that end there, and by which atoms."""
        self._steps = 0
        self._starts: tuple[_GraphNode, ...] = tuple(
            (self.machine.start, seen) for seen in task.labels_by.starts
        )

    def lattice(self, label: Label | None, length: int) -> Lattice | None:
        """Return the prompts of a label, or of any, and of a length; nothing if there are none."""
        self._reach(length)
        last = _Joined()
        number = {
            node: last.number(frozenset(atom for own, atom in found if label is None or own == label))
            for node, found in self._ends[length - 1].items()
        }
        ends = np.zeros((len(last.known), self.task.vocabulary), dtype=bool)
        for atoms, place in last.known.items():
            ends[place, self._tokens(atoms)] = True
        layers, sizes = list[tuple[Ways, ...]](), [len(last.known)]
        for position in reversed(range(length - 1)):
            joined = _Joined()
            number = {
                node: joined.number(_onward(ways, number)) for node, ways in self._layers[position].items()
            }
            layers.append(tuple(self._ways(joined.known)))
            sizes.append(len(joined.known))
        numbers = (number[node] for node in self._starts)
        starts = sorted({place for place in numbers if place is not None})
        if not starts:
            return None
        sized = (tuple(starts), tuple(layers[::-1]), tuple(sizes[::-1]))
        return Lattice(length, self.task.vocabulary, *sized, ends)

    def _reach(self, length: int) -> None:
        """Follow all beginnings up to a length."""
        while len(self._layers) < length:
            position = len(self._layers)
            nodes = self._starts
            if position:
                targets = (target for ways in self._layers[-1].values() for target, _ in ways)
                nodes = tuple(dict.fromkeys(targets))
            found = {node: self._from(node, position) for node in nodes}
            self._layers.append({node: ways for node, (ways, _) in found.items()})
            self._ends.append({node: ends for node, (_, ends) in found.items()})
            self._steps += len(nodes) * len(self._atoms)
            if self._steps > _MOST_STEPS:
                raise UnsettledError(Missing.STRUCTURE, f"more than {_MOST_STEPS} steps have to be followed")

    def _from(
        self, node: _GraphNode, position: int
    ) -> tuple[tuple[_Way, ...], tuple[tuple[Label, int], ...]]:
        (state, seen), labels = node, self.task.labels_by
        ways, ends = dict[_GraphNode, list[int]](), list[tuple[Label, int]]()
        for atom, members in enumerate(self.machine.atoms):
            target = self.machine.step(state, atom, position)
            after: LabelState = None if target is None else labels.see(seen, members[0])
            if target is None or after is None:
                continue
            ways.setdefault((target, after), []).append(atom)
            if self.machine.accepts(target) and labels.is_settled(after):
                label = labels.label(after)
                if label is not None:
                    ends.append((label, atom))
        return tuple((target, frozenset(atoms)) for target, atoms in ways.items()), tuple(ends)

    def _ways(self, known: Mapping[frozenset[_Numbered], int]) -> Iterator[Ways]:
        tokens = dict[frozenset[int], npt.NDArray[np.int64]]()
        for ways, place in known.items():
            for target, atoms in sorted(ways, key=lambda way: way[0]):
                if atoms not in tokens:
                    tokens[atoms] = self._tokens(atoms)
                yield Ways(place, target, tokens[atoms])

    def _tokens(self, atoms: frozenset[int]) -> npt.NDArray[np.int64]:
        return np.sort(np.concatenate([self._atoms[atom] for atom in sorted(atoms)]))


@dataclass(slots=True)
class _Joined:
    """Numbers for what goes on from nodes: those from which the same does are one, and dead ends none."""

    known: dict[Any, int] = field(default_factory=dict[Any, int])

    def number(self, onward: frozenset[Any]) -> int | None:
        return self.known.setdefault(onward, len(self.known)) if onward else None


def _onward(ways: Sequence[_Way], number: Mapping[_GraphNode, int | None]) -> frozenset[_Numbered]:
    """Return the numbers of the nodes to which ways lead, each with all atoms that do."""
    found: dict[int, frozenset[int]] = {}
    for target, atoms in ways:
        if (place := number[target]) is not None:
            found[place] = found[place] | atoms if place in found else atoms
    return frozenset(found.items())
