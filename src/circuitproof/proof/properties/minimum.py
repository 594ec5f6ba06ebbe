"""Minimum: which circuits of the model decide the task with the fewest edges."""

from dataclasses import dataclass
from typing import ClassVar, Self

from circuitproof.circuits.ablation import is_uniform
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge
from circuitproof.circuits.readers import readers
from circuitproof.circuits.spelling import parse_edges
from circuitproof.errors import DeclarationError, InputError, UsageError
from circuitproof.files.canonical import Json
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.fewest import Fewest
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, PropertyWords
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext
from circuitproof.proof.verdict import Battery


@dataclass(frozen=True, slots=True)
class Minimum(Fewest):
    """These circuits, all of one size, decide the task; no other circuit of at most that size does."""

    kind: ClassVar[Kind] = Kind.MINIMUM

    circuits: tuple[Circuit, ...]

    def __post_init__(self) -> None:
        if not self.circuits or len({len(circuit) for circuit in self.circuits}) != 1:
            raise DeclarationError("minimum wants one or more circuits of one size")
        if len(set(self.circuits)) != len(self.circuits):
            raise DeclarationError("minimum wants each circuit once")

    @classmethod
    def asked(cls, _asked: Asked) -> Self:
        raise UsageError("the minimum is searched for, not claimed: use circuitproof minimal")

    @classmethod
    def read(cls, fields: Fields, circuit: Circuit) -> Self:
        rows = fields.text_rows("circuits")
        return cls(tuple(parse_edges(circuit.graph, row, fields.where, circuit.ablation) for row in rows))

    def to_json(self) -> dict[str, Json]:
        listed: list[Json] = [[str(edge) for edge in circuit] for circuit in self.circuits]
        return {"kind": str(self.kind), "circuits": listed}

    @property
    def size(self) -> int:
        return len(self.circuits[0])

    def meaning(self) -> PropertyWords:
        count, size = plural(len(self.circuits), "circuit"), plural(self.size, "edge")
        grain = f"at {self.circuits[0].graph.granularity} granularity"
        return PropertyWords(
            f"{count} of {size} {grain} decide the task, and no other circuit of at most as many edges does.",
            f"∀C′, |C′| ≤ {self.size}:  (∀x ∈ D: d of C′ (x) = {{P(x)}})  ⇔  C′ is listed",
            "With other ablations other circuits may suffice.",
        )

    def refuse_misfit(self, claim: Claim) -> None:
        if claim.circuit not in self.circuits:
            raise InputError("the claim's circuit is not among those that are said to be the minimum")

    def edges(self, claim: Claim) -> tuple[Edge, ...]:
        return claim.edges()

    def expected(self, _claim: Claim) -> frozenset[Circuit]:
        return frozenset(self.circuits)

    def remarks(self, _battery: Battery, grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        is_blind = is_uniform(grounds.circuit.ablation) and not grounds.is_constant
        is_one = len(grounds.circuit) == 1 and is_blind
        has_rivals = len(self.circuits) < len(readers(grounds.programs))
        implied = (Plain.IMPLIED,) * (is_one and not has_rivals)
        return implied + (Plain.CONSTANT,) * grounds.is_constant + (Plain.ONE_EDGE,) * is_one
