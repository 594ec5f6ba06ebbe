"""The stage that compares a proof with floats, and with evaluations that share nothing."""

import time
from pathlib import Path

import torch

from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import task_logits
from circuitproof.proof.anchors import spread_anchors, unshared_logits
from circuitproof.proof.known import exact_folds
from circuitproof.proof.verdict import Battery
from circuitproof.tasks.domain import places_of
from circuitproof.tasks.rules import OnlyOpener
from circuitproof_lab.records.proof import ProofMeasures, TokenRelation


def measure_proof(model: Path, battery: Battery, anchors: int, device: Device = CPU) -> ProofMeasures:
    """Evaluate some prompts alone and all in floats; refuse where the exact logits are not the same."""
    signs = _check_anchors(battery, anchors)
    error, seconds = _float_forward(model, battery, device)
    return ProofMeasures(
        forward_seconds=seconds,
        float_error=error,
        anchors=anchors,
        signs=signs,
        by_token=_by_token(battery),
    )


def _by_token(battery: Battery) -> TokenRelation | None:
    """Return how many classes of the same opener are decided alike, exactly, where a task has openers."""
    task = battery.claim.task
    if not isinstance(task.answer, OnlyOpener):
        return None
    folds = exact_folds(battery.folded.of(battery.claim.circuit))
    classes = places_of(tuple(map(task.answer.opener, task.prompts))).values()
    alike = sum(len({folds[place].decision for place in places}) == 1 for places in classes)
    return TokenRelation(len(classes), alike)


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
