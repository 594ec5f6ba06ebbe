"""What a synthesis is asked, and what it answers."""

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeAlias

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import Key, record_to_json
from circuitproof.find.choices import Objective
from circuitproof.programs.candidates import Grammar, NamedOperand
from circuitproof.programs.syntax import Program
from circuitproof.programs.text import to_text
from circuitproof_lab.distill.attention import AttentionRecord
from circuitproof_lab.distill.choices import Growth, Scope
from circuitproof_lab.distill.unrealisable import Unrealisable


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Everything that is fixed before a search."""

    objective: Objective = Objective.PROGRAM
    scope: Scope = Scope.BOTH
    growth: Growth = Growth.WHOLE
    overlap: Annotated[float, Key("least_overlap")] = 0.0
    """Candidates whose support overlaps less with the head's are passed over; they are not refuted."""
    budget: int = 300_000
    """How many programs may be formed, rules of equal effect being one; more leave the search unfinished."""
    grammar: Grammar = field(default_factory=Grammar)
    words: tuple[NamedOperand, ...] | None = None
    """What conditions may name; if nothing is said, all that the prompts have."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise InputError(f"the budget is {self.budget} programs, want at least 1")
        if not 0 <= self.overlap <= 1:
            raise InputError(f"the least overlap is {self.overlap}, want a share from 0 to 1")

    def to_json(self) -> dict[str, Json]:
        told = record_to_json(self)
        return {key: told[key] for key in told if key != "words"}


@dataclass(frozen=True, slots=True)
class Realised:
    """This program makes every circuit decide as wanted on every prompt, exactly."""

    name: ClassVar[str] = "realised"
    program: Program


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A bound was met before the end of the language: no program is accepted, and not all are refuted."""

    name: ClassVar[str] = "unfinished"
    reason: str


SynthesisOutcome: TypeAlias = Realised | Unrealisable | Unfinished


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEffort:
    """How much was looked at."""

    rounds: int
    words: int
    programs: int
    """Programs of the language that was walked through, written differently."""
    meanings: int
    """The distinct ones by meaning."""
    tried: int
    """Meanings that were decided, accepted or refuted."""
    decisions: int
    """Decisions that were computed for it: the forward passes, each a row of logits."""


@dataclass(frozen=True, slots=True)
class Leader:
    """A candidate high in the ranking."""

    program: Program
    overlap: float
    is_accepted: bool

    def to_json(self) -> Json:
        return {"program": _lines(self.program), "overlap": self.overlap, "accepted": self.is_accepted}


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """What a search found, and what it looked at."""

    head: Head
    bounds: Bounds
    outcome: SynthesisOutcome
    record: AttentionRecord
    effort: SearchEffort
    leaders: tuple[Leader, ...]
    """The nearest candidates to the head's attention; last among them the accepted one, if there is one."""

    @property
    def program(self) -> Program | None:
        return self.outcome.program if isinstance(self.outcome, Realised) else None

    @property
    def overlap(self) -> float | None:
        """Return the overlap of the accepted program's support with the head's, if there is one."""
        return next((leader.overlap for leader in self.leaders if leader.is_accepted), None)

    def to_json(self) -> dict[str, Json]:
        """Return the result as JSON; a certificate stands in a file of its own."""
        return {
            "head": str(self.head),
            "outcome": self.outcome.name,
            "reason": self.outcome.reason if isinstance(self.outcome, Unfinished) else None,
            "program": None if self.program is None else _lines(self.program),
            "overlap": self.overlap,
            "mean_support": self.record.mean_support,
            "mean_softmax_support": self.record.mean_softmax_support,
            **self.bounds.to_json(),
            **record_to_json(self.effort),
            "leaders": [leader.to_json() for leader in self.leaders],
        }


def _lines(program: Program) -> list[Json]:
    return [*to_text(program).splitlines()]
