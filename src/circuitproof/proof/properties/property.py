"""What a property is: all that the rest of the package asks of one, whichever it is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields
from circuitproof.proof.properties.kinds import Kind

if TYPE_CHECKING:
    from circuitproof.circuits.ablation import Ablation
    from circuitproof.circuits.circuit import Circuit
    from circuitproof.forward.cells import Variant
    from circuitproof.proof.claim import Claim
    from circuitproof.proof.counterexamples import Decided
    from circuitproof.proof.effort import Effort
    from circuitproof.proof.findings import EdgeWitnesses
    from circuitproof.proof.fold import CandidateLogits, Folded
    from circuitproof.proof.patterns.answers import PatternProver
    from circuitproof.proof.properties.bounds import AskedBound
    from circuitproof.proof.properties.questions import PropertyQuestion
    from circuitproof.proof.regions.disturbed import Point
    from circuitproof.proof.remarks import Decisions, Remark, RemarkContext
    from circuitproof.proof.verdict import Answer, Battery
    from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True)
class PropertyWords:
    """What a property says, in words and as a formula, and what it does not say."""

    words: str
    formula: str
    silent: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user gives beside the name of a property."""

    epsilon: Fraction | None = None
    agrees_with: "Circuit | None" = None
    bounds: "tuple[AskedBound, ...]" = ()


class Property(ABC):
    """What may be claimed of a circuit. A claim says which circuit, of which model, on which prompts."""

    __slots__ = ()

    kind: ClassVar[Kind]
    is_known_on_patterns: ClassVar[bool] = False
    """Whether it can be asked of every prompt of a pattern, in exact numbers."""
    is_enclosed_on_patterns: ClassVar[bool] = False
    """Whether it can be asked so where numbers are known up to a radius."""
    is_asked_of_solvers: ClassVar[bool] = True
    is_about_edges: ClassVar[bool] = False
    """Whether it says nothing of a circuit that keeps none."""
    is_folded: ClassVar[bool] = True
    """Whether its answer needs the logits of the claim's circuit on every prompt."""
    is_about_cut_edges: ClassVar[bool] = True
    """Whether what cut edges carry matters to it, so that remarks on that are remarks on it."""
    cuts_edges: ClassVar[bool] = False
    """Whether it evaluates a circuit in which an edge is cut, even where the claim's own keeps all."""
    wants_witnesses: ClassVar[bool] = False
    """Whether a prompt that is shown speaks for it; one that is shown speaks against the others."""
    wants_clear: ClassVar[bool] = False
    """Whether two equal ties speak against it, where two circuits are compared."""
    second: ClassVar[str] = ""
    """What evidence calls the second circuit, where two are compared."""
    beside: ClassVar[str] = ""
    """What that circuit is, where prompts are shown and nothing else tells it."""

    @classmethod
    def asked(cls, _asked: Asked, /) -> Self:
        """Return the property that a user asks for by its name."""
        return cls()

    @classmethod
    def given(cls, _asked: Asked, /) -> str:
        """Return what a user gave for it and for no other, in words; nothing if that was not given."""
        return ""

    @classmethod
    def read(cls, _fields: Fields, _circuit: "Circuit", /) -> Self:
        """Read the property as it stands in a claim about a circuit and beside its verdict."""
        return cls()

    def to_json(self) -> dict[str, Json]:
        return {"kind": str(self.kind)}

    @property
    def is_to_be_found(self) -> bool:
        """Say whether a user left to the prover what is to be claimed; an answer always states it."""
        return False

    def unfound(self) -> "Property":
        """Return what is claimed, and left open, where there was no time to find it."""
        return self

    def is_stated_as(self, stated: Mapping[str, object]) -> bool:
        """Say whether a claim states it so; what is to be found may be stated in any way."""
        said = self.to_json()
        return ({key: stated.get(key) for key in said} if self.is_to_be_found else stated) == said

    @property
    def name(self) -> str:
        """Return its name, with the sizes that tell it from others of its kind."""
        return str(self.kind)

    def under(self, _ablation: "Ablation", /) -> Self:
        """Return it with every circuit that it speaks of under an ablation."""
        return self

    @abstractmethod
    def meaning(self) -> PropertyWords:
        """Return what it says and what it does not say."""

    def refuse_misfit(self, _claim: "Claim", /) -> None:  # noqa: B027  # most fit every claim
        """Refuse a claim in which it cannot be meant."""

    def implies_equivalence(self, _claim: "Claim", /) -> bool:
        """Say whether it says of every prompt that the right answer is decided."""
        return False

    def other_circuits(self, _claim: "Claim", /) -> Sequence["Circuit"]:
        """Return the circuits that it speaks of beside the claim's own."""
        return ()

    def shown_beside(self) -> "Circuit | None":
        """Return the circuit whose decision is told beside the claim's where one prompt is explained."""
        return None

    def remarked_variants(self, _claim: "Claim", /) -> Sequence["Variant"]:
        """Return what else is computed on the prompts that a bundle shows, for its remarks."""
        return ()

    def variants(self, claim: "Claim", /) -> Sequence["Variant"]:
        """Return what is computed on every prompt of a list, beside the claim's circuit."""
        return (*self.other_circuits(claim), *self.remarked_variants(claim))

    def obligations(self, claim: "Claim", /) -> int:
        """Return how many obligations it has on a list."""
        return claim.task.size

    @abstractmethod
    def answer_list(self, claim: "Claim", folded: "Folded[CandidateLogits]", effort: "Effort", /) -> "Answer":
        """Answer it over a list whose circuits are folded."""

    def answer_pattern(self, _prover: "PatternProver", /) -> "Answer":
        """Answer it over a pattern."""
        raise InputError(f"{self.kind} is not known over patterns")

    def known_edges(
        self, _claim: "Claim", _folded: "Folded[CandidateLogits]", /
    ) -> tuple["EdgeWitnesses", ...]:
        """Return what is known of single edges where there was no time for all that it needs."""
        return ()

    @abstractmethod
    def remarks(
        self, battery: "Battery", grounds: "RemarkContext", decisions: "Decisions", /
    ) -> tuple["Remark", ...]:
        """Return where a proof of it tells less than its name, in the order of the format's table."""

    def late_remarks(self) -> tuple["Remark", ...]:
        """Return what stands in that table after the remarks on prompts that cut edges carry."""
        return ()

    def cannot_prove(self, _claim: "Claim", /) -> str | None:
        """Return why it cannot be proved in the claim's arithmetic and what to do; nothing if it can."""
        return None

    def questions(self, _claim: "Claim", /) -> tuple["PropertyQuestion", ...]:
        """Return what solvers are asked; nothing where they are not."""
        return ()

    def against(self, _prompts: Sequence["Decided"], /) -> str:
        """Say what is wanted on prompts that speak against it, where they do not tell themselves."""
        return f"wanted is what {self.beside} decides" if self.beside else ""

    @abstractmethod
    def replayed(self, claim: "Claim", prompts: Sequence["Prompt"], eta: "Point", /) -> tuple["Decided", ...]:
        """Return what it is about on prompts that speak against it, computed anew."""
