"""What of a claim has no value in its arithmetic, and what to do; which operators: `models.operators`."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.errors import InputError, NotExactError, UsageError
from circuitproof.forward.frozen import Frozen
from circuitproof.models.declaration import Declaration
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic, EnclosedNumbers, ExactNumbers
from circuitproof.proof.effort import Effort

if TYPE_CHECKING:
    from circuitproof.proof.claim import Claim


class Need(StrEnum):
    """What exact values are wanted for: what to say, and what to do, where an operator has none."""

    FAITHFULNESS = "the whole model uses {}, which has no exact value: this can only be measured"
    AGREEMENT = "the other circuit uses {}, which has no exact value; compare with a circuit without it"
    DECISIONS = (
        "the model uses {}, which has no exact value, so its own decisions have none; "
        "want the right answers as the objective"
    )
    LOGITS = (
        "the model uses {}, which has no exact value, so its logits have none; "
        "circuitproof model DIR --compare FILE compares such a model in floats"
    )


def is_exact(claim: "Claim") -> bool:
    """Say whether everything that a claim's answers need has an exact value."""
    has_values = all(has_exact_logits(claim.frozen, circuit) for circuit in claim.circuits())
    return has_values and all(prop.cannot_prove(claim) is None for prop in claim.properties)


def has_exact_logits(frozen: Frozen, circuit: Circuit) -> bool:
    """Say whether a circuit, and what its cut edges carry, has an exact value."""
    is_zero = isinstance(circuit.ablation, Zero)
    return inexact_circuit(frozen, circuit) is None and (is_zero or inexact_model(frozen) is None)


def in_its_arithmetic(claim: "Claim", effort: Effort | None = None) -> "Claim":
    """Return a claim about a list as it is where all that it needs has an exact value, enclosed otherwise."""
    if is_exact(claim):
        return claim
    return replace(claim, arithmetic=EnclosedNumbers.up_to((effort or Effort()).precision))


def over_patterns(frozen: Frozen, circuit: Circuit, effort: Effort) -> ClaimArithmetic:
    """Return the arithmetic of a claim about a pattern: exact numbers where the circuit has exact values."""
    return EXACT if has_exact_logits(frozen, circuit) else EnclosedNumbers.up_to(effort.precision)


def ball_words(arithmetic: ClaimArithmetic) -> str | None:
    """Return why balls cannot be searched in an arithmetic and what to do; nothing if they can."""
    if isinstance(arithmetic, ExactNumbers):
        return None
    return (
        f"balls are searched in exact numbers, the claim's arithmetic is {arithmetic.kind}; "
        "perturb 'logits input' at the last position"
    )


def inexact_model(frozen: Frozen, arithmetic: ClaimArithmetic = EXACT) -> str | None:
    """Return the operator by which the whole model has no value in an arithmetic, if one is to blame."""
    return inexact_circuit(frozen, whole(frozen.graph), arithmetic)


def inexact_circuit(frozen: Frozen, circuit: Circuit, arithmetic: ClaimArithmetic = EXACT) -> str | None:
    """Return the operator by which a circuit has no value in an arithmetic, if one is to blame."""
    if isinstance(arithmetic, ExactNumbers):
        return frozen.declaration.inexact_among(circuit.live().nodes())
    return arithmetic.lacking(frozen.architecture)


def refuse_inexact(frozen: Frozen, circuit: Circuit, need: Need) -> None:
    """Refuse a circuit, or a whole model, that computes what has no exact value."""
    if (operator := inexact_circuit(frozen, circuit)) is not None:
        raise NotExactError(need.format(operator))


def refuse_valueless(declared: Declaration, what: str, circuit: Circuit | None = None) -> None:
    """Refuse a model, or a circuit of it, that has values in no arithmetic, where work ends in proofs."""
    kept = whole(declared.architecture.graph) if circuit is None else circuit
    inexact = declared.inexact_among(kept.live().nodes())
    unknown = EnclosedNumbers().lacking(declared.architecture)
    if inexact is not None and unknown is not None:
        raise InputError(
            f"{what} ends in proofs, and the model's {inexact} has no exact value, its {unknown} no enclosed "
            "one; want a model without one of them"
        )


def refuse_enclosing(claim: "Claim", who: str) -> None:
    """Refuse a claim in an enclosing arithmetic, where work is done in exact numbers only."""
    if not isinstance(claim.arithmetic, ExactNumbers):
        raise UsageError(f"{who} in exact numbers, the claim's arithmetic is {claim.arithmetic.kind}")
