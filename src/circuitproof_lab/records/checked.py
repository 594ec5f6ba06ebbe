"""The record of a check: what the independent checker says of a bundle, and why."""

from dataclasses import dataclass

from circuitproof_check.main import Outcome

CHECKED = "checked.json"


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What the independent checker says of a bundle."""

    outcome: str
    reason: str

    @property
    def is_valid(self) -> bool:
        return self.outcome == Outcome.VALID.name.lower()
