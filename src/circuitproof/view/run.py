"""What there is to tell of a run folder: its bundles, trials, audits, norms, wherever their files stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.errors import InputError
from circuitproof.text.canonical import Json
from circuitproof.text.codec import Codec
from circuitproof.text.reading import Fields, read_fields
from circuitproof.view.rungs import Rung, read_rungs
from circuitproof.view.story import Story, tell_judged
from circuitproof.view.study import Study, read_study
from circuitproof_check.main import Beside, Outcome, Report, inspect

RUN, GATE, MIGRATION, _FOLD = "run.json", "gate.result.json", "migration.json", "fold.json"
_CODEC = Codec()


@dataclass(frozen=True, slots=True)
class Judged:
    """A bundle of the run, and what the checker says of it now."""

    place: str
    report: Report
    size: int
    """How many bytes were judged, to their end."""
    story: Story | None
    """What its own page says, if the checker has judged it to its end."""

    @property
    def outcome(self) -> str:
        return self.report.outcome.name.lower()

    def to_json(self) -> dict[str, Json]:
        reason = self.report.reason
        return {"place": self.place, "outcome": self.outcome, "reason": reason, "bytes": self.size}


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


def tell_run(path: Path, beside: Beside | None = None) -> RunStory:
    """Read a run folder and let the checker judge each of its bundles, beside what they must be about."""
    compared = beside or Beside()
    bundles = tuple(_bundles(path, compared))
    if not bundles and (compared.against, compared.task) != (None, None):
        raise InputError(f"{path} holds no bundle to compare with anything; leave out --against and --task")
    mark, folders = read_fields(path / RUN), sorted(one for one in path.rglob("*") if one.is_dir())
    return RunStory(
        path,
        mark.text("recipe"),
        mark.text("recipe_digest"),
        bundles,
        tuple(read_trial(file) for file in sorted(path.rglob(GATE))),
        tuple(rung for folder in folders for rung in read_rungs(folder)),
        tuple(lesion for file in sorted(path.rglob(MIGRATION)) for lesion in read_lesions(file, path)),
        tuple(norm for file in sorted(path.rglob("removal.json"))[:1] for norm in _norms(file)),
        _folding(read_fields(path / _FOLD)) if (path / _FOLD).is_file() else None,
        read_study(path),
    )


def _bundles(path: Path, beside: Beside) -> Iterator[Judged]:
    for claim in sorted(path.rglob(CLAIM)):
        report = inspect(claim.parent, beside)
        story = None if report.outcome is Outcome.FAILURE else tell_judged(claim.parent, report, beside)
        place = str(claim.parent.relative_to(path))
        size = sum(map(len, report.files.values()))
        yield Judged(place, report, size, story if isinstance(story, Story) else None)


def read_trial(file: Path) -> Trial:
    """Read what came of a gate."""
    fields = read_fields(file)
    swept = tables(fields, "points")
    chosen = fields.entry("selected", swept)
    points = [_point(one, is_selected=one is chosen) for one in swept]
    points += [_point(one, is_nested=True) for one in tables(fields, "nested")]
    seen = chosen.fields("development").integer("prompts")
    return Trial(fields.text("generation"), fields.text("task"), seen, tuple(points))


def tables(fields: Fields, key: str) -> list[Fields]:
    """Return the tables of a list, of which not every key need be read."""
    return [Fields(one, fields.where) for one in fields.items(key)]


def _point(fields: Fields, *, is_selected: bool = False, is_nested: bool = False) -> Point:
    gate = fields.fields("gate")
    return _CODEC.record(
        Point,
        gate,
        origin=fields.text("origin"),
        edges=len(fields.fields("circuit").items("edges")),
        margin=_margin(gate),
        is_selected=is_selected,
        is_nested=is_nested,
    )


def _margin(fields: Fields) -> float:
    return _CODEC.value(float, fields, "worst_margin")


def read_lesions(file: Path, run: Path) -> Iterator[Lesion]:
    """Read what a round of healing came to: every lesion of each behaviour, each once."""
    place = str(file.parent.relative_to(run))
    for one in tables(read_fields(file), "behaviours"):
        about = {"place": place, "task": one.text("task"), "fate": one.text("fate")}
        found = tables(one, "lesions")
        told = (_CODEC.record(Lesion, lesion, **about, margin=_margin(lesion)) for lesion in found)
        yield from dict.fromkeys(told)


def _norms(file: Path) -> Iterator[Norm]:
    for norm in tables(read_fields(file), "norms"):
        yield _CODEC.record(Norm, norm, name=norm.text("norm"))


def _folding(fields: Fields) -> Folding:
    before, after = (fields.fields(name).fields("measures") for name in ("source", "folded"))
    measures = tuple(
        (name, *(_CODEC.value(float, measured, name) for measured in (before, after)))
        for name in before.keys()  # noqa: SIM118  # Fields is not a mapping
    )
    return _CODEC.record(Folding, fields.fields("error"), measures=measures)
