"""What floats make of a claim that was answered: how far logits are off, and where decisions agree."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from circuitproof.errors import CircuitproofError
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.devices import has_doubles
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.enclosed import Enclosed, NotKnown
from circuitproof.proof.fold import CandidateLogits
from circuitproof.proof.verdict import Battery
from circuitproof.verbs.floats import FloatFormat, FloatMeasures, FloatRun, Unmeasured
from circuitproof.verbs.verification import Request, Verification, verify

if TYPE_CHECKING:
    from circuitproof.nn.transformer import Transformer

_PromptLogits = Sequence[Sequence[float]]
"""The candidate logits of each prompt, in floats."""


def verify_in_floats(request: Request, out: Path | None, device: Device | None) -> Verification:
    """Return the answers to a request and, where a device is given, what torch makes of the claim there."""
    found = verify(request, out)
    return found if device is None else measured(found, request.effort.pace, device)


def measured(found: Verification, pace: Pace, device: Device = CPU) -> Verification:
    """Return the same answers with what torch makes of the claim."""
    return replace(found, floats=measure_floats(found.battery, pace, device))


def measured_after(battery: Battery) -> FloatMeasures | Unmeasured:
    """Measure on the processor, without a hurry, what torch makes of a claim that was answered."""
    return measure_floats(battery, UNHURRIED)


def measure_floats(battery: Battery, pace: Pace, device: Device = CPU) -> FloatMeasures | Unmeasured:
    """Measure in torch how far logits are from the known ones, and where circuit and model decide alike.

    What was proved does not depend on it, so a failure is told and not raised.
    """
    if pace.is_over:
        return Unmeasured("the work was ended first")
    if find_spec("torch") is None:
        return Unmeasured("torch is not installed")
    try:
        return _measured(battery, device)
    except (CircuitproofError, RuntimeError, MemoryError) as error:
        return Unmeasured(str(error) or type(error).__name__)


def _measured(battery: Battery, device: Device) -> FloatMeasures:
    from circuitproof.nn.checkpoint import load_model
    from circuitproof.nn.decisions import task_logits

    battery.claim.task.refuse_pattern()
    claim, known = battery.claim, battery.folded.of(battery.claim.circuit)
    model = load_model(claim.frozen.file.path.parent, device).model
    circuit, seconds = _run(model, claim)
    alone = task_logits(model, claim.task)[0].tolist()
    agreeing = sum(_maximal(one) == _maximal(other) for one, other in zip(circuit, alone, strict=True))
    plain = _compared(FloatFormat.FP32, circuit, known, seconds)
    runs = (plain, *_other_runs(model, claim, known))
    return FloatMeasures(
        plain.error, agreeing, tuple(sorted(runs, key=lambda one: list(FloatFormat).index(one.format)))
    )


def _other_runs(model: "Transformer", claim: Claim, known: Sequence[CandidateLogits]) -> Iterator[FloatRun]:
    """Run in the other formats that the model's device has: a run that torch refuses is left out.

    FP64 holds what FP32 does, so that FP16 rounds the same numbers after it.
    """
    for form, convert in ((FloatFormat.FP64, model.double), (FloatFormat.FP16, model.half)):
        if form is FloatFormat.FP64 and not has_doubles(model.device.type):
            continue
        try:
            found, seconds = _run(convert(), claim)
        except RuntimeError:
            continue
        yield _compared(form, found, known, seconds)


def _run(model: "Transformer", claim: Claim) -> tuple[_PromptLogits, float]:
    from circuitproof.nn.decisions import task_logits

    begun = time.perf_counter()
    found = task_logits(model, claim.task, [claim.circuit])[0].tolist()
    return found, time.perf_counter() - begun


def _compared(
    form: FloatFormat, found: _PromptLogits, known: Sequence[CandidateLogits], seconds: float
) -> FloatRun:
    pairs = list(zip(found, known, strict=True))
    error = max(
        _distance(number, logit)
        for numbers, one in pairs
        for number, logit in zip(numbers, _logits(one), strict=True)
    )
    differing = sum(
        not isinstance(one.decision, NotKnown) and one.decision != frozenset(_maximal(numbers))
        for numbers, one in pairs
    )
    are_finite = all(isfinite(number) for numbers in found for number in numbers)
    return FloatRun(form, error, differing, min(map(_lead, found)) if are_finite else None, seconds)


def _logits(found: CandidateLogits) -> Sequence[Fraction]:
    return found.midpoints if isinstance(found, Enclosed) else found.logits


def _lead(logits: Sequence[float]) -> float:
    second, first = sorted(logits)[-2:]
    return first - second


def _maximal(logits: Sequence[float]) -> list[int]:
    return [place for place, logit in enumerate(logits) if logit == max(logits)]


def _distance(number: float, logit: Fraction) -> float:
    """Return how far a float is from a known number; infinity and NaN are infinitely far."""
    try:
        return abs(float(Fraction(number) - logit))
    except (OverflowError, ValueError):
        return inf
