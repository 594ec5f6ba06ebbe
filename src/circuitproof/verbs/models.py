"""Models from elsewhere: sealed, looked through, and given programs in the place of heads, without torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from circuitproof.bundle.tensors import Extract, safetensors_bytes
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import parse_head
from circuitproof.errors import InputError, UsageError, asked_for
from circuitproof.files.canonical import Digest, Json, readable_json, refuse_existing
from circuitproof.files.reading import read_bytes, read_text
from circuitproof.files.sealed import MANIFEST, read_manifest, seal, write_sealed
from circuitproof.forward.frozen import Frozen, open_model, open_unsealed, refuse_other_shapes
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration
from circuitproof.programs.syntax import Program
from circuitproof.programs.text import parse


@dataclass(frozen=True, slots=True)
class Described:
    """What a model directory holds, once all of it was read."""

    path: Path
    declaration: Declaration
    edges: int
    tensors: int
    parameters: int
    files: Mapping[str, Digest]

    def to_json(self) -> dict[str, Json]:
        return {
            **self.declaration.to_json(),
            "edges": self.edges,
            "tensors": self.tensors,
            "parameters": self.parameters,
            "inexact": self.declaration.inexact_operator,
            "files": {name: str(digest) for name, digest in self.files.items()},
        }


def count_parameters(declaration: Declaration) -> int:
    """Return how many numbers a model has."""
    return sum(map(prod, declaration.shapes().values()))


def describe(path: Path) -> Described:
    """Read a whole model directory: seal, declaration, and every number of every tensor."""
    frozen = open_model(path)
    _read_numbers(frozen)
    return Described(
        path=path,
        declaration=frozen.declaration,
        edges=len(frozen.graph.edges()),
        tensors=len(frozen.declaration.shapes()),
        parameters=count_parameters(frozen.declaration),
        files=read_manifest(path),
    )


def _read_numbers(frozen: Frozen) -> None:
    """Read every number of every tensor, which refuses those that are none."""
    for name in frozen.declaration.shapes():
        frozen.file.grid(name)


def seal_model(path: Path) -> None:
    """Write the manifest of a model directory that was made elsewhere and has none, if it is a good one."""
    if (manifest := path / MANIFEST).exists():
        raise InputError(f"{manifest} already exists: {path} is sealed; remove it to seal the files anew")
    for name in (DECLARATION, WEIGHTS):
        if not (path / name).is_file():
            raise InputError(f"{path / name} is missing; a model directory holds {DECLARATION} and {WEIGHTS}")
    _read_numbers(open_unsealed(path))
    seal(path)


def write_model(declaration: Declaration, tensors: Mapping[str, object], out: Path) -> None:
    """Write a new model directory of arrays or torch tensors; whatever FP32 does not have is refused."""
    refuse_existing(out)
    arrays = {name: as_float32(name, tensor) for name, tensor in tensors.items()}
    held = {name: array.shape for name, array in arrays.items()}
    refuse_other_shapes(held, declaration.shapes(), "the mapping of tensors")
    write_sealed(out, {DECLARATION: readable_json(declaration.to_json()), WEIGHTS: save(arrays)})


def as_float32(name: str, tensor: Any) -> npt.NDArray[np.float32]:  # noqa: ANN401  # an array, or of torch, which need not be here
    """Return the same numbers as an array of FP32."""
    try:
        array = np.asarray(_of_torch(tensor) if hasattr(tensor, "detach") else tensor)
    except (TypeError, ValueError) as error:
        raise InputError(f"tensor {name} cannot be read as an array: {error}; give float32") from error
    if array.dtype.kind not in "fiu":
        raise InputError(f"tensor {name} is {array.dtype}, want an array of numbers")
    with np.errstate(over="ignore"):
        rounded = np.array(array, dtype=np.float32, order="C")
    if not np.isfinite(rounded).all() or not np.array_equal(rounded, array):
        raise InputError(
            f"tensor {name}, {array.dtype}, holds a number that FP32 does not have; "
            "round it to float32 where that is meant"
        )
    return rounded


def _of_torch(tensor: Any) -> Any:  # noqa: ANN401  # torch need not be here
    """Return a tensor of torch as numpy reads it, which has no BF16."""
    plain = tensor.detach().cpu()
    return plain.float() if str(plain.dtype) == "torch.bfloat16" else plain


def install(model: Path, given: Sequence[str], out: Path) -> tuple[Head, ...]:
    """Write a copy of a model in which some heads, which are returned, attend where programs say.

    Each program is given as HEAD=FILE.
    """
    refuse_existing(out)
    frozen = open_model(model)
    programs = dict(_read_program(one, frozen) for one in given)
    if len(programs) < len(given):
        raise UsageError(f"{len(given)} programs for {len(programs)} heads, want one for each head")
    declaration = replace(frozen.declaration, programs={**frozen.programs, **programs})
    files = {name: read_bytes(model / name) for name in read_manifest(model) if name != WEIGHTS}
    files[DECLARATION] = readable_json(declaration.to_json())
    files[WEIGHTS] = safetensors_bytes(frozen.file, [Extract(name, None) for name in declaration.shapes()])
    write_sealed(out, files)
    return tuple(programs)


def _read_program(given: str, frozen: Frozen) -> tuple[Head, Program]:
    name, equals, file = given.partition("=")
    if not (equals and file):
        raise UsageError(f"--program is {given!r}, want HEAD=FILE such as 1.0=quotes.program")
    with asked_for():
        head = parse_head(name, frozen.graph, "--program")
    return head, parse(read_text(Path(file)), file)
