"""Bundles below a folder, each judged by the checker and read if it was judged to its end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.files.canonical import Json
from circuitproof.reports.bundle_view import BundleView, tell_judged
from circuitproof_check.main import Beside, Outcome, Report, inspect

_WORSE = (Outcome.VALID, Outcome.INCOMPLETE, Outcome.REFUTED, Outcome.USAGE, Outcome.FAILURE, Outcome.INVALID)
"""Outcomes, each worse than those before it: a refutation outweighs what is open, as within a bundle."""


@dataclass(frozen=True, slots=True)
class JudgedBundle:
    """A bundle among others, and what the checker says of it now."""

    place: str
    report: Report
    size: int
    """How many bytes were judged, to their end."""
    view: BundleView | None
    """What its own page says, if the checker has judged it to its end."""

    @property
    def outcome(self) -> str:
        return self.report.outcome.name.lower()

    def to_json(self) -> dict[str, Json]:
        reason = self.report.reason
        return {"place": self.place, "outcome": self.outcome, "reason": reason, "bytes": self.size}


def judged_below(folder: Path, beside: Beside) -> Iterator[JudgedBundle]:
    """Let the checker judge each bundle below a folder, beside what they must be about."""
    for claim in sorted(folder.rglob(CLAIM)):
        report = inspect(claim.parent, beside)
        view = None if report.outcome is Outcome.FAILURE else tell_judged(claim.parent, report, beside)
        place = str(claim.parent.relative_to(folder))
        size = sum(map(len, report.files.values()))
        yield JudgedBundle(place, report, size, view if isinstance(view, BundleView) else None)


def worst_outcome(bundles: Iterable[JudgedBundle]) -> Outcome:
    """Return the worst of what the checker says of some bundles; of none, that nothing is wrong."""
    return max((one.report.outcome for one in bundles), key=_WORSE.index, default=Outcome.VALID)
