"""Regions: prompts of a pattern that answer some questions alike, and what keeps one from being settled."""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from circuitproof.circuits.graph import Head
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.patterns import TokenClass


@dataclass(frozen=True, slots=True)
class PromptRegion:
    """The prompts with a label, a length, tokens at positions, and sums of a program's weights."""

    label: Label | None = None
    length: int | None = None
    tokens: tuple[tuple[int, TokenClass], ...] = ()
    """Positions that are there and hold a token of a class."""
    sums: tuple[tuple[Head, Fraction], ...] = ()
    """Heads whose weights, before the row is divided by their sum, sum to a number."""
    keys: tuple[tuple[Head, int, int], ...] = ()
    """Heads whose keys with weight stand between two positions, both included; there is such a key."""

    def with_keys(self, head: Head, first: int, last: int) -> "PromptRegion":
        """Return the part on which a head's keys stand between two positions."""
        others = tuple(entry for entry in self.keys if entry[0] != head)
        return replace(self, keys=(*others, (head, first, last)))

    @property
    def heads(self) -> tuple[Head, ...]:
        return tuple(dict.fromkeys((*dict(self.sums), *(head for head, _, _ in self.keys))))

    def with_token(self, position: int, tokens: TokenClass) -> "PromptRegion":
        """Return the part that holds a token of a class at a position."""
        return replace(self, tokens=(*self.tokens, (position, tokens)))

    def with_sum(self, head: Head, total: Fraction) -> "PromptRegion":
        """Return the part on which a head's weights have a sum."""
        return replace(self, sums=(*self.sums, (head, total)))

    def __str__(self) -> str:
        parts: list[str] = []
        if self.label is not None:
            parts.append(str(self.label))
        if self.length is not None:
            parts.append(f"length {self.length}")
        parts += [f"position {position} in {_shown(tokens)}" for position, tokens in self.tokens]
        parts += [f"weights of {head} sum to {total}" for head, total in self.sums]
        parts += [f"keys of {head} at {first} to {last}" for head, first, last in self.keys]
        return ", ".join(parts) or "all prompts"


class Missing(Enum):
    """What would have to be known of a region to settle it."""

    LENGTH = "the length"
    LAST = "the last token"
    SUM = "the sum of a head's weights"
    KEY = "where a head's keys stand"
    STRUCTURE = "nothing that a smaller region would tell"


class UnsettledError(Exception):
    """A region that cannot be settled as it is: what is missing, and the node that needs it."""

    def __init__(self, missing: Missing, reason: str, head: Head | None = None) -> None:
        super().__init__(reason)
        self.missing, self.reason, self.head = missing, reason, head


def _shown(tokens: TokenClass) -> str:
    most = 6
    listed = ", ".join(map(str, tokens.listed[:most])) + (", ..." if len(tokens.listed) > most else "")
    return f"all but {{{listed}}}" if tokens.is_complement else f"{{{listed}}}"
