from dataclasses import astuple, replace
from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import Graph
from circuitproof.errors import InputError, NumericError
from circuitproof.files.canonical import readable_json
from circuitproof.files.codec import Codec, to_json
from circuitproof.files.reading import Fields, parse_json
from circuitproof.models.architecture import inverse_root
from circuitproof.models.operators import LayerNorm, NoNorm
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof_lab.train import fold_norm
from circuitproof_lab.train.fold_norm import compare, fold, folded_architecture
from circuitproof_lab.train.measures import FoldError, FoldLimits
from circuitproof_lab.train.norm_schedule import NormReader, Site, all_sites
from circuitproof_lab.train.remove_norm import Deviations, deviations_of, fading_norms, fix_norms, make_fading
from circuitproof_lab.train.windows import NO_TARGET, Batch, next_token_loss
from floats import agree
from models import NORMS, PROGRAMS, random_model, random_tokens, tiny_architecture
from strategies import circuits_in, small_architectures

LIMITS = FoldLimits(largest_error=1e-4, relative_error=1e-5, agreement=1.0, loss_change=1e-4)
GOOD = FoldError(1e-5, 1e-6, 1.0, -1e-5, 30)
MIX = parse("default 1/3\nadd 2 when relative_distance == 1\notherwise nowhere")
MLP_0, LOGITS = Site(NormReader.MLP, 0), Site(NormReader.LOGITS)

sizes_with_norms = small_architectures.map(
    lambda sizes: replace(
        sizes, norm=LayerNorm(Fraction(1, 1000)), attention_scale=inverse_root(sizes.head_width)
    )
)


def natural_deviations(model: Transformer, tokens: torch.Tensor) -> Deviations:
    """Return the mean deviation of what each norm reads, so that a model stays as tame as it is."""
    copy = random_model(model.architecture, 0, model.programs)
    copy.load_state_dict(model.state_dict())
    make_fading(copy)
    copy(tokens)
    return {site: norm.seen.mean().item() for site, norm in fading_norms(copy).items()}


def batch_for(model: Transformer) -> Batch:
    """Return prompts at whose last two positions a token is wanted."""
    tokens = random_tokens(model.architecture)
    targets = torch.full_like(tokens, NO_TARGET)
    targets[:, -2:] = tokens[:, -2:]
    return Batch(tokens, targets)


def attenuated(seed: int = 0, **sizes) -> tuple[Transformer, Deviations]:
    """Return a random model with fixed norms, in FP64, and their deviations, which are FP32 numbers."""
    model = random_model(tiny_architecture(norm=NORMS[1], **sizes), seed)
    model.double()
    deviations = natural_deviations(model, random_tokens(model.architecture))
    fix_norms(model, deviations)
    model.double()
    return model, deviations_of(model)


@given(sizes_with_norms, st.integers(0, 1000), st.data())
def test_the_folded_model_is_the_attenuated_one(sizes, seed, data):
    """Every attention, activation, tying, biases or none, programs or none: equal in FP64."""
    graph = Graph(sizes.layers, sizes.heads)
    heads = [head for layer in range(sizes.layers) for head in graph.heads_of(layer)]
    programs = dict.fromkeys(data.draw(st.sets(st.sampled_from(heads))), MIX)
    model, tokens = random_model(sizes, seed, programs), random_tokens(sizes)
    deviations = natural_deviations(model, tokens)
    model.double()
    fix_norms(model, deviations)
    folded = fold(model, deviations)
    assert folded.architecture.norm == NoNorm()
    assert folded.programs == model.programs
    assert agree(folded(tokens), model(tokens))


@given(st.data(), st.integers(0, 50), st.booleans(), st.booleans())
def test_every_circuit_of_the_folded_model_is_that_of_the_attenuated_one(data, seed, tied, biases):
    """A node that reads zeros reads its norm's shift; folded, that is in its bias."""
    sizes = tiny_architecture(norm=NORMS[1], tied=tied, biases=biases)
    chosen = data.draw(st.sets(st.sampled_from(sorted(PROGRAMS, key=str))))
    model = random_model(sizes, seed, {head: PROGRAMS[head] for head in chosen})
    tokens = random_tokens(sizes)
    deviations = natural_deviations(model, tokens)
    model.double()
    fix_norms(model, deviations)
    circuit = data.draw(circuits_in(model.graph))
    found = fold(model, deviations)(tokens, circuit=circuit)
    assert agree(found, model(tokens, circuit=circuit))


def test_the_empty_circuit_keeps_the_shift_of_the_final_norm():
    """The logits of a model that reads nothing are what the shift gives, as before."""
    model, deviations = attenuated()
    nothing = circuit_of(model.graph, [])
    wanted = model.unembed @ model.norm.shift + model.unembed_bias
    found = fold(model, deviations)(random_tokens(model.architecture), circuit=nothing)
    assert agree(found, wanted.expand_as(found))


@pytest.mark.parametrize(("tied", "biases"), list(product([True, False], repeat=2)))
def test_a_tied_output_embedding_gets_its_own_weights(tied, biases):
    """The token embedding stays what it was; the output embedding takes the final norm in."""
    model, deviations = attenuated(tied=tied, biases=biases)
    folded = fold(model, deviations)
    assert not folded.architecture.tied
    assert torch.equal(folded.token, model.token)
    scaled = (model.token if tied else model.unembed) * model.norm.scale / deviations[LOGITS]
    assert agree(folded.unembed, scaled - scaled.mean(-1, keepdim=True))


def test_biases_are_added_only_where_a_shift_needs_them():
    """Without shifts there is nothing for them to hold; one shift anywhere in the layers needs them all."""
    model = random_model(tiny_architecture(norm=NORMS[1], biases=False))
    with torch.no_grad():
        for site in all_sites(2):
            model.named_slices()[f"{site}.shift"].zero_()
        sizes = folded_architecture(model)
        assert (sizes.biases, sizes.logit_bias) == (False, False)
        model.norm.shift[0] = 1
        sizes = folded_architecture(model)
        assert (sizes.biases, sizes.logit_bias) == (False, True)
        model.mlps[1].norm.shift[0] = 1
        sizes = folded_architecture(model)
        assert (sizes.biases, sizes.logit_bias) == (True, True)


@pytest.mark.parametrize("site", all_sites(2), ids=str)
def test_a_wrong_deviation_of_any_norm_is_refused(site):
    """Folded with a number one in a hundred off, the model is another one, and the comparison says so."""
    model, deviations = attenuated()
    LIMITS.refuse_breach(compare(model, fold(model, deviations), batch_for(model)))
    wrong = fold(model, {**deviations, site: deviations[site] * 1.01})
    with pytest.raises(NumericError, match=r"fold refused: the largest error of a logit is .*, want at most"):
        LIMITS.refuse_breach(compare(model, wrong, batch_for(model)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_deviation_that_is_no_divisor_is_refused(value):
    """Before anything is folded."""
    model, deviations = attenuated()
    with pytest.raises(NumericError, match=rf"the deviation of mlp\.0\.norm is {value}, want a positive num"):
        fold(model, {**deviations, MLP_0: value})


def test_a_missing_deviation_is_refused():
    """A norm that is not folded would be lost."""
    model, deviations = attenuated()
    short = {site: value for site, value in deviations.items() if site != LOGITS}
    with pytest.raises(InputError, match=r"there is no deviation for logits\.norm"):
        fold(model, short)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("which", [0, 1])
def test_a_logit_that_is_no_number_is_refused(value, which):
    """In either of the two models; comparisons with NaN are false and must not pass for small."""
    models = [random_model(tiny_architecture()), random_model(tiny_architecture())]
    with torch.no_grad():
        models[which].unembed_bias[0] = value
    with pytest.raises(NumericError, match="fold: a logit is NaN or infinite"):
        compare(*models, batch_for(models[0]))


def test_the_comparison_measures_what_it_says():
    """Against the definitions, on all positions at once."""
    one, other = (random_model(tiny_architecture(), seed).double() for seed in (1, 2))
    batch = batch_for(one)
    with torch.no_grad():
        wanted, found = one(batch.tokens), other(batch.tokens)
    error = compare(one, other, batch)
    assert agree(error.largest_error, (found - wanted).abs().max())
    assert agree(error.relative_error, (found - wanted).norm() / wanted.norm())
    assert agree(error.agreement, (found.argmax(-1) == wanted.argmax(-1)).double().mean())
    losses = [next_token_loss(logits, batch.targets).item() for logits in (wanted, found)]
    assert agree(error.loss_change, losses[1] - losses[0])
    assert error.positions == 30


def test_a_few_rows_at_a_time_give_the_same(monkeypatch):
    """Large models are compared in portions."""
    one, other = (random_model(tiny_architecture(), seed).double() for seed in (1, 2))
    whole = compare(one, other, batch_for(one))
    monkeypatch.setattr(fold_norm, "_NUMBERS_AT_ONCE", 2 * 5 * 7)
    parts = compare(one, other, batch_for(one))
    assert agree(astuple(parts), astuple(whole))


def test_a_model_equals_itself():
    """No error, and none relative to nothing."""
    model = random_model(tiny_architecture())
    assert compare(model, model, batch_for(model)) == FoldError(0.0, 0.0, 1.0, 0.0, 30)
    silent = Transformer(tiny_architecture())
    assert compare(silent, silent, batch_for(silent)).relative_error <= 0


def test_an_error_relative_to_nothing_is_refused():
    """All wanted logits are zero and some found ones are not."""
    silent, other = Transformer(tiny_architecture()), random_model(tiny_architecture())
    with pytest.raises(NumericError, match="fold: relative_error is inf"):
        compare(silent, other, batch_for(silent))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"largest_error": 2e-4}, "the largest error of a logit is 0.0002, want at most 0.0001"),
        ({"relative_error": 0.5}, "the relative error is 0.5, want at most 1e-05"),
        ({"agreement": 0.999}, "the top-1 agreement is 0.999, want at least 1"),
        ({"loss_change": 0.5}, "the change of the loss is 0.5, want at most 0.0001"),
        ({"loss_change": -0.5}, "the change of the loss is 0.5, want at most 0.0001"),
    ],
)
def test_each_limit_refuses_alone(changes, sentence):
    """A fold passes only when it is within all of them; a loss that falls is as strange as one that rises."""
    LIMITS.refuse_breach(GOOD)
    with pytest.raises(NumericError, match=f"fold refused: {sentence}; the model is not written"):
        LIMITS.refuse_breach(replace(GOOD, **changes))


def test_all_breaches_are_told_together():
    """One run shows everything that is wrong."""
    with pytest.raises(
        NumericError, match=r"logit is 1, .*; the relative error .*; the top-1 .*; the change"
    ):
        LIMITS.refuse_breach(FoldError(1.0, 1.0, 0.0, 1.0, 30))


def test_a_limit_may_just_be_reached():
    """At most means at most."""
    LIMITS.refuse_breach(FoldError(1e-4, 1e-5, 1.0, 1e-4, 30))


@pytest.mark.parametrize("name", ["largest_error", "relative_error", "agreement", "loss_change"])
def test_an_error_that_is_no_number_cannot_be_made(name):
    """NaN is within no limit and beyond none."""
    with pytest.raises(NumericError, match=f"fold: {name} is nan"):
        replace(GOOD, **{name: float("nan")})


def test_errors_are_read_back_as_they_were_written():
    """The gate looks at the file."""
    content = parse_json(readable_json(to_json(GOOD)), "test")
    assert Codec().record(FoldError, Fields(content, "test")) == GOOD
