"""Making a page of whatever a path holds: a bundle, or a folder of a kind that another package shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

from circuitproof.text.canonical import Json
from circuitproof.text.reading import Fields
from circuitproof.view.data import story_to_json
from circuitproof.view.page import bundle_page, bundle_text
from circuitproof.view.story import Story, Unjudged, tell
from circuitproof.view.telling import Table
from circuitproof_check.main import Beside, Outcome

_FOLDERS: Mapping[str, str] = {"run.json": "circuitproof.lab.pages.reporting"}
"""Which module shows a folder with a file of this name, by its `look_at`; it is loaded when it is needed."""


class Reportable(Protocol):
    """What a path holds, with every bundle of it judged."""

    @property
    def says(self) -> str:
        """Return what was found, in a few words."""
        ...

    @property
    def outcome(self) -> Outcome:
        """Return how it ends: as the checker does, or as the worst of several bundles."""
        ...

    def page(self) -> str:
        """Return the page as one HTML file."""
        ...

    def text(self) -> str:
        """Return what the page says, in 80 columns."""
        ...

    def table(self) -> Table | None:
        """Return what the checker said of each bundle, where there are several."""
        ...

    def to_json(self) -> Json:
        """Return what the page says, for programs."""
        ...


@dataclass(frozen=True, slots=True)
class ReportedBundle:
    """A bundle as it is shown."""

    story: Story | Unjudged

    @property
    def says(self) -> str:
        return self.outcome.name.lower()

    @property
    def outcome(self) -> Outcome:
        return self.story.judgement.outcome

    def page(self) -> str:
        return bundle_page(self.story)

    def text(self) -> str:
        return bundle_text(self.story)

    def table(self) -> None:
        return None

    def to_json(self) -> Json:
        return story_to_json(self.story)


def look_at(path: Path, beside: Beside) -> Reportable:
    """Read whatever a path holds, and let the checker judge every bundle of it."""
    for name, module in _FOLDERS.items():
        if (path / name).is_file():
            return import_module(module).look_at(path, beside)
    return ReportedBundle(tell(path, beside))


def claim_cells(claim: Fields) -> tuple[str, str, str]:
    """Return how many edges and prompts the checker found in a bundle, and its verdicts in words."""
    kinds: dict[str, list[str]] = {}
    for answer in claim.tables("properties"):
        kinds.setdefault(answer.text("verdict"), []).append(answer.text("kind"))
    said = "; ".join(f"{', '.join(found)} {verdict}" for verdict, found in kinds.items())
    return (f"{claim.integer('edges')}", claim.text("prompts").removesuffix(" prompts"), said)
