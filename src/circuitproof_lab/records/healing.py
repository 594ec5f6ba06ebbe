"""The record of healing: a whole model trained to use its programs, and what it decides without them."""

from dataclasses import dataclass

from circuitproof.files.codec import Positive
from circuitproof_lab.records.audit import Audit

HEALED = "healed.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Healed:
    """A healed model: what it decides, what it loses on text, and whether it needs its programs."""

    task: str
    steps: int
    audit: Audit
    loss: Positive
    within_budget: bool
    uses_programs: bool
    """Whether silencing all programs takes more than the declared share of right decisions."""
