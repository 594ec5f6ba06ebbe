"""A model of others on its way here: its declaration, its tensors by our names, and what was done to it."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from circuitproof.bundle.tensors import safetensors_header
from circuitproof.errors import InputError
from circuitproof.files.canonical import (
    nearest_folder,
    readable_json,
    refuse_existing,
    write_directory,
    write_file,
    write_parts,
)
from circuitproof.files.sealed import seal
from circuitproof.forward.frozen import BYTES_PER_NUMBER
from circuitproof.importers.stored import Array
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration
from circuitproof.verbs.models import count_parameters


@dataclass(frozen=True, slots=True)
class Foreign:
    """What is known of a model of others before its tensors are read."""

    where: str
    declaration: Declaration
    tensor: Callable[[str], Array]
    """Reads the tensor that has this name here."""
    notes: tuple[str, ...] = ()
    """What was folded, filled in, reordered or rounded, a sentence each."""

    @property
    def parameters(self) -> int:
        return count_parameters(self.declaration)


def write_foreign(
    foreign: Foreign,
    out: Path,
    files: Mapping[str, bytes] | None = None,
    gate: Callable[[Path], None] | None = None,
) -> None:
    """Write a model directory with `files` beside; it appears whole, and only if `gate` lets it pass."""
    refuse_existing(out)
    _refuse_too_large(foreign, out)

    def fill(directory: Path) -> None:
        write_file(directory / DECLARATION, readable_json(foreign.declaration.to_json()))
        write_parts(directory / WEIGHTS, _bytes(foreign))
        for name, content in (files or {}).items():
            write_file(directory / name, content)
        seal(directory)
        if gate is not None:
            gate(directory)

    write_directory(out, fill)


def _bytes(foreign: Foreign) -> Iterator[bytes]:
    """Return our file of tensors in parts, each number found to be finite."""
    shapes = foreign.declaration.shapes()
    yield safetensors_header(shapes)
    for name, shape in shapes.items():
        tensor = foreign.tensor(name)
        if tensor.shape != shape:
            raise InputError(f"{foreign.where}: {name} would have shape {tensor.shape}, want {shape}")
        yield np.ascontiguousarray(tensor, "<f4").tobytes()


def finite(tensor: Array, where: str) -> Array:
    """Return a tensor all of whose numbers are finite."""
    if not np.isfinite(tensor).all():
        raise InputError(f"{where} holds a NaN or an infinite number")
    return tensor


def _refuse_too_large(foreign: Foreign, out: Path) -> None:
    size, nearest = BYTES_PER_NUMBER * foreign.parameters, nearest_folder(out)
    if size > (free := shutil.disk_usage(nearest).free):
        raise InputError(
            f"{out} needs {size:,} bytes for the tensors, {nearest} has {free:,} left; make room"
        )
