"""Construction recipes: a base, programs to install in it, how to calibrate them, what is to be proved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import reads_prompt
from circuitproof.circuits.spelling import parse_edges
from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file, digest_together
from circuitproof.files.codec import Codec, FolderName, Positive, PositiveInt, PositiveRational
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import (
    Fields,
    read_bytes,
    read_fields,
    read_toml,
    reading,
    reading_part,
)
from circuitproof.files.sealed import MANIFEST
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import ProgramHeads, read_declaration, read_program_lines
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.generator import Encoder, deal
from circuitproof.tasks.loading import load_listed_task, task_spec
from circuitproof.tasks.openers import listed_opener_task
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.calibrate import Calibration, Rung
from circuitproof_lab.distill.heal import TextTerm
from circuitproof_lab.pipeline.protocol import Templates, read_encoder
from circuitproof_lab.pipeline.recipe import codec_in, refuse_names
from circuitproof_lab.train.loop import Seed
from circuitproof_lab.train.windows import Windows


class RungChoice(StrEnum):
    """Which rung that passes its gates becomes the model of record."""

    FIRST = "first"
    """The one that trains the least."""
    RADIUS = "radius"
    """The one with the largest worst radius."""
    QUALITY = "quality"
    """The one with the smallest loss on the text."""


@dataclass(frozen=True, slots=True)
class SeededBase:
    """A base of random weights: a control, which shows what the construction alone can do."""

    architecture: Architecture
    seed: Seed
    deviation: Positive
    bias_deviation: Positive
    """Biases are not zero, as a folded final norm leaves them; without them a lesion gives exact ties."""


@dataclass(frozen=True, slots=True)
class QualityBudget:
    """A text on which the artifact's loss must stay below a budget."""

    windows: Windows
    batch: int
    """How many windows are run at once."""
    budget: float

    def loss(self, model: Transformer, circuit: Circuit | None = None) -> float:
        """Return the loss of a model on the text, or of a circuit of it."""
        return self.windows.loss(model, self.batch, circuit=circuit)


@dataclass(frozen=True, slots=True)
class Blueprint:
    """One artifact to build: a task, the programs that are to do it, and the circuit they belong to."""

    task: Task
    programs: ProgramHeads
    circuit: Circuit


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """Everything that the artifacts depend on."""

    name: FolderName
    base: SeededBase | Path
    blueprints: tuple[Blueprint, ...]
    rungs: tuple[Rung, ...]
    calibration: Calibration
    choice: RungChoice
    joint_necessity: PositiveInt
    """On how many prompts at least model and circuit must need all programs together: a gate of each rung."""
    quality: QualityBudget | None
    epsilon: PositiveRational
    anchors: PositiveInt
    digest: Digest
    text: TextTerm | None = None
    """What calibration is to lose little on; a recipe of its own names none."""


def load_construction(path: Path, base: Path | None = None) -> Construction:
    """Read a construction; paths in it are relative to its own folder. `base` replaces the declared one."""
    codec = codec_in(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.CONSTRUCTION), path.name) as fields:
        declared = _read_base(codec, fields)
        source = base or declared
        encoder, salt = read_encoder(fields, path.parent), fields.text("salt")
        sizes = source.architecture if isinstance(source, SeededBase) else _architecture_of(source)
        with reading_part(fields, "calibration") as part:
            trained = {
                "rungs": read_rungs(codec, part),
                "calibration": codec.record(Calibration, part),
                "choice": part.choice("choose", RungChoice),
                "joint_necessity": part.integer("joint_necessity", least=1),
            }
        quality = _read_quality(codec, fields, encoder) if fields.has("quality") else None

        def read(part: Fields) -> Blueprint:
            return _read_blueprint(part, sizes, _read_task(part, encoder, salt, path.parent))

        blueprints = fields.each("artifacts", read)
        given = {"base": source, "blueprints": blueprints, "quality": quality, "text": None, **trained}
        digest = _digest(path, source, [blueprint.task for blueprint in blueprints])
        construction = codec.record(Construction, fields, digest=digest, **given)
    _refuse_misfit(construction, path.name)
    return construction


def _read_quality(codec: Codec, fields: Fields, encoder: Encoder) -> QualityBudget:
    """Read which text is measured: the last tenth of it, which nothing is trained on."""
    with reading_part(fields, "quality") as part:
        text, width = codec.value(Path, part, "text"), part.integer("window", least=1)
        tokens = np.array(encoder.encode(read_bytes(text).decode(errors="replace")))
        held_out = Windows(tokens[-max(width + 1, len(tokens) // 10) :], width, "held-out")
        return QualityBudget(held_out, part.integer("batch", least=1), part.number("budget", above=0))


def _digest(path: Path, base: SeededBase | Path, tasks: Sequence[Task]) -> Digest:
    given = [digest_file(base / MANIFEST)] if isinstance(base, Path) else []
    return digest_together(digest_file(path), *(task.digest for task in tasks), *given)


def _architecture_of(model: Path) -> Architecture:
    declared = read_declaration(model)
    if declared.programs:
        raise InputError(f"{model} has programs already; want a base without any")
    return declared.architecture


def _read_base(codec: Codec, fields: Fields) -> SeededBase | Path:
    with reading_part(fields, "base") as part:
        if part.has("directory"):
            return codec.value(Path, part, "directory")
        return codec.record(SeededBase, part)


def read_rungs(codec: Codec, fields: Fields) -> tuple[Rung, ...]:
    """Read which rungs are tried, in the order of what they may train."""
    rungs = codec.value(tuple[Rung, ...], fields, "rungs")
    if not rungs or list(rungs) != [rung for rung in Rung if rung in rungs]:
        found, wanted = list(map(str, rungs)), ", ".join(Rung)
        raise InputError(f"{fields.path('rungs')} are {found}, want some of {wanted}, in this order")
    return rungs


def _read_blueprint(fields: Fields, sizes: Architecture, task: Task) -> Blueprint:
    circuit = parse_edges(sizes.graph, fields.texts("circuit"), fields.path("circuit"))
    with reading_part(fields, "programs") as part:
        return Blueprint(task, read_program_lines(part, sizes), circuit)


def _read_task(fields: Fields, encoder: Encoder, salt: str, folder: Path) -> Task:
    if fields.has("task"):
        return load_listed_task(task_spec(fields.text("task"), folder), encoder.alphabet)
    if fields.has("prompts"):
        return _read_listed(fields, encoder, folder)
    generator = Codec().record(Templates, fields).generator(encoder, salt)
    count = fields.integer("count", least=1)
    (rows,) = deal(generator.order()[:count], [count], len(generator.answers))
    return generator.make_task(rows)


def _read_listed(fields: Fields, encoder: Encoder, folder: Path) -> Task:
    """Read a task whose prompts are rows of tokens under a key of a JSON file."""
    with reading_part(fields, "prompts") as part:
        path, key = folder / part.text("file"), part.text("key")
    rows = read_fields(path).integer_rows(key)
    pairs = Codec().value(Mapping[str, str], fields, "answers")
    answers = {_one(encoder, opener): _one(encoder, answer) for opener, answer in pairs.items()}
    return listed_opener_task(fields.text("name"), encoder.alphabet, rows, answers)


def _one(encoder: Encoder, text: str) -> int:
    match encoder.encode(text):
        case (token,):
            return token
        case tokens:
            raise InputError(f"{text!r} is {len(tokens)} tokens, want one")


def _refuse_misfit(construction: Construction, where: str) -> None:
    names = [blueprint.task.name for blueprint in construction.blueprints]
    refuse_names(names, f"{where}.artifacts")
    if construction.choice is RungChoice.QUALITY and construction.quality is None:
        raise InputError(f"{where} chooses by quality but names no text; add a [quality] table")
    for blueprint in construction.blueprints:
        name = f"{where}: artifact {blueprint.task.name!r}"
        if not reads_prompt(blueprint.circuit, blueprint.programs):
            raise InputError(f"{name} has a circuit that reads no prompt; mend its edges")
        if missing := [head for head in blueprint.programs if head not in blueprint.circuit.nodes()]:
            raise InputError(f"{name} has a program at {missing[0]}, which is not in its circuit")
