"""GPT-2 in and out of Hugging Face's directories, tensor by tensor and without torch."""

import re
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import prod
from os.path import realpath
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from circuitproof.bundle.tensors import safetensors_header
from circuitproof.errors import InputError, UsageError
from circuitproof.files.canonical import (
    nearest_folder,
    readable_json,
    refuse_existing,
    write_directory,
    write_file,
    write_parts,
)
from circuitproof.files.reading import Fields, about, read_bytes, read_fields
from circuitproof.files.sealed import seal
from circuitproof.forward.frozen import BYTES_PER_NUMBER, Frozen, open_model
from circuitproof.importers.gpt2_format import TensorSlice, place_of, read_config, their_shapes, to_config
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import DECLARATION, NO_PROGRAMS, WEIGHTS, Declaration
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet

_CONFIG, _TENSORS, _INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
_TOKENIZER, _VOCABULARY, _MERGES = "tokenizer.json", "vocab.json", "merges.txt"
_PREFIX = "transformer."
_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?", re.ASCII)
_MASK = re.compile(r"h\.[0-9]+\.attn\.(masked_)?bias")
"""The causal mask, which older versions stored; no forward of GPT-2 reads it from there."""


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

    wanted = [_CONFIG, "*.safetensors", _INDEX, _TOKENIZER, _VOCABULARY, _MERGES]
    try:
        return Path(snapshot_download(source, revision=revision, allow_patterns=wanted))
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise InputError(
            f"{source} is no directory here, and the Hub did not give a model of that name "
            f"({type(error).__name__}); name a directory, or try again where the Hub can be reached"
        ) from error


def import_hf(source: Path, out: Path, accept: Callable[[Path], None] | None = None) -> Declaration:
    """Turn a Hugging Face GPT-2 into a model directory; it appears whole, once `accept` has looked."""
    refuse_existing(out)
    _refuse_links(source)
    architecture = read_config(read_fields(source / _CONFIG))
    with open_tensors(source) as theirs:
        _refuse_unfit(source, theirs, architecture)
        _refuse_too_large(out, architecture)
        with about(str(source)):
            declaration = Declaration(architecture, NO_PROGRAMS, _alphabet(source, architecture.vocabulary))

        def fill(directory: Path) -> None:
            write_file(directory / DECLARATION, readable_json(declaration.to_json()))
            write_parts(directory / WEIGHTS, _our_bytes(source, theirs, declaration))
            _copy_tokenizer(source, directory)
            seal(directory)
            if accept is not None:
                accept(directory)

        write_directory(out, fill)
    return declaration


def _refuse_links(source: Path) -> None:
    """Refuse links, which may lead anywhere, but for those of the Hub's own cache to its blobs."""
    inside = Path(realpath(source))
    for one in inside.glob("*"):
        if one.is_symlink() and Path(realpath(one)).parent != inside.parent.parent / "blobs":
            raise InputError(
                f"{source / one.name} is a link, which is not followed; put the file itself in its place"
            )


def export_hf(model: Path, out: Path) -> None:
    """Write a model as Hugging Face stores a GPT-2, if it is one: the same numbers, bit for bit."""
    refuse_existing(out)
    frozen = open_model(model)
    config = to_config(frozen.declaration)

    def fill(directory: Path) -> None:
        write_file(directory / _CONFIG, readable_json(config))
        write_parts(directory / _TENSORS, _their_bytes(frozen))
        _copy_tokenizer(model, directory)

    write_directory(out, fill)


@contextmanager
def open_tensors(source: Path) -> Generator[Mapping[str, Any], None, None]:
    """Open the safetensors files of a directory, one or several; names come without their prefix."""
    with ExitStack() as stack:
        found: dict[str, Any] = {}
        for file in _files(source):
            try:
                shard = stack.enter_context(safe_open(file, framework="numpy"))
            except (SafetensorError, OSError) as error:
                raise InputError(f"{file} is not a usable safetensors file: {error}") from error
            for name in shard.keys():  # noqa: SIM118  # not a mapping
                if (plain := name.removeprefix(_PREFIX)) in found:
                    raise InputError(f"{file} holds tensor {plain} once more; a model has it once")
                found[plain] = shard.get_slice(name)
        yield found


def _files(source: Path) -> list[Path]:
    if (index := source / _INDEX).exists():
        fields = read_fields(index).fields("weight_map")
        names = dict.fromkeys(fields.text(name) for name in fields.keys())  # noqa: SIM118  # not a mapping
        if outside := [name for name in names if Path(name).name != name]:
            raise InputError(f"{fields.where} names the file {outside[0]!r}, want one of the same directory")
        return [source / name for name in names]
    if not (source / _TENSORS).exists():
        raise InputError(
            f"{source} has neither {_TENSORS} nor {_INDEX}; pickles are never read, save it as safetensors"
        )
    return [source / _TENSORS]


def _refuse_unfit(source: Path, theirs: Mapping[str, Any], architecture: Architecture) -> None:
    """Refuse tensors that are not just those of the configuration, before any of them is read."""
    shapes = their_shapes(architecture)
    spare = {"lm_head.weight": shapes["wte.weight"]} if "lm_head.weight" in theirs else {}
    for name, shape in {**shapes, **spare}.items():
        if name not in theirs:
            raise InputError(f"{source} lacks tensor {name}, which its {_CONFIG} needs")
        if (found := tuple(theirs[name].get_shape())) != shape:
            raise InputError(f"{source}: tensor {name} has shape {found}, its {_CONFIG} wants {shape}")
        if (kind := theirs[name].get_dtype()) != "F32":
            raise InputError(f"{source}: tensor {name} is {kind}, want F32; save the model in FP32")
    for name in theirs:
        if name not in shapes and name not in spare and not _MASK.fullmatch(name):
            raise InputError(f"{source} holds tensor {name}, which GPT-2 does not have")
    if (
        architecture.tied
        and spare
        and theirs["lm_head.weight"][:].tobytes() != theirs["wte.weight"][:].tobytes()
    ):
        raise InputError(f"{source}: lm_head.weight is not wte.weight, though its {_CONFIG} ties them")


def _refuse_too_large(out: Path, architecture: Architecture) -> None:
    size = BYTES_PER_NUMBER * sum(map(prod, their_shapes(architecture).values()))
    nearest = nearest_folder(out)
    if size > (free := shutil.disk_usage(nearest).free):
        raise InputError(
            f"{out} needs {size:,} bytes for the tensors, {nearest} has {free:,} left; make room"
        )


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


def _our_bytes(source: Path, theirs: Mapping[str, Any], declaration: Declaration) -> Iterator[bytes]:
    """Return our file of tensors in parts, each number as it is in theirs and found to be finite."""
    shapes = declaration.shapes()
    yield safetensors_header(shapes)
    for name in shapes:
        place = place_of(name, declaration.architecture)
        tensor = place.cut(theirs[place.theirs])
        if not np.isfinite(tensor).all():
            raise InputError(f"{source}: tensor {place.theirs} holds a NaN or an infinite number")
        yield tensor.tobytes()


def _their_bytes(frozen: Frozen) -> Iterator[bytes]:
    """Return their file of tensors in parts."""
    shapes = their_shapes(frozen.architecture)
    names = {name: name if name == "lm_head.weight" else _PREFIX + name for name in shapes}
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


def _copy_tokenizer(source: Path, target: Path) -> None:
    for name in (_TOKENIZER, _VOCABULARY, _MERGES):
        if (source / name).exists():
            write_file(target / name, read_bytes(source / name))
