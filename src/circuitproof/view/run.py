"""What there is to tell of a run folder: its bundles, trials, audits, norms, wherever their files stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.text.canonical import Json
from circuitproof.text.codec import record_to_json
from circuitproof.text.reading import Fields, read_json
from circuitproof.view.rungs import Rung, read_rungs
from circuitproof.view.story import Story, tell_judged
from circuitproof.view.study import Study, read_study
from circuitproof_check.main import Beside, Outcome, Report, inspect

RUN, GATE, MIGRATION, _FOLD = "run.json", "gate.result.json", "migration.json", "fold.json"
_ANY = float("-inf")


@dataclass(frozen=True, slots=True)
class Judged:
    """A bundle of the run, and what the checker says of it now."""

    place: str
    report: Report
    size: int
    """How many bytes its files have."""
    story: Story | None
    """What its own page says, if the checker has judged it to its end."""

    def to_json(self) -> dict[str, Json]:
        """Return what the checker says of it, for programs."""
        outcome = self.report.outcome.name.lower()
        return {"place": self.place, "outcome": outcome, "reason": self.report.reason, "bytes": self.size}


@dataclass(frozen=True, slots=True)
class Point:
    """A circuit that was measured on development data and then on a gate."""

    origin: str
    edges: int
    agreed: int
    prompts: int
    margin: float
    """The worst on the gate."""
    is_selected: bool
    is_nested: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A generation's gate for one task."""

    generation: str
    task: str
    seen: int
    """How many prompts had been looked at before the gate was opened."""
    points: tuple[Point, ...]

    @property
    def selected(self) -> Point:
        """Return the circuit that the gate was opened for."""
        return next(point for point in self.points if point.is_selected)


@dataclass(frozen=True, slots=True)
class Lesion:
    """What is left of a behaviour when heads are silenced."""

    place: str
    task: str
    fate: str
    """What became of the behaviour: whether its programs are used or bypassed."""
    where: str
    silenced: tuple[str, ...]
    right: int
    prompts: int
    margin: float


@dataclass(frozen=True, slots=True)
class Norm:
    """A norm that was faded out: between which steps, and by how much its replacement deviates."""

    name: str
    first: int
    last: int
    deviation: float


@dataclass(frozen=True, slots=True)
class Folding:
    """What folding the norms into the weights changed, measured in floats."""

    largest_error: float
    agreement: float
    positions: int
    measures: tuple[tuple[str, float, float], ...]
    """A measure of the model with its norms, and of the one without."""


@dataclass(frozen=True, slots=True)
class RunStory:
    """A run folder, read."""

    path: Path
    recipe: str
    digest: str
    bundles: tuple[Judged, ...]
    trials: tuple[Trial, ...]
    rungs: tuple[Rung, ...]
    lesions: tuple[Lesion, ...]
    norms: tuple[Norm, ...]
    folding: Folding | None
    study: Study

    def to_json(self) -> dict[str, Json]:
        """Return what the page says, for programs."""
        return record_to_json(self)


def tell_run(path: Path) -> RunStory:
    """Read a run folder and let the checker judge its bundles."""
    mark = _fields(path / RUN)
    return RunStory(
        path,
        mark.text("recipe"),
        mark.text("recipe_digest"),
        tuple(_bundles(path)),
        tuple(read_trial(file) for file in sorted(path.rglob(GATE))),
        tuple(rung for folder in _folders(path) for rung in read_rungs(folder)),
        tuple(lesion for file in sorted(path.rglob(MIGRATION)) for lesion in read_lesions(file, path)),
        tuple(norm for file in sorted(path.rglob("removal.json"))[:1] for norm in _norms(_fields(file))),
        _folding(_fields(path / _FOLD)) if (path / _FOLD).is_file() else None,
        read_study(path),
    )


def _fields(path: Path) -> Fields:
    return Fields(read_json(path), str(path))


def _bundles(path: Path) -> Iterator[Judged]:
    for claim in sorted(path.rglob(CLAIM)):
        size = sum(file.stat().st_size for file in claim.parent.iterdir() if file.is_file())
        report = inspect(claim.parent, Beside())
        story = None if report.outcome is Outcome.FAILURE else tell_judged(claim.parent, report, Beside())
        place = str(claim.parent.relative_to(path))
        yield Judged(place, report, size, story if isinstance(story, Story) else None)


def read_trial(file: Path) -> Trial:
    """Read what came of a gate."""
    fields = _fields(file)
    swept, nested = fields.items("points"), fields.items("nested")
    chosen = fields.integer("selected")
    points = [
        _point(Fields(one, fields.where), is_selected=place == chosen, is_nested=False)
        for place, one in enumerate(swept)
    ]
    points += [_point(Fields(one, fields.where), is_selected=False, is_nested=True) for one in nested]
    seen = Fields(swept[chosen], fields.where).fields("development").integer("prompts")
    return Trial(fields.text("generation"), fields.text("task"), seen, tuple(points))


def _point(fields: Fields, *, is_selected: bool, is_nested: bool) -> Point:
    gate = fields.fields("gate")
    return Point(
        origin=fields.text("origin"),
        edges=len(fields.fields("circuit").items("edges")),
        agreed=gate.integer("agreed"),
        prompts=gate.integer("prompts"),
        margin=gate.number("worst_margin", above=_ANY),
        is_selected=is_selected,
        is_nested=is_nested,
    )


def _folders(path: Path) -> list[Path]:
    """Return every folder of a run, however deep."""
    return sorted(folder for folder in path.rglob("*") if folder.is_dir())


def read_lesions(file: Path, run: Path) -> Iterator[Lesion]:
    """Read what a round of healing came to: every lesion of each behaviour, each once."""
    fields, place = _fields(file), str(file.parent.relative_to(run))
    for one in fields.items("behaviours"):
        behaviour = Fields(one, fields.where)
        found = (
            _lesion(place, behaviour, Fields(lesion, fields.where)) for lesion in behaviour.items("lesions")
        )
        yield from dict.fromkeys(found)


def _lesion(place: str, behaviour: Fields, lesion: Fields) -> Lesion:
    return Lesion(
        place=place,
        task=behaviour.text("task"),
        fate=behaviour.text("fate"),
        where=lesion.text("where"),
        silenced=lesion.texts("silenced"),
        right=lesion.integer("right"),
        prompts=lesion.integer("prompts"),
        margin=lesion.number("worst_margin", above=_ANY),
    )


def _norms(fields: Fields) -> Iterator[Norm]:
    for one in fields.items("norms"):
        norm = Fields(one, fields.where)
        deviation = norm.number("deviation", above=_ANY)
        yield Norm(norm.text("norm"), norm.integer("first"), norm.integer("last"), deviation)


def _folding(fields: Fields) -> Folding:
    error = fields.fields("error")
    before, after = (fields.fields(name).fields("measures") for name in ("source", "folded"))
    return Folding(
        largest_error=error.number("largest_error", above=_ANY),
        agreement=error.number("agreement", above=_ANY),
        positions=error.integer("positions"),
        measures=tuple(
            (name, before.number(name, above=_ANY), after.number(name, above=_ANY))
            for name in before.keys()  # noqa: SIM118  # Fields is not a mapping
        ),
    )
