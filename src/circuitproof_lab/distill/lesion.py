"""Lesions: what is left of a behaviour when heads are silenced, measured in floats.

A silenced head keeps computing, but nothing reads it: all its outgoing edges are gone, and with the last head
of a layer that a node reads goes the bias that they share.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Head
from circuitproof.find.choices import Objective
from circuitproof.find.measure import Measure
from circuitproof.find.objective import measures_of, target_from, target_of
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.task import Task
from circuitproof_lab.records.migration import Lesion


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A task and the circuit that was declared to do it before anything was trained further."""

    task: Task
    circuit: Circuit

    def core(self, programs: Iterable[Head]) -> tuple[Head, ...]:
        """Return those of the heads that the circuit reads, in the order of computation."""
        read = {edge.source for edge in self.circuit.live()}
        return tuple(sorted((head for head in programs if head in read), key=lambda head: head.place))


class Where(StrEnum):
    """What is lesioned."""

    MODEL = "model"
    """Everything: no edge is missing but those of the silenced heads."""
    CIRCUIT = "circuit"
    """The declared circuit alone."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What is left when some heads are silenced; without any, what there was before."""

    where: Where
    heads: tuple[Head, ...]
    change: Measure
    """From the decisions before the lesion: its divergence is KL(before ‖ after), in nats."""
    answers: Measure
    """From the right answers; its agreement counts what is still decided right, ties not among it."""

    def record(self) -> Lesion:
        """Return what is written down of it."""
        return Lesion(
            where=self.where,
            silenced=tuple(map(str, self.heads)),
            kl=self.change.kl,
            unchanged=self.change.agreed,
            right=self.answers.agreed,
            prompts=self.answers.prompts,
            worst_margin=self.answers.worst_margin,
        )


def silence(circuit: Circuit, heads: Collection[Head]) -> Circuit:
    """Return the circuit in which nothing reads these heads."""
    return circuit.without(*(edge for edge in circuit.edges if edge.source in heads))


def lesion(
    model: Transformer, behaviour: Behaviour, where: Where, lesions: Sequence[Sequence[Head]]
) -> tuple[Effect, ...]:
    """Return what each lesion of the model or of the declared circuit leaves of a behaviour."""
    task, base = behaviour.task, whole(model.graph) if where is Where.MODEL else behaviour.circuit
    logits = task_logits(model, task, [base, *(silence(base, heads) for heads in lesions)])
    changes = measures_of(target_from(logits[0]), logits[1:])
    answers = measures_of(target_of(model, task, Objective.PROGRAM), logits[1:])
    return tuple(
        Effect(where, tuple(heads), change, answer)
        for heads, change, answer in zip(lesions, changes, answers, strict=True)
    )


def lesions_of(model: Transformer, behaviour: Behaviour) -> tuple[Effect, ...]:
    """Return the effect of no lesion, of silencing all programs and each alone, in model and circuit.

    A program that the circuit does not read can be silenced alone in the model only.
    """
    programs = tuple(model.programs)
    in_model = [(), programs, *((head,) for head in programs)]
    in_circuit = [(), programs, *((head,) for head in behaviour.core(programs))]
    return (
        *lesion(model, behaviour, Where.MODEL, in_model),
        *lesion(model, behaviour, Where.CIRCUIT, in_circuit),
    )
