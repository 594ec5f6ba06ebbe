"""Making a page of whatever a path holds: a bundle or a run folder."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.text.reading import Fields
from circuitproof.view.page import bundle_page, bundle_text, run_page, run_text
from circuitproof.view.run import RUN, Judged, RunStory, tell_run
from circuitproof.view.story import tell
from circuitproof.view.telling import Table
from circuitproof.view.words import shown_text
from circuitproof_check.main import Beside, Outcome


@dataclass(frozen=True, slots=True)
class Made:
    """A page, the same as text, what it says in a word, and the exit code that goes with that."""

    html: str
    text: str
    """In 80 columns."""
    says: str
    exit_code: int
    bundles: Table | None = None
    """Of a run, what the checker said of each of its bundles."""


def report_on(path: Path, beside: Beside) -> Made:
    """Return the page of a bundle or of a run; a run is no better than the worst of its bundles."""
    if (path / RUN).is_file():
        return _report_on_run(tell_run(path))
    found = tell(path, beside)
    outcome = found.judgement.outcome
    return Made(bundle_page(found), bundle_text(found), outcome.name.lower(), outcome)


def _report_on_run(run: RunStory) -> Made:
    outcomes = [one.report.outcome for one in run.bundles]
    worst = max((one for one in outcomes if one in (Outcome.FAILURE, Outcome.INVALID)), default=Outcome.VALID)
    columns = ("bundle", "outcome", "edges#", "prompts#", "the checker says")
    bundles = Table(f"bundles of {run.path}", columns, tuple(map(_row, run.bundles))) if outcomes else None
    return Made(run_page(run), run_text(run), f"{len(outcomes)} bundles judged", worst, bundles)


def _row(one: Judged) -> tuple[str, ...]:
    outcome = one.report.outcome.name.lower()
    if not one.report.claim:
        return (shown_text(one.place), outcome, "", "", shown_text(one.report.reason, most=200))
    claim = Fields(one.report.claim, one.place)
    kinds: dict[str, list[str]] = {}
    for answer in claim.items("properties"):
        fields = Fields(answer, one.place)
        kinds.setdefault(fields.text("verdict"), []).append(fields.text("kind"))
    said = "; ".join(f"{', '.join(found)} {verdict}" for verdict, found in kinds.items())
    prompts = claim.text("prompts").removesuffix(" prompts")
    return (shown_text(one.place), outcome, f"{claim.integer('edges')}", prompts, said)
