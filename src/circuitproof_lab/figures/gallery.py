"""Every figure that runs, bundles and accounts give, found by what files are, wherever they stand."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_existing, write_directory
from circuitproof.files.records import read_record
from circuitproof.reports.bundle_view import BundleView, Unjudged, tell
from circuitproof_lab.figures.changes import draw_changes
from circuitproof_lab.figures.circuit import draw_circuit, sketch_of
from circuitproof_lab.figures.encoding import draw_encodings, read_encodings
from circuitproof_lab.figures.frontier import draw_frontier
from circuitproof_lab.figures.lesions import draw_lesions, ladder_panels, migration_panels
from circuitproof_lab.figures.modes import draw_modes
from circuitproof_lab.figures.radii import RadiiByAnswer, draw_radii, spread_of
from circuitproof_lab.figures.structure import draw_structure, is_comparable
from circuitproof_lab.figures.style import Drawing, refuse_undrawable, write_drawing
from circuitproof_lab.figures.timeline import draw_timeline
from circuitproof_lab.records.audit import MeasuredState, read_states
from circuitproof_lab.records.gate import GATE, GateOutcome, load_outcome
from circuitproof_lab.records.migration import MIGRATION, read_lesions
from circuitproof_lab.records.surrogate import STUDY, SurrogateReport
from circuitproof_lab.records.variants import COMPARISON, VariantComparison

COST = "cost.json"
_FIRST_STATE = "base.json"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure, of which kind it is, and what it is about; or in a sentence why it is not there."""

    kind: str
    about: Path | str
    """A place in a source, or what all sources are called."""
    drawing: Drawing | str


@dataclass(frozen=True, slots=True)
class FigureSource:
    """A run folder, a bundle or a file of accounts, with the bundles in it judged."""

    path: Path
    bundles: tuple[BundleView | Unjudged, ...]

    def files(self, name: str) -> list[Path]:
        return [self.path] if self.path.is_file() and name == COST else sorted(self.path.rglob(name))


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a figure: the name of its files without their endings, or why there is none."""

    kind: str
    about: str
    name: str | None
    reason: str


def open_source(path: Path) -> FigureSource:
    """Let the checker judge every bundle that stands at or below a path."""
    if not path.exists():
        raise InputError(f"cannot read {path}: there is no such run, bundle or file")
    return FigureSource(path, tuple(tell(claim.parent) for claim in sorted(path.rglob(CLAIM))))


def exhibits(paths: Sequence[Path]) -> tuple[Exhibit, ...]:
    """Return all figures of some sources, with a sentence for each that none of them gives."""
    sources, names = [open_source(path) for path in paths], " and ".join(map(str, paths))
    every = [one for source in sources for one in (*_of_runs(source), *_of_bundles(source))]
    found: list[Exhibit] = []
    for kind, wanted in KINDS.items():
        found += [one for one in every if one.kind == kind] or [Exhibit(kind, names, wanted)]
    if not any(isinstance(one.drawing, Drawing) for one in found):
        raise InputError(
            f"{names}: nothing to draw; want a run, a bundle, or what circuitproof cost --json printed"
        )
    return (_modes(sources), *found)


def write_figures(paths: Sequence[Path], out: Path) -> tuple[Written, ...]:
    """Draw all figures of some sources into a new folder, as SVG and as PNG."""
    refuse_existing(out)
    refuse_undrawable(out / "modes.svg")
    found, written = exhibits(paths), list[Written]()

    def fill(folder: Path) -> None:
        for one in found:
            if isinstance(one.drawing, str):
                written.append(Written(one.kind, str(one.about), None, one.drawing))
                continue
            name = _free_name(one, paths, {other.name for other in written})
            write_drawing(one.drawing, folder / f"{name}.svg", folder / f"{name}.png")
            written.append(Written(one.kind, str(one.about), name, ""))

    write_directory(out, fill)
    return tuple(written)


def _free_name(one: Exhibit, paths: Sequence[Path], taken: Collection[str | None]) -> str:
    """Return a name that says what a figure is about: the source's, the way from there, and the kind."""
    parts: tuple[str, ...] = ()
    if isinstance(one.about, Path):
        about = one.about.absolute()
        source = next(path.absolute() for path in paths if about.is_relative_to(path.absolute()))
        parts = (source.stem, *about.relative_to(source).parts)
    name = "-".join((*parts, one.kind)).replace(" ", "-")
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one not in taken)


def _modes(sources: Sequence[FigureSource]) -> Exhibit:
    views = [one for source in sources for one in source.bundles if isinstance(one, BundleView)]
    files = [file for source in sources for file in source.files(STUDY)]
    reports = [read_record(file, SurrogateReport) for file in files]
    return Exhibit("modes", "all", draw_modes(views, reports))


def trials_in(run: Path) -> tuple[GateOutcome, ...]:
    """Return the trials of a protocol, in the order of its gates."""
    files = sorted(run.glob(f"*/*/{GATE}"))  # GENERATION/TASK/gate.result.json
    return tuple(sorted((load_outcome(file)[0] for file in files), key=lambda trial: trial.seen))


def states_in(run: Path) -> tuple[MeasuredState, ...]:
    """Return the steps of all artifacts of a construction."""
    return tuple(one for file in sorted(run.glob(f"*/{_FIRST_STATE}")) for one in read_states(file.parent))


def _runs(source: FigureSource, name: str, depth: int) -> tuple[Path, ...]:
    """Return the folders that files of a name stand so deep in."""
    return tuple(dict.fromkeys(file.absolute().parents[depth] for file in source.files(name)))


def _of_runs(source: FigureSource) -> Iterator[Exhibit]:
    for run in _runs(source, GATE, 2):
        trials = trials_in(run)
        yield Exhibit("timeline", run, draw_timeline(trials))
        yield Exhibit("frontier", run, draw_frontier(trials))
    for run in _runs(source, _FIRST_STATE, 1):
        if states := states_in(run):
            yield Exhibit("lesions", run, draw_lesions(ladder_panels(states)))
    for run in _runs(source, MIGRATION, 2):
        files = sorted(run.glob(f"*/*/{MIGRATION}"))  # SEED/ROUND/migration.json
        lesions = [one for file in files for one in read_lesions(file, run)]
        yield Exhibit("lesions", run, draw_lesions(migration_panels(lesions)))
    for file in source.files(COMPARISON):
        yield Exhibit("changes", file.parent, draw_changes(read_record(file, VariantComparison)))
    for file in source.files(COST):
        yield Exhibit("cost", file, draw_encodings(read_encodings(file)))


def _of_bundles(source: FigureSource) -> Iterator[Exhibit]:
    for one in source.bundles:
        if isinstance(one, BundleView):
            spread = spread_of(one)
            yield Exhibit("circuit", one.bundle.path, draw_circuit(sketch_of(one)))
            if is_comparable(one):
                yield Exhibit("structure", one.bundle.path, draw_structure(one))
            histogram = draw_radii(spread) if isinstance(spread, RadiiByAnswer) else spread
            yield Exhibit("radii", one.bundle.path, histogram)
        else:
            yield Exhibit("circuit", one.path, one.judgement.reason)


_GATE = "no gate was opened; circuitproof localise opens some"
_BUNDLE = "no bundle that holds; circuitproof verify --out writes one"
KINDS: Mapping[str, str] = {
    "timeline": _GATE,
    "frontier": _GATE,
    "lesions": "nothing was silenced; circuitproof construct and circuitproof distill do",
    "changes": "no variants were compared; circuitproof variants does",
    "cost": f"no encoding was counted; circuitproof cost --json > {COST} does",
    "circuit": _BUNDLE,
    "structure": "no bundle about quotes, whose motif it compares; circuitproof verify --out writes one",
    "radii": _BUNDLE,
}
"""Every kind of figure, and what to run where there is none; that of all settings is drawn once for all."""
