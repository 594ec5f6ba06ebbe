"""How far a circuit is from what it must keep: counts and distances as data, without torch."""

from dataclasses import dataclass

from circuitproof.files.codec import PositiveInt


@dataclass(frozen=True, slots=True)
class Measure:
    """How far a circuit is from its target."""

    kl: float
    """KL(target's candidate distribution ‖ circuit's), in nats, the mean over prompts."""
    agreed: int
    """On how many prompts the circuit's maximal candidates are the target's; ties must be the same."""
    prompts: PositiveInt
    worst_margin: float
    """The smallest lead of the target's decision over the best other; not positive where it is lost."""

    @property
    def agreement(self) -> float:
        return self.agreed / self.prompts
