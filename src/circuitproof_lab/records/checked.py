"""The record of a check: what the independent checker says of a bundle, and why."""

from dataclasses import dataclass

from circuitproof.files.codec import Positive, PositiveInt
from circuitproof_check.main import Outcome

CHECKED = "checked.json"


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What the independent checker says of a bundle."""

    outcome: str
    reason: str
    operations: PositiveInt | None = None
    """How much work it was allowed; nothing where what it allows by itself is enough."""
    seconds: Positive | None = None

    @property
    def is_valid(self) -> bool:
        return self.outcome == Outcome.VALID.name.lower()
