"""Reading the paper's public format: `smt_weights.json`, `config.json`, `vocab.json` and `programs.json`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Graph
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json, refuse_existing
from circuitproof.files.reading import Fields, about, read_fields, reading_part
from circuitproof.files.sealed import write_sealed
from circuitproof.models.architecture import Architecture, inverse_root, is_float32, tensor_shapes
from circuitproof.models.declaration import (
    DECLARATION,
    WEIGHTS,
    Declaration,
    ProgramHeads,
    read_program_heads,
    refuse_unfit_programs,
)
from circuitproof.models.operators import Attention, BandNorm, LeakyRelu, Lift, NoNorm, Norm
from circuitproof.programs.release import read_release_program
from circuitproof.programs.syntax import Program
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet

Floats: TypeAlias = npt.NDArray[np.float32]

_TASKS = {"quote_close": "quotes", "bracket_type": "brackets"}
_WEIGHTS = "smt_weights.json"
_TOKEN = re.compile("0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Release:
    """What a release directory holds: a model, and the circuits found in it by task."""

    declaration: Declaration
    tensors: Mapping[str, Floats]
    circuits: Mapping[str, Circuit]

    def files(self) -> dict[str, bytes]:
        """Return the files of its model directory."""
        circuits = {f"{task}.circuit.json": readable_json(c.to_json()) for task, c in self.circuits.items()}
        declared = readable_json(self.declaration.to_json())
        return {DECLARATION: declared, WEIGHTS: save(dict(self.tensors)), **circuits}


def import_release(source: Path, out: Path) -> Release:
    """Turn a release directory into a model directory with its circuits beside, whole or not at all."""
    refuse_existing(out)
    release = load_release(source)
    write_sealed(out, release.files())
    return release


def load_release(source: Path) -> Release:
    """Read a release directory; every number must be an FP32 value, every shape as declared."""
    config, weights = read_fields(source / "config.json"), read_fields(source / _WEIGHTS)
    architecture = _architecture(config, weights)
    programs = _programs(source, weights, architecture)
    tensors = dict(_tensors(weights, architecture, programs))
    weights.finish()
    circuits = dict(_circuits(source, architecture.graph))
    alphabet = _alphabet(source, architecture.vocabulary)
    return Release(Declaration(architecture, programs, alphabet), tensors, circuits)


def _programs(source: Path, weights: Fields, architecture: Architecture) -> ProgramHeads:
    """Return the programs of the weight file, which must be those of `programs.json` if that is there."""
    programs = _read_programs(weights.fields("program_heads")) if weights.has("program_heads") else {}
    with about(weights.path("program_heads")):
        refuse_unfit_programs(architecture, programs)
    if (beside := source / "programs.json").exists():
        others = _read_programs(read_fields(beside))
        if different := [head for head in {**programs, **others} if programs.get(head) != others.get(head)]:
            raise InputError(
                f"{beside} and {weights.path('program_heads')} differ about {different[0]}; "
                "they must give the same heads the same programs"
            )
    return programs


def _read_programs(fields: Fields) -> ProgramHeads:
    def read(key: str) -> Program:
        with reading_part(fields, key) as part:
            return read_release_program(part)

    return read_program_heads(fields, read)


def _architecture(config: Fields, weights: Fields) -> Architecture:
    heads, width = config.integer("n_heads", least=1), config.integer("d_model", least=1)
    _refuse_disagreement(config, weights)
    config.one_of("attn_variant", ("sparsemax",))
    config.one_of("activation_variant", ("leaky_relu",))
    head_width = weights.integer("head_dim", least=1)
    return Architecture(
        vocabulary=config.integer("vocab_size", least=1),
        context=config.integer("max_seq_len", least=1),
        layers=config.integer("n_layers", least=1),
        heads=heads,
        width=width,
        head_width=head_width,
        mlp_width=config.integer("d_mlp", least=1),
        norm=_norm(config, weights, width),
        attention=Attention.SPARSEMAX,
        attention_scale=inverse_root(head_width),
        activation=LeakyRelu(config.rational("leaky_relu_negative_slope")),
        tied=config.boolean("tie_embeddings"),
        biases=config.boolean("use_bias"),
        logit_bias=weights.has("lm_head_bias"),
    )


def _refuse_disagreement(config: Fields, weights: Fields) -> None:
    sizes = ("n_heads", "n_layers", "d_model", "vocab_size")
    variants = ("norm_variant", "attn_variant", "activation_variant")
    for ours, theirs in (*((name, name) for name in sizes + variants), ("d_mlp", "d_ff")):
        found, wanted = weights.value(theirs), config.value(ours)
        if found != wanted:
            raise InputError(f"{weights.path(theirs)} is {found}, but {config.path(ours)} is {wanted}")


def _norm(config: Fields, weights: Fields, width: int) -> Norm:
    low, high = (config.rational(f"norm_l1_{side}_per_dim") * width / 2 for side in ("low", "high"))
    band = BandNorm(low, high, Lift.REFERENCE)
    known: Mapping[str, Norm] = {"none": NoNorm(), "signed_l1_band_norm": band}
    norm = known[config.one_of("norm_variant", known)]
    for side, mass in (("half_low", low), ("half_high", high)):
        if (found := weights.rational(side)) != mass:
            raise InputError(f"{weights.path(side)} is {found}, the configuration wants {mass}")
    return norm


def _alphabet(source: Path, size: int) -> Alphabet:
    vocabulary = read_fields(source / "vocab.json")
    if (found := vocabulary.integer("vocab_size")) != size:
        raise InputError(f"{vocabulary.path('vocab_size')} is {found}, but the model has {size} tokens")
    names = vocabulary.fields("token_names")
    named = {_token(key, names): names.text(key) for key in names.keys()}  # noqa: SIM118  # Fields is not a mapping
    return sparse_alphabet(size, named)


def _token(key: str, names: Fields) -> int:
    if not _TOKEN.fullmatch(key):
        raise InputError(f"{names.path(key)}: {key!r} is not a token number")
    return int(key)


def _circuits(source: Path, graph: Graph) -> Iterator[tuple[str, Circuit]]:
    for name, task in _TASKS.items():
        path = source / name / "circuit.json"
        if path.exists():
            circuit = load_circuit(path)
            if circuit.graph != graph:
                raise InputError(f"{path} is not of the model's {graph.layers} layers of {graph.heads} heads")
            yield task, circuit


def _tensors(
    weights: Fields, architecture: Architecture, programs: ProgramHeads
) -> Iterator[tuple[str, Floats]]:
    used = tensor_shapes(architecture, programs)
    for name, shape in tensor_shapes(architecture).items():
        tensor = _tensor(weights, name, shape, architecture)
        if name in used:
            yield name, tensor
        elif tensor.any():
            raise InputError(
                f"{weights.where}: {name} is not all zero, but that head is a program and would lose it"
            )
    if not architecture.has_norm:
        for key in weights.keys():  # noqa: SIM118  # Fields is not a mapping
            _refuse_unused_norm(weights, key, architecture.width)


def _refuse_unused_norm(weights: Fields, key: str, width: int) -> None:
    """Refuse a norm's scale or shift that does something in a model that declares no norm."""
    plain = 1 if key.endswith("_norm_gamma") else 0 if key.endswith("_norm_beta") else None
    if plain is not None and any(number != plain for number in _numbers(weights, key, (width,))):
        raise InputError(f"{weights.path(key)} is not all {plain}, but the model is declared to have no norm")


def _tensor(weights: Fields, name: str, shape: tuple[int, ...], architecture: Architecture) -> Floats:
    match name.split("."):
        case ["head", layer, index, "output", "weight"]:
            part = slice(int(index) * shape[1], (int(index) + 1) * shape[1])
            full = _matrix(weights, f"attn_{layer}_W_o", (shape[0], architecture.heads * shape[1]))
            return np.ascontiguousarray(full[:, part])
        case ["head", layer, index, role, kind]:
            key = f"attn_{layer}_{'W' if kind == 'weight' else 'b'}_{role[0]}"
            full = _matrix(weights, key, (architecture.heads * shape[0], *shape[1:]))
            return full[int(index) * shape[0] : (int(index) + 1) * shape[0]]
        case _:
            return _matrix(weights, _their_name(name), shape)


def _their_name(name: str) -> str:
    plain = {
        "embed.token": "wte",
        "embed.position": "wpe",
        "logits.norm.scale": "final_norm_gamma",
        "logits.norm.shift": "final_norm_beta",
        "logits.weight": "lm_head",
        "logits.bias": "lm_head_bias",
    }
    if name in plain:
        return plain[name]
    block, layer, part, kind = name.split(".")
    stem = f"{'attn' if block == 'attention' else block}_{layer}"
    if part == "norm":
        return f"{stem}_norm_{'gamma' if kind == 'scale' else 'beta'}"
    return f"{stem}_{'W' if kind == 'weight' else 'b'}_{'o' if part == 'output' else part}"


def _matrix(weights: Fields, key: str, shape: tuple[int, ...]) -> Floats:
    return np.array(list(map(float, _numbers(weights, key, shape))), dtype=np.float32).reshape(shape)


def _numbers(weights: Fields, key: str, shape: tuple[int, ...]) -> list[Fraction]:
    """Return the entries of a nested list of the given shape, each checked to be exactly an FP32 value."""
    numbers: list[Fraction] = []
    for entry in _flatten(weights.value(key), shape, weights.path(key)):
        number = _double(entry)
        if number is None or not is_float32(number):
            raise InputError(f"{weights.path(key)} holds {entry}, which is not an FP32 value")
        numbers.append(number)
    return numbers


def _double(entry: Decimal | int) -> Fraction | None:
    """Return the double that the format names in the fewest digits; nothing if it is infinite."""
    try:
        return Fraction(float(entry))
    except OverflowError:
        return None


def _flatten(value: object, shape: tuple[int, ...], where: str) -> Iterator[Decimal | int]:
    if not shape:
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise InputError(f"{where} holds {value!r}, want a number")
        yield value
        return
    if not isinstance(value, list) or len(value) != shape[0]:
        found = f"{len(value)} entries" if isinstance(value, list) else repr(value)
        raise InputError(f"{where} holds {found}, want a list of {shape[0]}")
    for entry in value:
        yield from _flatten(entry, shape[1:], where)
