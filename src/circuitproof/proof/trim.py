"""Trimming: taking edges out of a circuit, exactly, as long as no decision on the domain changes."""

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.arithmetic import EXACT, ClaimArithmetic
from circuitproof.proof.fold import fold
from circuitproof.proof.known import all_of, least_lead, same_decision
from circuitproof.tasks.task import Task


def trim(frozen: Frozen, task: Task, circuit: Circuit, arithmetic: ClaimArithmetic = EXACT) -> Circuit:
    """Return what is left when no single edge can go without changing a decision.

    Every prompt is known to be decided as by `circuit`, ties included. Where several edges could go, the one
    goes that leaves the largest lead on the prompt where the lead is smallest.
    """
    kept = circuit.live()
    while True:
        lesions = [lesion.live() for lesion in kept.lesions()]
        choices = [lesion for lesion in dict.fromkeys(lesions) if reads_prompt(lesion, frozen.programs)]
        folded = fold(frozen, task.candidates, [kept, *choices], task.prompts, arithmetic=arithmetic)
        wanted = folded.of(kept)
        good = [one for one in choices if all_of(map(same_decision, wanted, folded.of(one))) is True]
        if not good:
            return kept
        kept = max(good, key=lambda one: min(map(least_lead, folded.of(one))))
