"""Choosing one candidate by a rule that was fixed beforehand."""

from collections.abc import Sequence
from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.find.choices import SelectionRule
from circuitproof.find.objective import refuse_bad_agreement
from circuitproof.find.sweep import CircuitCandidate


def select(
    candidates: Sequence[CircuitCandidate], rule: SelectionRule, agreement: float = 1.0
) -> CircuitCandidate:
    """Return the candidate that the rule puts first among those that keep the wanted agreement."""
    refuse_bad_agreement(agreement)
    if not candidates:
        raise InputError("there are no candidates to select from; give at least one threshold")
    good = [candidate for candidate in candidates if candidate.measure.agreement >= agreement]
    if not good:
        best = max((candidate.measure for candidate in candidates), key=lambda measure: measure.agreed)
        raise InputError(
            f"no candidate is decided as wanted on a share {agreement:g} of the prompts, the best on "
            f"{best.agreed} of {best.prompts}; train the model further or choose another objective"
        )
    return min(good, key=lambda candidate: _rank(candidate, rule))


def _rank(candidate: CircuitCandidate, rule: SelectionRule) -> tuple[float, float, float]:
    edges, margin = len(candidate.circuit), candidate.measure.worst_margin
    match rule:
        case SelectionRule.SPARSITY:
            return (edges, -margin, candidate.threshold)
        case SelectionRule.MARGIN:
            return (-margin, edges, candidate.threshold)
        case _:
            assert_never(rule)
