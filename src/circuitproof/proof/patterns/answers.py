"""A claim about a pattern: each property answered for every prompt by covers of its regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open, Replay, Settled, settled, shown_prompts
from circuitproof.proof.findings import Findings, Survey
from circuitproof.proof.fold import fold
from circuitproof.proof.patterns.cover import Cover
from circuitproof.proof.patterns.goals import Goal, others
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.robustness import Directions
from circuitproof.proof.verdict import Answer, Battery, PropertyOutcome, Proved, Refuted, Undecided
from circuitproof.tasks.domain import Domain


def answer_pattern(claim: Claim, effort: Effort) -> Battery:
    prover = PatternProver(claim, effort, Memo(claim, effort.pace))
    answers = tuple(prop.answer_pattern(prover) for prop in claim.properties)
    domain = _bundled(claim, answers)
    circuits = [claim.circuit, *(one for prop in claim.properties for one in prop.remarked_variants(claim))]
    folded = fold(claim.frozen, claim.task.candidates, circuits, domain.prompts)
    tokens = prover.memo.tokens().union(*domain.prompts)
    return Battery(claim, answers, domain, folded, prover.memo.cells, frozenset(tokens))


def _bundled(claim: Claim, answers: Sequence[Answer]) -> Domain:
    """Return the prompts that a bundle shows: those of the evidence, and of each label an example."""
    labelled = claim.task.labelled
    found = [one.prompt for answer in answers for one in shown_prompts(answer.evidence)]
    prompts = tuple(dict.fromkeys((*found, *labelled.examples.values())))
    return Domain(prompts, tuple(str(labelled.label_of(prompt).group) for prompt in prompts))


@dataclass(frozen=True, slots=True)
class PatternProver:
    """What a property needs to answer for every prompt of a claim's pattern."""

    claim: Claim
    effort: Effort
    memo: Memo

    def cover(self, goal: Goal) -> Cover:
        return Cover(self.memo, goal, self.effort)

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
        found = self.survey(outcome, cover.regions)
        return Answer(prop, outcome, 1, int(isinstance(outcome, Proved)), found)

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
