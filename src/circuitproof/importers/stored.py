"""Tensors as others store them, in safetensors files or in memory, read as the FP32 numbers that they are.

Every number of FP16 and BF16 is one of FP32, so these are read exactly; FP64 only where it holds no others.
"""

import json
import re
import struct
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from os.path import realpath
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from circuitproof.errors import InputError
from circuitproof.files.reading import read_fields
from circuitproof.models.architecture import Shapes
from circuitproof.verbs.models import as_float32

TENSORS, INDEX = "model.safetensors", "model.safetensors.index.json"
Array: TypeAlias = npt.NDArray[np.float32]
_PLAIN = "F32"
_NUMBERS = (_PLAIN, "F16", "BF16", "F64")
_LENGTH = struct.Struct("<Q")


class StoredTensor(Protocol):
    """A tensor of others, of which a part is read when it is asked for."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def kind(self) -> str:
        """Return its format of numbers, as safetensors names it."""
        ...

    def __getitem__(self, part: Any) -> Array:  # noqa: ANN401  # whatever numpy takes
        """Return a part of it in FP32."""
        ...


StoredTensors: TypeAlias = Mapping[str, StoredTensor]


@dataclass(frozen=True)
class _InFile:
    file: Path
    name: str
    view: Any
    """What safetensors reads when it is cut."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.view.get_shape())

    @property
    def kind(self) -> str:
        return self.view.get_dtype()

    def __getitem__(self, part: Any) -> Array:  # noqa: ANN401  # whatever numpy takes
        if self.kind == "BF16":
            return (self._halves[part].astype(np.uint32) << 16).view(np.float32)
        found = self.view[part]
        is_exact = self.kind in (_PLAIN, "F16")
        return found.astype(np.float32) if is_exact else as_float32(f"{self.name} of {self.file}", found)

    @cached_property
    def _halves(self) -> npt.NDArray[np.uint16]:
        """Return numbers of BF16, which numpy does not have: the upper halves of those of FP32."""
        with self.file.open("rb") as content:
            (length,) = _LENGTH.unpack(content.read(_LENGTH.size))
            start, _ = json.loads(content.read(length))[self.name]["data_offsets"]
        found = np.memmap(self.file, "<u2", "r", _LENGTH.size + length + start, self.shape or (1,))
        return np.asarray(found).reshape(self.shape)


@dataclass(frozen=True)
class _InMemory:
    name: str
    held: Any
    """An array, or a tensor of torch, which need not be here."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.held.shape)

    @property
    def kind(self) -> str:
        named = {"float32": _PLAIN, "float16": "F16", "bfloat16": "BF16", "float64": "F64"}
        spelled = str(self.held.dtype).removeprefix("torch.")
        return named.get(spelled, spelled)

    def __getitem__(self, part: Any) -> Array:  # noqa: ANN401  # whatever numpy takes
        return self._numbers[part]

    @cached_property
    def _numbers(self) -> Array:
        return as_float32(self.name, self.held)


def tensors_in_memory(state: Mapping[str, object]) -> StoredTensors:
    """Return the tensors of a state as they would be read from a file."""
    return {name: _InMemory(name, tensor) for name, tensor in state.items()}


def count_layers(theirs: StoredTensors, block: re.Pattern[str]) -> int:
    """Return how many layers tensors speak of; the pattern's group is a layer's number."""
    return len({int(found[1]) for name in theirs if (found := block.match(name))})


def refuse_links(source: Path) -> None:
    """Refuse links, which may lead anywhere, but for those of the Hub's own cache to its blobs."""
    inside = Path(realpath(source))
    for one in inside.glob("*"):
        if one.is_symlink() and Path(realpath(one)).parent != inside.parent.parent / "blobs":
            raise InputError(
                f"{source / one.name} is a link, which is not followed; put the file itself in its place"
            )


def tensor_files(source: Path) -> list[Path]:
    """Return the safetensors files of a directory: one, or the shards that its index names."""
    if (index := source / INDEX).exists():
        fields = read_fields(index).fields("weight_map")
        names = dict.fromkeys(fields.text(name) for name in fields.keys())  # noqa: SIM118  # not a mapping
        if outside := [name for name in names if Path(name).name != name]:
            raise InputError(f"{fields.where} names the file {outside[0]!r}, want one of the same directory")
        return [source / name for name in names]
    if not (source / TENSORS).exists():
        raise InputError(
            f"{source} has neither {TENSORS} nor {INDEX}; pickles are never read, save it as safetensors"
        )
    return [source / TENSORS]


@contextmanager
def open_tensors(
    files: Iterable[Path], renamed: Callable[[str], str] = str
) -> Generator[StoredTensors, None, None]:
    """Open safetensors files; each tensor has the name that `renamed` makes of its own."""
    with ExitStack() as stack:
        found: dict[str, StoredTensor] = {}
        for file in files:
            try:
                shard = stack.enter_context(safe_open(file, framework="numpy"))
            except (SafetensorError, OSError) as error:
                raise InputError(f"{file} is not a usable safetensors file: {error}") from error
            for name in shard.keys():  # noqa: SIM118  # not a mapping
                if (plain := renamed(name)) in found:
                    raise InputError(f"{file} holds tensor {plain} once more; a model has it once")
                found[plain] = _InFile(file, name, shard.get_slice(name))
        yield found


def refuse_other_tensors(theirs: StoredTensors, wanted: Shapes, where: str, source: str) -> None:
    """Refuse a tensor that is missing, of another shape, or not of numbers, before any is read."""
    for name, shape in wanted.items():
        if name not in theirs:
            raise InputError(f"{where} lacks tensor {name}, which {source} needs")
        if (found := theirs[name].shape) != shape:
            raise InputError(f"{where}: tensor {name} has shape {found}, {source} wants {shape}")
        if (kind := theirs[name].kind) not in _NUMBERS:
            raise InputError(f"{where}: tensor {name} is {kind}, want {_PLAIN}; save the model in FP32")


def widening_notes(theirs: StoredTensors, names: Iterable[str]) -> tuple[str, ...]:
    """Say which formats of numbers were turned into FP32."""
    kinds = sorted({theirs[name].kind for name in names} - {_PLAIN})
    return (f"{' and '.join(kinds)} numbers are stored as the FP32 numbers that they are",) if kinds else ()
