"""Records of the search for programs: what became of each head's, and what they decide together."""

from dataclasses import dataclass

from circuitproof.circuits.graph import Head
from circuitproof.files.codec import Positive, PositiveInt

ACCEPTED, AGAIN = "accepted.json", "programs.circuit.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSearch:
    """What became of the search for one head's program."""

    layer: int
    index: int
    program: tuple[str, ...] | None
    """The first with which the circuit decides every prompt right, the other heads as they are."""
    overlap: float | None
    """Of its support with the head's own attention; that decides nothing."""
    mean_support: float
    """At how many positions the head itself looks, in the mean."""
    meanings: int
    tried: int
    seconds: Positive

    @property
    def head(self) -> Head:
        return Head(self.layer, self.index)


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many prompts the circuit is known to decide right with all programs found."""

    exact: int
    prompts: PositiveInt
    bits: PositiveInt | None = None
    """With how many the decisions are enclosed; nothing where they are exact."""
