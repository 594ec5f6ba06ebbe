"""The lesion identity: an artifact without its program heads is the base that it was built on.

A forward in which nothing reads the program heads reads none of their tensors. So if every other tensor has
the digest that it has in the base, the lesioned artifact computes what the lesioned base does, on every
prompt and in every arithmetic.
"""

from circuitproof.canonical import Digest
from circuitproof.errors import InputError
from circuitproof.semantics.declaration import readout_tensors
from circuitproof.semantics.frozen import Frozen, WeightFile
from circuitproof.verify.evidence import OneTensor, TensorSplit
from circuitproof.verify.findings import Findings
from circuitproof.verify.properties import LesionIdentity
from circuitproof.verify.verdict import Answer, Proved, Refuted


def identity_with(base: WeightFile, artifact: Frozen) -> LesionIdentity:
    """Return the claim that an artifact is its base but for the readouts of its program heads."""
    if missing := sorted(artifact.file.places.keys() - base.places.keys()):
        raise InputError(f"{artifact.file.path} holds tensor {missing[0]}, which {base.path} does not have")
    return LesionIdentity(_digests(base), _digests(artifact.file))


def answer_identity(frozen: Frozen, prop: LesionIdentity) -> Answer:
    """Answer whether every tensor outside the readouts is the same before and after."""
    if dict(prop.artifact) != dict(_digests(frozen.file)):
        raise InputError("the digests of the artifact are not those of the model that the claim is about")
    local = readout_tensors(frozen.programs, biases=frozen.architecture.biases)
    before = dict(prop.base)
    frozen_names = [name for name, _ in prop.artifact if name not in local]
    after = dict(prop.artifact)
    changed = [name for name in frozen_names if before.get(name) != after[name]]
    met = len(frozen_names) - len(changed)
    outcome = Refuted(OneTensor(changed[0])) if changed else Proved(TensorSplit(_kept(after, frozen_names)))
    return Answer(prop, outcome, len(frozen_names), met, Findings())


def _kept(digests: dict[str, Digest], names: list[str]) -> tuple[Digest, ...]:
    return tuple(digests[name] for name in names)


def _digests(file: WeightFile) -> tuple[tuple[str, Digest], ...]:
    return tuple((name, file.digest(name)) for name in sorted(file.places))
