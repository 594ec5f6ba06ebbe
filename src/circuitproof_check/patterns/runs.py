"""The prompts of a region as the paths of a graph: a layer per position, a step per atom and guess."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from circuitproof_check.claim import Head
from circuitproof_check.exact import key_of
from circuitproof_check.programs import Program
from circuitproof_check.rules import Label
from circuitproof_check.task import DeclaredPattern
from circuitproof_check.work import NUMBER, OBJECT, STEP, paid, spend
from circuitproof_check.work import weight as weight_of

from .rows import KeyToken, QueryFacts, every_choice, make_row, token_tests
from .shapes import TokenClass, divided

RunPlace = Any
"""The pattern's state, what the rules know, the states of rows, the keys of their sums, and who has a key."""
RunNode = int
"""The number of a place at a position."""
_STEP = 200
"""Operations for a step of a graph, which is kept."""


@dataclass(frozen=True, slots=True)
class PromptRegion:
    """The prompts that answer questions so: label, length, tokens at positions, sums and keys of rows."""

    label: Label | None = None
    length: int | None = None
    tokens: tuple[tuple[int, TokenClass], ...] = ()
    sums: tuple[tuple[Head, bytes], ...] = ()
    """Heads with the keys of the sums of their weights."""
    keys: tuple[tuple[Head, int, int], ...] = ()

    def and_token(self, position: int, tokens: TokenClass) -> "PromptRegion":
        """Return the part with a token of a class at a position."""
        return replace(self, tokens=(*self.tokens, (position, tokens)))

    @property
    def heads(self) -> tuple[Head, ...]:
        """Return the heads of whose rows the region tells."""
        return tuple(dict.fromkeys([*(head for head, _ in self.sums), *(head for head, *_ in self.keys)]))


class Step(NamedTuple):
    """An atom, its weight as a key of each head, and the next node, or at the end the label."""

    atom: int
    weights: tuple[Fraction, ...]
    target: RunNode
    label: Label | None
    is_last: bool


Pair = tuple[Fraction | int, Fraction | int]
"""The cost of a path, and its mass."""
Cost = Callable[[int, Step], Fraction | int | None]
"""What a step at a position costs; None forbids it."""


class World:
    """What is the same for all regions of a claim."""

    def __init__(self, declared: DeclaredPattern, vocabulary: int, programs: Mapping[Head, Program]) -> None:
        self.pattern, self.programs = declared.pattern, programs
        self.rules = declared.rules
        self._vocabulary = vocabulary
        self._atoms: dict[tuple[tuple[Head, ...], tuple[TokenClass, ...]], list[tuple[int, ...]]] = {}

    def holds(self, prompt: tuple[int, ...]) -> bool:
        """Say whether a prompt is one of the pattern."""
        state = self.pattern.start() if 1 <= len(prompt) <= self.pattern.longest else None
        for position, token in enumerate(prompt):
            state = None if state is None else self.pattern.step(state, token, position)
        return state is not None and self.pattern.ends(state)

    def atoms(self, region: "PromptRegion", heads: tuple[Head, ...]) -> list[tuple[int, ...]]:
        """Return the vocabulary in parts of whose tokens everything that is asked says the same."""
        told = tuple(dict.fromkeys(tokens for _, tokens in region.tokens))
        return self._divided(tuple(sorted(set(heads))), told)

    def _divided(self, heads: tuple[Head, ...], told: tuple[TokenClass, ...]) -> list[tuple[int, ...]]:
        spend(NUMBER * (1 + len(heads)))
        if (heads, ()) not in self._atoms:
            parts = self._divided((), ()) if heads else self._told_apart()
            for head in heads:
                for test in token_tests(self.programs[head]):
                    parts = divided(parts, test)
            self._atoms[heads, ()] = parts
        known = len(told)
        while (heads, told[:known]) not in self._atoms:
            spend(NUMBER + known)
            known -= 1
        for place in range(known, len(told)):
            parts = divided(self._atoms[heads, told[:place]], told[place].__contains__)
            self._atoms[heads, told[: place + 1]] = parts
        return self._atoms[heads, told]

    def _told_apart(self) -> list[tuple[int, ...]]:
        """Return the vocabulary in parts that pattern and rules do not divide."""
        spend(STEP * self._vocabulary)
        told = self.rules.parts()
        listed = {token for part in told for token in part}
        others = tuple(token for token in range(self._vocabulary) if token not in listed)
        parts = [*told, *([others] if others else [])]
        for one in dict.fromkeys(self.pattern.classes()):
            parts = divided(parts, one.__contains__)
        return parts


class Runs:
    """The graph of a region in which the rows of some heads are followed."""

    def __init__(
        self, world: World, region: PromptRegion, heads: tuple[Head, ...], told: tuple[Head, ...] = ()
    ) -> None:
        """Make the graph; the atoms also respect what the programs of the heads `told` name."""
        self.world, self.region, self.heads = world, region, heads
        self.atoms = world.atoms(region, (*heads, *told))
        spend(4 * len(region.tokens) ** 2 * len(self.atoms))
        self._allowed = {
            position: [
                place
                for place, members in enumerate(self.atoms)
                if all(members[0] in one for where, one in region.tokens if where == position)
            ]
            for position, _ in region.tokens
        }
        self._last = max(self._allowed, default=0)
        self._longest = region.length or world.pattern.longest
        query = self._query()
        self.rows = [make_row(world.programs[head], query) for head in heads]
        self._sums = [(heads.index(head), total) for head, total in region.sums]
        self._keys = [(heads.index(head), first, last) for head, first, last in region.keys]
        self._totals: dict[bytes, Fraction] = {key_of(Fraction(0)): Fraction(0)}
        places = self._starts()
        self.starts: list[RunNode] = list(range(len(places)))
        self.layers = self._pruned(self._layers(places))

    def _starts(self) -> list[RunPlace]:
        """Return the places before the first token."""
        begun = (key_of(Fraction(0)),) * len(self._sums) + (False,) * len(self._keys)
        first, rows = self.world.pattern.start(), [tuple(row.starts()) for row in self.rows]
        chosen = every_choice([self.world.rules.starts(), *rows])
        return [(first, known, tuple(states), begun) for known, *states in chosen]

    def steps(self) -> Iterator[tuple[int, Step]]:
        """Return every step with its position."""
        for position, layer in enumerate(self.layers):
            for steps in paid(layer).values():
                yield from ((position, step) for step in paid(steps))

    def count(self) -> int:
        """Return how many prompts there are."""
        ways: dict[RunNode, int] = dict.fromkeys(paid(self.starts, NUMBER), 1)
        total = 0
        for layer in self.layers:
            after: dict[RunNode, int] = {}
            for node, steps in layer.items():
                for step in paid(steps, NUMBER + ways.get(node, 0).bit_length() // 50):
                    number = ways.get(node, 0) * len(self.atoms[step.atom])
                    if step.is_last:
                        total += number
                    else:
                        after[step.target] = after.get(step.target, 0) + number
            ways = after
        return total

    def least(self, cost: Cost, mass: Callable[[Step], Fraction] | None = None) -> Pair | None:
        """Return the least cost of a path, of those with mass if one is asked for, and its mass."""
        starts = paid(self.starts, OBJECT)
        best: dict[tuple[RunNode, bool], Pair] = {(start, mass is None): (0, 0) for start in starts}
        ends: list[Pair] = []
        for position, layer in enumerate(self.layers):
            after: dict[tuple[RunNode, bool], Pair] = {}
            for node, steps in layer.items():
                for step in paid(steps):
                    price = cost(position, step)
                    weight = Fraction(0) if mass is None else mass(step)
                    for flag in (False, True) if price is not None else ():
                        if (node, flag) in best:
                            old, heavy = best[node, flag]
                            spend(OBJECT + weight_of(_bits(old) + _bits(heavy) + _bits(price or 0)))
                            found, key = (
                                (old + (price or 0), heavy + weight),
                                (step.target, flag or weight > 0),
                            )
                            if step.is_last:
                                ends += [found] if key[1] else []
                            elif key not in after or found < after[key]:
                                after[key] = found
            best = after
        return min(ends, default=None)

    def _layers(self, places: list[RunPlace]) -> list[dict[RunNode, list[Step]]]:
        """Return the steps by position and node; equal places that are reached are one node."""
        layers: list[dict[RunNode, list[Step]]] = []
        for position in range(self._longest):
            after: dict[RunPlace, RunNode] = {}
            layers.append(
                {node: list(self._from(place, position, after)) for node, place in enumerate(paid(places))}
            )
            places = list(after)
        return layers

    def _from(self, place: RunPlace, position: int, after_it: dict[RunPlace, RunNode]) -> Iterator[Step]:
        """Return the steps from a place; what they lead to is numbered."""
        pattern, rules = self.world.pattern, self.world.rules
        state, seen, rows, told = place
        for atom in self._allowed.get(position, range(len(self.atoms))):
            spend(_STEP)
            token = self.atoms[atom][0]
            after, label = pattern.step(state, token, position), rules.see(seen, token)
            wanted = self.region.label
            if after is None or (wanted is not None and rules.contradicts(label, wanted)):
                continue
            if position + 1 < self._longest:
                key = KeyToken(atom, token, position, is_last=False)
                for weights, states, tells in self._read(rows, told, key):
                    target = after_it.setdefault((after, label, states, tells), len(after_it))
                    yield Step(atom, weights, target, None, is_last=False)
            may_end = pattern.ends(after) and self._may_end(position) and rules.is_guessed(label)
            found = rules.label(label) if may_end else None
            if may_end and wanted in (None, found):
                key = KeyToken(atom, token, position, is_last=True)
                for weights, states, tells in self._read(rows, told, key):
                    if self._is_told(tells, states):
                        yield Step(atom, weights, 0, found, is_last=True)

    def _read(self, rows: Any, told: Any, key: KeyToken) -> Iterator[tuple[Any, Any, Any]]:  # noqa: ANN401  # numbers in tuples
        options = [tuple(row.step(state, key)) for row, state in zip(self.rows, rows, strict=True)]
        for chosen in every_choice(options):
            spend(_STEP + NUMBER * len(told))
            weights = tuple(weight for weight, _ in chosen)
            if all(first <= key.position <= last for head, first, last in self._keys if weights[head]):
                sums = [
                    self._add(old, head, weights) for (head, _), old in zip(self._sums, told, strict=False)
                ]
                keys = zip(self._keys, told[len(sums) :], strict=True)
                has_key = [old or weights[head] > 0 for (head, _, _), old in keys]
                yield weights, tuple(after for _, after in chosen), (*sums, *has_key)

    def _add(self, old: bytes, head: int, weights: tuple[Fraction, ...]) -> bytes:
        """Return the key of a sum with a weight added."""
        spend(self.rows[head].cost)
        total = self._totals[old] + weights[head]
        name = key_of(total)
        self._totals[name] = total
        return name

    def _may_end(self, position: int) -> bool:
        is_length = self.region.length in (None, position + 1)
        return is_length and position >= self._last

    def _is_told(self, tells: Any, states: Any) -> bool:  # noqa: ANN401  # the same
        wanted = (*(total for _, total in self._sums), *(True for _ in self._keys))
        return tells == wanted and all(row.ends(one) for row, one in zip(self.rows, states, strict=True))

    def _query(self) -> QueryFacts:
        length = self.region.length
        places = range(len(self.atoms)) if length is None else self._allowed.get(length - 1)
        chosen = paid(tuple(range(len(self.atoms)) if places is None else places), NUMBER)
        is_single = len(chosen) == 1 and len(self.atoms[chosen[0]]) == 1
        tokens = tuple(self.atoms[place][0] for place in chosen)
        return QueryFacts(length, frozenset(chosen), tokens, is_single, self.world.pattern.longest)

    def _pruned(self, layers: list[dict[RunNode, list[Step]]]) -> list[dict[RunNode, list[Step]]]:
        """Return the layers without steps that lead to no end."""
        alive: set[RunNode] = set()
        for position in reversed(range(len(layers))):
            kept = {
                n: [s for s in paid(steps) if s.is_last or s.target in alive]
                for n, steps in layers[position].items()
            }
            layers[position] = {node: steps for node, steps in kept.items() if steps}
            alive = set(layers[position])
        return layers


def _bits(number: Fraction | int) -> int:
    return number.numerator.bit_length() + number.denominator.bit_length()
