"""Building artifacts: install programs, audit, calibrate rung by rung, choose one, prove and bundle it."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.inexact import refuse_valueless
from circuitproof_lab.distill.calibrate import refuse_aimless
from circuitproof_lab.pipeline.construction_recipe import Blueprint, Construction, SeededBase
from circuitproof_lab.pipeline.engine import RunStage, StageName, follow, written
from circuitproof_lab.pipeline.sizes import model_size
from circuitproof_lab.pipeline.stages.calibrate import (
    ArtifactBuild,
    audit_ends,
    calibrate_rungs,
    install_blueprint,
)
from circuitproof_lab.pipeline.stages.measure_proof import measure_proof
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, CircuitProof, prove_circuit
from circuitproof_lab.records.audit import MeasuredState
from circuitproof_lab.records.proof import MEASURES, ProofMeasures


@dataclass(frozen=True, slots=True)
class Artifact:
    """A calibrated model of record with its history and its proof."""

    task: str
    states: tuple[MeasuredState, ...]
    record: str
    """The rung that became the model of record."""
    why: str
    """Why it is that one, in one sentence."""
    model: Path
    proof: CircuitProof
    measures: ProofMeasures

    def to_json(self) -> Json:
        return {
            "task": self.task,
            "states": to_json(self.states),
            "record": self.record,
            "why": self.why,
            "model": str(self.model),
            "proof": _proof_to_json(self.proof, self.measures),
        }


def artifact_of(build: ArtifactBuild) -> Artifact:
    """Return what all stages of a build came to."""
    chosen = written(build.chosen, "choice of a rung")
    return Artifact(
        build.blueprint.task.name,
        build.states,
        chosen.record,
        chosen.why,
        written(build.model, "model of record"),
        written(build.proof, "proof"),
        written(build.measures, "measures of the proof"),
    )


def _proof_to_json(proof: CircuitProof, measures: ProofMeasures) -> Json:
    battery = proof.battery
    return {
        "verdict": str(proof.verdict),
        "answers": [{**answer.to_json(), "obligations": answer.obligations} for answer in battery.answers],
        "prompts": battery.claim.task.size,
        "cells": battery.cells,
        "edges": [str(edge) for edge in battery.claim.circuit],
        "declared_edges": proof.declared_edges,
        "verification_seconds": proof.seconds,
        **record_to_json(measures),
        "bundle": str(proof.bundle),
    }


def prove_artifact(build: ArtifactBuild) -> ArtifactBuild:
    """Prove that the circuit of the model of record does the task, and that only program heads are new."""
    model, epsilon = written(build.model, "model of record"), build.construction.epsilon
    claim = CircuitClaim(model=model, behaviour=build.behaviour, epsilon=epsilon, base=build.base)
    proof = prove_circuit(build.run.within("proof"), claim)
    anchors = build.construction.anchors
    telling = f"evaluating {anchors} anchors of {build.blueprint.task.name}"
    measure = partial(measure_proof, model, proof, anchors, build.run.device)
    measures = build.run.within("proof").record(MEASURES, ProofMeasures, measure, telling)
    return replace(build, proof=proof, measures=measures)


STAGES: tuple[RunStage[ArtifactBuild], ...] = (
    RunStage(StageName.INSTALL, install_blueprint),
    RunStage(StageName.AUDIT, audit_ends),
    RunStage(StageName.CALIBRATE, calibrate_rungs),
    RunStage(StageName.PROVE, prove_artifact),
)
"""How each artifact is built."""


def construct(
    construction: Construction, out: Path, tell: Tell = silent, device: Device = CPU
) -> tuple[Artifact, ...]:
    """Build every artifact of a recipe in `out`; what an interrupted run finished is not done again."""
    size = _refuse_unfit(construction)
    with begin_run(out, construction.name, construction.digest, size, tell, device) as run:
        base = _base(construction.base, run)
        return tuple(_built(construction, blueprint, base, run) for blueprint in construction.blueprints)


def _built(construction: Construction, blueprint: Blueprint, base: Path, run: Run) -> Artifact:
    place = run.within(blueprint.task.name)
    begun = ArtifactBuild(construction=construction, blueprint=blueprint, base=base, run=place)
    build, stopped = follow(STAGES, begun)
    if stopped is not None:
        raise InputError(stopped)
    return artifact_of(build)


def _refuse_unfit(construction: Construction) -> int:
    """Refuse what could only fail after calibration, and return how much a run writes."""
    base = construction.base
    declared = (
        open_model(base).declaration
        if isinstance(base, Path)
        else Declaration(base.architecture, NO_PROGRAMS, None)
    )
    for blueprint in construction.blueprints:
        declared.refuse_unfit(blueprint.task)
        programmed = replace(declared, programs=blueprint.programs)
        refuse_valueless(programmed, "a construction", blueprint.circuit)
    with about(construction.name):
        refuse_aimless(declared.architecture, construction.calibration.aim)
    return (1 + 2 * len(construction.blueprints)) * model_size(declared.architecture)


def _base(declared: SeededBase | Path, run: Run) -> Path:
    if isinstance(declared, Path):
        return declared
    return run.stage("base", lambda path: save_model(path, StoredModel(_seeded(declared), None)))


def _seeded(base: SeededBase) -> Transformer:
    """Return a model of random weights, biases included."""
    model = Transformer(base.architecture)
    initialise(model, base.seed, base.deviation)
    generator = torch.Generator(CPU).manual_seed(base.seed + 1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, base.bias_deviation, generator=generator)
    return model
