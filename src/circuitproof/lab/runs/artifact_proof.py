"""The proof of an artifact: trimmed circuit, four properties, anchors, radii, and what it all cost."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from circuitproof.bundle.files import write_bundle
from circuitproof.errors import NumericError
from circuitproof.forward.frozen import open_model
from circuitproof.lab.distill.lesion import Behaviour
from circuitproof.lab.model.checkpoint import load_model
from circuitproof.lab.model.decisions import task_logits
from circuitproof.lab.runs.construction_recipe import Construction
from circuitproof.lab.runs.run import Run
from circuitproof.lab.runs.trimming import trimmed
from circuitproof.prove.anchors import spread_anchors, unshared_logits
from circuitproof.prove.battery import prove, prove_also
from circuitproof.prove.claim import Claim
from circuitproof.prove.identity import identity_with
from circuitproof.prove.known import exact_folds
from circuitproof.prove.properties import four_properties
from circuitproof.prove.verdict import Battery, Verdict
from circuitproof.text.canonical import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactProof:
    """What is proved of an artifact, and how long it took in this run."""

    battery: Battery
    bundle: Path
    declared_edges: int
    verification_seconds: float
    """Opening the weights, folding and answering."""
    forward_seconds: float
    """One float forward of the same circuit over the same prompts in torch."""
    float_error: float
    anchors: int
    """On how many prompts an evaluation that shares nothing gave the same exact logits."""
    signs: int
    """How many branches of the activation those evaluations traced."""

    @property
    def verdict(self) -> Verdict:
        return self.battery.verdict

    def to_json(self) -> Json:
        found = self.battery.answers
        return {
            "verdict": str(self.verdict),
            "answers": [{**answer.to_json(), "obligations": answer.obligations} for answer in found],
            "prompts": self.battery.claim.task.size,
            "cells": self.battery.cells,
            "edges": [str(edge) for edge in self.battery.claim.circuit],
            "declared_edges": self.declared_edges,
            "float_error": self.float_error,
            "verification_seconds": self.verification_seconds,
            "forward_seconds": self.forward_seconds,
            "anchors": self.anchors,
            "signs": self.signs,
            "bundle": str(self.bundle),
        }


def prove_artifact(
    run: Run, model: Path, base: Path, behaviour: Behaviour, construction: Construction
) -> ArtifactProof:
    """Trim the declared circuit on the domain, prove its properties, and write the bundle.

    Beside the four properties of the circuit, the lesion identity with the base is claimed.
    """
    task = behaviour.task
    circuit = trimmed(run, "circuit.json", open_model(model), task, behaviour.circuit)
    run.tell(f"proving {task.name}")
    begin = time.perf_counter()
    frozen = open_model(model)
    four = prove(Claim(frozen, circuit, task, four_properties(construction.epsilon)))
    seconds = time.perf_counter() - begin
    battery = prove_also(four, identity_with(open_model(base), frozen))
    bundle = run.stage("bundle", lambda path: write_bundle(path, battery))
    run.tell(f"evaluating {construction.anchors} anchors of {task.name}")
    signs = _check_anchors(battery, construction.anchors)
    error, forward = _float_forward(model, battery)
    return ArtifactProof(
        battery=battery,
        bundle=bundle,
        declared_edges=len(behaviour.circuit),
        verification_seconds=seconds,
        forward_seconds=forward,
        float_error=error,
        anchors=construction.anchors,
        signs=signs,
    )


def _check_anchors(battery: Battery, count: int) -> int:
    """Evaluate some prompts alone, sharing nothing, and demand the very logits of the fold."""
    claim, signs = battery.claim, 0
    folds = exact_folds(battery.folded.of(claim.circuit))
    for place in spread_anchors(claim.task.size, count):
        prompt = claim.task.prompts[place]
        logits, traced = unshared_logits(claim.frozen, claim.circuit, claim.task.candidates, prompt)
        if logits != folds[place].logits:
            raise NumericError(f"prompt {place}: folding and the evaluation that shares nothing differ")
        signs += traced
    return signs


def _float_forward(path: Path, battery: Battery) -> tuple[float, float]:
    """Return how far torch's logits are from the exact ones, and how long they took."""
    claim, model = battery.claim, load_model(path).model
    task_logits(model, claim.task, [claim.circuit])
    begin = time.perf_counter()
    found = task_logits(model, claim.task, [claim.circuit])[0]
    seconds = time.perf_counter() - begin
    folds = exact_folds(battery.folded.of(claim.circuit))
    exact = torch.tensor([list(map(float, fold.logits)) for fold in folds])
    return float((found - exact).abs().max()), seconds
