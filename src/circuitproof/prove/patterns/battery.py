"""The battery over a pattern: each property answered for every prompt, with evidence for a stranger."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from circuitproof.declare.circuits.graph import Edge
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.declare.tasks.patterned import SymbolicTask
from circuitproof.errors import DeclarationError
from circuitproof.prove.balls.robustness import Directions
from circuitproof.prove.claim import bias_kept
from circuitproof.prove.fold import changes_nothing, fold
from circuitproof.prove.patterns.claim import SymbolicClaim, SymbolicProperty
from circuitproof.prove.patterns.cover import Budget, Cover
from circuitproof.prove.patterns.evidence import (
    ByEdge,
    Evidence,
    IdleEdge,
    Listed,
    Open,
    Replayed,
    Replays,
    Settled,
    Tree,
    leaves,
    shown,
)
from circuitproof.prove.patterns.goals import Alike, Goal, Idle, Right, others, robust_goal
from circuitproof.prove.patterns.workshop import Workshop
from circuitproof.prove.properties import Equivalence, Invariance, Necessity, Robustness
from circuitproof.prove.remarks import Asked, Grounds, Remark, remarks
from circuitproof.prove.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SymbolicAnswer:
    """A property, its verdict, the evidence, and how many regions were looked at."""

    prop: SymbolicProperty
    verdict: Verdict
    evidence: Evidence
    cells: int
    remarks: tuple[Remark, ...] = ()
    """What a proof tells less than the property's name."""

    def __post_init__(self) -> None:
        if self.remarks and self.verdict is not Verdict.PROVED:
            raise DeclarationError(f"remarks on an answer that is {self.verdict}, want them on proofs alone")
        is_open = isinstance(self.evidence, Open)
        if is_open != (self.verdict is Verdict.UNDECIDED):
            raise DeclarationError(f"the evidence is {type(self.evidence).__name__}, yet {self.verdict}")


@dataclass(frozen=True, slots=True)
class SymbolicBattery:
    """A claim about a pattern and its answers."""

    claim: SymbolicClaim
    answers: tuple[SymbolicAnswer, ...]
    cells: int
    """How many values of functions of a token and a position, and how many prompts, were computed."""
    tokens: frozenset[int]
    """The tokens whose embedding a checker needs."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on all properties together: one refutation refutes, all proofs prove."""
        if [answer.prop for answer in self.answers] != list(self.claim.properties):
            raise DeclarationError(f"{len(self.answers)} answers to {len(self.claim.properties)} properties")
        verdicts = {answer.verdict for answer in self.answers}
        if Verdict.REFUTED in verdicts:
            return Verdict.REFUTED
        return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.PROVED

    def worst_margin(self, answer: SymbolicAnswer) -> Fraction | None:
        """Return the least margin that the evidence of a proof shows."""
        margins = [m for leaf in _leaves(answer) if isinstance(leaf, Settled) for m in leaf.margins]
        return min(margins, default=None)

    def is_attained(self, answer: SymbolicAnswer) -> bool:
        """Say whether the least margin is that of some prompt; otherwise it is a lower bound."""
        return all(leaf.is_attained for leaf in _leaves(answer) if isinstance(leaf, Settled))

    def least_radius(self, answer: SymbolicAnswer) -> Fraction | None:
        """Return the least finite radius that the evidence of a proof shows."""
        rows = self.claim.directions()
        found = [
            margin / apart
            for leaf in _leaves(answer)
            if isinstance(leaf, Settled)
            for margin, apart in zip(leaf.margins, _speeds(self.claim, rows, leaf.decision), strict=True)
            if apart
        ]
        return min(found, default=None)


def prove_pattern(claim: SymbolicClaim, budget: Budget | None = None) -> SymbolicBattery:
    """Answer every property of a claim about a pattern."""
    prover = _Prover(claim, budget or Budget(), Workshop(claim))
    answers = _remarked(claim, [prover.answer(prop) for prop in claim.properties])
    tokens = prover.shop.tokens() | {token for prompt in shown_prompts(claim, answers) for token in prompt}
    return SymbolicBattery(claim, answers, prover.shop.cells, frozenset(tokens))


def _remarked(claim: SymbolicClaim, answers: Sequence[SymbolicAnswer]) -> tuple[SymbolicAnswer, ...]:
    """Return the answers with their remarks, which only proofs have."""
    proved = [answer for answer in answers if answer.verdict is Verdict.PROVED]
    is_equivalent = any(isinstance(answer.prop, Equivalence) for answer in proved)
    biases = _shared_biases(claim, shown_prompts(claim, answers))
    grounds = Grounds(_asked(claim.task), claim.circuit, claim.frozen.programs, is_equivalent, biases)
    return tuple(
        replace(answer, remarks=remarks(answer.prop.kind, grounds)) if answer in proved else answer
        for answer in answers
    )


def shown_prompts(claim: SymbolicClaim, answers: Iterable[SymbolicAnswer]) -> tuple[Prompt, ...]:
    """Return the prompts that a bundle shows: those of the evidence, and of each label an example."""
    found = [one.prompt for answer in answers for one in shown(answer.evidence)]
    return tuple(dict.fromkeys((*found, *claim.task.examples())))


def _asked(task: SymbolicTask) -> Asked:
    answers: dict[int, set[int]] = {}
    for label in task.labels():
        answers.setdefault(label.group, set()).add(label.answer)
    return Asked({group: frozenset(found) for group, found in answers.items()})


def _shared_biases(claim: SymbolicClaim, prompts: Sequence[Prompt]) -> tuple[Edge, ...]:
    """Return the edges that change no shown prompt as long as a shared bias is kept."""
    kept = {edge: bias_kept(claim.frozen, claim.circuit, edge) for edge in claim.circuit}
    asked = {edge: circuit for edge, circuit in kept.items() if circuit is not None}
    folded = fold(claim.frozen, claim.task.candidates, [claim.circuit, *asked.values()], prompts)
    before = folded.of(claim.circuit)
    return tuple(edge for edge, circuit in asked.items() if changes_nothing(before, folded.of(circuit)))


@dataclass(slots=True)
class _Prover:
    claim: SymbolicClaim
    budget: Budget
    shop: Workshop = field(repr=False)

    def answer(self, prop: SymbolicProperty) -> SymbolicAnswer:
        """Answer one property."""
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
                assert_never(prop)

    def _for_every_prompt(self, prop: SymbolicProperty, goal: Goal) -> SymbolicAnswer:
        cover = Cover(self.shop, goal, self.budget)
        found = cover.whole()
        return SymbolicAnswer(prop, _verdict(found), found, cover.cells)

    def _robustness(self, prop: Robustness) -> SymbolicAnswer:
        goal = robust_goal(self.claim, prop)
        if goal is None:
            reason = "over a pattern only a final residual that passes no norm can be perturbed"
            return SymbolicAnswer(prop, Verdict.UNDECIDED, Open(reason), 0)
        return self._for_every_prompt(prop, goal)

    def _necessity(self, prop: Necessity) -> SymbolicAnswer:
        """Look for a prompt that needs each edge; an edge that none needs refutes."""
        witnesses: list[Replayed] = []
        left: Open | None = None
        cells = 0
        for place, lesion in enumerate(self.claim.circuit.lesions()):
            cover = Cover(self.shop, Idle(lesion), self.budget)
            found = cover.whole()
            cells += cover.cells
            match found:
                case Replays((witness, *_)):
                    witnesses.append(witness)
                case Open(reason):
                    edge = list(self.claim.circuit)[place]
                    left = left or Open(f"no prompt found that needs {edge}; {reason}")
                case tree:
                    return SymbolicAnswer(prop, Verdict.REFUTED, IdleEdge(place, _tree(tree)), cells)
        if left is not None:
            return SymbolicAnswer(prop, Verdict.UNDECIDED, left, cells)
        return SymbolicAnswer(prop, Verdict.PROVED, ByEdge(tuple(witnesses)), cells)


def _verdict(found: Tree | Replays | Open) -> Verdict:
    match found:
        case Replays():
            return Verdict.REFUTED
        case Open():
            return Verdict.UNDECIDED
        case _:
            return Verdict.PROVED


def _tree(found: Tree | Replays) -> Tree:
    assert not isinstance(found, Replays)  # noqa: S101  # replays hold a prompt, which the caller took
    return found


def _leaves(answer: SymbolicAnswer) -> Sequence[Settled | Listed]:
    match answer.evidence:
        case Replays() | ByEdge() | Open():
            return ()
        case IdleEdge(_, tree):
            return tuple(leaves(tree))
        case tree:
            return tuple(leaves(tree))


def _speeds(claim: SymbolicClaim, rows: Directions, winner: int) -> list[Fraction]:
    return [rows.apart(winner, other) for other in others(len(claim.task.candidates), winner)]
