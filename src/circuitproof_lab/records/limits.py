"""The record of limits: what is proved of every prompt of a pattern, beyond the declared domain."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.errors import DeclarationError
from circuitproof.files.codec import Positive

LIMITS, NO_LIMITS = "limits.json", "no-limits.json"


@dataclass(frozen=True, slots=True)
class NoLimits:
    """That a proof on a declared domain was not asked for more, and why, in one sentence."""

    task: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternLimits:
    """What is proved of all prompts up to a length that hold just one opener, and where that ends."""

    task: str
    pattern: str
    prompts: str
    """How many there are."""
    verdicts: Mapping[str, str]
    cells: int
    failing: int
    """Cells on which the claim is false."""
    proved_parts: tuple[str, ...]
    """Parts of the pattern on which it is true."""
    seconds: Positive

    def __post_init__(self) -> None:
        if not (self.prompts.isascii() and self.prompts.isdecimal()):
            raise DeclarationError(f"prompts is {self.prompts[:40]!r}, want a whole number")
