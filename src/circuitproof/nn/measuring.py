"""What floats make of a claim that was answered: how far logits are off, and where decisions agree."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import inf

from circuitproof.errors import CircuitproofError
from circuitproof.files.devices import CPU, Device
from circuitproof.proof.effort import Pace
from circuitproof.proof.known import exact_folds
from circuitproof.proof.verdict import Battery
from circuitproof.verbs.verification import FloatMeasures, Unmeasured, Verification


def measured(found: Verification, pace: Pace, device: Device = CPU) -> Verification:
    """Return the same answers with what torch makes of the claim."""
    return replace(found, floats=measure_floats(found.battery, pace, device))


def measure_floats(battery: Battery, pace: Pace, device: Device = CPU) -> FloatMeasures | Unmeasured:
    """Measure in torch how far logits are from the exact ones, and where circuit and model decide alike.

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

    claim = battery.claim
    model = load_model(claim.frozen.file.path.parent, device).model
    circuit = task_logits(model, claim.task, [claim.circuit])[0].tolist()
    alone = task_logits(model, claim.task)[0].tolist()
    exact = [found.logits for found in exact_folds(battery.folded.of(claim.circuit))]
    error = max(
        _distance(number, logit)
        for numbers, logits in zip(circuit, exact, strict=True)
        for number, logit in zip(numbers, logits, strict=True)
    )
    agreeing = sum(_maximal(one) == _maximal(other) for one, other in zip(circuit, alone, strict=True))
    return FloatMeasures(error, agreeing)


def _maximal(logits: Sequence[float]) -> list[int]:
    return [place for place, logit in enumerate(logits) if logit == max(logits)]


def _distance(number: float, logit: Fraction) -> float:
    """Return how far a float is from an exact number; infinity and NaN are infinitely far."""
    try:
        return abs(float(Fraction(number) - logit))
    except (OverflowError, ValueError):
        return inf
