"""The record of a study's end: where base, models of record and bundles stand, and what stopped a task."""

from dataclasses import dataclass

from circuitproof.claims.places import ProofRecord
from circuitproof.files.canonical import Digest
from circuitproof.files.codec import PositiveInt
from circuitproof_lab.records.audit import MeasuredState
from circuitproof_lab.records.gate import GatedPrograms

STUDY = "ended.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptProof:
    """A bundle of a study; paths are below the run's folder."""

    claim: str
    """What a claims file calls it."""
    bundle: str
    has_base: bool
    """Whether it claims the lesion identity with the base."""
    proof: ProofRecord
    operations: PositiveInt | None = None
    """How much work the checker is to be allowed, where that is more than it allows by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedGate:
    """A gate that was opened: how large the selected circuit is, and what it decided as wanted."""

    generation: str
    edges: int
    heads: int
    agreed: int
    prompts: int
    """Those that the base itself decides right."""
    apart: int
    """How many prompts the base itself decides wrong, on which a circuit is not asked."""
    programs: GatedPrograms | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTask:
    """How far a task came; without an artifact, why not."""

    task: str
    stopped: str | None
    gates: tuple[OpenedGate, ...]
    edges: int | None
    """How many were extracted on the whole domain."""
    rung: str | None
    """Which rung is the model of record."""
    why: str | None
    """Why it is that one, in one sentence."""
    model: str | None
    record: MeasuredState | None
    """The model of record, measured."""
    proofs: tuple[KeptProof, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedStudy:
    """A finished study: it is written last, so that a run that has it is finished."""

    base: str | None
    """Where the base is below the run's folder; nothing where it was given."""
    base_manifest: Digest
    tasks: tuple[EndedTask, ...]
