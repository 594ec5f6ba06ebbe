"""Every figure that runs, bundles and accounts give, found by what files are, wherever they stand."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from circuitproof.bundle.files import CLAIM
from circuitproof.errors import InputError
from circuitproof.lab.reports.changes import COMPARISON, draw_changes, read_changes
from circuitproof.lab.reports.circuit import draw_circuit, sketch_of
from circuitproof.lab.reports.encoding import draw_encodings, read_encodings
from circuitproof.lab.reports.frontier import draw_frontier
from circuitproof.lab.reports.lesions import draw_lesions, ladder_panels, migration_panels
from circuitproof.lab.reports.modes import draw_modes
from circuitproof.lab.reports.radii import Spread, draw_radii, spread_of
from circuitproof.lab.reports.style import Drawing, refuse_undrawable, write_drawing
from circuitproof.lab.reports.timeline import draw_timeline
from circuitproof.text.reading import Fields, read_json
from circuitproof.view.run import GATE, MIGRATION, Trial, read_lesions, read_trial
from circuitproof.view.rungs import Rung, read_rungs
from circuitproof.view.story import Story, Unjudged, tell

COST, STUDY = "cost.json", "study.json"
_FIRST_STATE = "base.json"


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure, of which kind it is, and what it is about; or in a sentence why it is not there."""

    kind: str
    about: Path | str
    """A place in a source, or what all sources are called."""
    drawing: Drawing | str


@dataclass(frozen=True, slots=True)
class Source:
    """A run folder, a bundle or a file of accounts, with the bundles in it judged."""

    path: Path
    bundles: tuple[Story | Unjudged, ...]

    @property
    def stories(self) -> tuple[Story, ...]:
        """Return the bundles that the checker has judged to their end."""
        return tuple(one for one in self.bundles if isinstance(one, Story))

    def files(self, name: str) -> list[Path]:
        """Return all files of a name."""
        return [self.path] if self.path.is_file() and name == COST else sorted(self.path.rglob(name))


Found: TypeAlias = Iterator[tuple[Path, Drawing | str]]
"""Places in a source, each with its figure or the sentence why there is none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure: how it is found in a source, and what to run where there is none."""

    name: str
    find: Callable[[Source], Found]
    wanted: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a figure: the name of its files without their endings, or why there is none."""

    kind: str
    about: str
    name: str | None
    reason: str


def open_source(path: Path) -> Source:
    """Let the checker judge every bundle that stands at or below a path."""
    if not path.exists():
        raise InputError(f"cannot read {path}: there is no such run, bundle or file")
    return Source(path, tuple(tell(claim.parent) for claim in sorted(path.rglob(CLAIM))))


def exhibits(paths: Sequence[Path]) -> tuple[Exhibit, ...]:
    """Return all figures of some sources, with a sentence for each that none of them gives."""
    sources, names = [open_source(path) for path in paths], " and ".join(map(str, paths))
    exhibited: list[Exhibit] = []
    for kind in KINDS:
        found = [Exhibit(kind.name, *one) for source in sources for one in kind.find(source)]
        exhibited += found or [Exhibit(kind.name, names, kind.wanted)]
    if not any(isinstance(one.drawing, Drawing) for one in exhibited):
        raise InputError(
            f"{names}: nothing to draw; want a run, a bundle, or what circuitproof cost --json printed"
        )
    return (_modes(sources), *exhibited)


def write_figures(paths: Sequence[Path], out: Path) -> tuple[Written, ...]:
    """Draw all figures of some sources into a folder, as SVG and as PNG."""
    refuse_undrawable(out / "modes.svg")
    written: list[Written] = []
    for one in exhibits(paths):
        if isinstance(one.drawing, str):
            written.append(Written(one.kind, str(one.about), None, one.drawing))
            continue
        name = _free_name(one, paths, {other.name for other in written})
        write_drawing(one.drawing, out / f"{name}.svg", out / f"{name}.png")
        written.append(Written(one.kind, str(one.about), name, ""))
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


def _modes(sources: Sequence[Source]) -> Exhibit:
    stories = [story for source in sources for story in source.stories]
    files = [file for source in sources for file in source.files(STUDY)]
    lessons = [Fields(read_json(file), str(file)).fields("lesson") for file in files]
    return Exhibit("modes", "all", draw_modes(stories, lessons))


def trials_in(run: Path) -> tuple[Trial, ...]:
    """Return the trials of a protocol, in the order of its gates."""
    files = sorted(run.glob(f"*/*/{GATE}"))  # GENERATION/TASK/gate.result.json
    return tuple(sorted(map(read_trial, files), key=lambda trial: trial.seen))


def rungs_in(run: Path) -> tuple[Rung, ...]:
    """Return the steps of all artifacts of a construction."""
    return tuple(rung for file in sorted(run.glob(f"*/{_FIRST_STATE}")) for rung in read_rungs(file.parent))


def _runs(source: Source, name: str, depth: int) -> tuple[Path, ...]:
    """Return the folders that files of a name stand so deep in."""
    return tuple(dict.fromkeys(file.absolute().parents[depth] for file in source.files(name)))


def _frontiers(source: Source) -> Found:
    return ((run, draw_frontier(trials_in(run))) for run in _runs(source, GATE, 2))


def _timelines(source: Source) -> Found:
    return ((run, draw_timeline(trials_in(run))) for run in _runs(source, GATE, 2))


def _audits(source: Source) -> Found:
    for run in _runs(source, _FIRST_STATE, 1):
        if rungs := rungs_in(run):
            yield run, draw_lesions(ladder_panels(rungs))
    for run in _runs(source, MIGRATION, 2):
        files = sorted(run.glob(f"*/*/{MIGRATION}"))  # SEED/ROUND/migration.json
        lesions = [one for file in files for one in read_lesions(file, run)]
        yield run, draw_lesions(migration_panels(lesions))


def _comparisons(source: Source) -> Found:
    return ((file.parent, draw_changes(read_changes(file))) for file in source.files(COMPARISON))


def _costs(source: Source) -> Found:
    return ((file, draw_encodings(read_encodings(file))) for file in source.files(COST))


def _circuits(source: Source) -> Found:
    for one in source.bundles:
        if isinstance(one, Story):
            yield one.bundle.path, draw_circuit(sketch_of(one))
        else:
            yield one.path, one.judgement.reason


def _radii(source: Source) -> Found:
    for story in source.stories:
        spread = spread_of(story)
        yield story.bundle.path, draw_radii(spread) if isinstance(spread, Spread) else spread


_BUNDLE = "no bundle that holds; circuitproof verify --out writes one"
KINDS = (
    Kind("timeline", _timelines, "no gate was opened; circuitproof localise opens some"),
    Kind("frontier", _frontiers, "no gate was opened; circuitproof localise opens some"),
    Kind("lesions", _audits, "nothing was silenced; circuitproof construct and circuitproof distill do"),
    Kind("changes", _comparisons, "no variants were compared; circuitproof variants does"),
    Kind("cost", _costs, f"no encoding was counted; circuitproof cost --json > {COST} does"),
    Kind("circuit", _circuits, _BUNDLE),
    Kind("radii", _radii, _BUNDLE),
)
"""Every kind of figure but the one of all settings, which is drawn once for all sources."""
