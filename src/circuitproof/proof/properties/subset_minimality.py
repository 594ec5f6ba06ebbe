"""Subset minimality: no part of the circuit decides the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.fewest import Fewest, shortened
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import PropertyWords
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, needs_every_edge
from circuitproof.proof.verdict import Battery


@dataclass(frozen=True, slots=True)
class SubsetMinimality(Fewest):
    """The circuit decides the task, and none of its edges can be left out, alone or with others."""

    kind: ClassVar[Kind] = Kind.SUBSET_MINIMALITY

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "The circuit decides the task, and no smaller part of it does.",
            "∀C′ ⊆ C:  (∀x ∈ D: d of C′ (x) = {P(x)})  ⇔  C′ = C",
            "A circuit of other edges may be smaller.",
        )

    def edges(self, claim: Claim) -> tuple[Edge, ...]:
        return tuple(claim.circuit)

    def expected(self, claim: Claim) -> frozenset[Circuit]:
        return frozenset((claim.circuit,))

    def tried_first(self, claim: Claim, circuits: Sequence[Circuit]) -> tuple[Circuit, ...]:
        return shortened(claim.circuit, circuits)

    def remarks(self, _battery: Battery, grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        return (Plain.IMPLIED,) * needs_every_edge(grounds) + (Plain.CONSTANT,) * grounds.is_constant
