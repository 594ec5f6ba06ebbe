"""The page of a run folder, the same as text and as JSON, and how its bundles end."""

from pathlib import Path

from circuitproof.files.codec import record_to_json
from circuitproof.files.printing import shown_text
from circuitproof.files.reading import Fields
from circuitproof.reports.elements import el
from circuitproof.reports.judged import JudgedBundle, worst_outcome
from circuitproof.reports.page import page, proofs
from circuitproof.reports.plain import as_text
from circuitproof.reports.reporting import Reportable, claim_cells
from circuitproof.reports.said import Table
from circuitproof_check.main import Beside
from circuitproof_lab.pages.folder import RunView, read_run
from circuitproof_lab.pages.parts import RUN_PARTS


def look_at(path: Path, beside: Beside) -> Reportable:
    """Read a run folder, and let the checker judge every bundle of it."""
    return report_of(read_run(path, beside))


def report_of(run: RunView) -> Reportable:
    """Return how a run is shown; it is no better than the worst of its bundles."""
    parts = tuple(made for part in RUN_PARTS if (made := part(run)) is not None)
    return Reportable(
        says=f"{len(run.bundles)} bundles judged",
        outcome=worst_outcome(run.bundles),
        page=lambda: page((*parts, *proofs(run.bundles)), {}),
        text=lambda: as_text(el("main", *parts)),
        to_json=lambda: record_to_json(run),
        table=_table(run),
    )


def _table(run: RunView) -> Table | None:
    columns = ("bundle", "outcome", "edges#", "prompts#", "the checker says")
    rows = tuple(map(_row, run.bundles))
    return Table(f"bundles of {run.path}", columns, rows) if rows else None


def _row(one: JudgedBundle) -> tuple[str, ...]:
    if not one.report.claim:
        return (shown_text(one.place), one.outcome, "", "", shown_text(one.report.reason, most=200))
    claim = Fields(one.report.claim, one.place)
    return (shown_text(one.place), one.outcome, *claim_cells(claim))
