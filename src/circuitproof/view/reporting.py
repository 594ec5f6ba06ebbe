"""Making a page of whatever a path holds: a bundle or a run folder."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.view.page import bundle_page
from circuitproof.view.story import tell
from circuitproof_check.main import Beside


@dataclass(frozen=True, slots=True)
class Made:
    """A page, what it says in a word, and the exit code that goes with that."""

    html: str
    says: str
    exit_code: int


def report_on(path: Path, beside: Beside) -> Made:
    """Return the page of a bundle."""
    found = tell(path, beside)
    return Made(bundle_page(found), found.judgement.outcome.name.lower(), found.judgement.outcome)
