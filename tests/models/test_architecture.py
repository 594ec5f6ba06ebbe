import re
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head, Mlp
from circuitproof.errors import DeclarationError, InputError, NotExactError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import parse_json, reading
from circuitproof.models.architecture import (
    Architecture,
    inverse_root,
    is_float32,
    nearest_float32,
    read_architecture,
    tensor_shapes,
)
from circuitproof.models.operators import (
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
    slope_of,
)
from models import tiny_architecture
from strategies import architectures, positive_rationals, small_architectures

TOY = Architecture(
    vocabulary=32,
    context=6,
    layers=2,
    heads=2,
    width=16,
    head_width=8,
    mlp_width=64,
    norm=NoNorm(),
    attention=Attention.SPARSEMAX,
    attention_scale=inverse_root(8),
    activation=LeakyRelu(Fraction(1, 100)),
    tied=False,
    biases=True,
    logit_bias=False,
)

BAND = BandNorm(Fraction(22, 5), Fraction(42, 5), Lift.REFERENCE)


def read(content: object) -> Architecture:
    """Read an architecture to its last key."""
    with reading(content, "model") as fields:
        return read_architecture(fields)


def changed(**keys: object) -> dict[str, object]:
    """Return the toy architecture as JSON with some keys changed, or left out where they are None."""
    content = TOY.to_json()
    assert isinstance(content, dict)
    return {key: value for key, value in (content | keys).items() if value is not None}


@given(architectures())
def test_an_architecture_reads_back_from_its_canonical_json(architecture):
    """The architecture in a bundle is the one that was proved about, constants included."""
    assert read(parse_json(canonical_json(architecture.to_json()), "model")) == architecture


def test_the_toy_architecture_is_written_in_plain_words():
    """A person can read the file: rationals as rationals, choices as words."""
    assert TOY.to_json() == {
        "vocabulary": 32,
        "context": 6,
        "layers": 2,
        "heads": 2,
        "width": 16,
        "head_width": 8,
        "mlp_width": 64,
        "norm": {"kind": "none"},
        "attention": "sparsemax",
        "attention_scale": "11863283/33554432",
        "activation": {"kind": "leaky relu", "slope": "1/100"},
        "tied": False,
        "biases": True,
        "logit_bias": False,
    }


def test_head_width_and_scale_follow_from_the_other_sizes_when_left_out():
    """A recipe need not repeat what follows from it."""
    assert read(changed(head_width=None, attention_scale=None)) == TOY


def test_a_given_head_width_sets_the_default_scale():
    """The scale belongs to the width that the heads have, not to the one they might have had."""
    read_back = read(changed(head_width=4, attention_scale=None))
    assert (read_back.head_width, read_back.attention_scale) == (4, Fraction(1, 2))


def test_a_width_that_the_heads_do_not_divide_is_refused():
    """Heads of unequal width do not exist; the sentence says the two ways out."""
    with pytest.raises(InputError, match="is 16, which 3 heads do not divide; choose a multiple of 3"):
        read(changed(heads=3, head_width=None))


@pytest.mark.parametrize("name", ["vocabulary", "context", "layers", "heads", "width", "head_width"])
@pytest.mark.parametrize("size", [0, -1])
def test_every_size_is_at_least_one(name, size):
    """A model without layers or tokens has nothing to claim, from a file or from code."""
    with pytest.raises(DeclarationError, match=f"architecture.{name} is {size}, want 1 to"):
        replace(TOY, **{name: size})
    with pytest.raises(InputError, match=f"model.{name} is {size}, want at least 1"):
        read(changed(**{name: size}))


def test_a_model_may_have_no_mlps():
    """Attention-only models have blocks of width 0: no node, no edge and no tensor is theirs."""
    sizes = replace(TOY, mlp_width=0)
    assert read(changed(mlp_width=0)).mlp_width == 0
    assert not any(isinstance(node, Mlp) for node in sizes.graph.nodes())
    assert not any(name.startswith("mlp") for name in tensor_shapes(sizes))
    with pytest.raises(DeclarationError, match=r"architecture\.mlp_width is -1, want 0 to"):
        replace(TOY, mlp_width=-1)
    with pytest.raises(InputError, match=r"model\.mlp_width is -1, want at least 0"):
        read(changed(mlp_width=-1))


def test_sizes_are_bounded_before_anything_is_built():
    """A graph of 10**9 layers in a small file must not be walked."""
    with pytest.raises(DeclarationError, match="layers is 1000000000, want 1 to 4096"):
        replace(TOY, layers=10**9)
    with pytest.raises(DeclarationError, match="4096 layers of 4096 heads, want at most 20000"):
        replace(TOY, layers=4096, heads=4096)


def test_rotary_positions_have_tables_in_the_place_of_embeddings():
    """Without the keys nothing changes: not a byte of what exists."""
    assert {"rotary", "parallel"}.isdisjoint(changed())
    rotary = read(changed(rotary=4, parallel=True))
    assert (rotary.rotary, rotary.parallel, rotary.graph.is_parallel) == (4, True, True)
    assert {"rotary", "parallel"} <= set(rotary.to_json())
    shapes = tensor_shapes(rotary)
    assert shapes["rotary.cos"] == shapes["rotary.sin"] == (6, 2)
    assert "embed.position" not in shapes
    assert not replace(rotary, mlp_width=0).graph.is_parallel


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"rotary": 3}, "architecture.rotary is 3, want an even number from 2 to 8"),
        ({"rotary": 10}, "architecture.rotary is 10, want an even number from 2 to 8"),
        ({"rotary": 0}, "model.rotary is 0, want at least 2"),
        ({"rotary": "4"}, "model.rotary is the string '4', want a whole number"),
        ({"parallel": False}, "model.parallel is false, want true, or the key left out"),
        ({"parallel": 1}, "model.parallel is the number 1, want true or false"),
    ],
)
def test_a_rotation_or_a_parallel_block_that_means_nothing_is_refused(keys, sentence):
    """One way to write each architecture, so that its digest is one."""
    with pytest.raises(InputError, match=re.escape(sentence)):
        read(changed(**keys))
    with pytest.raises(InputError, match=r"model\.rotary is null"):
        read({**changed(), "rotary": None})


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1, 2), Fraction(1, 3), Fraction(2**200)])
def test_the_attention_scale_is_a_positive_float32(scale):
    """Torch multiplies by an FP32 number; a proof about 1/3 would be about another model."""
    with pytest.raises(DeclarationError, match=r"attention_scale is .*, want a positive FP32 value"):
        replace(TOY, attention_scale=scale)


def test_the_attention_scale_that_can_be_written_is_named():
    """Whoever writes 1/√3 in decimals needs the number that FP32 has, as it must stand in the file."""
    wanted = f'is 1/3, want a positive FP32 value; the nearest is "{nearest_float32(Fraction(1, 3))}"'
    with pytest.raises(DeclarationError, match=re.escape(wanted)):
        replace(TOY, attention_scale=Fraction(1, 3))


@given(positive_rationals)
def test_no_neighbour_in_fp32_is_nearer(value):
    """The named number is a rounding, not just some FP32 number."""
    near = nearest_float32(value)
    bits = np.float32(near)
    assert is_float32(near)
    for end in (np.float32(0), np.float32(np.inf)):
        if 0 < (other := np.nextafter(bits, end)) < np.inf:
            assert abs(near - value) <= abs(Fraction(float(other)) - value)


@pytest.mark.parametrize(
    ("value", "near"),
    [
        (Fraction(2**200), Fraction(2**128 - 2**104)),
        (Fraction(1, 2**200), Fraction(1, 2**149)),
        (1 + Fraction(1, 2**24) + Fraction(1, 2**80), 1 + Fraction(1, 2**23)),
    ],
)
def test_the_ends_of_fp32_and_what_a_double_cannot_tell_apart_are_rounded_too(value, near):
    """Far outside, the last number is the nearest; beside a midpoint, a double alone would round wrongly."""
    assert nearest_float32(value) == near


@given(positive_rationals, positive_rationals)
def test_a_band_is_not_empty(one, other):
    """A norm that must lift above its own ceiling means nothing; a band of one mass is fine."""
    low, high = sorted((one, other))
    BandNorm(low, low, Lift.CONTINUOUS)
    if low < high:
        with pytest.raises(DeclarationError, match="want 0 < low <= high"):
            BandNorm(high, low, Lift.CONTINUOUS)


@pytest.mark.parametrize("low", [0, -1])
def test_a_band_begins_above_zero(low):
    """With low = 0 a side of no mass would never be lifted."""
    with pytest.raises(DeclarationError, match=f"want 0 < low <= high, got low {low} and high 1"):
        BandNorm(Fraction(low), Fraction(1), Lift.REFERENCE)


@pytest.mark.parametrize("epsilon", [0, -1])
def test_the_epsilon_of_layer_norm_is_positive(epsilon):
    """It keeps the division defined where a residual is constant."""
    with pytest.raises(DeclarationError, match=f"norm.epsilon is {epsilon}, want a positive rational"):
        LayerNorm(Fraction(epsilon))


def test_each_activation_says_its_slope_below_zero_or_that_it_has_none():
    """An activation that nobody has decided about must not pass for ReLU."""
    assert slope_of(Relu()) == 0
    assert slope_of(LeakyRelu(Fraction(1, 100))) == Fraction(1, 100)
    with pytest.raises(NotExactError, match="GELU has no exact value; want ReLU or leaky ReLU"):
        slope_of(Gelu(GeluForm.TANH))


def test_only_the_reference_lift_shares_equally():
    """Four places follow this one answer."""
    assert [lift for lift in Lift if lift.shares_equally] == [Lift.REFERENCE]


@pytest.mark.parametrize("slope", [0, 1, -1, 2])
def test_the_slope_of_leaky_relu_is_between_zero_and_one(slope):
    """At 0 it is ReLU and at 1 the identity, which have names of their own."""
    with pytest.raises(DeclarationError, match=f"slope is {slope}, want a rational between 0 and 1"):
        LeakyRelu(Fraction(slope))


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"wdith": 16}, r"model\.wdith is not a known key"),
        ({"tied": None}, r"model\.tied is missing"),
        ({"tied": 0}, r"model\.tied is the number 0, want true or false"),
        ({"norm": None}, r"model\.norm is missing"),
        ({"norm": "none"}, r"model\.norm is the string 'none', want an object"),
        ({"norm": {"kind": "batch"}}, r"model\.norm\.kind is 'batch', want one of 'none', 'layer', 'band'"),
        ({"norm": {"kind": "none", "low": 1}}, r"model\.norm\.low is not a known key; known here: kind"),
        ({"norm": {"kind": "layer"}}, r"model\.norm\.epsilon is missing"),
        ({"norm": {"kind": "layer", "epsilon": 1e-5}}, r"norm\.epsilon is the number 1e-05, want a rational"),
        ({"norm": {"kind": "band", "low": 1, "high": 2}}, r"model\.norm\.lift is missing"),
        ({"activation": {"kind": "gelu"}}, r"model\.activation\.form is missing"),
        ({"activation": {"kind": "tanh"}}, "want one of 'gelu', 'relu', 'leaky relu'"),
        ({"attention": "linear"}, r"model\.attention is 'linear', want one of 'softmax', 'sparsemax'"),
        ({"attention_scale": "1/x"}, r"model\.attention_scale is '1/x', want a rational"),
    ],
)
def test_a_fault_in_the_file_is_told_where_it_stands(keys, sentence):
    """No part of an architecture has a silent default."""
    with pytest.raises(InputError, match=sentence):
        read(changed(**keys))


@given(st.integers(1, 2**40))
@example(1)
@example(4)
@example(64)
@example(2**24 + 1)
def test_the_inverse_root_is_the_nearest_float32(number):
    """Numpy gives the neighbours in FP32; no neighbour's half-way point lies between us and 1/√n."""
    value = inverse_root(number)
    assert is_float32(value)
    below = (value + Fraction(float(np.nextafter(np.float32(value), np.float32(0))))) / 2
    above = (value + Fraction(float(np.nextafter(np.float32(value), np.float32(2))))) / 2
    assert below**2 * number < 1 < above**2 * number


def test_the_inverse_root_is_what_numpy_rounds_to():
    """At the head widths in use, rounding the double gives the same FP32 number that torch multiplies by."""
    widths = [*range(1, 300), 512, 768, 1024, 4096]
    rounded = np.float32(1 / np.sqrt(np.array(widths, np.float64)))
    assert [inverse_root(width) for width in widths] == [Fraction(float(value)) for value in rounded]


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_every_finite_float32_is_one(value):
    """Weights and scales are exact values of FP32 bits, subnormal ones included."""
    assert is_float32(Fraction(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_a_float32_only_if_numpy_keeps_it(value):
    """The slow twin converts and looks whether anything was lost."""
    with np.errstate(over="ignore"):
        assert is_float32(Fraction(value)) == (float(np.float32(value)) == value)


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(1, 10), Fraction(2**128), Fraction(10**400), Fraction(1, 2**150)]
)
def test_a_number_between_or_beyond_the_float32s_is_none(value):
    """Too fine, too large for FP32, too large for a double, too small: none is rounded in silence."""
    assert not is_float32(value)


def test_the_tensors_of_the_toy_model_are_the_ones_we_expect():
    """The names and shapes are a file format: bundles rely on them."""
    shapes = tensor_shapes(replace(TOY, layers=1, heads=1, norm=BAND))
    assert shapes == {
        "embed.token": (32, 16),
        "embed.position": (6, 16),
        "head.0.0.query.weight": (8, 16),
        "head.0.0.query.bias": (8,),
        "head.0.0.key.weight": (8, 16),
        "head.0.0.key.bias": (8,),
        "head.0.0.value.weight": (8, 16),
        "head.0.0.value.bias": (8,),
        "head.0.0.output.weight": (16, 8),
        "attention.0.output.bias": (16,),
        "attention.0.norm.scale": (16,),
        "attention.0.norm.shift": (16,),
        "mlp.0.norm.scale": (16,),
        "mlp.0.norm.shift": (16,),
        "mlp.0.up.weight": (64, 16),
        "mlp.0.up.bias": (64,),
        "mlp.0.down.weight": (16, 64),
        "mlp.0.down.bias": (16,),
        "logits.norm.scale": (16,),
        "logits.norm.shift": (16,),
        "logits.weight": (32, 16),
    }


def test_gpt2_has_as_many_parameters_as_the_world_says():
    """124,439,808 is the published count of the small GPT-2."""
    gpt2 = Architecture(
        vocabulary=50257,
        context=1024,
        layers=12,
        heads=12,
        width=768,
        head_width=64,
        mlp_width=3072,
        norm=LayerNorm(Fraction(1, 10**5)),
        attention=Attention.SOFTMAX,
        attention_scale=Fraction(1, 8),
        activation=Gelu(GeluForm.TANH),
        tied=True,
        biases=True,
        logit_bias=False,
    )
    assert sum(map(prod, tensor_shapes(gpt2).values())) == 124_439_808


@given(small_architectures)
def test_a_switch_adds_or_removes_only_its_own_tensors(architecture):
    """Biases, norms, tying and the logit bias are independent of each other."""
    names = set(tensor_shapes(architecture))
    assert any(name.startswith("logits.weight") for name in names) != architecture.tied
    assert ("logits.bias" in names) == architecture.logit_bias
    assert any(".norm." in name for name in names) == architecture.has_norm
    assert any(name.endswith(".bias") for name in names - {"logits.bias"}) == architecture.biases


@given(small_architectures, st.data())
def test_a_program_head_loses_its_query_and_key_and_nothing_else(architecture, data):
    """A program reads tokens and positions; it keeps the values that it mixes."""
    heads = [node for node in architecture.graph.nodes() if isinstance(node, Head)]
    programs = data.draw(st.frozensets(st.sampled_from(heads)))
    full, rest = tensor_shapes(architecture), tensor_shapes(architecture, programs)
    lost = {f"head.{head.layer}.{head.index}.{role}" for head in programs for role in ("query", "key")}
    assert rest == {name: shape for name, shape in full.items() if name.rpartition(".")[0] not in lost}


@pytest.mark.parametrize("head", [Head(2, 0), Head(0, 2), Head(-1, 0), Head(0, -1)])
def test_a_program_on_a_head_that_is_not_there_is_refused(head):
    """Installing a program nowhere must not look like having installed it."""
    with pytest.raises(DeclarationError, match=r"cannot be a program: there are 2 layers of 2 heads"):
        tensor_shapes(TOY, frozenset({Head(0, 0), head}))


@pytest.mark.parametrize("lift", Lift)
def test_a_band_norm_of_width_one_is_refused(lift):
    """Centring leaves nothing of a single number, and the reference lift has no odd place to put mass in."""
    band = BandNorm(Fraction(1), Fraction(2), lift)
    with pytest.raises(DeclarationError, match="width is 1, want at least 2: BandNorm centres what it reads"):
        replace(tiny_architecture(), norm=band, width=1)
