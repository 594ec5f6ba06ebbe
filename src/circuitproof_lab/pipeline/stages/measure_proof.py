"""The stage that compares a proof with floats, and with evaluations that share nothing."""

import time
from pathlib import Path

import torch

from circuitproof.errors import NumericError
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import task_logits
from circuitproof.proof.anchors import spread_anchors, unshared_logits, unshared_row
from circuitproof.proof.arithmetic import EnclosedRow, ExactNumbers, bits_of
from circuitproof.proof.claim import Claim
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import CandidateLogits, Fold
from circuitproof.proof.known import all_of, same_decision
from circuitproof.tasks.domain import Prompt, places_of
from circuitproof.tasks.rules import OnlyOpener
from circuitproof_lab.pipeline.stages.prove import CircuitProof
from circuitproof_lab.records.proof import ProofMeasures, TokenRelation


def measure_proof(model: Path, proof: CircuitProof, anchors: int, device: Device = CPU) -> ProofMeasures:
    """Evaluate some prompts alone and all in floats; refuse where the logits of a proof are not the same."""
    claim = proof.battery.claim
    found = proof.battery.folded.of(claim.circuit)
    signs = _check_anchors(claim, found, anchors)
    error, seconds = _float_forward(model, claim, found, device)
    return ProofMeasures(
        forward_seconds=seconds,
        float_error=error,
        anchors=anchors,
        signs=signs,
        by_token=_by_token(claim, found),
        bits=bits_of(claim.arithmetic),
        unclaimed=proof.unclaimed,
    )


def _by_token(claim: Claim, found: tuple[CandidateLogits, ...]) -> TokenRelation | None:
    """Return how many classes of the same opener are known to be decided alike, where a task has openers."""
    task = claim.task
    if not isinstance(task.answer, OnlyOpener):
        return None
    classes = places_of(tuple(map(task.answer.opener, task.prompts))).values()
    alike = (all_of(same_decision(found[one[0]], found[place]) for place in one) for one in classes)
    return TokenRelation(len(classes), sum(answer is True for answer in alike))


def _check_anchors(claim: Claim, found: tuple[CandidateLogits, ...], count: int) -> int:
    """Evaluate some prompts alone, sharing nothing, and target the very logits of the fold."""
    signs = 0
    for place in spread_anchors(claim.task.size, count):
        logits, traced = _unshared(claim, claim.task.prompts[place])
        if logits != _numbers(found[place]):
            raise NumericError(f"prompt {place}: folding and the evaluation that shares nothing differ")
        signs += traced
    return signs


def _unshared(claim: Claim, prompt: Prompt) -> tuple[tuple[object, ...], int]:
    asked = (claim.frozen, claim.circuit, claim.task.candidates, prompt)
    if isinstance(claim.arithmetic, ExactNumbers):
        return unshared_logits(*asked)
    return unshared_row(*asked, claim.arithmetic), 0


def _numbers(found: CandidateLogits) -> tuple[object, ...]:
    """Return the numbers of logits, by which two evaluations of the same prompt are compared."""
    return found.logits if isinstance(found, Fold) else EnclosedRow(found.numbers, found.reach, found.unit)


def _float_forward(
    path: Path, claim: Claim, found: tuple[CandidateLogits, ...], device: Device
) -> tuple[float, float]:
    """Return how far torch's logits are from those of a proof, or their midpoints, and how long they took."""
    model = load_model(path, device).model
    task_logits(model, claim.task, [claim.circuit])
    begin = time.perf_counter()
    floats = task_logits(model, claim.task, [claim.circuit])[0]
    seconds = time.perf_counter() - begin
    middles = [one.midpoints if isinstance(one, Enclosed) else one.logits for one in found]
    proved = torch.tensor([list(map(float, row)) for row in middles], device=CPU)
    return float((floats - proved).abs().max()), seconds
