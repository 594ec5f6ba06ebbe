"""What is kept of a proof: the verdict on each property."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.proof.verdict import Verdict

PROOF = "proof.json"


@dataclass(frozen=True, slots=True)
class KeptVerdicts:
    """The verdict on each property, by its kind."""

    verdicts: Mapping[str, Verdict]
