"""What there is to tell of a run folder: its bundles, trials, audits, norms, wherever their files stand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from circuitproof.bundle.files import CLAIM
from circuitproof.text.reading import Fields, read_json
from circuitproof_check.main import Beside, Report, inspect

RUN, GATE, MIGRATION, _FOLD = "run.json", "gate.result.json", "migration.json", "fold.json"
_ANY = float("-inf")
_LADDER = ("base", "installed", "scalar", "diagonal", "readout")
"""The states of a calibration, from the model that was given to the one that trains the most."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A bundle of the run, and what the checker says of it now."""

    place: str
    report: Report
    size: int
    """How many bytes its files have."""


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
    )


def _fields(path: Path) -> Fields:
    return Fields(read_json(path), str(path))


def _bundles(path: Path) -> Iterator[Judged]:
    for claim in sorted(path.rglob(CLAIM)):
        size = sum(file.stat().st_size for file in claim.parent.iterdir() if file.is_file())
        yield Judged(str(claim.parent.relative_to(path)), inspect(claim.parent, Beside()), size)


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


def _step(rung: Rung) -> int:
    return _LADDER.index(rung.state) if rung.state in _LADDER else len(_LADDER)


def _folders(path: Path) -> list[Path]:
    """Return every folder of a run, however deep."""
    return sorted(folder for folder in path.rglob("*") if folder.is_dir())


def read_rungs(folder: Path) -> list[Rung]:
    """Read the steps of the calibration that stands in a folder, in their order."""
    return sorted(_rungs(folder), key=_step)


def _rungs(folder: Path) -> Iterator[Rung]:
    """Read what is a step of a calibration; other files are passed over."""
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
