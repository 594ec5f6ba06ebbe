"""GPT-2 and GPT-NeoX from Hugging Face's directories, and GPT-2 back, tensor by tensor, without torch."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from circuitproof.bundle.tensors import safetensors_header
from circuitproof.errors import InputError, UsageError
from circuitproof.files.canonical import (
    readable_json,
    refuse_existing,
    write_directory,
    write_file,
    write_parts,
)
from circuitproof.files.reading import Fields, about, read_bytes, read_fields
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.importers.foreign import Foreign, write_foreign
from circuitproof.importers.gpt2_format import PREFIX as GPT2_PREFIX
from circuitproof.importers.gpt2_format import place_of, read_gpt2, their_shapes, to_config
from circuitproof.importers.hf_layout import CONFIG
from circuitproof.importers.neox_format import PREFIX as NEOX_PREFIX
from circuitproof.importers.neox_format import read_neox
from circuitproof.importers.slices import TensorSlice
from circuitproof.importers.stored import (
    INDEX,
    TENSORS,
    open_tensors,
    refuse_links,
    tensor_files,
    widening_notes,
)
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet

_TOKENIZER, _VOCABULARY, _MERGES = "tokenizer.json", "vocab.json", "merges.txt"
_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?", re.ASCII)
_KINDS = {"gpt2": (read_gpt2, GPT2_PREFIX), "gpt_neox": (read_neox, NEOX_PREFIX)}
"""What reads the configuration of each `model_type`, and what its tensors' names may begin with."""


def locate(source: str, revision: str | None = None) -> Path:
    """Return the directory that is meant: one that is there, or one of the Hub by its name."""
    if (path := Path(source)).is_dir() and revision is not None:
        raise UsageError(f"{source} is a directory, which has no revision {revision}; leave --revision out")
    if path.is_dir():
        return path
    if not _NAME.fullmatch(source) or path.exists():
        raise InputError(
            f"{source} is not a directory, and not a name on the Hub such as openai-community/gpt2"
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    wanted = [CONFIG, "*.safetensors", INDEX, _TOKENIZER, _VOCABULARY, _MERGES]
    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=wanted))
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise InputError(
            f"{source} is no directory here, and the Hub did not give a model of that name "
            f"({type(error).__name__}); name a directory, or try again where the Hub can be reached"
        ) from error


def import_hf(source: Path, out: Path, accept: Callable[[Path], None] | None = None) -> Foreign:
    """Turn a Hugging Face directory into a model directory, which appears once `accept` has looked."""
    refuse_existing(out)
    refuse_links(source)
    fields = read_fields(source / CONFIG)
    if (kind := fields.text("model_type")) not in _KINDS:
        raise InputError(
            f"{fields.path('model_type')} is {kind!r}, want {' or '.join(_KINDS)}: RMSNorm, gated MLPs and "
            "grouped queries, as Llama and its kind have them, are not there yet"
        )
    read, prefix = _KINDS[kind]
    layout, where = read(fields), str(source)
    with open_tensors(tensor_files(source), lambda name: name.removeprefix(prefix)) as theirs:
        layout.refuse_unfit(theirs, where)
        with about(where):
            names = _alphabet(source, layout.architecture.vocabulary)
            declaration = Declaration(layout.architecture, NO_PROGRAMS, names)
        notes = (*layout.notes, *widening_notes(theirs, layout.shapes))
        foreign = Foreign(where, declaration, lambda ours: layout.tensor(ours, theirs, where), notes)
        write_foreign(foreign, out, _tokenizer_files(source), accept)
    return foreign


def export_hf(model: Path, out: Path) -> None:
    """Write a model as Hugging Face stores a GPT-2, if it is one: the same numbers, bit for bit."""
    refuse_existing(out)
    frozen = open_model(model)
    config = to_config(frozen.declaration)

    def fill(directory: Path) -> None:
        write_file(directory / CONFIG, readable_json(config))
        write_parts(directory / TENSORS, _their_bytes(frozen))
        for name, content in _tokenizer_files(model).items():
            write_file(directory / name, content)

    write_directory(out, fill)


def _alphabet(source: Path, size: int) -> Alphabet | None:
    """Return the names of the tokens as the tokenizer's file has them, if there is one."""
    if (file := source / _TOKENIZER).exists():
        return sparse_alphabet(size, dict(_tokenizer_names(read_fields(file))))
    if (file := source / _VOCABULARY).exists():
        return sparse_alphabet(size, dict(_vocabulary_names(read_fields(file))))
    return None


def _tokenizer_names(fields: Fields) -> Iterator[tuple[int, str]]:
    yield from _vocabulary_names(fields.fields("model").fields("vocab"))
    for place, entry in enumerate(fields.items("added_tokens")):
        added = Fields(entry, f"{fields.path('added_tokens')}[{place}]")
        yield added.integer("id"), added.text("content")


def _vocabulary_names(fields: Fields) -> Iterator[tuple[int, str]]:
    for name in fields.keys():  # noqa: SIM118  # Fields is not a mapping
        yield fields.integer(name), name


def _their_bytes(frozen: Frozen) -> Iterator[bytes]:
    """Return their file of tensors in parts."""
    shapes = their_shapes(frozen.architecture)
    names = {name: name if name == "lm_head.weight" else GPT2_PREFIX + name for name in shapes}
    yield safetensors_header({names[name]: shape for name, shape in shapes.items()}, {"format": "pt"})
    homes: dict[str, list[tuple[str, TensorSlice]]] = {name: [] for name in shapes}
    ours = frozen.file.shapes()
    for name in ours:
        place = place_of(name, frozen.architecture)
        homes[place.theirs].append((name, place))
    for theirs, shape in shapes.items():
        tensor = np.empty(shape, "<f4")
        for name, place in homes[theirs]:
            place.put(tensor, np.frombuffer(frozen.file.raw(name), "<f4").reshape(ours[name]))
        yield tensor.tobytes()


def _tokenizer_files(source: Path) -> dict[str, bytes]:
    names = (_TOKENIZER, _VOCABULARY, _MERGES)
    return {name: read_bytes(source / name) for name in names if (source / name).exists()}
