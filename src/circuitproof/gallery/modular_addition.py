"""The layout of "The Clock and the Pizza": one layer whose attention is 1 on both of two tokens.

Its attention is softmax · c + (1 - c) without a mask, and here c is 0. A program head that attends to both
tokens alike has rows of 1/2, so that with doubled output weights, which is exact, it is the same function of
the last position; queries and keys have no effect and are left out.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json, write_file
from circuitproof.files.sealed import write_sealed
from circuitproof.forward.frozen import WeightFile, open_weights
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration
from circuitproof.models.operators import Attention, NoNorm, Relu
from circuitproof.programs.text import parse
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.loading import read_declared
from circuitproof.tasks.task import Task

_EVERYWHERE = "default 1\notherwise nowhere\n"
_CONTEXT = 2


def fill_row(weights: Path, folder: Path) -> None:
    """Write the model directory and the task of addition modulo the number of tokens."""
    file = open_weights(weights)
    declaration = _declaration(file)
    files = {DECLARATION: readable_json(declaration.to_json()), WEIGHTS: save(_tensors(file, declaration))}
    write_sealed(folder / "model", files)
    task = addition(declaration.architecture.vocabulary)
    write_file(folder / "addition.json", readable_json(task.to_json()))


def addition(modulus: int) -> Task:
    """Return the task of adding two tokens modulo their number; their order must not matter."""
    names = [str(token) for token in range(modulus)]
    pairs = [(one, other) for one in range(modulus) for other in range(modulus)]
    declared = {
        "name": f"addition-modulo-{modulus}",
        "alphabet": names,
        "prompts": [f"{one} {other}" for one, other in pairs],
        "answers": [names[(one + other) % modulus] for one, other in pairs],
        "classes": [f"{min(pair)} and {max(pair)}" for pair in pairs],
    }
    return read_declared(declared, "addition")


def _declaration(file: WeightFile) -> Declaration:
    heads, head_width, width = _shape(file, "blocks.0.attn.W_V", 3)
    vocabulary = _shape(file, "embed.W_E", 2)[1]
    architecture = Architecture(
        vocabulary=vocabulary,
        context=_CONTEXT,
        layers=1,
        heads=heads,
        width=width,
        head_width=head_width,
        mlp_width=_shape(file, "blocks.0.mlp.W_in", 2)[0],
        norm=NoNorm(),
        attention=Attention.SPARSEMAX,
        attention_scale=Fraction(1),
        activation=Relu(),
        tied=False,
        biases=True,
        logit_bias=False,
    )
    programs = {Head(0, index): parse(_EVERYWHERE, "program") for index in range(heads)}
    return Declaration(architecture, programs, Alphabet(tuple(map(str, range(vocabulary)))))


def _shape(file: WeightFile, name: str, dimensions: int) -> tuple[int, ...]:
    shape = file.shapes().get(name, ())
    if len(shape) != dimensions:
        raise InputError(f"{file.path} has no tensor {name} of {dimensions} dimensions; give the original's")
    return shape


def _tensors(file: WeightFile, declaration: Declaration) -> dict[str, npt.NDArray[np.float32]]:
    sizes = declaration.architecture
    value, output = _read(file, "blocks.0.attn.W_V"), _read(file, "blocks.0.attn.W_O")
    found = {
        "embed.token": _read(file, "embed.W_E").T,
        "embed.position": _read(file, "pos_embed.W_pos"),
        "attention.0.output.bias": np.zeros(sizes.width, np.float32),
        "mlp.0.up.weight": _read(file, "blocks.0.mlp.W_in"),
        "mlp.0.up.bias": _read(file, "blocks.0.mlp.b_in"),
        "mlp.0.down.weight": _read(file, "blocks.0.mlp.W_out"),
        "mlp.0.down.bias": _read(file, "blocks.0.mlp.b_out"),
        "logits.weight": _read(file, "unembed.W_U").T,
    }
    for index in range(sizes.heads):
        part = slice(index * sizes.head_width, (index + 1) * sizes.head_width)
        found[f"head.0.{index}.value.weight"] = value[index]
        found[f"head.0.{index}.value.bias"] = np.zeros(sizes.head_width, np.float32)
        found[f"head.0.{index}.output.weight"] = 2 * output[:, part]
    for name, shape in declaration.shapes().items():
        if found[name].shape != shape:
            raise InputError(f"{file.path}: {name} would have shape {found[name].shape}, want {shape}")
    return {name: np.ascontiguousarray(tensor) for name, tensor in found.items()}


def _read(file: WeightFile, name: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(file.raw(name), dtype="<f4").reshape(file.shapes().get(name, ()))
