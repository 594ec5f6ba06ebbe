"""The lesion identity: an artifact without its program heads is the base that it was built on.

A forward in which nothing reads the program heads reads none of their tensors. So if every other tensor has
the digest that it has in the base, the lesioned artifact computes what the lesioned base does, on every
prompt and in every arithmetic.
"""

from dataclasses import fields

from circuitproof.declare.architecture import Shapes, tensor_shapes
from circuitproof.errors import InputError
from circuitproof.forward.declaration import readout_tensors
from circuitproof.forward.frozen import Frozen, WeightFile
from circuitproof.prove.evidence import OneTensor, TensorSplit
from circuitproof.prove.findings import Findings
from circuitproof.prove.properties import Base, Digests, LesionIdentity
from circuitproof.prove.verdict import Answer, Proved, Refuted


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


def answer_identity(frozen: Frozen, prop: LesionIdentity) -> Answer:
    """Answer whether every tensor outside the readouts is the same before and after."""
    refuse_other_base(prop.base, frozen)
    if dict(prop.artifact) != dict(_digests(frozen.file)):
        raise InputError("the digests of the artifact are not those of the model that the claim is about")
    local = readout_tensors(frozen.programs, biases=frozen.architecture.biases)
    before = dict(prop.base.tensors)
    after = {name: digest for name, digest in prop.artifact if name not in local}
    changed = [name for name, digest in after.items() if before[name] != digest]
    outcome = Refuted(OneTensor(changed[0])) if changed else Proved(TensorSplit(tuple(after.values())))
    return Answer(prop, outcome, len(after), len(after) - len(changed), Findings())


def _digests(file: WeightFile) -> Digests:
    return tuple((name, file.digest(name)) for name in sorted(file.places))
