"""Protocols: a recipe of generations that is fixed, and entered in a ledger, before anything is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.tasks.alphabet import TOY
from circuitproof.declare.tasks.generator import Encoder, Generator, Slot, Template, Words
from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.discover.choices import Granularity, Objective, Order, Rule, Search
from circuitproof.lab.runs.extraction import Method
from circuitproof.lab.runs.recipe import Recipe, load_recipe
from circuitproof.lab.train.tokenizer import FileTokenizer, gpt2_tokenizer
from circuitproof.text.canonical import Digest, digest_bytes, digest_file, digest_json
from circuitproof.text.reading import Fields, read_bytes, read_toml, reading, reading_part
from circuitproof.text.sealed import MANIFEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One round: select on everything seen so far, then open one fresh gate."""

    name: str
    development: int
    """How many prompts become development data without having been a gate."""
    gate: int
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Everything that a localisation depends on."""

    name: str
    model: Path | Recipe
    """A stored model, or how to train one."""
    generators: tuple[Generator, ...]
    method: Method
    generations: tuple[Generation, ...]
    stop_when_exact: bool
    """Whether a generation whose gates are all exact is the last."""
    epsilon: Fraction
    """How large a perturbation the final circuits are to withstand."""
    digest: Digest


def load_protocol(path: Path) -> Protocol:
    """Read a protocol; paths in it are relative to its own folder."""
    with reading(read_toml(path), path.name) as fields:
        with reading_part(fields, "model") as part:
            model = _read_model(part, path.parent)
        with reading_part(fields, "method") as part:
            method = read_method(part)
        encoder = read_encoder(fields, path.parent)
        read_generator = generator_reader(encoder, fields.text("salt"))
        protocol = Protocol(
            name=fields.text("name"),
            model=model,
            generators=fields.each("tasks", read_generator),
            method=method,
            generations=fields.each("generations", _read_generation),
            stop_when_exact=fields.boolean("stop_when_exact"),
            epsilon=fields.rational("epsilon"),
            digest=_digest(path, model, encoder),
        )
    _refuse_misfit(protocol, path.name)
    return protocol


def _digest(path: Path, model: Path | Recipe, encoder: Encoder) -> Digest:
    source = model.digest if isinstance(model, Recipe) else digest_file(model / MANIFEST)
    vocabulary = digest_json(list(encoder.alphabet.names))
    return digest_json([str(digest_bytes(read_bytes(path))), str(source), str(vocabulary)])


def _read_model(fields: Fields, folder: Path) -> Path | Recipe:
    if fields.has("recipe") == fields.has("directory"):
        raise InputError(f"{fields.where} wants either recipe or directory, and one of them only")
    if fields.has("recipe"):
        return load_recipe(folder / fields.text("recipe"))
    return folder / fields.text("directory")


def read_encoder(fields: Fields, folder: Path) -> Encoder:
    """Read which vocabulary prompts are written in: a known one by name, or a tokenizer's file or folder."""
    match fields.text("vocabulary"):
        case "toy":
            return Words(TOY)
        case "gpt2":
            return gpt2_tokenizer()
        case name:
            return FileTokenizer(folder / name)


def read_method(fields: Fields) -> Method:
    """Read everything of a method but its rule, which each generation has of its own."""
    return Method(
        objective=fields.choice("objective", Objective),
        granularity=fields.choice("granularity", Granularity),
        order=fields.choice("order", Order),
        search=fields.choice("search", Search),
        thresholds=_read_thresholds(fields),
        agreement=fields.number("agreement", above=0),
    )


def _read_thresholds(fields: Fields) -> tuple[float, ...]:
    path, entries = fields.path("thresholds"), fields.items("thresholds")
    single = [Fields({"threshold": entry}, f"{path}[{place}]") for place, entry in enumerate(entries)]
    return tuple(one.number("threshold", above=0) for one in single)


def generator_reader(encoder: Encoder, salt: str) -> Callable[[Fields], Generator]:
    """Return what reads a generator of prompts in a vocabulary."""

    def read(fields: Fields) -> Generator:
        with reading_part(fields, "slots") as part:
            slots = tuple(Slot(name, part.texts(name)) for name in part.keys())  # noqa: SIM118  # Fields is not a mapping
        with reading_part(fields, "answers") as part:
            answers = tuple((opener, part.text(opener)) for opener in part.keys())  # noqa: SIM118  # the same
        with reading_part(fields, "templates") as part:
            templates = tuple(Template(name, part.text(name)) for name in part.keys())  # noqa: SIM118  # the same
        return Generator(
            task=fields.text("name"),
            salt=salt,
            encoder=encoder,
            answers=answers,
            templates=templates,
            slots=slots,
        )

    return read


def _read_generation(fields: Fields) -> Generation:
    return Generation(
        name=_plain(fields.text("name"), fields.path("name")),
        development=fields.integer("development") if fields.has("development") else 0,
        gate=fields.integer("gate", least=1),
        rule=fields.choice("rule", Rule),
    )


def _plain(name: str, where: str) -> str:
    if not name.isidentifier():
        raise InputError(f"{where} is {name!r}, want letters, digits and underscores: it names a folder")
    return name


def _refuse_misfit(protocol: Protocol, where: str) -> None:
    tasks = [generator.task for generator in protocol.generators]
    names = [generation.name for generation in protocol.generations]
    if not tasks or len(set(tasks)) != len(tasks) or not all(name.isidentifier() for name in tasks):
        raise InputError(f"{where}.tasks are {tasks}, want some, with distinct plain names")
    if not names or len(set(names)) != len(names):
        raise InputError(f"{where}.generations are {names}, want some, with distinct names")
    if protocol.generations[0].development < 1:
        raise InputError(f"{where}.generations[0].development is 0; the first generation has nothing else")
    if protocol.epsilon < 0:
        raise DeclarationError(f"{where}.epsilon is {protocol.epsilon}, want at least 0")
