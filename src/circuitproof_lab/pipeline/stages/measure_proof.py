"""The stage that compares a proof with floats, and with evaluations that share nothing."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import task_logits
from circuitproof.proof.anchors import spread_anchors, unshared_logits
from circuitproof.proof.known import exact_folds
from circuitproof.proof.verdict import Battery


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofMeasures:
    """How exact answers compare with floats, and on how many prompts they were computed a second way."""

    forward_seconds: float
    """One float forward of the same circuit over the same prompts in torch."""
    float_error: float
    anchors: int
    """On how many prompts an evaluation that shares nothing gave the same exact logits."""
    signs: int
    """How many branches of the activation those evaluations traced."""


def measure_proof(model: Path, battery: Battery, anchors: int, device: Device = CPU) -> ProofMeasures:
    """Evaluate some prompts alone and all in floats; refuse where the exact logits are not the same."""
    signs = _check_anchors(battery, anchors)
    error, seconds = _float_forward(model, battery, device)
    return ProofMeasures(forward_seconds=seconds, float_error=error, anchors=anchors, signs=signs)


def _check_anchors(battery: Battery, count: int) -> int:
    """Evaluate some prompts alone, sharing nothing, and target the very logits of the fold."""
    claim, signs = battery.claim, 0
    folds = exact_folds(battery.folded.of(claim.circuit))
    for place in spread_anchors(claim.task.size, count):
        prompt = claim.task.prompts[place]
        logits, traced = unshared_logits(claim.frozen, claim.circuit, claim.task.candidates, prompt)
        if logits != folds[place].logits:
            raise NumericError(f"prompt {place}: folding and the evaluation that shares nothing differ")
        signs += traced
    return signs


def _float_forward(path: Path, battery: Battery, device: Device) -> tuple[float, float]:
    """Return how far torch's logits are from the exact ones, and how long they took."""
    claim, model = battery.claim, load_model(path, device).model
    task_logits(model, claim.task, [claim.circuit])
    begin = time.perf_counter()
    found = task_logits(model, claim.task, [claim.circuit])[0]
    seconds = time.perf_counter() - begin
    folds = exact_folds(battery.folded.of(claim.circuit))
    exact = torch.tensor([list(map(float, fold.logits)) for fold in folds], device=CPU)
    return float((found - exact).abs().max()), seconds
