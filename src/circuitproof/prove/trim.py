"""Trimming: taking edges out of a circuit, exactly, as long as no decision on the domain changes."""

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.readers import reads_prompt
from circuitproof.declare.tasks.task import Task
from circuitproof.forward.frozen import Frozen
from circuitproof.prove.fold import fold


def trim(frozen: Frozen, task: Task, circuit: Circuit) -> Circuit:
    """Return what is left when no single edge can go without changing a decision.

    Every prompt is decided as by `circuit`, ties included. Where several edges could go, the one goes that
    leaves the largest lead on the prompt where the lead is smallest.
    """
    kept = circuit.live()
    while True:
        lesions = [lesion.live() for lesion in kept.lesions()]
        choices = [lesion for lesion in dict.fromkeys(lesions) if reads_prompt(lesion, frozen.programs)]
        folded = fold(frozen, task.candidates, [kept, *choices], task.prompts)
        wanted = [found.decision for found in folded.of(kept)]
        good = [one for one in choices if [found.decision for found in folded.of(one)] == wanted]
        if not good:
            return kept
        kept = max(good, key=lambda one: min(found.margin(min(found.decision)) for found in folded.of(one)))
