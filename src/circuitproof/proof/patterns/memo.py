"""What the properties of a claim share: functions of circuits, regions, logits of single prompts."""

from dataclasses import dataclass, field
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.fold import fold
from circuitproof.proof.patterns.goals import Seen
from circuitproof.proof.patterns.minimum import Least, Margin
from circuitproof.proof.patterns.outline import outline
from circuitproof.proof.patterns.plan import Plan, plan
from circuitproof.proof.patterns.regions import PromptRegion
from circuitproof.proof.patterns.runs import Runs, build_runs
from circuitproof.proof.patterns.tables import Tables
from circuitproof.tasks.domain import Prompt

RegionHeads: TypeAlias = tuple[PromptRegion, tuple[Head, ...]]
"""A region, and the heads whose rows are followed in it."""
_KEPT = 64
"""How many regions are remembered with their graphs."""


@dataclass(slots=True)
class Memo:
    """What the properties of a claim share: functions of circuits, and logits of single prompts."""

    claim: Claim
    pace: Pace = UNHURRIED
    """Until when functions are computed, and who hears of it."""
    _tables: dict[Circuit, Tables] = field(default_factory=dict[Circuit, Tables])
    """Functions do not depend on the pattern: claims about others may share them."""
    _seen: dict[tuple[Circuit, Prompt], Seen] = field(default_factory=dict[tuple[Circuit, Prompt], Seen])
    _runs: dict[RegionHeads, Runs | None] = field(default_factory=dict[RegionHeads, Runs | None])
    _plans: dict[tuple[RegionHeads, Circuit], Plan] = field(
        default_factory=dict[tuple[RegionHeads, Circuit], Plan]
    )
    _leasts: dict[tuple[RegionHeads, Circuit, int, int], Least] = field(
        default_factory=dict[tuple[RegionHeads, Circuit, int, int], Least]
    )

    def about(self, claim: Claim) -> "Memo":
        """Return a memo for another pattern of the same model and candidates; functions are shared."""
        return Memo(claim, self.pace, self._tables)

    def tables(self, circuit: Circuit) -> Tables:
        if circuit not in self._tables:
            frozen = self.claim.frozen
            found = outline(circuit, frozen.programs, has_norm=frozen.architecture.has_norm)
            self._tables[circuit] = Tables(frozen, self.claim.task.candidates, found, self.pace)
        return self._tables[circuit]

    def runs(self, place: RegionHeads) -> Runs | None:
        if place not in self._runs:
            region, heads = place
            programs = {head: self.claim.frozen.programs[head] for head in heads}
            self._forget()
            self._runs[place] = build_runs(self.claim.task.labelled, region, programs)
        return self._runs[place]

    def _forget(self) -> None:
        """Let the oldest region go where there are many: graphs of long prompts are large."""
        if len(self._runs) >= _KEPT:
            oldest = next(iter(self._runs))
            del self._runs[oldest]
            for key in [key for key in self._plans if key[0] == oldest]:
                del self._plans[key]

    def plan(self, place: RegionHeads, circuit: Circuit) -> Plan:
        """Return how a circuit's logits come about in a region, which has prompts."""
        if (place, circuit) not in self._plans:
            runs = self.runs(place)
            assert runs is not None  # noqa: S101  # asked by the caller
            self._plans[place, circuit] = plan(runs, self.tables(circuit), self.claim.frozen.programs)
        return self._plans[place, circuit]

    def least(self, place: RegionHeads, circuit: Circuit, winner: int, other: int) -> Least:
        key = (place, circuit, winner, other)
        if key not in self._leasts:
            self._leasts[key] = Margin(self.plan(place, circuit), winner, other).least()
        return self._leasts[key]

    def see(self, prompts: list[Prompt], circuits: list[Circuit]) -> list[Seen]:
        """Return prompts with their logits in circuits, the claim's own first, by the forward pass."""
        key = circuits[-1]
        unknown = [prompt for prompt in dict.fromkeys(prompts) if (key, prompt) not in self._seen]
        if unknown:
            claim = self.claim
            asked = (claim.frozen, claim.task.candidates, circuits, unknown)
            folded = fold(*asked, arithmetic=claim.arithmetic)
            for prompt, *folds in zip(unknown, *map(folded.of, circuits), strict=True):
                self._seen[key, prompt] = Seen(prompt, self.claim.task.labelled.label_of(prompt), *folds)
        return [self._seen[key, prompt] for prompt in prompts]

    @property
    def cells(self) -> int:
        """Return how many values of functions, and how many single prompts, were computed."""
        return sum(tables.evaluations for tables in self._tables.values()) + len(self._seen)

    def tokens(self) -> set[int]:
        """Return the tokens whose embedding was read by a function."""
        return {token for tables in self._tables.values() for token in tables.tokens()}
