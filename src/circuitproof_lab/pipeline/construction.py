"""Building artifacts: install programs, audit, calibrate rung by rung, choose one, prove and bundle it."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from circuitproof.files.canonical import Json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.forward.frozen import open_model
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof_lab.distill.install import install
from circuitproof_lab.distill.shared_below import share_below
from circuitproof_lab.pipeline.construction_recipe import Construction, SeededBase
from circuitproof_lab.pipeline.sizes import model_size
from circuitproof_lab.pipeline.stages.calibrate import (
    ArtifactBuild,
    calibrated,
    chosen_rung,
    refuse_broken_identity,
    state_of,
)
from circuitproof_lab.pipeline.stages.measure_proof import ProofMeasures, measure_proof
from circuitproof_lab.pipeline.stages.prove import CircuitClaim, CircuitProof, prove_circuit
from circuitproof_lab.records.audit import MeasuredState


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


def construct(
    construction: Construction, out: Path, tell: Tell = silent, device: Device = CPU
) -> tuple[Artifact, ...]:
    """Build every artifact of a recipe in `out`; what an interrupted run finished is not done again."""
    size = _refuse_unfit(construction)
    with begin_run(out, construction.name, construction.digest, size, tell, device) as run:
        base = _base(construction.base, run)
        return tuple(
            _build(ArtifactBuild(construction, blueprint, base, run.within(blueprint.task.name)))
            for blueprint in construction.blueprints
        )


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
        replace(declared, programs=blueprint.programs).refuse_inexact("a construction", blueprint.circuit)
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


def _build(build: ArtifactBuild) -> Artifact:
    stored = load_model(build.base, build.run.device)
    installed = install(stored.model, build.blueprint.programs)
    share_below(stored.model, installed)
    states = [
        state_of(build, "base", lambda: stored.model),
        state_of(build, "installed", lambda: installed),
        *(
            state_of(build, rung, partial(calibrated, build, installed, rung))
            for rung in build.construction.rungs
        ),
    ]
    refuse_broken_identity(states)
    chosen, rung = chosen_rung(build, states[2:])

    def save(path: Path) -> None:
        save_model(path, StoredModel(calibrated(build, installed, rung), stored.alphabet))

    model = build.run.stage("model", save)
    proof = prove_circuit(build.run.within("proof"), _claim(build, model))
    task, anchors = build.blueprint.task.name, build.construction.anchors
    build.run.tell(f"evaluating {anchors} anchors of {task}")
    measures = measure_proof(model, proof.battery, anchors, build.run.device)
    return Artifact(task, tuple(states), chosen.record, chosen.why, model, proof, measures)


def _claim(build: ArtifactBuild, model: Path) -> CircuitClaim:
    """Return what is to be proved of a calibrated model: it is the base but for its program heads."""
    epsilon = build.construction.epsilon
    return CircuitClaim(model=model, behaviour=build.behaviour, epsilon=epsilon, base=build.base)
