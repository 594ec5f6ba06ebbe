"""What floats make of a claim that was answered: measured, and no part of what is proved."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf

from circuitproof.files.canonical import Json


class FloatFormat(StrEnum):
    """The formats in which torch runs a circuit."""

    FP64 = "FP64"
    FP32 = "FP32"
    FP16 = "FP16"


@dataclass(frozen=True, slots=True)
class FloatRun:
    """What one run of a circuit in floats gives."""

    format: FloatFormat
    error: float
    """The largest difference between a candidate logit and the exact one, or the midpoint of the enclosed."""
    differing: int
    """On how many prompts another decision is known: a prompt whose decision is not known counts nowhere."""
    least_margin: float | None
    """The smallest lead of a candidate over the next; none where a logit is infinite or NaN."""
    seconds: float

    def to_json(self) -> Json:
        return {
            "format": str(self.format),
            "error": _error_to_json(self.error),
            "differing": self.differing,
            "least_margin": self.least_margin,
            "seconds": round(self.seconds, 6),
        }


@dataclass(frozen=True, slots=True)
class FloatMeasures:
    """What torch makes of a claim: measured, not proved."""

    error: float
    """That of the run in FP32, in which the weights are stored."""
    agreement: int
    """On how many prompts circuit and model decide alike in FP32."""
    runs: tuple[FloatRun, ...]
    """In every format that torch can compute in where the model is."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Floats were to be measured and could not be."""

    reason: str


def floats_to_json(found: FloatMeasures | Unmeasured | None) -> dict[str, Json]:
    """Return what was measured, which is nothing where nobody has."""
    if not isinstance(found, FloatMeasures):
        return {"float_error": None, "float_agreement": None, "float_runs": None}
    return {
        "float_error": _error_to_json(found.error),
        "float_agreement": found.agreement,
        "float_runs": [run.to_json() for run in found.runs],
    }


def _error_to_json(error: float) -> Json:
    return "infinite" if error == inf else error
