"""A model on disk: a sealed directory with its declaration and its weights as safetensors, FP32."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import read_bytes
from circuitproof.files.sealed import check_seal, write_sealed
from circuitproof.models.architecture import Architecture, Shapes
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration, ProgramHeads, read_declaration
from circuitproof.models.tokenizer import TOKENIZER, TextReader
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import Alphabet


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model with the names of its tokens, where they are known."""

    model: Transformer
    alphabet: Alphabet | None

    @property
    def declaration(self) -> Declaration:
        """Return what the model says of itself."""
        return Declaration(self.model.architecture, self.model.programs, self.alphabet)


def save_model(path: Path, stored: StoredModel, extra: Mapping[str, bytes] | None = None) -> None:
    """Write a new model directory, with `extra` files beside; it appears whole or not at all."""
    write_sealed(path, {**model_files(stored), **(extra or {})})


def model_files(stored: StoredModel) -> Mapping[str, bytes]:
    """Return the files of a model directory, with the tokenizer that its text was read with."""
    weights = save_tensors(stored.model.named_slices())
    files = {DECLARATION: readable_json(stored.declaration.to_json()), WEIGHTS: weights}
    reader = None if stored.alphabet is None else stored.alphabet.encode
    return {**files, TOKENIZER: reader.content} if isinstance(reader, TextReader) else files


def load_model(path: Path, device: Device = CPU) -> StoredModel:
    """Read a model directory; anything missing, changed, of another shape or not finite is refused."""
    check_seal(path, frozenset({DECLARATION, WEIGHTS}))
    declared = read_declaration(path)
    tensors = load_tensors(path / WEIGHTS, declared.shapes())
    model = build_model(declared.architecture, declared.programs, tensors).to(device)
    return StoredModel(model, declared.alphabet)


def build_model(
    architecture: Architecture, programs: ProgramHeads, tensors: Mapping[str, Tensor]
) -> Transformer:
    """Return the model in main memory with these weights, of the names and shapes of `tensor_shapes`."""
    model = Transformer(architecture, programs)
    with torch.no_grad():
        for name, view in model.named_slices().items():
            view.copy_(tensors[name])
    return model


def save_tensors(tensors: Mapping[str, Tensor]) -> bytes:
    """Return tensors as safetensors bytes; the same tensors always give the same bytes, wherever they are."""
    return save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})


def load_tensors(path: Path, shapes: Shapes) -> Mapping[str, Tensor]:
    """Read a safetensors file that must hold just the tensors `shapes`, FP32 and finite."""
    try:
        tensors = load(read_bytes(path))
    except (SafetensorError, KeyError) as error:  # the latter for a number format that torch does not have
        raise InputError(f"{path} is not a usable safetensors file: {error}") from error
    if missing := [name for name in shapes if name not in tensors]:
        raise InputError(f"{path} lacks tensor {missing[0]}, which the architecture needs")
    if unknown := sorted(name for name in tensors if name not in shapes):
        raise InputError(f"{path} holds tensor {unknown[0]}, which the architecture does not have")
    for name, tensor in tensors.items():
        _check_tensor(tensor, shapes[name], f"{path}: tensor {name}")
    return tensors


def _check_tensor(tensor: Tensor, shape: tuple[int, ...], where: str) -> None:
    if tensor.dtype != torch.float32:
        raise InputError(f"{where} is {tensor.dtype}, want torch.float32")
    if tuple(tensor.shape) != shape:
        raise InputError(f"{where} has shape {tuple(tensor.shape)}, want {shape}")
    if not bool(tensor.isfinite().all()):
        raise InputError(f"{where} holds a NaN or an infinite number")
