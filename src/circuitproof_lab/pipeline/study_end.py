"""The end of a study, written down: a release is made from it without knowing how the study went."""

from collections.abc import Sequence
from pathlib import Path

from circuitproof.claims.places import ProofRecord, record_of
from circuitproof.files.canonical import digest_file
from circuitproof.files.sealed import MANIFEST
from circuitproof.proof.verdict import Verdict
from circuitproof_lab.pipeline.stages.prove import BUNDLE
from circuitproof_lab.pipeline.study_work import TaskReport
from circuitproof_lab.records.gate import GateOutcome
from circuitproof_lab.records.limits import LIMITS, PatternLimits
from circuitproof_lab.records.study import EndedStudy, EndedTask, KeptProof, OpenedGate


def end_of(base: Path, reports: Sequence[TaskReport], folder: Path) -> EndedStudy:
    """Return where everything stands that a finished study made in a folder."""
    return EndedStudy(
        base=_below(base, folder) if base.is_relative_to(folder) else None,
        base_manifest=digest_file(base / MANIFEST),
        tasks=tuple(_end_of_task(one, folder) for one in reports),
    )


def _end_of_task(report: TaskReport, folder: Path) -> EndedTask:
    artifact = report.artifact
    return EndedTask(
        task=report.task,
        stopped=report.stopped,
        gates=tuple(map(_gate, report.outcomes)),
        edges=None if report.circuit is None else len(report.circuit),
        rung=None if artifact is None else artifact.record,
        why=None if artifact is None else artifact.why,
        model=None if artifact is None else _below(artifact.model, folder),
        record=None
        if artifact is None
        else next(one for one in artifact.states if one.name == artifact.record),
        proofs=(*_proof_of(report, folder), *_limits_of(report, folder)),
    )


def _gate(outcome: GateOutcome) -> OpenedGate:
    trial = outcome.trial
    return OpenedGate(
        generation=outcome.generation,
        edges=len(trial.circuit),
        heads=len(trial.circuit.heads()),
        agreed=trial.gate.agreed,
        prompts=trial.gate.prompts,
        apart=len(outcome.apart),
        programs=outcome.programs,
    )


def _proof_of(report: TaskReport, folder: Path) -> tuple[KeptProof, ...]:
    """Return the bundle of the declared domain, if there is one."""
    if report.artifact is None:
        return ()
    proof = report.artifact.proof
    bundle, record = _below(proof.bundle, folder), record_of(proof.battery, proof.seconds)
    operations = None if report.checked is None else report.checked.operations
    return (KeptProof(claim=report.task, bundle=bundle, has_base=True, proof=record, operations=operations),)


def _limits_of(report: TaskReport, folder: Path) -> tuple[KeptProof, ...]:
    """Return the bundle of what lies beyond the domain, which stands beside its record."""
    limits = report.limits
    if not isinstance(limits, PatternLimits):
        return ()
    (file,) = (folder / report.task).rglob(LIMITS)
    bundle, record = _below(file.parent / BUNDLE, folder), _record_of_limits(limits)
    claim = f"{report.task}-beyond"
    return (KeptProof(claim=claim, bundle=bundle, has_base=False, proof=record),)


def _record_of_limits(limits: PatternLimits) -> ProofRecord:
    verdicts = {kind: Verdict(verdict) for kind, verdict in limits.verdicts.items()}
    return ProofRecord(round(limits.seconds, 3), limits.cells, verdicts)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
