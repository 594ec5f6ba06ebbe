"""A first look: a bundle that comes with the package is checked, shown, and broken in a copy."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from circuitproof.files.canonical import canonical_json, write_file
from circuitproof.files.reading import read_bytes, read_json, write_rational
from circuitproof.files.sealed import MANIFEST, write_sealed
from circuitproof.reports.reporting import look_at
from circuitproof_check.main import Beside, Report, inspect

SHIPPED = Path(__file__).with_name("tour")
"""A toy transformer of ours, a bundle about a circuit that closes quotes, and the declaration of the task."""
BESIDE = Beside(SHIPPED / "model", task=SHIPPED / "task.json")


@dataclass(frozen=True, slots=True)
class Tour:
    """What a reader sees of the bundle, and of the copy in which one number was changed."""

    checked: Report
    verdicts: str
    """The beginning of what the page says, as text."""
    number: str
    """The logit that was changed, and to what."""
    broken: Report
    page: Path


def take_tour(folder: Path) -> Tour:
    """Check the bundle of the package, write its page and a broken copy into a new folder, and judge that."""
    bundle, shown = SHIPPED / "bundle", look_at(SHIPPED / "bundle", BESIDE)
    number = _break_copy(bundle, folder / "broken")
    write_file(folder / "page.html", shown.page().encode())
    broken = inspect(folder / "broken", BESIDE)
    verdicts, _, _ = shown.text().partition("\nThe claim\n")
    return Tour(inspect(bundle, BESIDE), verdicts, number, broken, folder / "page.html")


def _break_copy(bundle: Path, copy: Path) -> str:
    """Copy a bundle with its first logit larger by one and its digests right, and say what was changed."""
    certificate = cast("dict[str, Any]", read_json(bundle / "certificate.json"))
    first = certificate["folds"][0]
    before, first[0] = first[0], write_rational(Fraction(first[0]) + 1)
    names = [file.name for file in bundle.iterdir() if file.name != MANIFEST]
    files = {name: read_bytes(bundle / name) for name in names}
    write_sealed(copy, files | {"certificate.json": canonical_json(certificate)})
    return f"{float(Fraction(before)):.6f} became {float(Fraction(first[0])):.6f}"
