"""A claim about a pattern: each property answered for every prompt by covers of its regions."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from circuitproof.errors import NumericError
from circuitproof.proof.arithmetic import Enclosing, ExactNumbers, bits_of
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open, Replay, Settled, settled, shown_prompts
from circuitproof.proof.findings import Findings, Survey
from circuitproof.proof.fold import fold
from circuitproof.proof.known import known_decision
from circuitproof.proof.patterns.cover import Cover
from circuitproof.proof.patterns.goals import Goal, others
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.equivalence import Right
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.robustness import Directions
from circuitproof.proof.summed.cover import LeadCover
from circuitproof.proof.summed.sample import SampleCover
from circuitproof.proof.summed.world import SummedWorld
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Domain, Prompt


def answer_pattern(claim: Claim, effort: Effort) -> Battery:
    """Answer a claim; where it is enclosed, at a precision that doubles until it is enough."""
    if isinstance(claim.arithmetic, ExactNumbers):
        return _answered(claim, effort, None)
    battery: Battery | None = None
    arithmetic: Enclosing | None = claim.arithmetic
    while arithmetic is not None and (battery is None or _may_sharpen(battery)):
        asked = replace(claim, arithmetic=arithmetic)
        with suppress(NumericError):
            battery = _answered(asked, effort, SummedWorld(asked, effort, bits_of(arithmetic) or 0))
        arithmetic = None if effort.pace.is_over else arithmetic.finer()
    if battery is None:
        raise NumericError("numbers are not known well enough; allow more bits with --precision")
    return battery


def _may_sharpen(battery: Battery) -> bool:
    """Say whether more bits may decide what is open."""
    return any(answer.may_sharpen for answer in battery.answers)


def _answered(claim: Claim, effort: Effort, world: SummedWorld | None) -> Battery:
    prover = PatternProver(claim, effort, Memo(claim, effort.pace), world)
    answers = tuple(prop.answer_pattern(prover) for prop in claim.properties)
    domain = _bundled(claim, answers)
    circuits = [claim.circuit, *(one for prop in claim.properties for one in prop.remarked_variants(claim))]
    asked = (claim.frozen, claim.task.candidates, circuits, domain.prompts)
    folded = fold(*asked, arithmetic=claim.arithmetic)
    tokens, cells = prover.memo.tokens().union(*domain.prompts), prover.memo.cells
    if world is not None:
        tokens, cells = tokens | world.tokens(), cells + world.computed
    claim = replace(claim, properties=tuple(answer.prop for answer in answers))
    return Battery(claim, answers, domain, folded, cells, frozenset(tokens))


def _bundled(claim: Claim, answers: Sequence[Answer]) -> Domain:
    """Return the prompts that a bundle shows: those of the evidence, and of each label an example."""
    labelled = claim.task.labelled
    found = [one.prompt for answer in answers for one in shown_prompts(answer.evidence)]
    wrong = [prompt for answer in answers for prompt in _listed_errors(claim, answer)]
    prompts = tuple(dict.fromkeys((*wrong, *found, *labelled.examples.values())))
    return Domain(prompts, tuple(str(labelled.label_of(prompt).group) for prompt in prompts))


def _listed_errors(claim: Claim, answer: Answer) -> list[Prompt]:
    """Return the wrong prompts that accuracy lists: a bundle begins with them, so that it can number them."""
    if not isinstance(answer.prop, Accuracy) or not answer.prop.wrong:
        return []
    task = claim.task
    shown = [(one.prompt, known_decision(one.leaf.fold)) for one in shown_prompts(answer.evidence)]
    right = {prompt: task.candidates.index(task.labelled.label_of(prompt).answer) for prompt, _ in shown}
    return [prompt for prompt, decision in shown if decision != frozenset({right[prompt]})]


@dataclass(frozen=True, slots=True)
class PatternProver:
    """What a property needs to answer for every prompt of a claim's pattern."""

    claim: Claim
    effort: Effort
    memo: Memo
    world: SummedWorld | None = None
    """What softmax heads make of the pattern, where numbers are enclosed."""

    def cover(self, goal: Goal) -> "Cover | LeadCover | SampleCover":
        """Return what answers a goal: exactly, or where softmax is enclosed by sums over positions.

        Of prompts that are only to be found, those that are tried.
        """
        if self.world is None:
            return Cover(self.memo, goal, self.effort)
        if goal.second is not None:
            return SampleCover(self.memo, goal, self.effort, self.world)
        return LeadCover(self.memo, goal, self.effort, self.world)

    def for_every_prompt(self, prop: Property, goal: Goal) -> Answer:
        """Answer a property that a goal states: all prompts together are one obligation."""
        cover = self.cover(goal)
        outcome: PropertyOutcome
        match cover.whole():
            case Replay() as found:
                outcome = Refuted(found)
            case Open() as found:
                outcome = Undecided(found)
            case found:
                outcome = Proved(found)
        found, is_met = self.survey(outcome, cover.regions), int(isinstance(outcome, Proved))
        may_sharpen = isinstance(cover, LeadCover) and cover.is_blurred
        return Answer(prop, outcome, 1, is_met, found, may_sharpen=may_sharpen)

    def counted(self) -> LeadCover:
        """Return what counts right prompts and wrong ones, where numbers are enclosed."""
        assert self.world is not None  # noqa: S101  # a claim of exact numbers counts no prompts of a pattern
        return LeadCover(self.memo, Right(self.claim.task), self.effort, self.world, counts=True)

    def survey(self, outcome: PropertyOutcome, regions: int) -> Findings:
        """Return how many regions were looked at, and the least margin and radius that evidence shows."""
        leaves, rows = list(settled(outcome.evidence)), self.claim.directions()
        survey = Survey(
            regions,
            margin=min((margin for leaf in leaves for margin in leaf.margins), default=None),
            is_attained=all(leaf.is_attained for leaf in leaves),
            radius=min((radius for leaf in leaves for radius in _radii(leaf, rows)), default=None),
            prompts=tuple(one.prompt for one in shown_prompts(outcome.evidence)),
        )
        return Findings(survey=survey)


def _radii(leaf: Settled, rows: Directions) -> Sequence[Fraction]:
    """Return how far a perturbation must go to close each margin that it can close."""
    speeds = [rows.apart(leaf.decision, other) for other in others(len(rows.rows), leaf.decision)]
    return [margin / apart for margin, apart in zip(leaf.margins, speeds, strict=True) if apart]
