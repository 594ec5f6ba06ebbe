"""Every figure that runs, bundles and accounts give, found by what files are, wherever they stand."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.errors import InputError
from circuitproof.lab.reports.changes import COMPARISON, draw_changes, read_changes
from circuitproof.lab.reports.circuit import draw_circuit, sketch_of
from circuitproof.lab.reports.encoding import draw_encodings, read_encodings
from circuitproof.lab.reports.frontier import draw_frontier
from circuitproof.lab.reports.lesions import draw_lesions, ladder_panels, migration_panels
from circuitproof.lab.reports.modes import draw_modes, settings_of
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
    """A figure, of which kind it is, and what it is about."""

    kind: str
    about: Path | None
    """Nothing for a figure of all sources."""
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class Lack:
    """A figure that is not there, and in a sentence why."""

    kind: str
    about: str
    reason: str


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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure: how it is found in a source, and what to run where there is none."""

    name: str
    find: Callable[[Source], Iterator[Exhibit | Lack]]
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


def exhibits(paths: Sequence[Path]) -> tuple[Exhibit | Lack, ...]:
    """Return all figures of some sources, with a sentence for each that none of them gives."""
    sources = [open_source(path) for path in paths]
    found = [one for kind in KINDS for one in _found(kind, sources)]
    if not any(isinstance(one, Exhibit) for one in found):
        names = " and ".join(str(path) for path in paths)
        raise InputError(
            f"{names}: nothing to draw; want a run, a bundle, or what circuitproof cost --json printed"
        )
    return (_modes(sources), *found)


def write_figures(paths: Sequence[Path], out: Path) -> tuple[Written, ...]:
    """Draw all figures of some sources into a folder, as SVG and as PNG."""
    refuse_undrawable(out / "modes.svg")
    written: list[Written] = []
    for one in exhibits(paths):
        if isinstance(one, Exhibit):
            name = _free_name(one, paths, {other.name for other in written})
            write_drawing(one.drawing, out / f"{name}.svg", out / f"{name}.png")
            written.append(Written(one.kind, "all" if one.about is None else str(one.about), name, ""))
        else:
            written.append(Written(one.kind, one.about, None, one.reason))
    return tuple(written)


def _free_name(one: Exhibit, paths: Sequence[Path], taken: Collection[str | None]) -> str:
    """Return a name that says what a figure is about: the source's, the way from there, and the kind."""
    parts: tuple[str, ...] = ()
    if one.about is not None:
        about = one.about.absolute()
        source = next(path.absolute() for path in paths if about.is_relative_to(path.absolute()))
        parts = (source.stem, *about.relative_to(source).parts)
    name = "-".join((*parts, one.kind)).replace(" ", "-")
    names = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in names if one not in taken)


def _found(kind: Kind, sources: Sequence[Source]) -> Iterator[Exhibit | Lack]:
    found = [one for source in sources for one in kind.find(source)]
    names = " and ".join(str(source.path) for source in sources)
    yield from found or (Lack(kind.name, names, kind.wanted),)


def _modes(sources: Sequence[Source]) -> Exhibit:
    stories = [story for source in sources for story in source.stories]
    lessons = [
        Fields(read_json(file), str(file)).fields("lesson")
        for source in sources
        for file in source.files(STUDY)
    ]
    return Exhibit("modes", None, draw_modes(settings_of(stories, lessons)))


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


def _frontiers(source: Source) -> Iterator[Exhibit]:
    for run in _runs(source, GATE, 2):
        yield Exhibit("frontier", run, draw_frontier(trials_in(run)))


def _timelines(source: Source) -> Iterator[Exhibit]:
    for run in _runs(source, GATE, 2):
        yield Exhibit("timeline", run, draw_timeline(trials_in(run)))


def _audits(source: Source) -> Iterator[Exhibit]:
    for run in _runs(source, _FIRST_STATE, 1):
        if rungs := rungs_in(run):
            yield Exhibit("lesions", run, draw_lesions(ladder_panels(rungs)))
    for run in _runs(source, MIGRATION, 2):
        files = sorted(run.glob(f"*/*/{MIGRATION}"))  # SEED/ROUND/migration.json
        lesions = [one for file in files for one in read_lesions(file, run)]
        yield Exhibit("lesions", run, draw_lesions(migration_panels(lesions)))


def _comparisons(source: Source) -> Iterator[Exhibit]:
    for file in source.files(COMPARISON):
        yield Exhibit("changes", file.parent, draw_changes(read_changes(file)))


def _costs(source: Source) -> Iterator[Exhibit]:
    for file in source.files(COST):
        yield Exhibit("cost", file, draw_encodings(read_encodings(file)))


def _circuits(source: Source) -> Iterator[Exhibit | Lack]:
    for one in source.bundles:
        if isinstance(one, Story):
            yield Exhibit("circuit", one.bundle.path, draw_circuit(sketch_of(one)))
        else:
            yield Lack("circuit", str(one.path), one.judgement.reason)


def _radii(source: Source) -> Iterator[Exhibit | Lack]:
    for story in source.stories:
        spread = spread_of(story)
        if isinstance(spread, Spread):
            yield Exhibit("radii", story.bundle.path, draw_radii(spread))
        else:
            yield Lack("radii", str(story.bundle.path), spread)


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
