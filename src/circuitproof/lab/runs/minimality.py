"""The fewest edges that suffice: search, claim, prove and bundle."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.forward.frozen import open_model
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import UNHURRIED, Effort, Pace
from circuitproof.prove.minimal import FewestEdges, search_minimum
from circuitproof.prove.properties import Equivalence, Minimum
from circuitproof.prove.verdict import Battery, Verdict
from circuitproof.text.canonical import Json, refuse_existing


@dataclass(frozen=True, slots=True)
class Minimality:
    """What is known about the fewest edges: a proved answer, or a proved lower bound."""

    search: FewestEdges
    battery: Battery | None
    """The proof that the circuits found are the minimum, if any were found."""

    @property
    def verdict(self) -> Verdict:
        """Return proved where the minimum is known, undecided where only a lower bound is."""
        return Verdict.UNDECIDED if self.battery is None else self.battery.verdict

    def to_json(self) -> Json:
        """Return the result as JSON."""
        return {
            "verdict": str(self.verdict),
            "lower_bound": self.search.refuted_below,
            "circuits_tried": len(self.search.trials),
            "minimum": [[str(edge) for edge in circuit] for circuit in self.search.minimum],
        }


def find_minimum(  # noqa: PLR0913  # a search has these bounds
    model: Path, task: str, *, most: int, budget: int, out: Path | None, pace: Pace = UNHURRIED
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, prove it, and write the bundle."""
    refuse_existing(out)
    frozen = open_model(model)
    asked = frozen.declaration.listed_task(task)
    search = search_minimum(frozen, asked, most=most, budget=budget, pace=pace)
    if not search.minimum:
        return Minimality(search, None)
    claim = Claim(frozen, search.minimum[0], asked, (Equivalence(), Minimum(search.minimum)))
    battery = prove(claim, Effort(pace=pace))
    if out is not None:
        write_bundle(out, battery)
    return Minimality(search, battery)
