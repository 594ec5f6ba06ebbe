"""Robustness: perturbations of a given size end no decision."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import LOGITS, Granularity, Head
from circuitproof.errors import DeclarationError, InputError, UsageError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, write_rational
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import (
    FINAL_RESIDUAL,
    Interface,
    Side,
    Span,
    parse_interface,
    refuse_misplaced,
)
from circuitproof.forward.reach import refuse_unreached_prompts, unreached
from circuitproof.models.operators import LayerNorm
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, beside
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import FoldLeaf, Open, Replay, Replayed, make_leaf
from circuitproof.proof.findings import Findings, Survey
from circuitproof.proof.fold import CandidateLogits, Fold, Folded
from circuitproof.proof.inexact import ball_words
from circuitproof.proof.known import divide
from circuitproof.proof.properties.each_prompt import for_every_prompt, unprovable
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, Property, PropertyWords
from circuitproof.proof.properties.questions import EachBall, PropertyQuestion
from circuitproof.proof.regions.answers import answer_ball, widening
from circuitproof.proof.regions.disturbed import Disturbed, Point, disturb
from circuitproof.proof.regions.normed_answers import answer_normed
from circuitproof.proof.regions.robustness import Directions, keeps, known_violation, radii, violation
from circuitproof.proof.remarks import Decisions, Remark, RemarkContext, Unreached, constant
from circuitproof.proof.verdict import Answer, Battery, Undecided
from circuitproof.tasks.domain import Domain, Prompt

if TYPE_CHECKING:
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.patterns.goals import Seen
    from circuitproof.proof.patterns.regions import PromptRegion


@dataclass(frozen=True, slots=True)
class Robustness(Property):
    """Every perturbation of at most `epsilon` per coordinate at an interface keeps every decision."""

    kind: ClassVar[Kind] = Kind.ROBUSTNESS
    is_known_on_patterns: ClassVar[bool] = True

    epsilon: Fraction
    at: Interface = FINAL_RESIDUAL
    """Where it is perturbed: the final residual, unless told."""

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError(f"epsilon is {self.epsilon}, want a positive rational such as 1/100")

    @classmethod
    def asked(cls, asked: Asked) -> Self:
        if asked.epsilon is None:
            raise UsageError("robustness wants an epsilon, a positive rational such as 1/100")
        return cls(asked.epsilon)

    @classmethod
    def given(cls, asked: Asked) -> str:
        return "" if asked.epsilon is None else "an epsilon"

    @classmethod
    def read(cls, fields: Fields, circuit: Circuit) -> Self:
        is_span = isinstance(fields.value("positions"), str)
        positions = fields.choice("positions", Span) if is_span else fields.integers("positions")
        at = parse_interface(fields.text("at"), circuit.graph, positions)
        return cls(fields.rational("epsilon"), at)

    def to_json(self) -> dict[str, Json]:
        chosen = self.at.positions
        return {
            "kind": str(self.kind),
            "epsilon": write_rational(self.epsilon),
            "at": str(self.at),
            "positions": str(chosen) if isinstance(chosen, Span) else list(chosen),
        }

    @property
    def name(self) -> str:
        return f"robustness at {self.epsilon}, {self._place()}"

    def meaning(self) -> PropertyWords:
        size, place = self.epsilon, f"added at {self._place()}"
        return PropertyWords(
            f"No perturbation of at most {size} in each coordinate, {place}, changes a decision.",
            f"∀x ∈ D  ∀η, ‖η‖∞ ≤ {size}:  d(x; η) = d(x), |d(x)| = 1",
            "Perturbations elsewhere, and changes of tokens, are not spoken of.",
        )

    def _place(self) -> str:
        return f"{self.at}, positions {self.at.spelled_positions()}"

    def refuse_misfit(self, claim: Claim) -> None:
        if self.at.is_final_residual:
            return
        self._refuse_inside(claim.circuit)
        spans = [claim.frozen.span(length) for length in claim.task.lengths()]
        refuse_misplaced(self.at, claim.circuit, spans)
        refuse_unreached_prompts(self.at, self.unreached(claim), claim.task.size)

    def _refuse_inside(self, circuit: Circuit) -> None:
        """Refuse to perturb inside a circuit what is not one place, or where cut edges carry something."""
        at = self.at
        if not isinstance(circuit.ablation, Zero):
            raise InputError(
                f"{at} cannot be perturbed under {circuit.ablation.kind} ablation; "
                "perturb 'logits input', or cut to zero"
            )
        is_split = circuit.graph.granularity is Granularity.PORT
        if is_split and isinstance(at.node, Head) and at.side is Side.INPUT:
            raise InputError(f"{at} is three inputs where ports are told apart; perturb '{at.node} output'")

    def unreached(self, claim: Claim) -> int:
        """Return how many prompts have logits that the perturbation does not reach.

        Of a pattern, only that none is reached at the logits is told: then no prompt ends at a position.
        """
        at, task = self.at, claim.task
        if isinstance(task.domain, Domain):
            mask, programs = claim.frozen.architecture.mask, claim.frozen.programs
            return unreached(at, claim.circuit, programs, task.prompts, mask, position=task.position)
        ends = (length - 1 in at.places(claim.frozen.span(length)) for length in task.lengths())
        return 0 if at.node != LOGITS or any(ends) else task.size

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], effort: Effort) -> Answer:
        """Answer by a formula where nothing bends between perturbation and logits, otherwise by a search."""
        if (reason := self.cannot_prove(claim)) is not None:
            return unprovable(claim, self, reason)
        if self.is_normed(claim.frozen):
            return answer_normed(claim, folded, self, effort)
        if not self.has_radii(claim.frozen):
            return answer_ball(claim, folded, self, effort)
        rows, found = claim.directions(), folded.of(claim.circuit)
        clear = [fold for fold in found if isinstance(fold, Fold) and fold.is_clear]
        sizes = dict(zip(clear, radii(clear, rows), strict=True))
        leaves = [
            FoldLeaf(fold, radius=sizes.get(fold)) if isinstance(fold, Fold) else make_leaf(fold)
            for fold in found
        ]
        kept = divide(
            fold in sizes and sizes[fold].exceeds(self.epsilon)
            if isinstance(fold, Fold)
            else keeps(fold, rows, self.epsilon)
            for fold in found
        )
        eta = _breaking(found[kept.no[0]], rows, self.epsilon) if kept.no else None
        answer = for_every_prompt(claim, self, leaves, kept, eta)
        measured = tuple(leaf.radius if isinstance(leaf, FoldLeaf) else None for leaf in leaves)
        return replace(answer, findings=replace(answer.findings, radii=measured))

    def cannot_prove(self, claim: Claim) -> str | None:
        has_bound = self.has_radii(claim.frozen) or self.is_normed(claim.frozen)
        return None if has_bound else ball_words(claim.arithmetic)

    def is_normed(self, frozen: Frozen) -> bool:
        """Say whether a layer norm is all that bends between perturbation and logits."""
        return self.at.is_final_residual and isinstance(frozen.architecture.norm, LayerNorm)

    def has_radii(self, frozen: Frozen) -> bool:
        """Say whether nothing bends between perturbation and logits, so that decisions have radii."""
        return self.at.is_final_residual and not frozen.architecture.has_norm

    def answer_pattern(self, prover: "PatternProver") -> Answer:
        goal = robust_goal(prover.claim, self)
        if goal is None:
            reason = "over a pattern only a final residual that passes no norm can be perturbed"
            return Answer(self, Undecided(Open(reason)), 1, 0, Findings(survey=Survey(0)))
        return prover.for_every_prompt(self, goal)

    def remarks(self, battery: Battery, grounds: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
        count = self.unreached(battery.claim)
        return constant(grounds, decisions) + ((Unreached(count),) if count else ())

    def questions(self, _claim: Claim) -> tuple[PropertyQuestion, ...]:
        return (EachBall(self.epsilon, self.at),)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], eta: Point) -> tuple[Decided, ...]:
        return tuple(self._perturbed(claim, prompt, eta) for prompt in prompts)

    def _perturbed(self, claim: Claim, prompt: Prompt, eta: Point) -> Decided:
        """Return what is decided under a perturbation, beside what is decided without."""
        added = (self.at, eta)
        function, inner = _perturbation(claim.frozen, claim.task.candidates, claim.circuit, prompt, added)
        before, after = (function.evaluated(one, claim.arithmetic) for one in (function.zero(), inner))
        return beside(claim, prompt, before.decision, after, eta)


def perturbed_folds(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuit: Circuit,
    prompt: Prompt,
    added: tuple[Interface, Point],
) -> tuple[Fold, Fold]:
    """Return the exact logits of a prompt without and with what is added at a place."""
    function, inner = _perturbation(frozen, candidates, circuit, prompt, added)
    return function.fold(function.zero()), function.fold(inner)


def _perturbation(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuit: Circuit,
    prompt: Prompt,
    added: tuple[Interface, Point],
) -> tuple[Disturbed, Point]:
    """Return a prompt's logits as a function, and the part that it reads of what is added at a place."""
    at, eta = added
    function = disturb(frozen, candidates, circuit, prompt, at)
    read = widening(frozen.architecture.width, at, function, frozen.span(len(prompt))).places
    return function, eta if len(eta) == function.variables else tuple(eta[place] for place in read)


@dataclass(frozen=True, slots=True)
class Robust:
    """Every decision is clear and stays when the final residual is perturbed by at most epsilon."""

    epsilon: Fraction
    rows: Directions
    second: None = None

    def decision(self, _region: "PromptRegion", first: "Seen") -> int:
        return first.exact.winner

    def least(self, winner: int, other: int) -> Fraction:
        return self.epsilon * self.rows.apart(winner, other)

    def broken_by(self, seen: "Seen") -> Replay | None:
        """Return a tie, or a perturbation that ends a clear decision."""
        fold = seen.exact
        if fold.is_clear and radii([fold], self.rows)[0].exceeds(self.epsilon):
            return None
        eta = violation(fold, self.rows, self.epsilon)
        return Replay((Replayed(seen.prompt, FoldLeaf(fold), eta),))


def _breaking(found: CandidateLogits, rows: Directions, epsilon: Fraction) -> Point | None:
    is_exact = isinstance(found, Fold)
    return violation(found, rows, epsilon) if is_exact else known_violation(found, rows, epsilon)


def robust_goal(claim: Claim, prop: Robustness) -> Robust | None:
    """Return what robustness wants of every prompt, where it can be asked over a pattern."""
    if claim.frozen.architecture.has_norm or not prop.at.is_final_residual:
        return None
    return Robust(prop.epsilon, claim.directions())
