"""Covering regions by evidence: settle one by minima, divide it, list its prompts, or say what is open."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, TypeVar

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.errors import NumericError
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import (
    ByKey,
    ByLabel,
    ByLength,
    BySum,
    ByToken,
    Cases,
    Listed,
    Open,
    Replay,
    Settled,
)
from circuitproof.proof.fold import Fold
from circuitproof.proof.patterns.goals import Goal, Seen, others
from circuitproof.proof.patterns.memo import Memo, RegionHeads
from circuitproof.proof.patterns.plan import FoundPrompt, Plan, Share
from circuitproof.proof.patterns.regions import Missing, PromptRegion, UnsettledError
from circuitproof.proof.patterns.relevance import Relevance, projections
from circuitproof.proof.patterns.runs import Runs, build_runs
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelled import Labelled
from circuitproof.tasks.patterns import TokenClass

Covered: TypeAlias = Cases | Replay | Open | None
"""Evidence for a region, prompts that break the goal, an open question, or nothing: there are no prompts."""

_TOGETHER = 1024
"""How many prompts are computed at once: they share most of their work."""
_Part = TypeVar("_Part")
"""An answer to a question."""


@dataclass(slots=True)
class Cover:
    """Answers one goal on all prompts of a claim's pattern."""

    memo: Memo
    goal: Goal
    effort: Effort
    regions: int = 0
    """How many regions were looked at."""

    @property
    def labelled(self) -> Labelled:
        return self.memo.claim.task.labelled

    def whole(self) -> Cases | Replay | Open:
        """Return the answer on the whole pattern, by label."""
        self._warm_up()
        labels = self.effort.pace.each("answers and classes", self.labelled.labels)
        found = self._children(((label, PromptRegion(label)) for label in labels), ByLabel)
        assert found is not None  # noqa: S101  # a task has prompts
        return found

    def _warm_up(self) -> None:
        """Compute what all labels need at once: values of functions share most of their work."""
        if self.effort.pace.is_over:
            return
        with suppress(UnsettledError):  # each part of the pattern will be looked at by itself
            place = PromptRegion(), self._heads()
            for circuit in self._circuits():
                self.memo.plan(place, circuit)

    def _circuits(self) -> list[Circuit]:
        own = self.memo.claim.circuit
        return [own] if self.goal.second is None else [own, self.goal.second]

    def _heads(self) -> tuple[Head, ...]:
        """Return the heads whose rows at the last position matter."""
        tables = [self.memo.tables(circuit) for circuit in self._circuits()]
        return tuple(dict.fromkeys(head for one in tables for head in one.outline.heads))

    def _region(self, region: PromptRegion) -> Covered:
        pace = self.effort.pace
        if pace.is_over:
            return self._ended(region)
        pace.hear("regions", self.regions, self.effort.regions)
        self.regions += 1
        try:
            return self._settled(region)
        except UnsettledError as error:
            return self._ended(region) if pace.is_over else self._divided(region, error)

    def _ended(self, region: PromptRegion) -> Open:
        return Open(f"{region}: the work was ended first")

    def _settled(self, region: PromptRegion) -> Covered:
        place = region, self._heads()
        if self.memo.runs(place) is None:
            return None
        found = self.memo.plan(place, self.memo.claim.circuit).any_prompt()
        if broken := self._broken(place, [found]):
            return broken
        return self._by_margins(place, self.goal.decision(region, self._seen(place, found)))

    def _seen(self, place: RegionHeads, found: FoundPrompt) -> Seen:
        """Return a prompt of a region with the logits that its functions give."""
        folds = [Fold(self.memo.plan(place, circuit).logits(found)) for circuit in self._circuits()]
        return Seen(found.prompt, self.labelled.label_of(found.prompt), *folds)

    def _broken(self, place: RegionHeads, prompts: list[FoundPrompt]) -> Replay | None:
        """Return the evidence of the first prompt that breaks the goal, seen by the forward pass itself."""
        for found in prompts:
            seen = self._seen(place, found)
            if self.goal.broken_by(seen) is not None:
                (replayed,) = self.memo.see([found.prompt], self._circuits())
                if replayed != seen:
                    raise NumericError(
                        f"prompt {found.prompt} has other logits in the forward pass: a mistake"
                    )
                return self.goal.broken_by(replayed)
        return None

    def _by_margins(self, place: RegionHeads, winner: int) -> Covered:
        """Settle a region if every least margin suffices; otherwise look where it does not."""
        rivals = others(len(self.memo.claim.task.candidates), winner)
        circuits = self._circuits()
        leasts = [[self.memo.least(place, one, winner, rival) for rival in rivals] for one in circuits]
        bounds = [self.goal.least(winner, rival) for rival in rivals]
        rows = [tuple(least.value for least in row) for row in leasts]
        if all(value > bound for row in rows for value, bound in zip(row, bounds, strict=True)):
            own, *without = rows
            is_attained = all(least.is_attained for row in leasts for least in row)
            return Settled(winner, own, without[0] if without else None, is_attained)
        prompts = [prompt for row in leasts for least in row for prompt in least.prompts]
        if broken := self._broken(place, prompts):
            return broken
        raise _too_coarse([self.memo.plan(place, circuit) for circuit in circuits])

    def _divided(self, region: PromptRegion, error: UnsettledError) -> Covered:
        """Divide a region by what is missing, or list its prompts, or leave it open."""
        longest = self.labelled.pattern.longest
        if self.regions < self.effort.regions and error.missing is not Missing.STRUCTURE:
            if error.missing is Missing.SUM and error.head not in dict(region.sums):
                return self._by_sum(region, error)
            if error.missing is Missing.KEY and (parts := _halves(region, error.head, longest)):
                head = parts[0][0]
                children = ((part[1:], region.with_keys(*part)) for part in parts)
                return self._children(children, lambda found: ByKey(head, found))
            if region.length is None:
                lengths = range(1, longest + 1)
                return self._children(((n, replace(region, length=n)) for n in lengths), ByLength)
            if classes := self._last_tokens(region):
                position = region.length - 1
                children = ((tokens, region.with_token(position, tokens)) for tokens in classes)
                return self._children(children, lambda found: ByToken(position, found))
        return self._listed(region, error)

    def _by_sum(self, region: PromptRegion, error: UnsettledError) -> Covered:
        head = error.head
        assert head is not None  # noqa: S101  # a missing sum is of a head
        try:
            runs = self.memo.runs((region, tuple(dict.fromkeys((*region.heads, head)))))
        except UnsettledError as other:
            return self._divided(region, other)
        sums = sorted(_sums(runs, head)) if runs is not None else []
        if not self._affords(len(sums)):
            return self._listed(region, error)
        return self._children(((one, region.with_sum(head, one)) for one in sums), lambda c: BySum(head, c))

    def _last_tokens(self, region: PromptRegion) -> list[TokenClass]:
        """Return classes that part the last token of a region: atoms, or of a single atom its tokens."""
        runs = self._plain(region)
        if runs is None:
            return []
        ends = sorted({step.atom for _, step in runs.steps() if step.target is None})
        members = [runs.machine.atoms[atom] for atom in ends]
        is_told = any(position + 1 == region.length for position, _ in region.tokens)
        if len(members) == 1 and is_told:
            members = [(token,) for token in members[0]]
        is_new = len(members) > 1 or not is_told
        return [TokenClass(one) for one in members] if is_new and self._affords(len(members)) else []

    def _affords(self, parts: int) -> bool:
        return self.regions + parts <= self.effort.regions

    def _plain(self, region: PromptRegion) -> Runs | None:
        """Return the runs of a region that only follow what its own questions are about."""
        return self.memo.runs((region, region.heads))

    def _listed(self, region: PromptRegion, error: UnsettledError) -> Covered:
        """Look at a prompt for each choice of tokens at the positions that matter, if there are not many."""
        try:
            lengths = self._lengths(region)
            prompts = [prompt for length in lengths for prompt in self._choices(region, length)[1]]
            if len(prompts) > self.effort.listed:
                raise error
        except UnsettledError as other:
            more = "" if other is error else f"; {other.reason}"
            return Open(f"{region}: {error.reason}{more}")
        return self._looked_at(region, prompts)

    def _looked_at(self, region: PromptRegion, prompts: list[Prompt]) -> Covered:
        """Compute prompts, as many together as make it quick, until one breaks the goal or time is over."""
        found: list[Seen] = []
        for start in self.effort.pace.each("prompts, in batches", range(0, len(prompts), _TOGETHER)):
            if found and self.effort.pace.is_over:
                return Open(f"{region}: the work was ended after {start} of {len(prompts)} prompts")
            found += self.memo.see(prompts[start : start + _TOGETHER], self._circuits())
            for seen in found[start:]:
                if broken := self.goal.broken_by(seen):
                    return broken
        return Listed(tuple(seen.replayed() for seen in found)) if found else None

    def survey(self, region: PromptRegion) -> Iterator[tuple[list[int], list[Prompt]]]:
        """Return for each length the positions that matter and a prompt for each choice of tokens there."""
        with suppress(UnsettledError):
            for length in self._lengths(region):
                positions, prompts = self._choices(region, length)
                yield sorted(positions), prompts

    def _lengths(self, region: PromptRegion) -> list[int]:
        runs = self._plain(region)
        steps = runs.steps() if runs else ()
        return sorted({position + 1 for position, step in steps if step.target is None})

    def _choices(self, region: PromptRegion, length: int) -> tuple[frozenset[int], list[Prompt]]:
        """Return the positions that matter, and a prompt for each choice of tokens there."""
        programs = self.memo.claim.frozen.programs
        circuits = [circuit.live() for circuit in self._circuits()]
        heads = [n for one in circuits for n in one.nodes() if isinstance(n, Head) and n in programs]
        followed = {head: programs[head] for head in region.heads}
        part = replace(region, length=length)
        runs = build_runs(self.labelled, part, followed, [programs[head] for head in heads])
        if runs is None:
            return frozenset(), []
        matter = frozenset[int]().union(*(Relevance(c, programs, runs).positions() for c in circuits))
        return matter, projections(runs, matter, self.effort.listed)

    def _children(
        self,
        regions: Iterable[tuple[_Part, PromptRegion]],
        join: Callable[[tuple[tuple[_Part, Cases], ...]], Cases],
    ) -> Covered:
        """Cover each part; what breaks one breaks the whole, and an open one leaves it open."""
        found: list[tuple[_Part, Cases]] = []
        left: Open | None = None
        for answer, region in regions:
            match self._region(region):
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


def _halves(region: PromptRegion, head: Head | None, longest: int) -> list[tuple[Head, int, int]]:
    """Return both halves of the range of a head's keys; nothing if it is a single position."""
    if head is None:
        return []
    whole = (0, longest - 1)
    first, last = next(((a, b) for one, a, b in region.keys if one == head), whole)
    middle = (first + last) // 2
    return [(head, first, middle), (head, middle + 1, last)] if first < last else []


def _sums(runs: Runs, head: Head) -> set[Fraction]:
    """Return every sum that the weights of a head's row may have."""
    place = runs.heads.index(head)
    reached: dict[object, set[int]] = {start: {0} for start in runs.starts}
    ends: set[int] = set()
    for layer in runs.layers:
        after: dict[object, set[int]] = {}
        for node, steps in layer.items():
            for step in steps:
                sums = {total + step.weights[place] for total in reached.get(node, ())}
                (ends if step.target is None else after.setdefault(step.target, set())).update(sums)
        reached = after
    return {Fraction(total, runs.scales[place]) for total in ends}


def _too_coarse(plans: list[Plan]) -> UnsettledError:
    """Return what may help where the least margins do not suffice and yet no prompt breaks the goal."""
    for one in plans:
        if one.varying and not one.is_exact:
            head = one.runs.heads[one.varying[0].head]
            return UnsettledError(Missing.SUM, f"the row of {head} and other parts vary together", head)
    for one in plans:
        for term in one.terms:
            if term.share is Share.CHOSEN:
                head = one.runs.heads[term.head]
                reason = f"what {head} reads at different keys is decided differently"
                return UnsettledError(Missing.KEY, reason, head)
    return UnsettledError(Missing.LAST, "different parts of it are decided differently")
