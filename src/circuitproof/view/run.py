"""What there is to tell of a run folder: its bundles, trials, audits, norms, wherever their files stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.text.reading import Fields, read_json
from circuitproof_check.main import Beside, Report, inspect

RUN, GATE, MIGRATION = "run.json", "gate.result.json", "migration.json"
_ANY = float("-inf")


@dataclass(frozen=True, slots=True)
class Judged:
    """A bundle of the run, and what the checker says of it now."""

    place: str
    report: Report


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
class Rung:
    """A step of a calibration: what is right, with and without its program heads, and what it cost."""

    task: str
    state: str
    prompts: int
    model: int
    circuit: int
    without_heads: int
    without_circuit: int
    radius: float
    seconds: float
    passes: bool

    @property
    def place(self) -> str:
        """Return which step of which calibration it is."""
        return f"{self.task} {self.state}"


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


def tell_run(path: Path) -> RunStory:
    """Read a run folder and let the checker judge its bundles."""
    mark = _fields(path / RUN)
    return RunStory(
        path,
        mark.text("recipe"),
        mark.text("recipe_digest"),
        tuple(_bundles(path)),
        tuple(read_trial(file) for file in sorted(path.rglob(GATE))),
        tuple(rung for folder in sorted(path.glob("*/")) for rung in read_rungs(folder)),
        tuple(lesion for file in sorted(path.rglob(MIGRATION)) for lesion in read_lesions(file, path)),
        tuple(norm for file in sorted(path.glob("*/removal.json"))[:1] for norm in _norms(_fields(file))),
    )


def _fields(path: Path) -> Fields:
    return Fields(read_json(path), str(path))


def _bundles(path: Path) -> Iterator[Judged]:
    for claim in sorted(path.rglob(CLAIM)):
        yield Judged(str(claim.parent.relative_to(path)), inspect(claim.parent, Beside()))


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


def read_rungs(folder: Path) -> Iterator[Rung]:
    """Read the steps of the calibration that stand in a folder; other files are passed over."""
    for file in sorted(folder.glob("*.json")):
        content = read_json(file)
        if not isinstance(content, dict):
            continue
        fields = Fields(content, str(file))  # pyright: ignore[reportUnknownArgumentType]  # unread JSON
        if fields.has("audit") and fields.has("passes"):
            audit = fields.fields("audit")
            yield Rung(
                task=folder.name,
                state=fields.text("name"),
                prompts=audit.integer("prompts"),
                model=audit.integer("model"),
                circuit=audit.integer("circuit"),
                without_heads=audit.integer("without_heads"),
                without_circuit=audit.integer("without_circuit"),
                radius=fields.number("radius", above=_ANY),
                seconds=fields.number("seconds", above=_ANY),
                passes=fields.boolean("passes"),
            )


def read_lesions(file: Path, run: Path) -> Iterator[Lesion]:
    """Read what a round of healing came to: each lesion of each behaviour."""
    fields, place = _fields(file), file.parent.relative_to(run)
    for one in fields.items("behaviours"):
        behaviour = Fields(one, fields.where)
        for entry in behaviour.items("lesions"):
            lesion = Fields(entry, fields.where)
            yield Lesion(
                place=str(place),
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
