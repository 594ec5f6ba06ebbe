"""Where a claim stops being true: the cells that fail, and parts of the pattern on which it is proved."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open, Replay
from circuitproof.proof.patterns.cover import Cover
from circuitproof.proof.patterns.goals import others
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.patterns.minimum import Margin
from circuitproof.proof.patterns.plan import FoundPrompt, Plan, Share
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from circuitproof.proof.properties.equivalence import Right
from circuitproof.proof.properties.robustness import Robust, Robustness, robust_goal
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.patterns import Clause, CountClause, Only, Pattern, TokenClass
from circuitproof.tasks.task import Task

_ROUNDS = 40
"""How often tokens are left out before giving up."""


@dataclass(frozen=True, slots=True)
class FailingCell:
    """A token at a position that a head reads, and the least margin of prompts where it does.

    Margins are those that the worst perturbation leaves, where the claim allows any.
    """

    label: Label
    head: Head
    token: int
    position: int
    margin: Fraction


@dataclass(frozen=True, slots=True)
class FailingChoice:
    """Tokens at the only positions that matter, with which every prompt is decided wrong."""

    label: Label
    tokens: tuple[tuple[int, int], ...]
    """Pairs of a position and its token."""
    margin: Fraction


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A part of a pattern on which all that is looked for holds, and what makes it the part."""

    what: str
    pattern: Pattern
    size: int


@dataclass(frozen=True, slots=True)
class ClaimLimits:
    """What fails, cell by cell where a head chooses one key, and parts that are proved, the largest first.

    What is looked for is that every prompt gets its right answer, also after a perturbation of at most
    `epsilon` where the claim speaks of one.
    """

    epsilon: Fraction | None
    failing: tuple[FailingCell | FailingChoice, ...]
    cells: int
    """How many such cells, or choices of tokens, there are in all."""
    parts: tuple[PatternPart, ...]


def find_limits(claim: Claim, effort: Effort | None = None) -> ClaimLimits:
    """Look where right answers, and their robustness if it is claimed, end; prove what can be of the rest."""
    goals = [robust_goal(claim, prop) for prop in claim.properties if isinstance(prop, Robustness)]
    robust = goals[0] if goals else None
    effort = effort or Effort()
    return _LimitsSearch(claim, effort, Memo(claim, effort.pace), robust).run()


@dataclass(frozen=True, slots=True)
class _LimitsSearch:
    claim: Claim
    effort: Effort
    memo: Memo
    robust: Robust | None

    @property
    def pattern(self) -> Pattern:
        return self.claim.task.labelled.pattern

    def run(self) -> ClaimLimits:
        """Look at the cells, then at shorter prompts, fewer positions and fewer tokens."""
        cells = list(self._cells())
        choices = [] if cells else list(self._choices())
        failing = tuple(cell for cell in (*cells, *choices) if cell.margin <= 0)
        found = [self._shorter(), self._placed(cells), self._without_tokens(choices)]
        parts = sorted((part for part in found if part is not None), key=lambda part: -part.size)
        epsilon = None if self.robust is None else self.robust.epsilon
        return ClaimLimits(epsilon, failing, len(cells) + len(choices), tuple(parts))

    def _cells(self) -> Iterator[FailingCell]:
        """Return the least margin through each key that a head may choose, where nothing else varies."""
        for label in self.claim.task.labelled.labels:
            place = _plan(self.memo, PromptRegion(label))
            if place is not None and not place.varying:
                yield from _chosen(place, label, Right(self.claim.task, self.robust))

    def _choices(self) -> Iterator[FailingChoice]:
        """Return the choices of tokens at the positions that matter, where there are not too many."""
        task = self.claim.task
        goal = Right(task, self.robust)
        cover = Cover(self.memo, goal, self.effort)
        for label in task.labelled.labels:
            winner = task.candidates.index(label.answer)
            for positions, prompts in cover.survey(PromptRegion(label)):
                for seen in self.memo.see(prompts, [self.claim.circuit]):
                    tokens = tuple((k, seen.prompt[k]) for k in positions)
                    yield FailingChoice(label, tokens, _left(seen.exact.logits, winner, goal))

    def _task(self, pattern: Pattern) -> Task | None:
        """Return the task about a part of the pattern; nothing if the part has no prompts."""
        try:
            return replace(self.claim.task, domain=pattern)
        except DeclarationError:
            return None

    def _part(self, what: str, pattern: Pattern) -> PatternPart | None:
        """Return a part of the pattern if it has prompts and what is looked for is proved there."""
        task = self._task(pattern)
        if task is None:
            return None
        memo = self.memo.about(replace(self.claim, task=task))
        found = Cover(memo, Right(task, self.robust), self.effort).whole()
        return None if isinstance(found, (Replay, Open)) else PatternPart(what, pattern, task.size)

    def _shorter(self) -> PatternPart | None:
        """Return the prompts up to the largest length at which all are right."""
        best: PatternPart | None = None
        good, bad = 0, self.pattern.longest + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            shorter = replace(self.pattern, longest=middle)
            part = self._part(f"up to {middle} tokens", shorter)
            if part is not None or self._task(shorter) is None:
                best, good = part, middle
            else:
                bad = middle
        return best

    def _placed(self, cells: list[FailingCell]) -> PatternPart | None:
        """Return the prompts whose read tokens stand in the longest range of positions where none fails."""
        bad = {cell.position for cell in cells if cell.margin <= 0}
        good = sorted({cell.position for cell in cells} - bad)
        if not good or not bad:
            return None
        first, last = _longest_range(good)
        chosen = TokenClass(tuple(sorted({cell.token for cell in cells})))
        placed = replace(self.pattern, clauses=(*self.pattern.clauses, Only(chosen, first, last)))
        who = "openers" if self.claim.task.labelled.labels_by.openers else "tokens that are read"
        return self._part(f"{who} at {first} to {last}", placed)

    def _without_tokens(self, choices: list[FailingChoice]) -> PatternPart | None:
        """Return the prompts without the tokens that fail, as few of them as are found to be enough."""
        dropped = self._hit([choice for choice in choices if choice.margin <= 0])
        for _ in range(_ROUNDS):
            if (best := self._proved_without(dropped)) is not None:
                break
            found = self._read_in_failure(self._without(dropped))
            if not found:
                return None
            dropped += [_nowhere(token) for token in found]
        else:
            return None
        for clause in tuple(dropped):
            kept = [other for other in dropped if other != clause]
            if (larger := self._proved_without(kept)) is not None:
                dropped, best = kept, larger
        return best if dropped else None

    def _proved_without(self, clauses: list[Clause]) -> PatternPart | None:
        listed = ", ".join(str(clause.of.listed[0]) for clause in clauses)
        return self._part(f"without tokens {listed}", self._without(clauses))

    def _hit(self, failing: list[FailingChoice]) -> list[Clause]:
        """Return clauses that forbid each failing choice, those that forbid the most first."""
        openers = self.claim.task.labelled.labels_by.openers
        sets = [
            {clause for pair in one.tokens if pair[1] not in openers for clause in self._forbid(*pair)}
            for one in failing
        ]
        dropped: list[Clause] = []
        while left := [clauses for clauses in sets if not clauses & set(dropped)]:
            counts = Counter(clause for clauses in left for clause in clauses)
            if not counts:
                break
            dropped.append(max(counts, key=lambda clause: (counts[clause], str(clause))))
        return dropped

    def _forbid(self, position: int, token: int) -> list[Clause]:
        """Return a clause without a token; one that every prompt needs may stand before the position."""
        before = [Only(TokenClass((token,)), 0, position - 1)] if position else []
        for clause in (_nowhere(token), *before):
            if self._task(self._without([clause])) is not None:
                return [clause]
        return []

    def _without(self, clauses: list[Clause]) -> Pattern:
        pattern = self.pattern
        absent = sorted(clause.of.listed[0] for clause in clauses if isinstance(clause, CountClause))
        joined = [CountClause(TokenClass(tuple(absent)), 0, 0)] if absent else []
        placed = [clause for clause in clauses if isinstance(clause, Only)]
        return replace(pattern, clauses=(*pattern.clauses, *joined, *placed))

    def _read_in_failure(self, pattern: Pattern) -> list[int]:
        """Return the tokens, other than openers, that contribute to a prompt that is decided wrong."""
        task = self._task(pattern)
        if task is None:
            return []
        memo, goal = self.memo.about(replace(self.claim, task=task)), Right(task, self.robust)
        openers = task.labelled.labels_by.openers
        for label in task.labelled.labels:
            place = _plan(memo, PromptRegion(label))
            if place is not None and (read := _failing_tokens(place, label, goal) - openers):
                return sorted(read)
        return []


def _plan(memo: Memo, region: PromptRegion) -> Plan | None:
    circuit = memo.claim.circuit
    try:
        return memo.plan((region, memo.tables(circuit).outline.heads), circuit)
    except UnsettledError:
        return None


def _left(logits: Sequence[Fraction], winner: int, goal: Right) -> Fraction:
    """Return the least margin that the worst perturbation leaves."""
    rivals = others(len(logits), winner)
    return min(logits[winner] - logits[rival] - goal.least(winner, rival) for rival in rivals)


def _chosen(place: Plan, label: Label, goal: Right) -> Iterator[FailingCell]:
    """Return a cell for each token and position that a head of the sum may choose."""
    candidates = goal.task.candidates
    winner = candidates.index(label.answer)
    heads = {term.head for term in place.terms if term.share is Share.CHOSEN}
    least: dict[tuple[int, int, int], Fraction] = {}
    for rival in others(len(candidates), winner):
        taken = goal.least(winner, rival)
        for position, step, value in Margin(place, winner, rival).through_steps():
            for head in heads:
                members = place.runs.machine.atoms[step.atom]
                if step.weights[head] and len(members) == 1:
                    key = (head, members[0], position)
                    least[key] = min(value - taken, least.get(key, value - taken))
    for (head, token, position), margin in sorted(least.items()):
        yield FailingCell(label, place.runs.heads[head], token, position, margin)


def _failing_tokens(place: Plan, label: Label, goal: Right) -> set[int]:
    """Return the tokens that contribute to the prompts of least margin, where that does not suffice."""
    winner = goal.task.candidates.index(label.answer)
    rivals = others(len(goal.task.candidates), winner)
    leasts = [(Margin(place, winner, rival).least(), goal.least(winner, rival)) for rival in rivals]
    wrong = [found for least, taken in leasts if least.value <= taken for found in least.prompts]
    return {token for found in wrong for token in _read(place, found)}


def _read(place: Plan, found: FoundPrompt) -> Iterator[int]:
    for token, step in zip(found.prompt, found.steps, strict=True):
        is_summed = any(term.factor(step) for term in place.terms)
        if is_summed or any(step.weights[row.head] for row in place.varying):
            yield token


def _nowhere(token: int) -> Clause:
    return CountClause(TokenClass((token,)), 0, 0)


def _longest_range(positions: list[int]) -> tuple[int, int]:
    """Return the ends of the longest range of consecutive numbers."""
    best, first, last = (positions[0], positions[0]), positions[0], positions[0]
    for position in positions[1:]:
        first = first if position == last + 1 else position
        last = position
        best = max(best, (first, last), key=lambda ends: ends[1] - ends[0])
    return best
