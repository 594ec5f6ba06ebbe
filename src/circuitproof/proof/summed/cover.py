"""Covering a pattern by regions in which one candidate leads, and by prompts that are shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np

from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.evidence import ByLabel, ByLength, ByToken, Cases, CutTree, Led, Listed, Open, Replay
from circuitproof.proof.known import open_words
from circuitproof.proof.patterns.goals import Goal, Seen
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from circuitproof.proof.summed.boxes import BoxAnswers, shown
from circuitproof.proof.summed.leads import Leads, masks_with
from circuitproof.proof.summed.least import LatticeRegion
from circuitproof.proof.summed.world import SummedWorld
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelled import Label
from circuitproof.tasks.patterns import TokenClass

LeadCovered: TypeAlias = Cases | Replay | Open | None
"""Evidence for a region, prompts that break the goal, an open question, or nothing that is shown."""
Cuts: TypeAlias = tuple[tuple[tuple[int, ...], CutTree], ...]
"""Trees, each with the rivals of which it is."""
_FEW = 32
"""A region of so few prompts is listed before it is divided."""
_TOGETHER = 1024
"""How many prompts are computed together."""
_Part = TypeVar("_Part", Label, int, TokenClass)


@dataclass(slots=True)
class RightTally:
    """How many prompts evidence shows to be right, and which not to be; the others are in no region."""

    right: int = 0
    wrong: int = 0
    shown_wrong: list[Prompt] = field(default_factory=list[Prompt])
    """Those that are shown one by one."""


@dataclass(frozen=True, slots=True)
class Part:
    """A region of one label and length, with words for readers."""

    label: Label
    region: LatticeRegion

    def __str__(self) -> str:
        told = [f"answer {self.label.answer}", f"length {self.region.lattice.length}"]
        for position, mask in enumerate(self.region.masks):
            if mask is not None:
                told.append(f"position {position} in {np.flatnonzero(mask).tolist()[:6]}")
        return ", ".join(told)


@dataclass
class LeadCover:
    """Answers one goal on all prompts of a claim's pattern, in an enclosing arithmetic."""

    memo: Memo
    goal: Goal
    effort: Effort
    world: SummedWorld
    counts: bool = False
    """Whether prompts are counted: then what breaks a goal is only told, and what is open left out."""
    regions: int = 0
    tally: RightTally = field(default_factory=RightTally)
    is_blurred: bool = False
    """Whether some prompt was not decided: more bits may do it."""

    def whole(self) -> Cases | Replay | Open:
        """Return the answer on the whole pattern, by label."""
        return self._whole() or Open("no prompt was decided")

    def _whole(self) -> LeadCovered:
        try:
            self.world.refuse_many()
        except UnsettledError as error:
            return self._without_sums(error.reason)
        labels = self.effort.pace.each("answers and classes", self.world.labelled.labels)
        return self._children(((label, lambda label=label: self._label(label)) for label in labels), ByLabel)

    def _label(self, label: Label) -> LeadCovered:
        """Return the answer on the prompts of a label, by length unless it is one leaf for all."""
        parts: list[tuple[int, LeadCovered]] = []
        for length in self.world.lattices:
            lattice = self.world.lattice(label, length)
            if lattice is not None:
                parts.append((length, self._part(Part(label, LatticeRegion(lattice, lattice.free)))))
        found = [cases for _, cases in parts]
        if found and isinstance(found[0], Led) and all(cases == found[0] for cases in found):
            return found[0]
        return self._children(((length, lambda cases=cases: cases) for length, cases in parts), ByLength)

    def _without_sums(self, reason: str) -> LeadCovered:
        """List all prompts of the pattern, if they are few."""
        size = self.world.labelled.size
        if size > self.effort.listed:
            return Open(f"{reason}; the pattern has more than {self.effort.listed} prompts to be listed")
        prompts = [
            prompt for lattice in self.world.lattices.values() for prompt in lattice.prompts(lattice.free)
        ]
        return self._looked_at("all prompts", prompts)

    def _part(self, part: Part) -> LeadCovered:
        pace = self.effort.pace
        if pace.is_over:
            return self._left(f"{part}: the work was ended first")
        pace.hear("regions", self.regions, self.effort.regions)
        self.regions += 1
        winner = self._winner(part)
        leads = self._leads(part, winner)
        found = shown(leads, pace)
        if len(leads.queries) > 1 and (found.open.any() or found.trees):
            return self._by_last(part, leads, found)
        if not found.open.any():
            return self._led(part, winner, found.cuts(leads.query))
        return self._open(part, leads, found)

    def _open(self, part: Part, leads: Leads, found: BoxAnswers) -> LeadCovered:
        """Divide a region in which not every question is closed, or show its prompts."""
        size = part.region.size
        if size <= min(_FEW, self.effort.listed) or (
            size <= self.effort.listed and self.regions >= self.effort.regions
        ):
            return self._looked_at(str(part), list(part.region.lattice.prompts(part.region.masks)))
        (seen,) = self._see([found.worst(leads)])
        if (broken := self._broken(seen)) is not None:
            return broken
        if (other := self._otherwise(part, seen)) is not None:
            return other
        return self._by_token(part, leads, found)

    def _winner(self, part: Part) -> int:
        """Return the candidate that a goal wants on a label; for some that is what is seen first."""
        region = PromptRegion(part.label)
        return self.goal.decision(region, self._first(part.label))

    def _first(self, label: Label) -> Seen:
        (seen,) = self._see([self.world.labelled.examples[label]])
        return seen

    def _see(self, prompts: list[Prompt]) -> list[Seen]:
        return self.memo.see(prompts, [self.memo.claim.circuit])

    def _broken(self, seen: Seen) -> Replay | None:
        return None if self.counts else self.goal.broken_by(seen)

    def _leads(self, part: Part, winner: int) -> Leads:
        return Leads(self.world.tables, self.world.table(part.region.lattice.length), part.region, winner)

    def _otherwise(self, part: Part, seen: Seen) -> LeadCovered:
        """Show that all prompts of a region are decided as one of them that is wrong, where errors count."""
        decision = seen.fold.decision
        if not self.counts or isinstance(decision, NotKnown) or len(decision) > 1:
            return None
        (winner,) = decision
        if winner == self._winner(part):
            return None
        leads = self._leads(part, winner)
        found = shown(leads, self.effort.pace)
        return None if found.open.any() else self._led(part, winner, found.cuts(leads.query))

    def _led(self, part: Part, winner: int, cuts: Cuts = ()) -> Led:
        size = part.region.size
        if self.memo.claim.task.candidates[winner] == part.label.answer:
            self.tally.right += size
        else:
            self.tally.wrong += size
        return Led(winner, cuts)

    def _by_last(self, part: Part, leads: Leads, found: BoxAnswers) -> LeadCovered:
        """Divide a region by its last token: those that are settled together, the others one by one."""
        queries, is_open, is_cut = leads.table.queries, found.open_queries(), found.cut_queries()
        together = [query for query in leads.queries if query not in is_open | is_cut]
        position = part.region.lattice.length - 1

        def child(chosen: Sequence[int]) -> tuple[TokenClass, Callable[[], LeadCovered]]:
            tokens, inner = self._with(part, position, [queries[query] for query in chosen])
            if is_open.isdisjoint(chosen):
                return tokens, lambda: self._led(inner, leads.winner, found.cuts(chosen[0]))
            return tokens, lambda: self._part(inner)

        alone = [[query] for query in leads.queries if query in is_open | is_cut]
        children = (child(chosen) for chosen in (together, *alone) if chosen)
        return self._children(children, lambda cases: ByToken(position, cases))

    def _by_token(self, part: Part, leads: Leads, found: BoxAnswers) -> LeadCovered:
        """Divide a region by the token at the position where the fewest keep it from being settled."""
        if self.regions >= self.effort.regions:
            return self._left(f"{part}: more than {self.effort.regions} regions would be looked at")
        query = leads.table.queries[leads.query]
        there = part.region.lattice.pairs(query, part.region.masks)
        choices: list[tuple[int, int, list[list[int]]]] = []
        for position, bad in enumerate(found.bad_tokens(leads)):
            tokens = np.flatnonzero(there[position])
            if len(tokens) > 1:
                good, open_ = [int(t) for t in tokens if not bad[t]], [int(t) for t in tokens if bad[t]]
                classes = [good, *([token] for token in open_)]
                choices.append((len(open_), position, classes))
        if not choices:
            return self._left(f"{part}: a single prompt is not decided")
        _, position, classes = min(choices)
        return self._by_classes(part, position, classes)

    def _by_classes(self, part: Part, position: int, classes: Iterable[Sequence[int]]) -> LeadCovered:
        def child(members: Sequence[int]) -> tuple[TokenClass, Callable[[], LeadCovered]]:
            tokens, inner = self._with(part, position, members)
            return tokens, lambda: self._part(inner)

        children = (child(tokens) for tokens in classes if tokens)
        return self._children(children, lambda found: ByToken(position, found))

    @staticmethod
    def _with(part: Part, position: int, members: Sequence[int]) -> tuple[TokenClass, Part]:
        """Return the part of a region with some tokens at a position."""
        mask = np.zeros(part.region.lattice.vocabulary, dtype=bool)
        mask[list(members)] = True
        masks = masks_with(part.region.masks, position, mask)
        return TokenClass(tuple(sorted(members))), replace(
            part, region=LatticeRegion(part.region.lattice, masks)
        )

    def _left(self, reason: str) -> Open | None:
        """Leave a region open; where prompts are counted it does not count, and the others still do."""
        return None if self.counts else Open(reason)

    def _looked_at(self, what: str, prompts: list[Prompt]) -> LeadCovered:
        """Show prompts one by one, until one breaks the goal or is not decided."""
        found: list[Seen] = []
        for start in range(0, len(prompts), _TOGETHER):
            if self.effort.pace.is_over:
                return self._left(f"{what}: the work was ended after {start} of {len(prompts)} prompts")
            for seen in self._see(prompts[start : start + _TOGETHER]):
                if isinstance(seen.fold.decision, NotKnown):
                    self.is_blurred = True
                    if self.counts:
                        continue
                    return Open(open_words(f"prompt {list(seen.prompt)} is", [seen.fold]))
                if (broken := self._broken(seen)) is not None:
                    return broken
                found.append(seen)
                self._enter(seen)
        return Listed(tuple(seen.replayed() for seen in found)) if found else None

    def _enter(self, seen: Seen) -> None:
        task = self.memo.claim.task
        if seen.fold.decision == frozenset({task.candidates.index(seen.label.answer)}):
            self.tally.right += 1
        else:
            self.tally.wrong += 1
            self.tally.shown_wrong.append(seen.prompt)

    def _children(
        self,
        children: Iterable[tuple[_Part, Callable[[], LeadCovered]]],
        join: Callable[[tuple[tuple[_Part, Cases], ...]], Cases],
    ) -> LeadCovered:
        """Cover each part; what breaks one breaks the whole, and an open one leaves it open."""
        found: list[tuple[_Part, Cases]] = []
        left: Open | None = None
        for answer, cover in children:
            match cover():
                case Replay() as broken:
                    return broken
                case Open() as question:
                    left = left or question
                case None:
                    pass
                case tree:
                    found.append((answer, tree))
        if left is not None:
            return left
        return join(tuple(found)) if found else None
