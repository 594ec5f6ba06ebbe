"""A claim about a pattern: each property answered for every prompt by covers of its regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.declare.tasks.domain import Domain
from circuitproof.errors import InputError
from circuitproof.prove.balls.robustness import Directions
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import Effort
from circuitproof.prove.evidence import EdgeSplit, OneEdge, Open, Replay, Settled, settled, shown_prompts
from circuitproof.prove.findings import Findings, Survey
from circuitproof.prove.fold import fold
from circuitproof.prove.patterns.cover import Cover
from circuitproof.prove.patterns.goals import Alike, Goal, Idle, Right, others, robust_goal
from circuitproof.prove.patterns.memo import Memo
from circuitproof.prove.properties import Equivalence, Invariance, Necessity, Property, Robustness
from circuitproof.prove.verdict import Answer, Battery, Outcome, Proved, Refuted, Undecided


def answer_pattern(claim: Claim, effort: Effort) -> Battery:
    prover = _Prover(claim, effort, Memo(claim, effort.pace))
    answers = tuple(prover.answer(prop) for prop in claim.properties)
    domain = _bundled(claim, answers)
    circuits = [claim.circuit, *claim.kept_biases().values()]
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
class _Prover:
    claim: Claim
    effort: Effort
    memo: Memo

    def answer(self, prop: Property) -> Answer:
        match prop:
            case Equivalence():
                return self._for_every_prompt(prop, Right(self.claim.task))
            case Invariance():
                return self._for_every_prompt(prop, Alike())
            case Robustness():
                return self._robustness(prop)
            case Necessity():
                return self._necessity(prop)
            case _:
                raise InputError(f"{prop.kind} is not known over patterns")

    def _for_every_prompt(self, prop: Property, goal: Goal) -> Answer:
        cover = Cover(self.memo, goal, self.effort)
        outcome: Outcome
        match cover.whole():
            case Replay() as found:
                outcome = Refuted(found)
            case Open() as found:
                outcome = Undecided(found)
            case found:
                outcome = Proved(found)
        survey = self._survey(outcome, cover.regions)
        return Answer(prop, outcome, 1, int(isinstance(outcome, Proved)), survey)

    def _robustness(self, prop: Robustness) -> Answer:
        goal = robust_goal(self.claim, prop)
        if goal is None:
            reason = "over a pattern only a final residual that passes no norm can be perturbed"
            return Answer(prop, Undecided(Open(reason)), 1, 0, Findings(survey=Survey(0)))
        return self._for_every_prompt(prop, goal)

    def _necessity(self, prop: Necessity) -> Answer:
        """Look for a prompt that needs each edge; an edge that none needs refutes."""
        witnesses: list[Replay] = []
        left: Open | None = None
        idle: OneEdge | None = None
        regions, circuit = 0, self.claim.circuit
        for place, edge in enumerate(circuit):
            cover = Cover(self.memo, Idle(circuit.without(edge)), self.effort)
            found = cover.whole()
            regions += cover.regions
            match found:
                case Replay():
                    witnesses.append(found)
                case Open(reason):
                    left = left or Open(f"no prompt found that needs {edge}; {reason}")
                case cases:
                    idle = OneEdge(place, cases)
                    break
        outcome = Refuted(idle) if idle else Undecided(left) if left else Proved(EdgeSplit(tuple(witnesses)))
        return Answer(prop, outcome, len(circuit), len(witnesses), self._survey(outcome, regions))

    def _survey(self, outcome: Outcome, regions: int) -> Findings:
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
