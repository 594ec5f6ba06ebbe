"""Which positions can matter: where every row is followed back from the logits, whatever the tokens are.

Rows of a program that look at no token, or find the same answer for every token that a region allows, read
fixed positions. Then the logits are a function of the tokens at a few positions, and prompts that agree there
need to be looked at once. This holds for any circuit, with norms and neural heads too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Head, Node
from circuitproof.programs.atoms import Condition
from circuitproof.programs.syntax import AllOf, AnyOf, Not, Program, walk
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.proof.patterns.rows import KeyToken, KnownQuery, row_machine
from circuitproof.proof.patterns.runs import RunNode, Runs
from circuitproof.tasks.domain import Prompt


@dataclass(slots=True)
class Relevance:
    """A circuit on the prompts of one length; `standing` has the atoms that may stand at each position."""

    circuit: Circuit
    programs: Mapping[Head, Program]
    runs: Runs
    standing: tuple[tuple[int, ...], ...] = field(init=False)
    _known: dict[tuple[Node, int], frozenset[int]] = field(
        default_factory=dict[tuple[Node, int], frozenset[int]]
    )

    def __post_init__(self) -> None:
        found: list[set[int]] = [set() for _ in self.runs.layers]
        for position, step in self.runs.steps():
            found[position].add(step.atom)
        self.standing = tuple(tuple(sorted(one)) for one in found)

    def positions(self) -> frozenset[int]:
        """Return the positions whose token can change the logits."""
        return self._read_by(LOGITS, len(self.standing) - 1)

    def _read_by(self, node: Node, position: int) -> frozenset[int]:
        """Return the positions on which the input of a node depends."""
        sources = self.circuit.sources(node)
        return frozenset[int]().union(*(self._output(source, position) for source in sources))

    def _output(self, node: Node, position: int) -> frozenset[int]:
        if node == EMBED:
            return frozenset({position})
        if (node, position) not in self._known:
            found = self._read_by(node, position)
            if isinstance(node, Head):
                tokens, keys = self._row(node, position)
                found = tokens.union(*(self._read_by(node, key) for key in keys))
            self._known[node, position] = found
        return self._known[node, position]

    def _row(self, head: Head, query: int) -> tuple[frozenset[int], list[int]]:
        """Return the positions whose token a row depends on, and the keys that it may attend to."""
        every = list(range(query + 1))
        if head not in self.programs:
            return frozenset(), every
        if not _is_local(self.programs[head]):
            return frozenset(every), every
        weights = [self._weights(head, query, key) for key in every]
        tokens = frozenset(one for key in every if len(weights[key]) > 1 for one in (key, query))
        keys = [key for key in every if weights[key] != {0}]
        may_be_empty = all(0 in found for found in weights)
        return tokens, [*keys, query] if may_be_empty else keys

    def _weights(self, head: Head, query: int, key: int) -> set[int]:
        """Return the weights that a key may have, over the tokens that may stand at it and at the query."""
        found: set[int] = set()
        for last in self.standing[query]:
            token = self.runs.machine.atoms[last][0]
            told = KnownQuery(head, query + 1, (last,), (token,), is_single=True)
            row = row_machine(self.programs[head], told)
            for atom in (last,) if key == query else self.standing[key]:
                read = KeyToken(atom, self.runs.machine.atoms[atom][0], key, is_last=key == query)
                found |= {weight for start in row.starts for weight, _ in row.step(start, read)}
        return found


def projections(runs: Runs, positions: frozenset[int], most: int) -> list[Prompt]:
    """Return a prompt for each choice of tokens at some positions that prompts of a region make."""
    layer: dict[RunNode, dict[Prompt, Prompt]] = {start: {(): ()} for start in runs.starts}
    ends: dict[Prompt, Prompt] = {}
    for position, steps_of in enumerate(runs.layers):
        after: dict[RunNode, dict[Prompt, Prompt]] = {}
        for node, steps in steps_of.items():
            for step in steps:
                members = runs.machine.atoms[step.atom]
                into = ends if step.target is None else after.setdefault(step.target, {})
                for chosen, prompt in layer.get(node, {}).items():
                    for token in members if position in positions else members[:1]:
                        kept = (*chosen, token) if position in positions else chosen
                        into.setdefault(kept, (*prompt, token))
                if len(into) > most:
                    reason = f"more than {most} choices of tokens at {len(positions)} positions matter"
                    raise UnsettledError(Missing.STRUCTURE, reason)
        layer = after
    return list(ends.values())


def _is_local(program: Program) -> bool:
    """Say whether rules look at single pairs of tokens, and not at whether they are the same."""
    parts = [part for rule in program.rules for condition in rule.conditions for part in walk(condition)]
    single = [part for part in parts if not isinstance(part, Not | AllOf | AnyOf)]
    return all(isinstance(part, Condition) and part.feature.words is not None for part in single)
