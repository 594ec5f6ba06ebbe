"""Functions of a token and its position: what it contributes to the candidates' logits, computed once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from circuitproof.circuits.graph import LOGITS, Head
from circuitproof.errors import DeclarationError
from circuitproof.forward.binding import Binding
from circuitproof.forward.cells import Cells, InputPart, TokenPart, embedding_of
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.patterns.deferred import Deferred
from circuitproof.proof.patterns.outline import HERE, Coordinate, Outline, SourceGroup
from circuitproof.proof.patterns.regions import Missing, UnsettledError

TokenAtPosition: TypeAlias = tuple[int, int]
"""A token and its position."""
TablePlace: TypeAlias = tuple[TokenAtPosition | None, TokenAtPosition | None]
Contribution: TypeAlias = tuple[Fraction, ...]
"""A part of each candidate's logit."""
_MOST_PAIRS = 400_000
_CHUNK = 1 << 20
"""How many numbers of one stage are held at a time."""
_LARGE_CHUNK = 1 << 23
"""The same where they are numbers of the machine."""


class PairBinding(Binding[TablePlace]):
    """A place is a pair for the last position and a pair for the keys of heads, where these matter."""

    def end(self, place: TablePlace) -> tuple[int, int]:
        """Return the pair for the last position; any stands for one that does not matter."""
        return place[0] or (0, 0)

    def has_program(self, head: Head) -> bool:  # noqa: ARG002  # all have
        return True

    def attended(self, head: Head, place: TablePlace) -> Sequence[tuple[TablePlace, Fraction]]:  # noqa: ARG002  # all alike
        """Return the pair for the keys, or nothing: then a head attends nowhere."""
        return () if place[1] is None else (((place[1], None), Fraction(1)),)

    def keys(self, place: TablePlace) -> Sequence[TablePlace]:
        """Refuse neural heads, which no outline has."""
        raise DeclarationError(f"a neural head reads more than {place}")


@dataclass(frozen=True, slots=True)
class Function:
    """A group of sources as a function of one coordinate; `here` is the last position where it is known."""

    group: SourceGroup
    coordinate: Coordinate
    here: TokenAtPosition | None
    is_separable: bool


@dataclass(slots=True)
class _Values:
    pairs: dict[TokenAtPosition, Contribution] = field(default_factory=dict[TokenAtPosition, Contribution])
    tokens: dict[int, Contribution] = field(default_factory=dict[int, Contribution])
    positions: dict[int, Contribution] = field(default_factory=dict[int, Contribution])


class Tables:
    """The functions of one circuit's outline, each value computed when it is first needed."""

    def __init__(
        self, frozen: Frozen, candidates: tuple[int, ...], outlined: Outline, pace: Pace = UNHURRIED
    ) -> None:
        self._frozen, self._candidates, self.outline, self._pace = frozen, candidates, outlined, pace
        self._embedding = embedding_of(frozen.architecture)
        """The token, and the position where it is learned."""
        self._known: dict[Function, _Values] = {}
        self.evaluations = 0
        self._ends: set[int] = set()
        """Last tokens that are the same for all prompts of some region."""

    def fixed(self, groups: Sequence[SourceGroup], here: TokenAtPosition | None) -> Contribution:
        """Return the logits that sources which depend on nothing (more) and biases give."""
        circuit = self.outline.circuit
        layers = sorted({source.layer for source in circuit.sources(LOGITS) if isinstance(source, Head)})
        sources = [source for group in groups for source in group.sources]
        cells = self._cells(self._embedding)
        biases = layers if self._frozen.architecture.biases else []
        stage = cells.sum_stage(circuit, sources, biases)
        cells.cell(stage, (here, None))
        self._ends |= {here[0]} if here else set()
        return self._run(cells, stage)[0]

    def prepare(self, function: Function, wanted: Sequence[tuple[int, Sequence[int]]]) -> None:
        """Compute a function at positions for the tokens that may stand there."""
        known = self._known.setdefault(function, _Values())
        if function.is_separable:
            self._prepare_parts(function, wanted)
            return
        count = sum(len(members) for _, members in wanted)
        if count > _MOST_PAIRS:
            names = ", ".join(map(str, function.group.sources))
            reason = f"{names} would have to be computed at {count} tokens and positions"
            raise UnsettledError(Missing.STRUCTURE, reason)
        pairs = {(token, position) for position, members in wanted for token in members} - known.pairs.keys()
        missing = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
        known.pairs.update(zip(missing, self._evaluate(function, missing), strict=True))

    def at(self, function: Function, token: int, position: int) -> Contribution:
        known = self._known[function]
        if not function.is_separable:
            return known.pairs[token, position]
        pairs = zip(known.tokens[token], known.positions[position], strict=True)
        return tuple(one + other for one, other in pairs)

    def parts(self, function: Function) -> tuple[dict[int, Contribution], dict[int, Contribution]]:
        """Return what tokens and what positions contribute to a separable function."""
        known = self._known[function]
        return known.tokens, known.positions

    def tokens(self) -> set[int]:
        """Return the tokens whose embedding was read."""
        paired = {token for known in self._known.values() for token, _ in known.pairs}
        return self._ends.union(paired, *(known.tokens for known in self._known.values()))

    def _prepare_parts(self, function: Function, wanted: Sequence[tuple[int, Sequence[int]]]) -> None:
        """Compute what a separable function takes from tokens and from positions, constants with tokens."""
        known, sets = self._known[function], {id(members): members for _, members in wanted}
        tokens = sorted({t for members in sets.values() for t in members if t not in known.tokens})
        places = sorted({position for position, _ in wanted if position not in known.positions})
        by_token = self._evaluate(function, [(token, 0) for token in tokens], (TokenPart(),))
        known.tokens.update(zip(tokens, by_token, strict=True))
        by_place = self._evaluate(function, [(0, place) for place in places], self._embedding[1:])
        (nothing,) = self._evaluate(function, [(0, 0)], ())
        for place, found in zip(places, by_place, strict=True):
            known.positions[place] = tuple(a - b for a, b in zip(found, nothing, strict=True))

    def _evaluate(
        self,
        function: Function,
        pairs: Sequence[TokenAtPosition],
        embedding: tuple[InputPart, ...] | None = None,
    ) -> list[Contribution]:
        sizes = self._frozen.architecture
        step = max(1, _CHUNK // max(sizes.mlp_width, sizes.width))
        if function.is_separable:
            step = max(1, _LARGE_CHUNK // sizes.width)
        found: list[Contribution] = []
        is_here, nothing = function.coordinate is HERE, self._nothing
        for start in self._pace.each("tokens and places, in batches", range(0, len(pairs), step)):
            if self._pace.is_over:
                raise UnsettledError(Missing.STRUCTURE, "the work was ended first")
            cells, some = (
                self._cells(self._embedding if embedding is None else embedding),
                pairs[start : start + step],
            )
            stage = cells.sum_stage(self.outline.circuit, function.group.sources)
            rows = [cells.cell(stage, (pair, None) if is_here else (function.here, pair)) for pair in some]
            values = self._run(cells, stage)
            found += [tuple(a - b for a, b in zip(values[row], nothing, strict=True)) for row in rows]
        self.evaluations += len(pairs)
        return found

    @cached_property
    def _nothing(self) -> Contribution:
        """Return the logits of an empty residual."""
        cells = self._cells(())
        stage = cells.sum_stage(self.outline.circuit, ())
        cells.cell(stage, (None, None))
        return self._run(cells, stage)[0]

    def _cells(self, embedding: tuple[InputPart, ...]) -> Cells[TablePlace]:
        return Cells(PairBinding(), biases=self._frozen.architecture.biases, embedding=embedding)

    def _run(self, cells: Cells[TablePlace], stage: int) -> tuple[Contribution, ...]:
        trace = Trace(Forward(self._frozen, cells, Deferred(), self._candidates))
        return trace.output(stage).settled().fractions()
