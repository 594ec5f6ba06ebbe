"""Protocols: a recipe of generations that is fixed, and entered in a ledger, before anything is computed."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.tasks.alphabet import TOY
from circuitproof.declare.tasks.generator import Encoder, Generator, Slot, Template, Words, vocabulary_digest
from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.discover.choices import Rule
from circuitproof.lab.runs.extraction import Method
from circuitproof.lab.runs.recipe import Recipe, codec_in
from circuitproof.lab.train.tokenizer import FileTokenizer, gpt2_tokenizer
from circuitproof.text.canonical import Digest, digest_file, digest_together
from circuitproof.text.codec import Codec, Count
from circuitproof.text.reading import Fields, read_toml, reading, reading_part
from circuitproof.text.sealed import MANIFEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One round: select on everything seen so far, then open one fresh gate."""

    name: str
    development: int = 0
    """How many prompts become development data without having been a gate."""
    gate: Count
    rule: Rule

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise DeclarationError(
                f"name is {self.name!r}, want letters, digits and underscores: it names a folder"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Everything that a localisation depends on."""

    name: str
    model: Path | Recipe
    """A stored model, or how to train one."""
    generators: tuple[Generator, ...]
    method: Method
    """All but its rule, which each generation has of its own."""
    generations: tuple[Generation, ...]
    stop_when_exact: bool
    """Whether a generation whose gates are all exact is the last."""
    epsilon: Fraction
    """How large a perturbation the final circuits are to withstand."""
    digest: Digest


def load_protocol(path: Path) -> Protocol:
    """Read a protocol; paths in it are relative to its own folder."""
    codec = codec_in(path.parent)
    with reading(read_toml(path), path.name) as fields:
        with reading_part(fields, "model") as part:
            model = _read_model(codec, part)
        with reading_part(fields, "method") as part:
            method = codec.whole(Method, part, rule=Rule.SPARSITY)
        encoder = read_encoder(fields, path.parent)
        generators = fields.each("tasks", generator_reader(encoder, fields.text("salt")))
        source = model.digest if isinstance(model, Recipe) else digest_file(model / MANIFEST)
        digest = digest_together(digest_file(path), source, vocabulary_digest(encoder.alphabet))
        given = {"model": model, "generators": generators, "method": method, "digest": digest}
        protocol = codec.record(Protocol, fields, **given)
    _refuse_misfit(protocol, path.name)
    return protocol


def _read_model(codec: Codec, fields: Fields) -> Path | Recipe:
    if fields.has("recipe") == fields.has("directory"):
        raise InputError(f"{fields.where} wants either recipe or directory, and one of them only")
    if fields.has("recipe"):
        return codec.value(Recipe, fields, "recipe")
    return codec.value(Path, fields, "directory")


def read_encoder(fields: Fields, folder: Path) -> Encoder:
    """Read which vocabulary prompts are written in: a known one by name, or a tokenizer's file or folder."""
    match fields.text("vocabulary"):
        case "toy":
            return Words(TOY)
        case "gpt2":
            return gpt2_tokenizer()
        case name:
            return FileTokenizer(folder / name)


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
