"""The radius of every decision of a stored model's circuit, exactly or between proved bounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import ExitCode
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface
from circuitproof.lab.runs.asked import asked_circuit, asked_model
from circuitproof.lab.runs.verification import Place
from circuitproof.prove.balls.disturbed import Disturbed, Question, disturbed_prompts
from circuitproof.prove.balls.radius import Bracket, find_radius
from circuitproof.prove.balls.regions import Unsearched
from circuitproof.prove.balls.robustness import radii, violation
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import Effort
from circuitproof.prove.findings import shown, spread
from circuitproof.prove.fold import Fold, fold
from circuitproof.prove.properties import Robustness
from circuitproof.text.canonical import Json
from circuitproof.text.reading import write_rational
from circuitproof.view.counterexamples import prompt_line
from circuitproof.view.drawings.charts import draw_histogram
from circuitproof.view.telling import Said, Table, Told
from circuitproof.view.words import named

_NAMED = 5
"""How many of the weakest prompts are named."""


@dataclass(frozen=True, slots=True)
class PromptRadius:
    """What is known of the radius of one prompt; of a tie, nothing is to be kept."""

    bracket: Bracket | None
    scale: Fraction
    """The largest absolute value, without a perturbation, of what is perturbed: its ‖·‖∞."""

    def to_json(self) -> Json:
        """Return it as JSON, exactly."""
        if self.bracket is None:
            return {"tie": True}
        return {**self.bracket.to_json(), "scale": write_rational(self.scale)}

    def words(self) -> str:
        """Return a radius in words: a number, a tie, or the bounds that are known."""
        if self.bracket is None:
            return "a tie"
        low, high = self.bracket.lower, self.bracket.upper
        if self.bracket.is_exact:
            return shown(low)
        return f"at least {shown(low)}" if high is None else f"between {shown(low)} and {shown(high)}"


@dataclass(frozen=True, slots=True, repr=False)
class Radii(Told):
    """The radii of a circuit's decisions at an interface."""

    at: Interface
    task: Task
    prompts: tuple[PromptRadius, ...]

    @property
    def unknown(self) -> int:
        """Return of how many radii there was no time to learn anything."""
        return sum(_is_unknown(found) for found in self.prompts)

    def exact(self) -> tuple[PromptRadius, ...]:
        """Return the prompts whose radius is known and finite."""
        return tuple(found for found in self.prompts if found.bracket is not None and found.bracket.is_exact)

    @property
    def open_brackets(self) -> tuple[PromptRadius, ...]:
        """Return the prompts whose radius is only bounded."""
        brackets = [found for found in self.prompts if found.bracket is not None]
        return tuple(f for f in brackets if f.bracket and not (f.bracket.is_exact or f.bracket.is_infinite))

    def distribution(self, *, is_relative: bool = False) -> Mapping[str, Fraction]:
        """Return the smallest, the median and the largest exact radius, absolute or divided by the scale."""
        return spread(
            [
                found.bracket.lower / (found.scale if is_relative else 1)
                for found in self.exact()
                if found.bracket is not None and (found.scale or not is_relative)
            ]
        )

    @property
    def weakest(self) -> tuple[int, ...]:
        """Return the prompts of the smallest radii, or of the smallest bounds that are known: ties first."""
        finite = [x for x, found in enumerate(self.prompts) if not (_is_free(found) or _is_unknown(found))]
        return tuple(sorted(finite, key=lambda x: _below(self.prompts[x]))[:_NAMED])

    @property
    def proved(self) -> Fraction | None:
        """Return a radius below which every decision is kept: zero with a tie, none if all are infinite."""
        return min((_below(found) for found in self.prompts if not _is_free(found)), default=None)

    @property
    def exit_code(self) -> ExitCode:
        """Return whether every prompt has a radius, which ties refute, and all are known."""
        if self.ties:
            return ExitCode.REFUTED
        return ExitCode.UNDECIDED if self.open_brackets else ExitCode.GOOD

    @property
    def ties(self) -> int:
        """Return on how many prompts there is no decision to keep."""
        return sum(found.bracket is None for found in self.prompts)

    def told(self) -> Iterator[Said]:
        """Return how large radii are, which prompts have the least, and what is proved of all."""
        absolute, relative = self.distribution(), self.distribution(is_relative=True)
        rows = tuple(
            (name, shown(size), shown(relative[name])) for name, size in absolute.items() if name in relative
        )
        title = f"{len(self.exact())} of {len(self.prompts)} radii known exactly, at {self.at}"
        yield Table(title, ("", "radius#", "relative to the largest coordinate#"), rows) if rows else title
        infinite = sum(one.bracket is not None and one.bracket.is_infinite for one in self.prompts)
        unattained = sum(one.bracket is not None and not one.bracket.is_attained for one in self.exact())
        yield f"{self.ties} ties, {infinite} infinite radii; {unattained} infima are not known to be attained"
        if bounded := len(self.open_brackets) - self.unknown:
            yield f"{bounded} radii only bounded"
        if self.unknown:
            yield f"{self.unknown} radii unknown: there was no time for them"
        names = self.task.alphabet.named()
        for place in self.weakest:
            line = prompt_line(names, self.task.prompts[place])
            yield f"weakest: {self.prompts[place].words()} at prompt {place}: {line}"
        if self.ties:
            count = len(self.prompts)
            yield f"{self.ties} of {count} prompts tie: there is no decision to keep, and no radius"
        elif self.proved:
            yield f"proved: every decision is kept below {shown(self.proved)}"
        if known := [one.bracket.lower for one in self.exact() if one.bracket is not None]:
            yield draw_histogram(known, "radii")

    def to_json(self) -> Json:
        """Return everything as JSON, exactly."""
        return {
            "at": str(self.at),
            "norm": "the largest absolute value of the coordinates; relative radii are divided by it",
            "radius": {name: write_rational(size) for name, size in self.distribution().items()},
            "relative": {
                name: write_rational(size) for name, size in self.distribution(is_relative=True).items()
            },
            "proved": None if self.proved is None else write_rational(self.proved),
            "weakest": [
                {"place": x, "prompt": list(self.task.prompts[x]), "text": self._text(x)}
                for x in self.weakest
            ],
            "prompts": [found.to_json() for found in self.prompts],
        }

    def _text(self, place: int) -> Json:
        names = self.task.alphabet.named()
        return [named(names, token) for token in self.task.prompts[place]]


def _below(found: PromptRadius) -> Fraction:
    """Return a size below which a decision is kept; of a tie nothing is."""
    return Fraction(0) if found.bracket is None else found.bracket.lower


def _is_free(found: PromptRadius) -> bool:
    return found.bracket is not None and found.bracket.is_infinite


def _is_unknown(found: PromptRadius) -> bool:
    bracket = found.bracket
    return bracket is not None and not bracket.lower and bracket.upper is None and not bracket.is_infinite


def find_radii(
    model: Path | Frozen, task: str | Task, circuit: Path | Circuit | None, place: Place, effort: Effort
) -> Radii:
    """Return the radius of every prompt's decision, or bounds when the budget or its share of time ends."""
    frozen = asked_model(model)
    kept = asked_circuit(circuit, frozen.graph)
    at = place.interface(frozen.graph)
    asked = frozen.declaration.listed_task(task)
    claim = Claim(frozen, kept, asked, (Robustness(Fraction(1), at),))
    folds = fold(frozen, claim.task.candidates, [kept], claim.task.prompts).of(kept)
    functions = disturbed_prompts(claim.frozen, claim.task.candidates, claim.circuit, claim.task.prompts, at)
    if at.is_final_residual and not frozen.architecture.has_norm:
        return Radii(at, asked, _closed_form(claim, folds, functions))
    known: dict[int, PromptRadius] = {}
    distinct = {id(function): (found, function) for found, function in zip(folds, functions, strict=True)}
    for found, function in effort.pace.each("prompts", distinct.values()):
        share = replace(effort, pace=effort.pace.share(len(distinct) - len(known)))
        bracket = _bracket(Question(function, found.winner), share) if found.is_clear else None
        known[id(function)] = PromptRadius(bracket, function.scale())
    return Radii(at, asked, tuple(known[id(function)] for function in functions))


def _bracket(question: Question, effort: Effort) -> Bracket:
    """Return what is known of a radius: nothing where there is no time to look."""
    if effort.pace.is_over:
        return Bracket(Fraction(0), None, is_attained=False, eta=None, tree=Unsearched(Fraction(0)))
    return find_radius(question, effort)


def _closed_form(
    claim: Claim, folds: Sequence[Fold], functions: Sequence[Disturbed]
) -> tuple[PromptRadius, ...]:
    """Return the radii of a circuit without a norm: margins over distances, which are attained."""
    rows = claim.directions()
    scales = {id(function): function.scale() for function in functions}
    made: list[PromptRadius] = []
    for found, function in zip(folds, functions, strict=True):
        bracket: Bracket | None = None
        if found.is_clear:
            (radius,) = radii([found], rows)
            size = radius.value
            eta = None if size is None else violation(found, rows, size)
            bracket = Bracket(size or Fraction(0), size, is_attained=size is not None, eta=eta, tree=None)
        made.append(PromptRadius(bracket, scales[id(function)]))
    return tuple(made)
