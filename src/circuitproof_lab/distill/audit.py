"""The causal audit: what the programs and the circuit carry, and what a model can do without them.

Redundancy is a fact about a model, not a failure: it is counted before any training and after each rung, so
that nobody can take a native backup route for one that training built.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import digest_bytes
from circuitproof.nn.decisions import answer_margins, score_of, task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.distill.lesion import Behaviour, silence
from circuitproof_lab.records.audit import Audit


def audit(model: Transformer, behaviour: Behaviour, heads: Sequence[Head]) -> Audit:
    """Silence heads together and one by one, take the circuit out, and count what is left right.

    With the circuit go the heads: what is left is the same whatever their readouts are. Counts are of
    floats; a tie is not right.
    """
    task, circuit, everything = behaviour.task, behaviour.circuit, whole(model.graph)
    silenced = silence(everything, heads)
    gap = without_circuit(behaviour, everything, heads)
    alone = [silence(everything, [head]) for head in heads]
    in_model = task_logits(model, task, [everything, silenced, gap, *alone])
    lesioned = [circuit, silence(circuit, heads), *(silence(circuit, [head]) for head in heads)]
    in_circuit = task_logits(model, task, lesioned)
    margins = answer_margins(task, in_model)
    right, right_silenced, right_gap, *right_alone = (score_of(row, task.name).right for row in margins)
    own, together, *others = (score_of(row, task.name).right for row in answer_margins(task, in_circuit))
    return Audit(
        heads=tuple(map(str, heads)),
        prompts=task.size,
        model=right,
        circuit=own,
        without_heads=right_silenced,
        without_each=tuple(right_alone),
        circuit_without_heads=together,
        circuit_without_each=tuple(others),
        without_circuit=right_gap,
        backup=_places(margins[1] > 0),
        wrong=_places(margins[0] <= 0),
        lesion_digest=digest_bytes(in_model[1].contiguous().numpy().tobytes()),
    )


def without_circuit(behaviour: Behaviour, everything: Circuit, heads: Sequence[Head]) -> Circuit:
    """Return what the whole-circuit lesion leaves: no edge of the circuit, and nothing reads the heads."""
    return silence(everything.without(*behaviour.circuit.edges), heads)


def _places(chosen: Tensor) -> tuple[int, ...]:
    return tuple(torch.nonzero(chosen).flatten().tolist())
