"""The lesion identity: an artifact without its program heads is the base that it was built on.

A forward in which nothing reads the program heads reads none of their tensors. So if every other tensor has
the digest that it has in the base, the lesioned artifact computes what the lesioned base does, on every
prompt and in every arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Self, TypeAlias

from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import LOGITS, Head
from circuitproof.errors import InputError, UsageError
from circuitproof.files.canonical import Digest, Json
from circuitproof.files.reading import Fields, reading_part
from circuitproof.forward.frozen import Frozen, WeightFile
from circuitproof.models.architecture import Architecture, Shapes, read_architecture, tensor_shapes
from circuitproof.models.declaration import (
    ProgramHeads,
    programs_to_json,
    read_program_lines,
    readout_tensors,
)
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Decided
from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import OneTensor, TensorSplit
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import CandidateLogits, Folded
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, Property, PropertyWords
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.remarks import Decisions, OfBase, Plain, Remark, RemarkContext
from circuitproof.proof.verdict import Answer, Battery, Proved, Refuted
from circuitproof.tasks.domain import Prompt

Digests: TypeAlias = tuple[tuple[str, Digest], ...]
"""The names of tensors with their digests, in the order of names."""


@dataclass(frozen=True, slots=True)
class Base:
    """The model that an artifact was built on: what it declares, and the digest of every tensor."""

    architecture: Architecture
    programs: ProgramHeads
    tensors: Digests


@dataclass(frozen=True, slots=True)
class LesionIdentity(Property):
    """Without its program heads the model is its base: every tensor that is then read has the same digest."""

    kind: ClassVar[Kind] = Kind.LESION_IDENTITY
    is_asked_of_solvers: ClassVar[bool] = False
    is_folded: ClassVar[bool] = False
    is_about_cut_edges: ClassVar[bool] = False

    base: Base
    artifact: Digests

    @classmethod
    def asked(cls, _asked: Asked) -> Self:
        raise UsageError("a lesion identity is claimed of a model and its base: use circuitproof construct")

    @classmethod
    def read(cls, fields: Fields, _circuit: Circuit) -> Self:
        with reading_part(fields, "base") as base:
            architecture = read_architecture(base.fields("architecture"))
            programs = read_program_lines(base.fields("programs"), architecture)
            before = Base(architecture, programs, _read_digests(base.fields("tensors")))
        return cls(before, _read_digests(fields.fields("artifact")))

    def to_json(self) -> dict[str, Json]:
        base: Json = {
            "architecture": self.base.architecture.to_json(),
            "programs": programs_to_json(self.base.programs),
            "tensors": _digests_to_json(self.base.tensors),
        }
        return {"kind": str(self.kind), "base": base, "artifact": _digests_to_json(self.artifact)}

    def meaning(self) -> PropertyWords:
        return PropertyWords(
            "With its program heads silenced the model is its base with these heads silenced: "
            "every tensor that is then read is the same.",
            "∀ tensors t of no program head:  t of M = t of the base",
            "Nothing is said of what the program heads do.",
        )

    def answer_list(self, claim: Claim, _folded: Folded[CandidateLogits], _effort: Effort) -> Answer:
        return self.answer(claim.frozen)

    def answer(self, frozen: Frozen) -> Answer:
        """Answer whether every tensor outside the readouts is the same before and after."""
        refuse_other_base(self.base, frozen)
        if dict(self.artifact) != dict(_digests(frozen.file)):
            raise InputError("the digests of the artifact are not those of the model that the claim is about")
        local = readout_tensors(frozen.programs, biases=frozen.architecture.biases)
        before = dict(self.base.tensors)
        after = {name: digest for name, digest in self.artifact if name not in local}
        changed = [name for name, digest in after.items() if before[name] != digest]
        outcome = Refuted(OneTensor(changed[0])) if changed else Proved(TensorSplit(tuple(after.values())))
        return Answer(self, outcome, len(after), len(after) - len(changed), Findings())

    def remarks(self, battery: Battery, _grounds: RemarkContext, _decisions: Decisions) -> tuple[Remark, ...]:
        """Remark that there is nothing to silence, here or in the circuit, and on heads that the base has.

        Cut edges that carry anything carry what the program heads put out: the circuit uses them then.
        """
        programs, circuit = battery.claim.frozen.programs, battery.claim.circuit
        attending = {head for head, program in programs.items() if not program.never_attends}
        is_apart = isinstance(circuit.ablation, Zero) and attending.isdisjoint(circuit.upstream([LOGITS]))
        is_unused = is_apart or not programs
        plain = Plain.UNUSED_PROGRAM if programs else Plain.NO_PROGRAM
        return ((plain,) if is_unused else ()) + tuple(map(OfBase, self._of_base(programs)))

    def _of_base(self, programs: ProgramHeads) -> list[Head]:
        """Return the heads that have the same program in the base, in order."""
        same = (head for head, program in self.base.programs.items() if programs.get(head) == program)
        return sorted(same, key=lambda head: head.place)

    def replayed(self, _claim: Claim, _prompts: Sequence[Prompt], _eta: Point) -> tuple[Decided, ...]:
        """Return nothing: no prompt can speak against it."""
        return ()


def _read_digests(fields: Fields) -> Digests:
    return tuple((name, Digest(fields.text(name))) for name in sorted(fields.keys()))


def _digests_to_json(digests: Digests) -> Json:
    return {name: str(digest) for name, digest in digests}


def identity_with(base: Frozen, artifact: Frozen) -> LesionIdentity:
    """Return the claim that an artifact is its base but for the readouts of its program heads."""
    declared = Base(base.architecture, base.programs, _digests(base.file))
    refuse_other_base(declared, artifact)
    return LesionIdentity(declared, _digests(artifact.file))


def refuse_other_base(base: Base, artifact: Frozen) -> None:
    """Refuse a base that computes otherwise, whatever its tensors are, or that is not wholly told."""
    for field in fields(base.architecture):
        before, after = (getattr(sizes, field.name) for sizes in (base.architecture, artifact.architecture))
        if before != after:
            raise InputError(
                f"the base's {field.name} is {before}, the artifact's {after}; "
                "a lesion identity wants a base of the same architecture"
            )
    if other := [head for head in base.programs if head not in artifact.programs]:
        raise InputError(
            f"{other[0]} is a program in the base but not in the artifact; "
            "a lesion identity wants it to be one in both"
        )
    _refuse_other_tensors("base", base.tensors, tensor_shapes(base.architecture, base.programs))
    _refuse_other_tensors("artifact", _digests(artifact.file), artifact.declaration.shapes())


def _refuse_other_tensors(whose: str, tensors: Digests, declared: Shapes) -> None:
    found = [name for name, _ in tensors]
    if missing := sorted(declared.keys() - set(found)):
        raise InputError(f"the {whose} lacks tensor {missing[0]}, which its declaration has")
    if unknown := sorted(set(found) - declared.keys()):
        raise InputError(f"the {whose} holds tensor {unknown[0]}, which its declaration does not have")


def _digests(file: WeightFile) -> Digests:
    return tuple((name, file.digest(name)) for name in sorted(file.places))
