"""The fewest edges that suffice: search, claim, prove and bundle."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import write_bundle
from circuitproof.declare.circuits.readers import reads_prompt
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import InputError, keeping
from circuitproof.forward.frozen import Frozen
from circuitproof.lab.runs.asked import asked_model
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.effort import UNHURRIED, Effort, Pace
from circuitproof.prove.minimal import FewestEdges, search_minimum
from circuitproof.prove.properties import Equivalence, Minimum
from circuitproof.prove.verdict import Battery, Verdict
from circuitproof.text.canonical import Json, refuse_existing
from circuitproof.view.answers import drawn
from circuitproof.view.telling import Said, Told

_DRAWN = 4
"""How many of the circuits are drawn in a notebook."""


@dataclass(frozen=True, slots=True, repr=False)
class Minimality(Told):
    """What is known about the fewest edges: a proved answer, or a proved lower bound."""

    search: FewestEdges
    battery: Battery | None
    """The proof that the circuits found are the minimum, if any were found."""
    bundle: Path | None = None
    """Where the bundle was written, if it was."""

    @property
    def verdict(self) -> Verdict:
        """Return proved where the minimum is known, undecided where only a lower bound is."""
        return Verdict.UNDECIDED if self.battery is None else self.battery.verdict

    def told(self) -> Iterator[Said]:
        """Return the minimum circuits, or how far the search came."""
        search, tried = self.search, len(self.search.trials)
        if not search.minimum or self.battery is None:
            below = search.refuted_below
            yield f"undecided: {tried} circuits were tried, all of fewer than {below} edges are refuted"
            return
        size, count = len(search.minimum[0]), len(search.minimum)
        if self.verdict is Verdict.UNDECIDED:
            yield f"undecided: {size} edges are enough in {count} circuits; the work ended before the proof"
            return
        yield f"{self.verdict}: {size} edges are the fewest; of {tried} circuits tried, {count} will do"
        for circuit in search.minimum:
            yield "  " + ", ".join(map(str, circuit))
        for circuit in search.minimum[:_DRAWN]:
            yield drawn(circuit, self.battery.claim.frozen.programs)

    def to_json(self) -> Json:
        return {
            "verdict": str(self.verdict),
            "lower_bound": self.search.refuted_below,
            "circuits_tried": len(self.search.trials),
            "minimum": [[str(edge) for edge in circuit] for circuit in self.search.minimum],
        }


def find_minimum(  # noqa: PLR0913  # a search has these bounds
    model: Path | Frozen,
    task: str | Task,
    *,
    most: int,
    budget: int,
    out: Path | None,
    pace: Pace = UNHURRIED,
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, prove it, and write the bundle."""
    refuse_existing(out)
    frozen = asked_model(model)
    asked = frozen.declaration.listed_task(task)
    search = search_minimum(frozen, asked, most=most, budget=budget, pace=pace)
    if not search.minimum:
        return Minimality(search, None)
    own = next((one for one in search.minimum if reads_prompt(one, frozen.programs)), None)
    if own is None:
        raise InputError(
            f"every prompt has the same right answer, and {len(search.minimum[0])} edges that read no prompt "
            "give it; ask for the fewest edges of a task with two answers"
        )
    claim = Claim(frozen, own, asked, (Equivalence(), Minimum(search.minimum)))
    battery = prove(claim, Effort(pace=pace))
    if out is not None:
        with keeping(Minimality(search, battery)):
            write_bundle(out, battery)
    return Minimality(search, battery, out)
