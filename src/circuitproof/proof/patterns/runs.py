"""All prompts of a region as the paths of one graph, with the weight of each key in each program's row.

A layer per position; a path from the start to an end is a choice of atoms, one per position, and each prompt
of the region is a choice of tokens in the atoms of just one path.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from circuitproof.circuits.graph import Head
from circuitproof.programs.syntax import Program
from circuitproof.proof.patterns.regions import Missing, PromptRegion, UnsettledError
from circuitproof.proof.patterns.rows import KeyToken, KnownQuery, classes_of, row_machine
from circuitproof.tasks.automaton import Automaton
from circuitproof.tasks.labelled import Labelled
from circuitproof.tasks.labelling import LabelState

RunNode: TypeAlias = Any
"""The automaton's state, how far the label is known, the states of the rows; their sums, and whether they
have a key, as far as the region tells of these."""
_MOST_STEPS = 2_000_000


class Step(NamedTuple):
    """A token of an atom, the weight it has as a key of each head, and where it leads: None is the end."""

    atom: int
    weights: tuple[int, ...]
    target: RunNode | None


@dataclass(frozen=True, slots=True)
class Runs:
    """The graph of a region, without dead ends."""

    machine: Automaton
    heads: tuple[Head, ...]
    scales: tuple[int, ...]
    """The weights of each head count units of one over this."""
    starts: tuple[RunNode, ...]
    layers: tuple[Mapping[RunNode, tuple[Step, ...]], ...]

    def steps(self) -> Iterator[tuple[int, Step]]:
        for position, layer in enumerate(self.layers):
            for steps in layer.values():
                yield from ((position, step) for step in steps)


def build_runs(
    task: Labelled, region: PromptRegion, programs: Mapping[Head, Program], told: Sequence[Program] = ()
) -> Runs | None:
    """Return the graph of a region; nothing if the region has no prompt.

    Rows are followed of `programs`; the atoms also respect what the programs `told` say of single tokens.
    """
    classes = [one for program in (*programs.values(), *told) for one in classes_of(program)]
    machine = task.machine_of((*classes, *(tokens for _, tokens in region.tokens)))
    builder = _Builder(task, region, machine, programs)
    layers = _without_dead_ends(builder.layers())
    if not any(start in layer for layer in layers[:1] for start in builder.starts):
        return None
    return Runs(machine, tuple(programs), tuple(row.scale for row in builder.rows), builder.starts, layers)


class _Builder:
    def __init__(
        self, task: Labelled, region: PromptRegion, machine: Automaton, programs: Mapping[Head, Program]
    ) -> None:
        self.region, self.machine, self.labels_by = region, machine, task.labels_by
        self.longest = region.length or task.pattern.longest
        self.tokens = _allowed(region, machine)
        self.rows = [row_machine(program, self._query(head)) for head, program in programs.items()]
        heads = list(programs)
        sums = [(heads.index(head), total) for head, total in region.sums]
        self.sums = {place: total * self.rows[place].scale for place, total in sums}
        self.keys = [(heads.index(head), first, last) for head, first, last in region.keys]
        nothing = (0,) * (len(self.sums) + len(self.keys))
        states = product(*(row.starts for row in self.rows))
        begun = product(task.labels_by.starts, states)
        self.starts = tuple((machine.start, seen, one, nothing) for seen, one in begun)

    def layers(self) -> list[dict[RunNode, list[Step]]]:
        """Return every step that can be reached, dead ends included."""
        layers: list[dict[RunNode, list[Step]]] = []
        nodes, total = dict.fromkeys(self.starts), 0
        for position in range(self.longest):
            layer = {node: list(self._steps(node, position, self.longest)) for node in nodes}
            layers.append(layer)
            total += sum(map(len, layer.values()))
            if total > _MOST_STEPS:
                raise UnsettledError(Missing.STRUCTURE, f"more than {_MOST_STEPS} steps have to be followed")
            targets = (step.target for steps in layer.values() for step in steps)
            nodes = {target: None for target in targets if target is not None}
        return layers

    def _steps(self, node: RunNode, position: int, longest: int) -> Iterator[Step]:
        state, seen, rows, sums = node
        for atom in self.tokens.get(position, range(len(self.machine.atoms))):
            target = self.machine.step(state, atom, position)
            token = self.machine.atoms[atom][0]
            after = self.labels_by.see(seen, token)
            if target is None or after is None or not self._suits(after):
                continue
            if position + 1 < longest:
                key = KeyToken(atom, token, position, is_last=False)
                for weights, then, totals in self._read(rows, sums, key):
                    yield Step(atom, weights, (target, after, then, totals))
            if self._may_end(position, longest) and self.machine.accepts(target) and self._has_label(after):
                key = KeyToken(atom, token, position, is_last=True)
                for weights, then, totals in self._read(rows, sums, key):
                    ends = all(row.ends(one) for row, one in zip(self.rows, then, strict=True))
                    if ends and totals == (*self.sums.values(), *(True for _ in self.keys)):
                        yield Step(atom, weights, None)

    def _read(
        self, rows: tuple[Any, ...], sums: tuple[int, ...], key: KeyToken
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...], tuple[Any, ...]]]:
        options = [row.step(state, key) for row, state in zip(self.rows, rows, strict=True)]
        for chosen in product(*options):
            weights = tuple(weight for weight, _ in chosen)
            totals = tuple(total + weights[place] for place, total in zip(self.sums, sums, strict=False))
            found = sums[len(self.sums) :]
            is_within = all(a <= most for a, most in zip(totals, self.sums.values(), strict=True))
            if is_within and all(a <= key.position <= b for place, a, b in self.keys if weights[place]):
                keys = zip(self.keys, found, strict=True)
                has = tuple(old or weights[place] > 0 for (place, _, _), old in keys)
                yield weights, tuple(after for _, after in chosen), (*totals, *has)

    def _may_end(self, position: int, longest: int) -> bool:
        is_length = self.region.length is None or position + 1 == longest
        return is_length and position >= max(self.tokens, default=0)

    def _suits(self, seen: LabelState) -> bool:
        return self.region.label is None or self.labels_by.may_become(seen, self.region.label)

    def _has_label(self, seen: LabelState) -> bool:
        label = self.labels_by.label(seen) if self.labels_by.is_settled(seen) else None
        return label is not None and self.region.label in (None, label)

    def _query(self, head: Head) -> KnownQuery:
        place = None if self.region.length is None else self.region.length - 1
        every = tuple(range(len(self.machine.atoms)))
        last = every if place is None else tuple(self.tokens.get(place, every))
        tokens = tuple(self.machine.atoms[atom][0] for atom in last)
        is_single = len(last) == 1 and self.machine.sizes[last[0]] == 1
        return KnownQuery(head, self.region.length, last, tokens, is_single)


def _allowed(region: PromptRegion, machine: Automaton) -> dict[int, list[int]]:
    """Return the atoms that may stand at the positions of which a region tells."""
    allowed: dict[int, list[int]] = {}
    for position, tokens in region.tokens:
        atoms = allowed.get(position, range(len(machine.atoms)))
        allowed[position] = [atom for atom in atoms if machine.atoms[atom][0] in tokens]
    return allowed


def _without_dead_ends(
    layers: list[dict[RunNode, list[Step]]],
) -> tuple[dict[RunNode, tuple[Step, ...]], ...]:
    kept: list[dict[RunNode, tuple[Step, ...]]] = []
    alive: set[RunNode | None] = {None}
    for layer in reversed(layers):
        good = {node: tuple(step for step in steps if step.target in alive) for node, steps in layer.items()}
        living = {node: steps for node, steps in good.items() if steps}
        kept.append(living)
        alive = {None, *living}
    kept.reverse()
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Path:
    """A path of least cost: the cost, and its steps."""

    cost: Fraction
    steps: tuple[Step, ...]


Cost: TypeAlias = Callable[[int, Step], Fraction | int | None]
"""What a step at a position costs; None forbids it."""


_Best: TypeAlias = dict[tuple[RunNode | None, bool], tuple[Fraction | int, Step | None, bool]]
"""By node and whether a wanted step is to come: the least cost, the step to take, the same behind it."""
_ENDED: _Best = {(None, False): (0, None, False)}


def cheapest(runs: Runs, cost: Cost, through: Callable[[Step], bool] | None = None) -> Path | None:
    """Return a path of least cost, of those with some step `through`; nothing if there is none."""
    tables: list[_Best] = []
    best = _ENDED
    for position in reversed(range(len(runs.layers))):
        best = _behind(runs, position, best, cost, through)
        tables.append(best)
    wanted = through is not None
    found = [(best[start, wanted][0], start) for start in runs.starts if (start, wanted) in best]
    if not found:
        return None
    total, node = min(found, key=lambda pair: pair[0])
    return Path(Fraction(total), _followed(tables[::-1], node, is_wanted=wanted))


def _behind(
    runs: Runs, position: int, below: _Best, cost: Cost, through: Callable[[Step], bool] | None
) -> _Best:
    """Return the least costs from the nodes of a layer to the end."""
    best: _Best = dict(_ENDED)
    for node, steps in runs.layers[position].items():
        for step in steps:
            price = cost(position, step)
            if price is None:
                continue
            is_through = through is not None and through(step)
            for rest in (False, True):
                if (step.target, rest) in below:
                    total, key = price + below[step.target, rest][0], (node, rest or is_through)
                    if key not in best or total < best[key][0]:
                        best[key] = (total, step, rest)
    return best


def _followed(tables: list[_Best], node: RunNode | None, *, is_wanted: bool) -> tuple[Step, ...]:
    steps: list[Step] = []
    while node is not None:
        _, step, is_wanted = tables[len(steps)][node, is_wanted]
        assert step is not None  # noqa: S101  # only the end has no step
        steps.append(step)
        node = step.target
    return tuple(steps)


def through(runs: Runs, cost: Callable[[int, Step], Fraction]) -> Iterator[tuple[int, Step, Fraction]]:
    """Return for each step the least cost of a path that takes it."""
    behind: list[_Best] = [_ENDED]
    for position in reversed(range(len(runs.layers))):
        behind.append(_behind(runs, position, behind[-1], cost, None))
    behind.reverse()
    ahead: dict[RunNode, Fraction] = dict.fromkeys(runs.starts, Fraction(0))
    for position, layer in enumerate(runs.layers):
        after: dict[RunNode, Fraction] = {}
        for node, steps in layer.items():
            for step in steps:
                total = ahead[node] + cost(position, step)
                yield position, step, total + behind[position + 1][step.target, False][0]
                if step.target is not None:
                    after[step.target] = min(total, after.get(step.target, total))
        ahead = after
