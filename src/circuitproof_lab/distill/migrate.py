"""Migration: did a mechanism stay with its programs, or did training move it somewhere else?

Two things can go wrong without a wrong answer. The behaviour may be *bypassed*: it survives when the programs
are silenced. And it may *drift*: extraction finds a neural head in the circuit that was not there before.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import isfinite
from typing import Annotated

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head, Node
from circuitproof.errors import InputError
from circuitproof.files.codec import Key, Positive
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.distill.lesion import Behaviour, Effect, Where, lesions_of
from circuitproof_lab.records.migration import BehaviourRecord


class Fate(StrEnum):
    """What became of a behaviour, the worst that is true of it."""

    FAILED = "failed"
    """The model does not decide every prompt right."""
    BYPASSED = "bypassed"
    """It survives without the programs, or the model does not miss a program of its declared circuit."""
    DRIFTED = "drifted"
    """Its circuit has a neural head that it did not have."""
    HELD = "held"
    """None of these."""


@dataclass(frozen=True, slots=True)
class LesionGates:
    """What a lesion must do to count as one that matters; fixed before the run."""

    kl: Annotated[Positive, Key("lesion_kl")]
    """The smallest divergence, in nats, of the candidates before and after."""
    right: Annotated[Fraction, Key("lesion_right")]
    """The largest share of prompts still decided right when all programs are silenced."""

    def __post_init__(self) -> None:
        if not (isfinite(self.kl) and self.kl > 0):
            raise InputError(f"gates: a lesion must move {self.kl} nats, want a finite number above 0")
        if not 0 <= self.right < 1:
            raise InputError(f"gates: a share {self.right} may survive a lesion, want from 0 to below 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A behaviour of a model with programs, beside the circuit that was declared for it."""

    behaviour: Behaviour
    found: Circuit
    """What extraction finds now."""
    programs: tuple[Head, ...]
    effects: tuple[Effect, ...]
    gates: LesionGates

    @property
    def fate(self) -> Fate:
        if not self.is_right:
            return Fate.FAILED
        if self.survives or self.idle(Where.MODEL):
            return Fate.BYPASSED
        return Fate.DRIFTED if self.arrived else Fate.HELD

    @property
    def is_right(self) -> bool:
        """Say whether the model decides every prompt right."""
        answers = self.effect(Where.MODEL).answers
        return answers.agreed == answers.prompts

    @property
    def survives(self) -> bool:
        """Say whether the behaviour survives in the model without all programs."""
        joint = self.effect(Where.MODEL, self.programs)
        return (
            joint.change.kl < self.gates.kl or joint.answers.agreed > self.gates.right * joint.answers.prompts
        )

    def idle(self, where: Where) -> tuple[Head, ...]:
        """Return the programs of the declared circuit that are not missed when they alone are silenced.

        In the circuit that is no fault: two heads that both add to the logits cannot each be needed there.
        """
        core = self.behaviour.core(self.programs)
        return tuple(head for head in core if self.effect(where, (head,)).change.kl < self.gates.kl)

    @property
    def arrived(self) -> tuple[Head, ...]:
        """Return the neural heads of the circuit found now that the declared one does not have."""
        return tuple(node for node in self.new_nodes if isinstance(node, Head) and node not in self.programs)

    @property
    def new_nodes(self) -> tuple[Node, ...]:
        """Return what the circuit found now touches and the declared one does not."""
        return _beyond(self.found, self.behaviour.circuit)

    @property
    def lost_nodes(self) -> tuple[Node, ...]:
        """Return what the declared circuit touches and the one found now does not."""
        return _beyond(self.behaviour.circuit, self.found)

    def effect(self, where: Where, silenced: tuple[Head, ...] = ()) -> Effect:
        return next(one for one in self.effects if one.where is where and one.heads == silenced)

    def record(self) -> BehaviourRecord:
        """Return what is written down of it."""
        return BehaviourRecord(
            task=self.behaviour.task.name,
            fate=self.fate,
            survives=self.survives,
            idle={where: tuple(map(str, self.idle(where))) for where in Where},
            arrived=tuple(map(str, self.arrived)),
            new_nodes=tuple(map(str, self.new_nodes)),
            lost_nodes=tuple(map(str, self.lost_nodes)),
            declared=tuple(map(str, self.behaviour.circuit)),
            found=tuple(map(str, self.found)),
            lesions=tuple(effect.record() for effect in self.effects),
        )


def migration_of(model: Transformer, behaviour: Behaviour, found: Circuit, gates: LesionGates) -> Migration:
    """Silence the programs of a model in all ways, and compare what was declared with what is found now."""
    if not model.programs:
        raise InputError("the model has no programs, so nothing can have moved away from them; install some")
    return Migration(
        behaviour=behaviour,
        found=found,
        programs=tuple(model.programs),
        effects=lesions_of(model, behaviour),
        gates=gates,
    )


def _beyond(one: Circuit, other: Circuit) -> tuple[Node, ...]:
    known = set(other.live().nodes())
    return tuple(node for node in one.live().nodes() if node not in known)
