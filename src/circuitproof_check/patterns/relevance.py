"""Which positions can matter: every row is followed back from the logits, whatever the tokens are.

A row that finds the same weights for all tokens that a region allows reads fixed positions. Prompts of such
tokens that agree at the positions that matter have the same logits, in any circuit.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from circuitproof_check.architecture import EMBED, Edges, Node, logits_node
from circuitproof_check.claim import Claim
from circuitproof_check.exact import key_of
from circuitproof_check.programs import Program
from circuitproof_check.work import NUMBER, STEP, paid, spend

from .rows import KeyToken, QueryFacts, is_local, make_row
from .runs import Label, Runs

KeyChoice = tuple[Label | None, bytes]
"""The label of a prompt, and its tokens at the positions that matter, each in as many bytes."""
_TOKEN_BYTES = 3


class Relevance:
    """A circuit on the prompts of a region that are all of one length."""

    def __init__(self, claim: Claim, edges: Edges, runs: Runs) -> None:
        self._claim, self._runs = claim, runs
        self._sources: dict[Node, list[Node]] = {}
        for source, target in paid(edges, 2 * NUMBER):
            self._sources.setdefault(target, []).append(source)
        self._standing: list[set[int]] = [set() for _ in runs.layers]
        for position, step in runs.steps():
            self._standing[position].add(step.atom)
        self._known: dict[tuple[Node, int], frozenset[int]] = {}
        self._rows: dict[tuple[Node, int], tuple[frozenset[int], list[int]]] = {}
        self._atom = [0] * sum(map(len, runs.atoms))
        for place, members in enumerate(runs.atoms):
            for token in paid(members):
                self._atom[token] = place

    def positions(self) -> frozenset[int]:
        """Return the positions whose token can change the logits, node after node."""
        end, last = logits_node(self._claim.architecture), len(self._standing) - 1
        needed = self._needed(end, last)
        for node in sorted(paid(needed, NUMBER)):
            for position in paid(needed[node], NUMBER) if node != end else ():
                self._known[node, position] = self._output(node, position)
        return self._input(end, last)

    def _needed(self, end: Node, last: int) -> dict[Node, set[int]]:
        """Return the positions at which the output of each node is read."""
        needed: dict[Node, set[int]] = {end: {last}}
        for node in sorted(paid(self._sources, NUMBER), reverse=True):
            read = needed.get(node, set())
            if node.is_head:
                read = {key for position in paid(read) for key in paid(self._row(node, position)[1])}
            for source in self._sources[node] if read else ():
                spend(NUMBER + STEP * len(read))
                needed.setdefault(source, set()).update(read)
        return needed

    def allows(self, prompt: tuple[int, ...]) -> bool:
        """Say whether each token of a prompt stands where some prompt of the region has it."""
        pairs = zip(paid(prompt), self._standing, strict=True)
        return all(self._atom[token] in atoms for token, atoms in pairs)

    def _input(self, node: Node, position: int) -> frozenset[int]:
        return _union(self._known[source, position] for source in self._sources.get(node, []))

    def _output(self, node: Node, position: int) -> frozenset[int]:
        if node == EMBED:
            return frozenset({position})
        if not node.is_head:
            return self._input(node, position)
        tokens, keys = self._row(node, position)
        return tokens | _union(self._input(node, key) for key in keys)

    def _row(self, node: Node, query: int) -> tuple[frozenset[int], list[int]]:
        """Return the positions whose token a program looks at, and the keys that a row may read."""
        if (node, query) not in self._rows:
            self._rows[node, query] = self._found_row(node, query)
        return self._rows[node, query]

    def _found_row(self, node: Node, query: int) -> tuple[frozenset[int], list[int]]:
        spend(NUMBER * (query + 1))
        every, program = list(range(query + 1)), self._claim.programs.get((node.layer, node.head))
        if program is None:
            return frozenset(), every
        if not is_local(program):
            return frozenset(every), every
        weights, nothing = [set(self._weights(program, query, key)) for key in every], key_of(Fraction(0))
        tokens = [key for key in every if len(weights[key]) > 1]
        keys = [key for key in every if weights[key] != {nothing}]
        is_self = program.is_self and all(nothing in found for found in weights)
        return frozenset([*tokens, query] if tokens else []), [*keys, query] if is_self else keys

    def _weights(self, program: Program, query: int, key: int) -> Iterator[bytes]:
        """Return the weights of a key, as keys, for all tokens that may stand at it and at the query."""
        for last in self._standing[query]:
            token = self._runs.atoms[last][0]
            asked = QueryFacts(query + 1, frozenset({last}), (token,), is_single=True, longest=query + 1)
            row = make_row(program, asked)
            for atom in [last] if key == query else self._standing[key]:
                read = KeyToken(atom, self._runs.atoms[atom][0], key, is_last=key == query)
                yield from (key_of(weight) for start in row.starts() for weight, _ in row.step(start, read))


def _union(parts: Iterable[frozenset[int]]) -> frozenset[int]:
    found = list(parts)
    spend(sum(NUMBER + STEP * len(part) for part in found))
    return frozenset[int]().union(*found)


def token_key(token: int) -> bytes:
    """Return what stands for a token in a choice: vocabularies have up to 2^21 of them."""
    return token.to_bytes(_TOKEN_BYTES, "little")


def choices(runs: Runs, positions: frozenset[int]) -> set[KeyChoice]:
    """Return the choices of tokens at some positions that prompts of a region make, with their labels."""
    reached: dict[object, set[bytes]] = {start: {b""} for start in paid(runs.starts, NUMBER)}
    ends: set[KeyChoice] = set()
    for position, layer in enumerate(runs.layers):
        after: dict[object, set[bytes]] = {}
        for node, steps in layer.items():
            for step in steps:
                found = reached.get(node, set())
                spend(NUMBER * (1 + len(found)))
                if position in positions:
                    spend((2 * NUMBER + position) * len(found) * len(runs.atoms[step.atom]))
                    read = [token_key(token) for token in runs.atoms[step.atom]]
                    found = {old + token for old in found for token in read}
                if step.is_last:
                    ends |= {(step.label, chosen) for chosen in found}
                else:
                    after.setdefault(step.target, set()).update(found)
        reached = after
    return ends
