"""Making a page of whatever a path holds: a bundle or a run folder."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.text.canonical import Json
from circuitproof.text.codec import record_to_json
from circuitproof.text.printing import shown_text
from circuitproof.text.reading import Fields
from circuitproof.view.data import story_to_json
from circuitproof.view.page import bundle_page, bundle_text, run_page, run_text
from circuitproof.view.run import RUN, Judged, RunStory, tables, tell_run
from circuitproof.view.said import Table
from circuitproof.view.story import Story, Unjudged, tell
from circuitproof_check.main import Beside, Outcome

_WORSE = (Outcome.VALID, Outcome.INCOMPLETE, Outcome.REFUTED, Outcome.USAGE, Outcome.FAILURE, Outcome.INVALID)
"""Outcomes, each worse than those before it: a refutation outweighs what is open, as within a bundle."""


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


def look_at(path: Path, beside: Beside) -> Story | Unjudged | RunStory:
    """Read whatever a path holds, and let the checker judge every bundle of it."""
    return tell_run(path, beside) if (path / RUN).is_file() else tell(path, beside)


def text_of(found: Story | Unjudged | RunStory) -> str:
    """Return what the page says, in 80 columns."""
    return run_text(found) if isinstance(found, RunStory) else bundle_text(found)


def json_of(found: Story | Unjudged | RunStory) -> Json:
    """Return what the page says, for programs."""
    return record_to_json(found) if isinstance(found, RunStory) else story_to_json(found)


def outcome_of(found: Story | Unjudged | RunStory) -> Outcome:
    """Return how it ends: as the checker does; a run is no better than the worst of its bundles."""
    if not isinstance(found, RunStory):
        return found.judgement.outcome
    return max((one.report.outcome for one in found.bundles), key=_WORSE.index, default=Outcome.VALID)


def report_on(path: Path, beside: Beside) -> Made:
    """Return the page of a bundle or of a run."""
    found = look_at(path, beside)
    text, outcome = text_of(found), outcome_of(found)
    if isinstance(found, RunStory):
        says = f"{len(found.bundles)} bundles judged"
        return Made(run_page(found), text, says, outcome, _bundles(found))
    return Made(bundle_page(found), text, outcome.name.lower(), outcome)


def _bundles(run: RunStory) -> Table | None:
    columns = ("bundle", "outcome", "edges#", "prompts#", "the checker says")
    rows = tuple(map(_row, run.bundles))
    return Table(f"bundles of {run.path}", columns, rows) if rows else None


def _row(one: Judged) -> tuple[str, ...]:
    if not one.report.claim:
        return (shown_text(one.place), one.outcome, "", "", shown_text(one.report.reason, most=200))
    claim = Fields(one.report.claim, one.place)
    return (shown_text(one.place), one.outcome, *claim_cells(claim))


def claim_cells(claim: Fields) -> tuple[str, str, str]:
    """Return how many edges and prompts the checker found in a bundle, and its verdicts in words."""
    kinds: dict[str, list[str]] = {}
    for answer in tables(claim, "properties"):
        kinds.setdefault(answer.text("verdict"), []).append(answer.text("kind"))
    said = "; ".join(f"{', '.join(found)} {verdict}" for verdict, found in kinds.items())
    return (f"{claim.integer('edges')}", claim.text("prompts").removesuffix(" prompts"), said)
