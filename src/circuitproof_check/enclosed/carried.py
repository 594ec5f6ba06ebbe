"""What cut edges carry in enclosed numbers: means over prompts, or what a node puts out on a partner."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof_check.ablation import Prompt
from circuitproof_check.architecture import EMBED, Node, logits_node
from circuitproof_check.circuits import Circuit, NeededPositions
from circuitproof_check.work import NUMBER, OBJECT, paid, spend
from circuitproof_check.work import key as bytes_of

from . import rows
from .parameters import Parameters
from .places import Places, PromptEntry, Spot, Store, Wanted
from .rows import RowBall
from .run import EnclosedRun

MeanOf = tuple[Node, int, int]
"""A node, with the length of prompts and the position where its mean is taken; 0, 0 of all of them."""
TOGETHER = 1 << 20
"""About so many numbers are computed before the next prompts are begun."""


@dataclass(slots=True)
class _Sum:
    """What rows of a mean add up to."""

    numbers: list[int]
    radius: int = 0
    count: int = 0


def size_of_row(width: int) -> int:
    """Return how many numbers take as much memory as a row does, with its name."""
    return width + 16


def parts(circuit: Circuit, wanted: Sequence[Wanted], width: int) -> list[list[Wanted]]:
    """Return what is wanted in parts that are computed one after the other."""
    most = max(1, TOGETHER // (size_of_row(width) * (1 + len(circuit.order))))
    found: list[list[Wanted]] = []
    count = 0
    for one in paid(wanted, NUMBER):
        if not found or count + len(one[0]) > most:
            found.append([])
            count = 0
        found[-1].append(one)
        count += len(one[0])
    return found


class Carried:
    """Computes and keeps what the whole model puts out where something of it stands at cut edges."""

    def __init__(self, parameters: Parameters, places: Places) -> None:
        self._parameters, self._places = parameters, places
        self._forward, self._size = parameters.forward, parameters.size
        self._ablation = parameters.forward.claim.ablation
        self._means: dict[MeanOf, RowBall] = {}
        self._partners: Store = {}

    def carry(self, circuit: Circuit, entries: Sequence[PromptEntry]) -> None:
        """Compute what cut edges of a circuit carry wherever that is read."""
        spend(NUMBER * len(circuit.cut))
        if not any(circuit.cut.values()):
            return
        means: set[MeanOf] = set()
        partners: dict[int, Wanted] = {}
        for entry in paid(entries, NUMBER):
            asked = self._read(circuit, entry)
            if self._ablation.kind == "mean":
                means |= {self._mean_of(source, len(entry.prompt), place) for source, place in asked}
            else:
                self._want(partners, self._ablation.partners[bytes_of(entry.prompt)], asked)
        if missing := means - self._means.keys():
            self._take_means(missing)
        if len(self._partners) * size_of_row(self._size.width) > 2 * TOGETHER:
            self._partners = {}
        if partners:
            model = self._forward.model
            found = [self._places.entry(model, one, self._partners) for one in partners.values()]
            EnclosedRun(self._parameters, model, found, self.substitute).compute(self._partners)

    def _read(self, circuit: Circuit, entry: PromptEntry) -> list[tuple[Node, int]]:
        """Return the nodes and positions in whose place something is read."""
        found: list[tuple[Node, int]] = []
        for node in (logits_node(self._size), *paid(circuit.order, NUMBER)):
            for port, places in entry.reading.inputs(node, entry.needs.get(node, set())):
                spend(NUMBER + NUMBER * len(circuit.cut[port]) * len(places))
                found += [(source, place) for source in circuit.cut[port] for place in places]
        return found

    def _want(self, partners: dict[int, Wanted], prompt: Prompt, asked: Sequence[tuple[Node, int]]) -> None:
        needs = partners.setdefault(self._forward.number(prompt), (prompt, {}))[1]
        for source, place in paid(asked, NUMBER):
            if source != EMBED:
                needs.setdefault(source, set()).add(place)

    def _mean_of(self, source: Node, length: int, position: int) -> MeanOf:
        return (source, 0, 0) if self._ablation.is_pooled else (source, length, position)

    def _take_means(self, missing: set[MeanOf]) -> None:
        """Compute means, adding up the listed prompts some at a time."""
        width, model = self._size.width, self._forward.model
        sums = {mean: _Sum([0] * width) for mean in paid(missing, OBJECT + width)}
        asked: dict[int, list[tuple[Node, int]]] = {}
        for source, length, position in paid(missing, NUMBER):
            asked.setdefault(length, []).append((source, position))
        prompts = [one for one in paid(self._ablation.prompts, NUMBER) if asked.keys() & {0, len(one)}]
        for part in parts(model, [(prompt, {}) for prompt in paid(prompts, OBJECT)], width):
            needs = [self._averaged(prompt, asked) for prompt, _ in part]
            pairs = zip(part, needs, strict=True)
            inner = [(p, {n: found for n, found in one.items() if n != EMBED}) for (p, _), one in pairs]
            entries = [self._places.entry(model, one, {}) for one in inner]
            run = EnclosedRun(self._parameters, model, entries, self.substitute).compute({})
            for entry, one in zip(entries, needs, strict=True):
                self._add(sums, run, entry, one)
        for mean, found in sums.items():
            spend(NUMBER * width)
            radius = rows.ceiling(found.radius, found.count) + rows.root_above(width)
            self._means[mean] = RowBall(tuple(one // found.count for one in found.numbers), radius)

    def _averaged(self, prompt: Prompt, asked: dict[int, list[tuple[Node, int]]]) -> NeededPositions:
        """Return what means need of a listed prompt, by what is asked of prompts of a length, or of all."""
        needs: NeededPositions = {}
        for source, position in paid(asked.get(len(prompt), []), OBJECT):
            needs.setdefault(source, set()).add(position)
        for source, _ in paid(asked.get(0, []), OBJECT + NUMBER * len(prompt)):
            needs[source] = set(range(len(prompt)))
        return needs

    def _add(
        self, sums: dict[MeanOf, _Sum], run: EnclosedRun, entry: PromptEntry, needs: NeededPositions
    ) -> None:
        for source, positions in needs.items():
            for position in positions:
                spend(2 * NUMBER * self._size.width)
                row = run.output(source, Spot(entry, position))
                found = sums[self._mean_of(source, len(entry.prompt), position)]
                found.numbers = [a + b for a, b in zip(found.numbers, row.midpoints, strict=True)]
                found.radius += row.radius
                found.count += 1

    def substitute(self, source: Node, spot: Spot) -> RowBall:
        """Return what a cut edge from a node carries, which has been computed."""
        if spot.entry.twin is None:
            return self._means[self._mean_of(source, len(spot.entry.prompt), spot.position)]
        twin, number = Spot(spot.entry.twin, spot.position), self._forward.model.numbers[source]
        found = self._parameters.embedded(twin) if source == EMBED else self._partners[number, twin.place]
        return RowBall(found.midpoints, found.radius + rows.root_above(self._size.width))
