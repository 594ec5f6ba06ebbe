"""The checker's forward pass against a slow twin in plain fractions."""

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bundle_maker as maker
from bundle_maker import Bundle, Naive, architecture, every_edge, random_bundle
from checker_reading import checker_forward
from circuitproof_check.architecture import Band, all_edges
from circuitproof_check.exact import from_fractions, vector
from circuitproof_check.forward import NOTHING, Forward
from circuitproof_check.main import Outcome, check
from circuitproof_check.reading import ForgedError
from circuitproof_check.regions.affine import banded, constant
from circuitproof_check.work import SIZES
from deep_claims import PARTS, deep_claim, deep_pattern

BANDS = {
    lift: {"kind": "band", "low": "22/5", "high": "42/5", "lift": lift}
    for lift in ("reference", "continuous")
}
PROGRAM = {
    "0.1": ["default 0", "add 1/3 when key_token in {1, 2}", "add 1 when token_match", "otherwise nowhere"]
}


def band_norm(point, band):
    """Return the norm of a constant."""
    return banded(NOTHING.sampled, constant(point), band, "here").constant


def checker_logits(bundle: Bundle) -> list[tuple[Fraction, ...]]:
    """Return the logits that the checker computes for each prompt."""
    forward = checker_forward(bundle)
    return [forward.logits(forward.claim.edges, prompt) for prompt in forward.claim.prompts]


def naive_logits(bundle: Bundle) -> list[tuple[Fraction, ...]]:
    """Return the logits of the slow twin."""
    edges = bundle.claim["circuit"]["edges"]
    return [tuple(Naive(bundle, edges, prompt).logits()) for prompt in bundle.domain["prompts"]]


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", [{"kind": "none"}, BANDS["reference"], BANDS["continuous"]], ids=str)
@pytest.mark.parametrize("activation", [{"kind": "relu"}, {"kind": "leaky relu", "slope": "1/100"}], ids=str)
def test_random_circuits_compute_what_the_slow_twin_computes(biases, tied, norm, activation):
    """Every operator, with and without biases and tying, on circuits with any set of edges."""
    size = architecture(
        layers=2,
        heads=2,
        norm=norm,
        activation=activation,
        tied=tied,
        biases=biases,
        logit_bias=biases,
        context=3,
    )
    chance = random.Random(str((biases, tied, norm, activation)))  # noqa: S311  # edges for a test, not keys
    every = every_edge(size)
    for seed in range(3):
        kept = [edge for edge in every if edge == "embed -> logits" or chance.random() < 0.6]
        bundle = random_bundle(size, kept, seed, PROGRAM, prompts=3)
        assert checker_logits(bundle) == naive_logits(bundle)


def test_a_shared_bias_enters_once_however_many_heads_are_kept():
    """It belongs to the layer, not to its heads."""
    size = architecture(heads=2, biases=True, logit_bias=False)
    edges = ["embed -> logits", "head 0.0 -> logits", "head 0.1 -> logits"]
    bundle = random_bundle(size, edges, seed=1, prompts=1)
    for name, (_, numbers) in bundle.tensors.items():
        numbers[:] = (
            [1.0] * len(numbers)
            if name in ("attention.0.output.bias", "logits.weight")
            else [0.0] * len(numbers)
        )
    assert checker_logits(bundle) == [(4, 4, 4)]


def test_a_node_without_inputs_puts_out_its_constant():
    """It reads zero, and its biases still count."""
    bundle = random_bundle(
        architecture(logit_bias=False), ["embed -> logits", "mlp 0 -> logits"], seed=1, prompts=1
    )
    for name, (_, numbers) in bundle.tensors.items():
        constant = name in ("mlp.0.up.bias", "mlp.0.down.weight", "logits.weight")
        numbers[:] = [float(constant)] * len(numbers)
    assert checker_logits(bundle) == [(12, 12, 12)]


def test_a_lesion_that_cuts_everything_leaves_the_bias():
    """Logits without sources read zero."""
    bundle = random_bundle(architecture(), ["embed -> logits"], seed=1, prompts=2)
    checker_logits(bundle)
    forward = checker_forward(bundle)
    claim = forward.claim
    bias = bundle.tensors["logits.bias"][1]
    assert forward.logits((), claim.prompts[0]) == tuple(Fraction(bias[token]) for token in (1, 3, 4))


numbers = st.fractions(min_value=-9, max_value=9, max_denominator=8)


@given(st.lists(numbers, min_size=2, max_size=6), st.sampled_from(["reference", "continuous"]))
def test_the_band_norm_is_that_of_the_slow_twin(entries, lift):
    """Whatever the masses are."""
    band = Band(Fraction(2), Fraction(5), lift == "continuous")
    wanted = maker.naive_band_norm(entries, {"low": "2", "high": "5", "lift": lift})
    assert list(band_norm(from_fractions(entries), band).fractions()) == wanted


def test_the_reference_lift_of_zeros_is_on_even_and_odd_coordinates():
    """Both sides are empty, so each gets its mass by the parity rule."""
    band = Band(Fraction(2), Fraction(5), is_continuous=False)
    assert band_norm(vector([0, 0, 0, 0]), band) == vector([1, -1, 1, -1])


def test_the_continuous_lift_of_zeros_cancels():
    """Both sides are spread over all coordinates."""
    band = Band(Fraction(2), Fraction(5), is_continuous=True)
    assert band_norm(vector([0, 0, 0, 0]), band) == vector([0, 0, 0, 0])


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"activation": {"kind": "gelu", "form": "tanh"}}, "gelu"),
        ({"norm": {"kind": "layer", "epsilon": "1/100000"}}, "layer"),
    ],
)
def test_an_operator_without_exact_meaning_is_refused_where_it_is_evaluated(changes, word):
    """An approximation of it would prove something else."""
    bundle = random_bundle(
        architecture(**changes), every_edge(architecture()), seed=1, programs={}, prompts=1
    )
    with pytest.raises(ForgedError, match=word):
        checker_logits(bundle)


def test_what_is_remembered_is_told_apart_by_its_kind(monkeypatch):
    """A row and an image, or a norm and a projection, are never taken for each other."""
    honest, kinds = Forward.remember, set()

    def remember(self, key, compute):
        kinds.add(key[0])
        return honest(self, key, compute)

    monkeypatch.setattr(Forward, "remember", remember)
    size = architecture(norm=BANDS["reference"])
    checker_logits(random_bundle(size, every_edge(size), seed=1, programs={}, prompts=1))
    assert kinds == {"row", "whole", "image", "norm", "mlp", "projection"}


def test_gelu_is_allowed_where_no_mlp_is_evaluated():
    """Nothing that is claimed depends on it."""
    size = architecture(activation={"kind": "gelu", "form": "tanh"})
    bundle = random_bundle(size, ["embed -> head 0.0", "head 0.0 -> logits"], seed=1, prompts=2)
    assert checker_logits(bundle) == naive_logits(bundle)


def test_softmax_is_refused_where_a_neural_head_is_evaluated():
    """The circuit keeps only a program, but the whole model has another head."""
    size = architecture(attention="softmax", heads=2)
    program = {"0.0": ["default 1", "otherwise self"]}
    edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    bundle = random_bundle(size, edges, seed=1, programs=program, prompts=1)
    assert checker_logits(bundle) == naive_logits(bundle)
    forward = checker_forward(bundle)
    claim = forward.claim
    with pytest.raises(ForgedError, match="softmax"):
        forward.logits(all_edges(claim.architecture), claim.prompts[0])


@pytest.mark.parametrize("name", ["mlp.0.up.weight", "embed.position"])
def test_a_needed_tensor_must_be_there(name):
    """A missing tensor is not a tensor of zeros."""
    bundle = random_bundle(architecture(), every_edge(architecture()), seed=1, prompts=1)
    del bundle.tensors[name]
    with pytest.raises(ForgedError, match=f"tensor {name} breaks the rule that needed"):
        checker_logits(bundle)


@pytest.mark.parametrize("layers", [400, SIZES["layers"]])
@pytest.mark.parametrize("node", PARTS)
@pytest.mark.parametrize("make", [deep_claim, deep_pattern])
def test_a_circuit_of_as_many_layers_as_are_read_is_checked(make, node, layers, tmp_path):
    """A pass that called itself from node to node ended after a hundred layers."""
    outcome, reason = check(make(node, layers).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


def test_a_wrong_logit_of_a_deep_circuit_is_found(tmp_path):
    """Deep circuits are computed, not believed."""
    bundle = deep_claim("mlp {}", 400)
    bundle.tensors["mlp.200.up.weight"] = ((2, 2), [2.0, 0.0, 0.0, 1.0])
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert (outcome, "folds are the logits" in reason) == (Outcome.INVALID, True)


@pytest.mark.parametrize("kept", [1 << 17, 0], ids=["kept", "forgotten"])
@pytest.mark.parametrize("norm", [{"kind": "none"}, BANDS["reference"]], ids=str)
def test_circuits_that_share_nodes_compute_what_the_slow_twin_computes(norm, kept, monkeypatch):
    """A circuit, its lesions, and these with a shared bias that a node reads in any case, in one pass."""
    monkeypatch.setattr("circuitproof_check.forward._KEPT", kept)
    size = architecture(layers=2, heads=2, norm=norm)
    edges = random.Random(5).sample(every_edge(size), 14)  # noqa: S311  # circuits, not keys
    edges = [edge for edge in every_edge(size) if edge in edges]
    bundle = random_bundle(size, edges, 7, PROGRAM, prompts=4)
    forward = checker_forward(bundle)
    own, prompts = forward.claim.edges, bundle.domain["prompts"]
    for place, (source, target) in enumerate(own):
        lesion, names = own[:place] + own[place + 1 :], edges[:place] + edges[place + 1 :]
        spelled = edges[place].partition(" -> ")[2], str(source.layer)
        biases = [(frozenset({(target, source.layer)}), [spelled])] if source.is_head else []
        for added, kept_biases in [(frozenset(), []), *biases]:
            found = [forward.logits(lesion, tuple(prompt), added) for prompt in prompts]
            assert found == [tuple(Naive(bundle, names, prompt, kept_biases).logits()) for prompt in prompts]
