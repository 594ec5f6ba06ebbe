"""Making a page of whatever a path holds: a bundle, or a folder of a kind that another package shows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from circuitproof.files.canonical import Json
from circuitproof.files.extensions import extensions
from circuitproof.files.reading import Fields
from circuitproof.reports.bundle_view import tell
from circuitproof.reports.data import view_to_json
from circuitproof.reports.page import bundle_page, bundle_text
from circuitproof.reports.said import Table
from circuitproof_check.main import Beside, Outcome

_FOLDERS = "circuitproof.folders"
"""The group of entry points under which a package names the file that marks its folders."""


@dataclass(frozen=True, slots=True)
class Reportable:
    """What a path holds, with every bundle of it judged, and how that is shown."""

    says: str
    """What was found, in a few words."""
    outcome: Outcome
    """How it ends: as the checker does, or as the worst of several bundles."""
    page: Callable[[], str]
    """Gives one HTML file."""
    text: Callable[[], str]
    """Gives what the page says, in 80 columns."""
    to_json: Callable[[], Json]
    """Gives what the page says, for programs."""
    table: Table | None = None
    """What the checker said of each bundle, where there are several."""


def look_at(path: Path, beside: Beside) -> Reportable:
    """Read whatever a path holds, and let the checker judge every bundle of it."""
    for marked in extensions(_FOLDERS):
        if (path / marked.name).is_file():
            return marked.load()(path, beside)
    view = tell(path, beside)
    outcome = view.judgement.outcome
    return Reportable(
        says=outcome.name.lower(),
        outcome=outcome,
        page=partial(bundle_page, view),
        text=partial(bundle_text, view),
        to_json=partial(view_to_json, view),
    )


def claim_cells(claim: Fields) -> tuple[str, str, str]:
    """Return how many edges and prompts the checker found in a bundle, and its verdicts in words."""
    kinds: dict[str, list[str]] = {}
    for answer in claim.tables("properties"):
        kinds.setdefault(answer.text("verdict"), []).append(answer.text("kind"))
    said = "; ".join(f"{', '.join(found)} {verdict}" for verdict, found in kinds.items())
    return (f"{claim.integer('edges')}", claim.text("prompts").removesuffix(" prompts"), said)
