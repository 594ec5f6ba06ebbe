"""The page of a run folder, the same as text and as JSON, and how its bundles end."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.lab.pages.folder import RunView, read_run
from circuitproof.lab.pages.parts import RUN_PARTS
from circuitproof.text.canonical import Json
from circuitproof.text.codec import record_to_json
from circuitproof.text.reading import Fields
from circuitproof.view.elements import Element, el
from circuitproof.view.judged import JudgedBundle, worst_outcome
from circuitproof.view.page import page, proofs
from circuitproof.view.plain import as_text
from circuitproof.view.reporting import claim_cells
from circuitproof.view.telling import Table
from circuitproof.view.words import shown_text
from circuitproof_check.main import Beside, Outcome


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as it is shown."""

    run: RunView

    @property
    def says(self) -> str:
        return f"{len(self.run.bundles)} bundles judged"

    @property
    def outcome(self) -> Outcome:
        """Return how it ends: a run is no better than the worst of its bundles."""
        return worst_outcome(self.run.bundles)

    def page(self) -> str:
        """Return the page of the run, with what the page of each of its bundles shows."""
        return page((*self._parts(), *proofs(self.run.bundles)), {})

    def text(self) -> str:
        """Return what the page says, in 80 columns."""
        return as_text(el("main", *self._parts()))

    def table(self) -> Table | None:
        """Return what the checker said of each bundle."""
        columns = ("bundle", "outcome", "edges#", "prompts#", "the checker says")
        rows = tuple(map(_row, self.run.bundles))
        return Table(f"bundles of {self.run.path}", columns, rows) if rows else None

    def to_json(self) -> Json:
        return record_to_json(self.run)

    def _parts(self) -> tuple[Element, ...]:
        return tuple(made for part in RUN_PARTS if (made := part(self.run)) is not None)


def look_at(path: Path, beside: Beside) -> ReportedRun:
    """Read a run folder, and let the checker judge every bundle of it."""
    return ReportedRun(read_run(path, beside))


def _row(one: JudgedBundle) -> tuple[str, ...]:
    if not one.report.claim:
        return (shown_text(one.place), one.outcome, "", "", shown_text(one.report.reason, most=200))
    claim = Fields(one.report.claim, one.place)
    return (shown_text(one.place), one.outcome, *claim_cells(claim))
