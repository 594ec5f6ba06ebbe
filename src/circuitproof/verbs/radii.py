"""The radius of every decision of a stored model's circuit, exactly or between proved bounds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

from circuitproof.arithmetic.rounding import nearest_double
from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import ExitCode, NotExactError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.files.reading import write_rational
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.enclosed import Enclosed, NotKnown
from circuitproof.proof.findings import spread
from circuitproof.proof.fold import Fold, fold
from circuitproof.proof.inexact import ball_words, has_exact_logits
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.disturbed import Question, disturbed_prompts
from circuitproof.proof.regions.final_norm import NormedDecision, final_norm
from circuitproof.proof.regions.radius import Bracket, find_radius
from circuitproof.proof.regions.regions import Unsearched
from circuitproof.proof.regions.robustness import Directions, enclosed_radius, radii, violation
from circuitproof.tasks.names import named, prompt_line
from circuitproof.tasks.task import Task
from circuitproof.verbs.asked import asked_circuit, asked_model
from circuitproof.verbs.enclosing import enclose
from circuitproof.verbs.frame import frame_of
from circuitproof.verbs.verification import PerturbationSite

_UNKNOWN = Bracket(Fraction(0), None, is_attained=False, eta=None, tree=Unsearched(Fraction(0)))
_INFINITE = Bracket(Fraction(0), None, is_attained=False, eta=None, tree=None)
_NEAR = 1 << 16
"""Bounds that differ by no more than such a part are those of a formula, up to where a search ends."""
_NAMED = 5
"""How many of the weakest prompts are named."""


@dataclass(frozen=True, slots=True)
class PromptRadius:
    """What is known of the radius of one prompt; of a tie, nothing is to be kept."""

    bracket: Bracket | None
    scale: Fraction
    """The largest absolute value, without a perturbation, of what is perturbed: its ‖·‖∞, rounded up where
    logits are enclosed."""

    def to_json(self) -> Json:
        if self.bracket is None:
            return {"tie": True}
        return {**self.bracket.to_json(), "scale": write_rational(self.scale)}

    def floats(self) -> tuple[float, float]:
        """Return the doubles nearest to both bounds: equal where it is known, 0 at a tie."""
        if self.bracket is None:
            return 0.0, 0.0
        upper = inf if self.bracket.upper is None else nearest_double(self.bracket.upper)
        return inf if self.bracket.is_infinite else nearest_double(self.bracket.lower), upper


@dataclass(frozen=True, slots=True)
class Radii:
    """The radii of a circuit's decisions at an interface."""

    at: Interface
    task: Task
    prompts: tuple[PromptRadius, ...]
    precision: int | None = None
    """How precisely logits are enclosed, in bits; nothing where they are exact."""

    @property
    def brackets(self) -> tuple[Bracket, ...]:
        """Return what is known of each prompt that does not tie."""
        return tuple(found.bracket for found in self.prompts if found.bracket is not None)

    @property
    def unknown(self) -> int:
        """Return of how many radii nothing is known: there was no time, or the decision is not known."""
        return sum(map(_is_unknown, self.brackets))

    @property
    def bounded(self) -> int:
        """Return how many radii are bounded at most, and not by a formula."""
        return sum(not (one.is_exact or one.is_enclosed or one.is_infinite) for one in self.brackets)

    @property
    def ties(self) -> int:
        """Return on how many prompts there is no decision to keep."""
        return len(self.prompts) - len(self.brackets)

    def known(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return the radii that are known and finite, or lower bounds of enclosed ones, with their scales."""
        pairs = [(found.bracket, found.scale) for found in self.prompts if found.bracket is not None]
        return tuple((one.lower, scale) for one, scale in pairs if one.is_exact or one.is_enclosed)

    @property
    def widest(self) -> Fraction:
        """Return by how much the bounds of an enclosed radius differ at most: 0 where all are exact."""
        known = (one.upper - one.lower for one in self.brackets if one.is_enclosed and one.upper is not None)
        return max(known, default=Fraction(0))

    def floats(self) -> tuple[tuple[float, float], ...]:
        """Return the lower and the upper bound of each prompt's radius as doubles, for plots."""
        return tuple(found.floats() for found in self.prompts)

    def to_frame(self) -> Any:  # noqa: ANN401  # pandas is optional, so its type is not at hand
        """Return a row for each prompt: its text, its bounds and scale in floats; needs pandas."""
        names, prompts = self.task.alphabet.named(), self.task.prompts
        return frame_of(
            {
                "prompt": [prompt_line(names, prompt) for prompt in prompts],
                "lower": [lower for lower, _ in self.floats()],
                "upper": [upper for _, upper in self.floats()],
                "is_exact": [one.bracket is not None and one.bracket.is_exact for one in self.prompts],
                "is_tie": [one.bracket is None for one in self.prompts],
                "scale": [nearest_double(one.scale) for one in self.prompts],
            }
        )

    def distribution(self, *, is_relative: bool = False) -> Mapping[str, Fraction]:
        """Return the smallest, the median and the largest known radius, absolute or divided by the scale."""
        if is_relative:
            return spread([size / scale for size, scale in self.known() if scale])
        return spread([size for size, _ in self.known()])

    @property
    def weakest(self) -> tuple[int, ...]:
        """Return the prompts of the smallest radii, or of the smallest bounds that are known: ties first."""
        sizes = {x: size for x, one in enumerate(self.prompts) if (size := _least(one.bracket)) is not None}
        return tuple(sorted(sizes, key=lambda x: sizes[x])[:_NAMED])

    @property
    def proved(self) -> Fraction | None:
        """Return a radius below which every decision is kept: zero with a tie, none if all are infinite."""
        finite = [one.lower for one in self.brackets if not one.is_infinite]
        return Fraction(0) if self.ties else min(finite, default=None)

    @property
    def exit_code(self) -> ExitCode:
        """Return whether every prompt has a radius, which ties refute, and all are known."""
        if self.ties:
            return ExitCode.REFUTED
        return ExitCode.UNDECIDED if self.bounded else ExitCode.GOOD

    def to_json(self) -> Json:
        """Return everything as JSON, exactly."""
        names, weakest = self.task.alphabet.named(), [(x, self.task.prompts[x]) for x in self.weakest]
        return {
            "at": str(self.at),
            **({} if self.precision is None else {"precision": self.precision}),
            "norm": "the largest absolute value of the coordinates; relative radii are divided by it",
            "radius": to_json(self.distribution()),
            "relative": to_json(self.distribution(is_relative=True)),
            "proved": to_json(self.proved),
            "weakest": [
                {"place": x, "prompt": list(prompt), "text": [named(names, token) for token in prompt]}
                for x, prompt in weakest
            ],
            "prompts": to_json(self.prompts),
        }


def _is_unknown(bracket: Bracket) -> bool:
    return not bracket.lower and bracket.upper is None and not bracket.is_infinite


def _least(bracket: Bracket | None) -> Fraction | None:
    """Return a size below which a decision is kept, zero for a tie; nothing if that is all or not known."""
    if bracket is None:
        return Fraction(0)
    return None if bracket.is_infinite or _is_unknown(bracket) else bracket.lower


def find_radii(
    model: Path | Frozen,
    task: str | Task,
    circuit: Path | Circuit | None,
    place: PerturbationSite,
    effort: Effort,
) -> Radii:
    """Return the radius of every prompt's decision, or bounds when the budget or its share of time ends."""
    frozen = asked_model(model)
    kept = asked_circuit(circuit, frozen.graph)
    at = place.interface(frozen.graph)
    asked = frozen.declaration.listed_task(task)
    frozen = frozen.at(asked.position)
    claim = Claim(frozen, kept, asked, (Robustness(Fraction(1), at),))
    if not has_exact_logits(frozen, kept):
        return _enclosed_radii(claim, at, effort)
    folds = fold(frozen, asked.candidates, [kept], asked.prompts).of(kept)
    functions = disturbed_prompts(frozen, asked.candidates, kept, asked.prompts, at)
    rows = claim.directions() if at.is_final_residual and not frozen.architecture.has_norm else None
    known: dict[int, PromptRadius] = {}
    distinct = {id(function): (found, function) for found, function in zip(folds, functions, strict=True)}
    for found, function in effort.pace.each("prompts", distinct.values()):
        bracket = None
        if found.is_clear and rows is not None:
            bracket = _closed_form(found, rows)
        elif found.is_clear:
            share = replace(effort, pace=effort.pace.share(len(distinct) - len(known)))
            bracket = _bracket(Question(function, found.winner), share)
        known[id(function)] = PromptRadius(bracket, function.scale())
    return Radii(at, asked, tuple(known[id(function)] for function in functions))


def _enclosed_radii(claim: Claim, at: Interface, effort: Effort) -> Radii:
    """Return bounds on radii from enclosed logits: only at the final residual."""
    frozen, task = claim.frozen, claim.task
    numbers = EnclosedNumbers.up_to(effort.precision)
    if not at.is_final_residual:
        raise NotExactError(f"a radius is searched for: {ball_words(numbers)}")
    found = enclose(frozen, claim.circuit, task.candidates, task.prompts, effort)
    bracket_of = _through_norm(claim, found.numbers) if frozen.architecture.has_norm else _straight(claim)
    prompts = tuple(
        PromptRadius(
            _UNKNOWN
            if isinstance(one.decision, NotKnown) or effort.pace.is_over
            else bracket_of(one, residual),
            (max(map(abs, residual.numbers)) + residual.reach) * residual.unit,
        )
        for one, residual in effort.pace.each(
            "prompts", list(zip(found.logits, found.residuals, strict=True))
        )
    )
    return Radii(at, task, prompts, found.numbers.precision)


def _through_norm(claim: Claim, numbers: EnclosedNumbers) -> Callable[[Enclosed, EnclosedRow], Bracket]:
    """Bound radii where a layer norm follows: by what is proved, and what is found to change a decision."""
    norm = final_norm(claim.frozen, claim.task.candidates)

    def bracket_of(found: Enclosed, residual: EnclosedRow) -> Bracket:
        decision = NormedDecision(norm, numbers, found, residual)
        lower = decision.kept_below()
        if lower is None:
            return _INFINITE
        upper, eta = decision.broken_at() or (None, None)
        is_near = upper is not None and upper - lower <= upper / _NEAR
        tree = None if is_near else Unsearched(lower)
        return Bracket(lower, upper, is_attained=eta is not None, eta=eta, tree=tree)

    return bracket_of


def _straight(claim: Claim) -> Callable[[Enclosed, EnclosedRow], Bracket]:
    """Bound radii where logits are affine in the residual: as closely as these are known."""
    rows = claim.directions()
    return lambda found, _: _enclosed_bracket(found, rows)


def _enclosed_bracket(found: Enclosed, rows: Directions) -> Bracket:
    """Return bounds on the radius of a known decision."""
    bounds = enclosed_radius(found, rows)
    if bounds is None:
        return _INFINITE
    lower, upper, eta = bounds
    return Bracket(lower, upper, is_attained=True, eta=eta, tree=None)


def _bracket(question: Question, effort: Effort) -> Bracket:
    """Return what is known of a radius: nothing where there is no time to look."""
    if effort.pace.is_over:
        return _UNKNOWN
    return find_radius(question, effort)


def _closed_form(found: Fold, rows: Directions) -> Bracket:
    """Return a radius in a circuit without a norm: a margin over a distance, which is attained."""
    (radius,) = radii([found], rows)
    size = radius.value
    eta = None if size is None else violation(found, rows, size)
    return Bracket(size or Fraction(0), size, is_attained=size is not None, eta=eta, tree=None)
