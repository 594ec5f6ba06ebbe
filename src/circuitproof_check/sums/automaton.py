"""What a pattern allows next and what the rules know, as one automaton, and graphs of its prompts."""

from dataclasses import dataclass, field

from circuitproof_check.patterns.runs import PromptRegion, World
from circuitproof_check.patterns.shapes import State
from circuitproof_check.rules import Label
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

from .graphs import Edges, Graph, Layer

_MADE = 100
"""Operations to keep what pattern or rules say of a token, beside what they pay for."""
Known = tuple[int, ...]
"""What the rules know of some tokens."""
Place = tuple[int, State, Known]
"""How many tokens were read, where that matters, the pattern's state, and what is known."""
Moves = dict[int, tuple[int, ...]]
"""By the node that they lead to, the atoms that do."""


class LostPromptsError(Exception):
    """The checker contradicts itself about which prompts there are."""


@dataclass(frozen=True, slots=True)
class _Level:
    """What is left to come: for each node from which it can, a class, and the edges of each class."""

    classes: dict[int, int]
    edges: list[Edges]


@dataclass(slots=True)
class _Nodes:
    """Numbered places with their moves."""

    numbers: dict[Place, int] = field(default_factory=dict[Place, int])
    moves: list[Moves] = field(default_factory=list[Moves])
    into: list[set[int]] = field(default_factory=list[set[int]])
    """From which nodes each is reached."""

    def number(self, place: Place) -> int:
        spend(NUMBER)
        if place not in self.numbers:
            spend(OBJECT)
            self.numbers[place] = len(self.moves)
            self.moves.append({})
            self.into.append(set())
        return self.numbers[place]


class Automaton:
    """Reads the prompts of a pattern; asked for graphs of those with a label, or of all."""

    def __init__(self, world: World) -> None:
        self.atoms = world.atoms(PromptRegion(), ())
        self.longest = world.pattern.longest
        self._world, self._nodes = world, _Nodes()
        self._allowed: dict[tuple[int, State, int], State | None] = {}
        self._seen: dict[tuple[Known, int], Known] = {}
        self.is_labelled = True
        """Whether every prompt has a label."""
        self._starts = self._grow()
        self._ends = [self._end(place) for place in paid(self._nodes.numbers, OBJECT)]
        found = {label for label in paid(self._ends, NUMBER) if label is not None}
        self.labels: list[Label] = sorted(found)
        self._levels: dict[Label | None, list[_Level]] = {}
        self._graphs: dict[tuple[Label | None, int], Graph | None] = {}

    def graph(self, label: Label | None, length: int) -> Graph | None:
        """Return the prompts of so many tokens that have a label, or any, if there are some."""
        spend(NUMBER)
        if (label, length) not in self._graphs:
            self._graphs[label, length] = self._graph(label, length)
        return self._graphs[label, length]

    def _grow(self) -> list[int]:
        """Make every node that some tokens lead to; return where prompts begin."""
        first = self._world.pattern.start()
        places: list[Place] = [(0, first, known) for known in paid(self._world.rules.starts(), NUMBER)]
        starts = [self._nodes.number(place) for place in paid(places)]
        for position in range(self.longest):
            known = len(self._nodes.moves)
            for place in paid(places, NUMBER):
                self._follow(place, position)
            places = list(paid(self._nodes.numbers))[known:]
            if not places:
                break
        return starts

    def _follow(self, place: Place, position: int) -> None:
        """Make the moves from a place that was just numbered."""
        read, state, known = place
        here, nodes = self._nodes.numbers[place], self._nodes
        after = position + 1 if self._world.pattern.places else read
        found: dict[int, list[int]] = {}
        for atom in range(len(paid(self.atoms, NUMBER))):
            allowed = self._step(read, state, atom, position)
            if allowed is not None:
                target = nodes.number((after, allowed, self._see(known, atom)))
                found.setdefault(target, []).append(atom)
                nodes.into[target].add(here)
        nodes.moves[here] = {target: tuple(atoms) for target, atoms in paid(found, OBJECT).items()}

    def _step(self, read: int, state: State, atom: int, position: int) -> State | None:
        if (read, state, atom) not in self._allowed:
            spend(_MADE)
            token = self.atoms[atom][0]
            self._allowed[read, state, atom] = self._world.pattern.step(state, token, position)
        return self._allowed[read, state, atom]

    def _see(self, known: Known, atom: int) -> Known:
        if (known, atom) not in self._seen:
            spend(_MADE + len(known))
            self._seen[known, atom] = self._world.rules.see(known, self.atoms[atom][0])
        return self._seen[known, atom]

    def _end(self, place: Place) -> Label | None:
        """Return the label of the prompts that lead to a place; none if they are no prompts."""
        _, state, known = place
        is_prompt = self._world.pattern.ends(state) and self._world.rules.is_guessed(known)
        label = self._world.rules.label(known) if is_prompt else None
        self.is_labelled = self.is_labelled and (label is not None or not is_prompt)
        return label

    def _level(self, label: Label | None, left: int) -> _Level:
        """Return what is to come with so many tokens left."""
        levels = self._levels.setdefault(label, [])
        if not levels:
            ends = enumerate(paid(self._ends, NUMBER))
            last = [node for node, end in ends if end is not None and label in (None, end)]
            levels.append(_Level(dict.fromkeys(paid(last, NUMBER), 0), [{}]))
        while len(levels) <= left:
            levels.append(self._before(levels[-1]))
        return levels[left]

    def _before(self, level: _Level) -> _Level:
        """Return what is to come a token earlier: nodes with the same edges are of one class."""
        into, found = self._nodes.into, _Level({}, [])
        reaching: set[int] = set()
        for node in paid(level.classes, NUMBER):
            reaching.update(paid(into[node]))
        numbers: dict[tuple[tuple[int, tuple[int, ...]], ...], int] = {}
        for node in sorted(paid(reaching, NUMBER)):
            groups: dict[int, list[int]] = {}
            for target, atoms in paid(self._nodes.moves[node], NUMBER).items():
                if target in level.classes:
                    groups.setdefault(level.classes[target], []).extend(paid(atoms))
            name = tuple(
                sorted((group, tuple(sorted(atoms))) for group, atoms in paid(groups, OBJECT).items())
            )
            if name not in numbers:
                numbers[name] = len(numbers)
                found.edges.append({group: self._tokens(atoms) for group, atoms in name})
            found.classes[node] = numbers[name]
        return found

    def _tokens(self, atoms: tuple[int, ...]) -> tuple[int, ...]:
        tokens: list[int] = []
        for atom in paid(atoms, NUMBER):
            tokens += paid(self.atoms[atom])
        return tuple(tokens)

    def _graph(self, label: Label | None, length: int) -> Graph | None:
        first = self._level(label, length).classes
        starts = [first[node] for node in paid(self._starts, NUMBER) if node in first]
        layers: list[Layer] = []
        reached = set(starts)
        if len(reached) != len(starts):
            raise LostPromptsError("a prompt is read in two ways")
        for left in range(length, 0, -1):
            edges = self._level(label, left).edges
            layers.append({node: edges[node] for node in paid(reached, NUMBER)})
            reached = {target for node in reached for target in paid(edges[node])}
        return Graph(tuple(starts), tuple(layers)) if starts else None
