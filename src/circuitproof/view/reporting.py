"""Making a page of whatever a path holds: a bundle or a run folder."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.view.page import bundle_page, run_page
from circuitproof.view.run import RUN, tell_run
from circuitproof.view.story import tell
from circuitproof_check.main import Beside, Outcome


@dataclass(frozen=True, slots=True)
class Made:
    """A page, what it says in a word, and the exit code that goes with that."""

    html: str
    says: str
    exit_code: int


def report_on(path: Path, beside: Beside) -> Made:
    """Return the page of a bundle or of a run; a run is no better than the worst of its bundles."""
    if (path / RUN).is_file():
        run = tell_run(path)
        outcomes = [one.report.outcome for one in run.bundles]
        worst = max(
            (one for one in outcomes if one in (Outcome.FAILURE, Outcome.INVALID)), default=Outcome.VALID
        )
        return Made(run_page(run), f"{len(outcomes)} bundles judged", worst)
    found = tell(path, beside)
    return Made(bundle_page(found), found.judgement.outcome.name.lower(), found.judgement.outcome)
