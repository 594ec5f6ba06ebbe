"""Faithfulness: the circuit decides what the whole model decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.errors import NotExactError
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided, beside, fold_of
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import make_leaf
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.inexact import Need, inexact_model
from circuitproof.proof.known import divide, same_decision
from circuitproof.proof.properties.each_prompt import for_every_prompt, unprovable
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property, PropertyWords
from circuitproof.proof.properties.questions import Compared, EachPrompt, PropertyQuestion, Sought
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, Plain, Remark, RemarkContext, Tied, constant
from circuitproof.proof.verdict import Answer, Battery
from circuitproof.proof.zero_nodes import is_whole_model
from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True)
class Faithfulness(Property):
    """For every prompt, the circuit decides what the whole model decides."""

    kind: ClassVar[Kind] = Kind.FAITHFULNESS
    second: ClassVar[str] = "model"
    beside: ClassVar[str] = "the whole model"

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "On every prompt the circuit decides as the whole model does.",
            "∀x ∈ D:  d(x) = d of M (x)",
            "It may do so for other reasons than the model, and both may be wrong.",
        )

    def other_circuits(self, claim: Claim) -> Sequence[Circuit]:
        return (whole(claim.frozen.graph),) if self.cannot_prove(claim) is None else ()

    def cannot_prove(self, claim: Claim) -> str | None:
        operator = inexact_model(claim.frozen, claim.arithmetic)
        return None if operator is None else Need.FAITHFULNESS.format(operator)

    def answer_list(self, claim: Claim, folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        if (reason := self.cannot_prove(claim)) is not None:
            return unprovable(claim, self, reason)
        found, model = folded.of(claim.circuit), folded.of(whole(claim.frozen.graph))
        leaves = [make_leaf(one, other) for one, other in zip(found, model, strict=True)]
        alike = divide(same_decision(one, other) for one, other in zip(found, model, strict=True))
        return for_every_prompt(claim, self, leaves, alike)

    def remarks(self, battery: Battery, grounds: RemarkContext, decisions: Decisions) -> tuple[Remark, ...]:
        tied = sum(len(decision) > 1 for decision in decisions)
        ties = (Tied(tied),) if tied else ()
        is_whole = is_whole_model(battery.claim.frozen, grounds.circuit)
        return constant(grounds, decisions) + (Plain.WHOLE,) * is_whole + ties

    def questions(self, claim: Claim) -> tuple[PropertyQuestion, ...]:
        if (reason := self.cannot_prove(claim)) is not None:
            raise NotExactError(reason)
        said = ("is decided otherwise than by the whole model", "is decided like it")
        circuits = (claim.circuit, whole(claim.frozen.graph))
        return (EachPrompt(Sought(Compared.UNLIKE, circuits, said)),)

    def replayed(self, claim: Claim, prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        model = whole(claim.frozen.graph)
        return tuple(
            beside(claim, x, fold_of(claim, model, x).decision, fold_of(claim, claim.circuit, x))
            for x in prompts
        )
