"""Protocols: a recipe of generations that is fixed, and entered in a ledger, before anything is computed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Digest, digest_file, digest_together
from circuitproof.files.codec import Codec, FolderName, Positive, PositiveInt, PositiveRational
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, read_toml, reading, reading_part
from circuitproof.files.sealed import MANIFEST
from circuitproof.find.choices import SelectionRule
from circuitproof.find.extraction import ExtractionMethod
from circuitproof.models.declaration import read_declaration
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof.programs.candidates import Grammar
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.generator import Encoder, Generator, NamedTokens, Pool, PromptTemplate, Slot
from circuitproof.tasks.loading import load_listed_task, task_spec
from circuitproof_lab.pipeline.prompts import PromptSource, TaskPrompts
from circuitproof_lab.pipeline.recipe import Recipe, codec_in, refuse_names
from circuitproof_lab.train.tokenizer import gpt2_tokenizer

TRAINING, TRIMMED, BUNDLES = FOLDERS = ("training", "trimmed", "bundles")
"""The folders of a run that are of no generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One round: select on everything seen so far, then open one fresh gate."""

    name: str
    development: int = 0
    """How many prompts become development data without having been a gate."""
    gate: PositiveInt
    rule: SelectionRule

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise DeclarationError(
                f"name is {self.name!r}, want letters, digits and underscores: it names a folder"
            )


@dataclass(frozen=True, slots=True)
class ProgramBounds:
    """Within what a program for a head is looked for."""

    grammar: Grammar
    """How large programs may be."""
    deadline: Positive
    """How many seconds the search for one head's program may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Everything that a localisation depends on."""

    name: FolderName
    model: Path | Recipe
    """A stored model, or how to train one."""
    generators: tuple[PromptSource, ...]
    method: ExtractionMethod
    """All but its rule, which each generation has of its own."""
    generations: tuple[Generation, ...]
    stop_when_exact: bool
    """Whether a generation whose gates are all exact is the last."""
    epsilon: PositiveRational
    """How large a perturbation the final circuits are to withstand."""
    digest: Digest
    programs: ProgramBounds | None = None
    """Where given, programs for the heads of a circuit are selected too before its gate is opened."""


def load_protocol(path: Path) -> Protocol:
    """Read a protocol; paths in it are relative to its own folder."""
    codec = codec_in(path.parent)
    with reading(of_kind(read_toml(path), path.name, FileKind.PROTOCOL), path.name) as fields:
        with reading_part(fields, "model") as part:
            model = _read_model(codec, part)
        with reading_part(fields, "method") as part:
            method = codec.whole(ExtractionMethod, part, rule=SelectionRule.SPARSITY)
        generators = fields.each("tasks", _prompts_reader(fields, path.parent, model))
        digest = digest_together(digest_file(path), *_inputs(model, generators))
        given = {"model": model, "generators": generators, "method": method, "digest": digest}
        protocol = codec.record(Protocol, fields, programs=None, **given)
    _refuse_misfit(protocol, path.name)
    return protocol


def _inputs(model: Path | Recipe, generators: Sequence[PromptSource]) -> Iterator[Digest]:
    """Yield the digests of all that a protocol names: the model, the vocabulary, and task files."""
    yield model.digest if isinstance(model, Recipe) else digest_file(model / MANIFEST)
    yield from dict.fromkeys(generator.vocabulary_digest for generator in generators)
    yield from (one.declared.digest for one in generators if isinstance(one, TaskPrompts))


def _prompts_reader(protocol: Fields, folder: Path, model: Path | Recipe) -> Callable[[Fields], PromptSource]:
    """Return what reads where a task's prompts come from; only prompts in words need a vocabulary."""
    salt = protocol.text("salt")
    encoder = read_encoder(protocol, folder) if protocol.has("vocabulary") else None

    def read(fields: Fields) -> PromptSource:
        if not fields.has("task"):
            words = encoder or read_encoder(protocol, folder)
            return Codec().record(Templates, fields).generator(words, salt)
        stored = read_declaration(model).alphabet if isinstance(model, Path) else None
        alphabet = stored if encoder is None else encoder.alphabet
        return TaskPrompts(load_listed_task(task_spec(fields.text("task"), folder), alphabet), salt)

    return read


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
            return NamedTokens(TOY)
        case "gpt2":
            return gpt2_tokenizer()
        case name:
            return FileTokenizer(folder / name)


@dataclass(frozen=True, slots=True)
class Templates:
    """Prompts of a task in words, before it is known which tokens they are."""

    name: str
    answers: Mapping[str, str]
    templates: Mapping[str, str]
    slots: Mapping[str, tuple[str, ...]]

    def generator(self, encoder: Encoder, salt: str, pool: Pool | None = None) -> Generator:
        """Return what generates the prompts in a vocabulary."""
        return Generator(
            task=self.name,
            salt=salt,
            encoder=encoder,
            answers=tuple(self.answers.items()),
            templates=tuple(starmap(PromptTemplate, self.templates.items())),
            slots=tuple(starmap(Slot, self.slots.items())),
            pool=pool,
        )


def _is_plain(name: str) -> bool:
    """Say whether a task's name can name a folder: letters, digits, underscores and hyphens."""
    return name.replace("-", "_").isidentifier()


def _refuse_misfit(protocol: Protocol, where: str) -> None:
    names = [generation.name for generation in protocol.generations]
    refuse_names([generator.task for generator in protocol.generators], f"{where}.tasks", _is_plain)
    if not names or len(set(names)) != len(names):
        raise InputError(f"{where}.generations are {names}, want some, with distinct names")
    if taken := [name for name in names if name in FOLDERS]:
        raise InputError(f"{where}.generations: {taken[0]!r} is a folder of every run; choose another name")
    if protocol.generations[0].development < 1:
        raise InputError(f"{where}.generations[0].development is 0; the first generation has nothing else")
