"""minGPT and nanoGPT as model directories: GPT-2's names, with matrices [out, in] as `nn.Linear` has them.

Their configurations say nothing of the activation, which minGPT has in the form of tanh and nanoGPT in the
exact one; a key `activation` or `act_fn` decides where one is there.
"""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import refuse_existing
from circuitproof.files.reading import Fields, about, read_fields
from circuitproof.importers.foreign import Foreign, finite, write_foreign
from circuitproof.importers.gpt2_format import place_of, their_shapes
from circuitproof.importers.hf_layout import CONFIG, zeros
from circuitproof.importers.stored import (
    Array,
    StoredTensors,
    count_layers,
    open_tensors,
    refuse_links,
    refuse_other_tensors,
    tensor_files,
    widening_notes,
)
from circuitproof.models.architecture import Architecture, Shapes, inverse_root, tensor_shapes
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.models.operators import Activation, Attention, Gelu, GeluForm, LayerNorm, Relu

_PREFIXES = re.compile(r"(_orig_mod\.)?(transformer\.)?")
_UNREAD = re.compile(r"h\.[0-9]+\.attn\.(bias|masked_bias)")
"""The causal mask, a buffer of minGPT's."""
_BLOCK = re.compile(r"h\.([0-9]{1,4})\.")
_OUTPUT, _EMBEDDING = "lm_head.weight", "wte.weight"
_TANH, _EXACT = Gelu(GeluForm.TANH), Gelu(GeluForm.EXACT)
_ACTIVATIONS = {"gelu_new": _TANH, "gelu_pytorch_tanh": _TANH, "gelu": _EXACT, "relu": Relu()}
_SIZES = {"n_layer": "layers", "n_embd": "width", "vocab_size": "vocabulary", "block_size": "context"}
_EPSILON = Fraction(1, 100_000)


def import_mingpt(source: Path, out: Path, *, zero_biases: bool = False) -> Foreign:
    """Turn a directory of `config.json` and safetensors into a model directory.

    Biases are there or not, of all maps and of all norms alike. One that is missing where others are there
    was lost, so that this is another model; `zero_biases` says that it is meant all the same.
    """
    refuse_existing(out)
    refuse_links(source)
    fields = read_fields(source / CONFIG)
    with open_tensors(tensor_files(source), lambda name: _PREFIXES.sub("", name, 1)) as theirs:
        foreign = read_mingpt(theirs, fields, str(source), zero_biases=zero_biases)
        write_foreign(foreign, out)
    return foreign


def read_mingpt(theirs: StoredTensors, fields: Fields, where: str, *, zero_biases: bool = False) -> Foreign:
    """Return the model that these tensors and their configuration make."""
    activation, said = _activation(fields)
    with about(fields.where):
        architecture = _architecture(theirs, fields, activation, where)
    for key, name in _SIZES.items():
        if fields.has(key) and fields.integer(key) != (size := getattr(architecture, name)):
            raise InputError(f"{fields.path(key)} is {fields.integer(key)}, the tensors have {size}")
    shapes = _linear_shapes(architecture)
    lacking = [name for name in shapes if name.endswith(".bias") and name not in theirs]
    stored = {name: shape for name, shape in shapes.items() if name not in lacking}
    refuse_other_tensors(theirs, stored, where, "minGPT")
    if not zero_biases:
        _refuse_some_biases(lacking, stored, where)
    for name in theirs:
        if name not in (*stored, _OUTPUT) and not _UNREAD.fullmatch(name):
            raise InputError(f"{where} holds tensor {name}, which minGPT does not have")
    notes = (
        *said,
        *(("biases that it does not have are zeros",) if lacking else ()),
        *widening_notes(theirs, stored),
    )

    def tensor(ours: str) -> Array:
        place = place_of(ours, architecture)
        if place.theirs not in theirs:
            return zeros(tensor_shapes(architecture)[ours])
        part = place.part[::-1] if place.is_turned else place.part
        return finite(theirs[place.theirs][part], f"{where}: tensor {place.theirs}")

    return Foreign(where, Declaration(architecture, NO_PROGRAMS, None), tensor, notes)


def _refuse_some_biases(lacking: Sequence[str], stored: Iterable[str], where: str) -> None:
    """Refuse a bias that is missing where others of its kind are there."""
    there = {_is_of_norm(name): name for name in stored if name.endswith(".bias")}
    for name in lacking:
        if (other := there.get(_is_of_norm(name))) is not None:
            raise InputError(
                f"{where} lacks tensor {name}, though {other} is there: without it this is another model; "
                "store it, or say --zero-biases if zeros are meant"
            )


def _is_of_norm(name: str) -> bool:
    return "ln_" in name


def _linear_shapes(architecture: Architecture) -> Shapes:
    """Return every tensor with its shape: GPT-2's, matrices of maps turned."""
    shapes = their_shapes(architecture)
    is_map = re.compile(r".*\.c_\w+\.weight")
    return {name: shape[::-1] if is_map.fullmatch(name) else shape for name, shape in shapes.items()}


def _architecture(theirs: StoredTensors, fields: Fields, activation: Activation, where: str) -> Architecture:
    vocabulary, width = _matrix(theirs, _EMBEDDING, where)
    heads = fields.integer("n_head", least=1)
    if width % heads:
        raise InputError(f"{fields.path('n_head')} is {heads}, which does not divide the width {width}")
    return Architecture(
        vocabulary=vocabulary,
        context=_matrix(theirs, "wpe.weight", where)[0],
        layers=max(1, count_layers(theirs, _BLOCK)),
        heads=heads,
        width=width,
        head_width=width // heads,
        mlp_width=_matrix(theirs, "h.0.mlp.c_fc.weight", where)[0],
        norm=LayerNorm(_EPSILON),
        attention=Attention.SOFTMAX,
        attention_scale=inverse_root(width // heads),
        activation=activation,
        tied=_is_tied(theirs),
        biases=True,
        logit_bias=False,
    )


def _matrix(theirs: StoredTensors, name: str, where: str) -> tuple[int, ...]:
    if name not in theirs or len(theirs[name].shape) != 2:  # noqa: PLR2004  # a matrix
        raise InputError(f"{where} has no matrix {name}, which minGPT and nanoGPT have")
    return theirs[name].shape


def _is_tied(theirs: StoredTensors) -> bool:
    """Say whether the output embedding is that of tokens: left out, or stored twice."""
    if _OUTPUT not in theirs:
        return True
    one, other = theirs[_OUTPUT], theirs[_EMBEDDING]
    return one.shape == other.shape and one[:].tobytes() == other[:].tobytes()


def _activation(fields: Fields) -> tuple[Activation, tuple[str, ...]]:
    """Return the activation, and what was assumed of it."""
    for key in ("activation", "act_fn", "activation_function"):
        if fields.has(key):
            return _ACTIVATIONS[fields.one_of(key, _ACTIVATIONS)], ()
    is_nano = fields.has("bias") or fields.has("dropout")
    name, form = ("nanoGPT", GeluForm.EXACT) if is_nano else ("minGPT", GeluForm.TANH)
    return Gelu(form), (f"its configuration names no activation: GELU of the form {form}, as {name} has it",)
