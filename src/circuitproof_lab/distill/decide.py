"""What a model decides with a candidate in the place of a head, exactly, for many candidates at once.

A decision depends on a candidate only through its rows at the queries that the circuits read of the head:
for a head of the last layer the deciding query, for an earlier one all of them, or what is left of them in a
circuit. Candidates with the same rows there are one *variant*; the exact engine computes each distinct row
of each stage once for all variants of a prompt.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from typing import TypeAlias, TypeVar

import numpy as np

from circuitproof.arithmetic.exact import Exact
from circuitproof.arithmetic.protocol import RationalRow
from circuitproof.circuits.graph import Head
from circuitproof.errors import OverdueError
from circuitproof.forward.binding import PrefixBinding, prefixes
from circuitproof.forward.cells import Cells, StagePart, embedding_of
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.models.declaration import ProgramHeads
from circuitproof.programs.meaning import normalised
from circuitproof.programs.syntax import Otherwise, Program
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.fold import Fold
from circuitproof.tasks.domain import Prompt
from circuitproof_lab.distill.decision_target import DecisionTarget
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import ByteRows, PrefixTable

_NOWHERE = Program(Fraction(0), (), Otherwise.NOWHERE)
"""Holds the place of a candidate where the engine only asks whether a head is a program."""
_SCREEN = 15
"""On so many prompts all candidates are decided together, before each goes on alone."""
_VARIANTS_AT_ONCE = 48
"""Attention scores are computed for all pairs of rows at once, so that few variants together cost least."""

Item = TypeVar("Item")
TargetPrompt: TypeAlias = tuple[int, int]
"""A target and a prompt of it."""
TriedRows: TypeAlias = tuple[int, int, bytes]
"""A target, a prompt of it, and the rows of a candidate at the queries that are read there."""


@dataclass(frozen=True, slots=True)
class WrongDecision:
    """A decision that is not the wanted one: which target, which of its circuits, which prompt."""

    target: int
    circuit: int
    prompt: int


def with_program(frozen: Frozen, head: Head, program: Program) -> Frozen:
    """Return the model with a program in the place of a head; its queries and keys are not read any more."""
    programs = {**frozen.programs, head: program}
    return Frozen(replace(frozen.declaration, programs=programs), frozen.file, frozen.read)


class Decider:
    """Refutes candidates for a head, each by a prompt, and remembers every decision."""

    def __init__(
        self,
        frozen: Frozen,
        head: Head,
        targets: Sequence[DecisionTarget],
        prefix_table: PrefixTable,
        pace: Pace = UNHURRIED,
    ) -> None:
        self.pace = pace
        self.frozen, self.head, self.targets = with_program(frozen, head, _NOWHERE), head, tuple(targets)
        self.decisions = 0
        """How many decisions were computed: variants, times circuits."""
        self._columns = prefix_table.columns()
        self._order = _spread(targets)
        self._read: dict[TargetPrompt, list[Prompt]] = {}
        self._known: dict[TriedRows, int | None] = {}

    def refute(self, rows: ByteRows, most: int | None = None) -> list[WrongDecision | None]:
        """Return for each candidate, given as [key, prefix], a decision that is wrong, or nothing.

        Prompts that have refuted much are tried first; with `most`, only so many of them.
        """
        found: list[WrongDecision | None] = [None] * len(rows)
        left, kills = list(range(len(rows))), dict.fromkeys(self._order, 0)
        for places in growing(self._order[:most], 1, 2):
            for (target, prompt), verdicts in self._try(places, rows[left]).items():
                for candidate, circuit in zip(left, verdicts, strict=True):
                    if circuit is not None and found[candidate] is None:
                        found[candidate] = WrongDecision(target, circuit, prompt)
                        kills[target, prompt] += 1
            left = [candidate for candidate in left if found[candidate] is None]
            if not left:
                break
        self._order.sort(key=lambda place: -kills[place])
        return found

    def refutations(self, meanings: Meanings, places: Sequence[int]) -> Iterator[WrongDecision | None]:
        """Yield for each candidate a decision that is wrong, or nothing; all are screened together first."""
        rows = meanings.rows(places)
        for spot, screened in enumerate(self.refute(rows, _SCREEN)):
            yield screened or self.refute(rows[spot : spot + 1])[0]

    def read_queries(self, target: int, prompt: int) -> list[Prompt]:
        """Return the prefixes of a prompt at which some circuit reads the head."""
        place = (target, prompt)
        if place not in self._read:
            asked, cells = self.targets[target], _VariantCells(self.frozen, self.head)
            for circuit in asked.circuits:
                cells.cells(circuit, [asked.task.prompts[prompt]])
            self._read[place] = sorted(cells.variants.asked, key=len)
        return self._read[place]

    def _try(self, places: Sequence[TargetPrompt], rows: ByteRows) -> Mapping[TargetPrompt, list[int | None]]:
        """Return for each prompt and candidate the first circuit that decides wrong, or nothing."""
        variants: dict[TargetPrompt, list[TriedRows]] = {}
        for place in places:
            parts = rows[:, :, [self._columns[prefix] for prefix in self.read_queries(*place)]]
            variants[place] = [(*place, part.tobytes()) for part in parts]
        unknown = {one for group in variants.values() for one in group if one not in self._known}
        for target in sorted({target for target, _, _ in unknown}):
            for group in growing(sorted(one for one in unknown if one[0] == target), _VARIANTS_AT_ONCE, 1):
                if self.pace.is_over:
                    raise OverdueError("the work was ended while candidates were decided: give more time")
                self._decide(self.targets[target], group)
        return {place: [self._known[one] for one in group] for place, group in variants.items()}

    def _decide(self, asked: DecisionTarget, variants: Sequence[TriedRows]) -> None:
        """Compute the decisions of variants on the prompts of one target."""
        cells = _VariantCells(self.frozen, self.head)
        stages = [cells.logits_stage(circuit) for circuit in asked.circuits]
        ends: list[list[int]] = []
        for target, prompt, name in variants:
            cells.begin(self._rows(target, prompt, name))
            ends.append([cells.cell(stage, asked.task.prompts[prompt]) for stage in stages])
        trace = Trace(Forward(self.frozen, cells, Exact(), asked.task.candidates))
        folds = [[Fold(logits) for logits in trace.output(stage).fractions()] for stage in stages]
        for variant, end in zip(variants, ends, strict=True):
            right = frozenset({asked.wanted[variant[1]]})
            wrong = [c for c, found in enumerate(folds) if found[end[c]].decision != right]
            self._known[variant] = wrong[0] if wrong else None
        self.decisions += len(variants) * len(stages)

    def _rows(self, target: int, prompt: int, name: bytes) -> dict[Prompt, RationalRow]:
        read = self.read_queries(target, prompt)
        numbers = np.frombuffer(name, dtype=np.uint8).reshape(-1, len(read)) if read else np.zeros((0, 0))
        return {prefix: normalised(numbers[:, place].tolist()) for place, prefix in enumerate(read)}


class _Variants(PrefixBinding):
    """The binding to prompts with rows of one program head that change from variant to variant."""

    def __init__(self, programs: ProgramHeads, head: Head) -> None:
        super().__init__(programs)
        self.head = head
        self.rows: Mapping[Prompt, RationalRow] | None = None
        self.asked: set[Prompt] = set()
        """The prefixes at which the head's row was asked for."""

    def attended(self, head: Head, place: Prompt) -> Sequence[tuple[Prompt, Fraction]] | None:
        """Return where a program looks: the variant's, at the head that is asked about."""
        if head != self.head:
            return super().attended(head, place)
        self.asked.add(place)
        return () if self.rows is None else prefixes(place, self.rows[place])


class _VariantCells(Cells[Prompt]):
    """Cells in which what does not depend on a head is found once, and what does anew for each variant.

    Equal rows are still one.
    """

    def __init__(self, frozen: Frozen, head: Head) -> None:
        self.variants = _Variants(frozen.programs, head)
        sizes = frozen.architecture
        super().__init__(self.variants, biases=sizes.biases, embedding=embedding_of(sizes))
        self._depends: dict[int, bool] = {}

    def begin(self, rows: Mapping[Prompt, RationalRow]) -> None:
        """Go on with a variant that has these rows."""
        self.variants.rows = rows
        for stage in filter(self._is_dependent, range(len(self.stages))):
            self.forget(stage)

    def _is_dependent(self, stage: int) -> bool:
        if stage not in self._depends:
            read = self.stages[stage]
            self._depends[stage] = read.node == self.variants.head or any(
                isinstance(part, StagePart) and self._is_dependent(part.stage) for part in read.parts
            )
        return self._depends[stage]


def _spread(targets: Sequence[DecisionTarget]) -> list[TargetPrompt]:
    """Return every prompt of every target, so that the first ones differ in task and wanted decision."""
    groups: dict[tuple[int, int], list[TargetPrompt]] = {}
    for number, target in enumerate(targets):
        for prompt, wanted in enumerate(target.wanted):
            groups.setdefault((number, wanted), []).append((number, prompt))
    in_turn = zip_longest(*groups.values())
    return [place for turn in in_turn for place in turn if place is not None]


def growing(
    items: Sequence[Item], size: int, factor: int, largest: int = sys.maxsize
) -> Iterator[Sequence[Item]]:
    """Return parts, each `factor` times as long as the one before: what comes first tells most."""
    start = 0
    while start < len(items):
        yield items[start : start + size]
        start, size = start + size, min(factor * size, largest)
