"""Norms that were given up: what each computes, and that no model directory can hold one."""

import json
from dataclasses import replace
from fractions import Fraction
from math import floor, log2

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.sealed import seal
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof_lab.train.loop import NextToken, TrainingPlan, Watcher, fit
from circuitproof_lab.train.tried_norms import (
    AffineClamp,
    Clamp,
    GainBuckets,
    LeakyClamp,
    TriedNorm,
    TriedNormLayer,
    try_norm,
)
from corpora import corpus_data
from floats import agree
from models import NORMS, random_model, random_tokens, tiny_architecture

SIZES = tiny_architecture(norm=NORMS[1])
TRIED = (
    AffineClamp(Fraction(1)),
    GainBuckets(Fraction(1, 4), Fraction(4)),
    LeakyClamp(Fraction(1), Fraction(1, 10)),
    Clamp(Fraction(1)),
)
PLAN = TrainingPlan(
    seed=1,
    steps=9,
    learning_rate=0.01,
    warmup=2,
    weight_decay=0.01,
    gradient_limit=1.0,
    initial_deviation=0.1,
    evaluate_every=9,
    checkpoint_every=4,
)
rows = st.lists(st.integers(-640, 640).map(lambda number: number / 64), min_size=2, max_size=6)


def layer(tried: TriedNorm) -> TriedNormLayer:
    """Return the norm of the logits of a small model, with a scale and a shift that are not 1 and 0."""
    model = random_model(SIZES, 3).double()
    try_norm(model, tried)
    assert isinstance(model.norm, TriedNormLayer)
    return model.norm


def normed(tried: TriedNorm, row: list[float]) -> list[float]:
    """Return a row after a norm with scale 2 and shift 1/2."""
    norm = layer(tried)
    norm.scale = torch.nn.Parameter(torch.full((len(row),), 2.0, dtype=torch.float64))
    norm.shift = torch.nn.Parameter(torch.full((len(row),), 0.5, dtype=torch.float64))
    inputs = torch.tensor(row, dtype=torch.float64)[None, None, None, None]
    return norm(inputs)[0, 0, 0, 0].tolist()


def clamped(number: float) -> float:
    """Return the nearest number from -1 to 1."""
    return min(1.0, max(-1.0, number))


def meant(tried: TriedNorm, row: list[float]) -> list[float]:
    """Return the same in plain words."""
    if isinstance(tried, AffineClamp):
        return [clamped(2 * number + 0.5) for number in row]
    centred = [number - sum(row) / len(row) for number in row]
    if isinstance(tried, Clamp):
        controlled = [clamped(number) for number in centred]
    elif isinstance(tried, LeakyClamp):
        controlled = [clamped(number) + 0.1 * (number - clamped(number)) for number in centred]
    else:
        deviation = min(4.0, max(0.25, sum(map(abs, centred)) / len(row)))
        controlled = [number / 2 ** floor(log2(deviation)) for number in centred]
    return [2 * number + 0.5 for number in controlled]


@pytest.mark.parametrize("tried", TRIED, ids=lambda tried: tried.tag)
@given(row=rows)
def test_each_norm_computes_what_its_words_say(tried, row):
    """Row by row, in another way."""
    found = normed(tried, row)
    assert all(agree(one, other) for one, other in zip(found, meant(tried, row), strict=True))


def test_gain_jumps_from_one_bucket_to_the_next_and_not_within():
    """A factor of two cancels exactly; a little more halves the gain."""
    one = normed(TRIED[1], [-1.0, 1.0])
    assert normed(TRIED[1], [-2.0, 2.0]) == one
    assert agree(normed(TRIED[1], [-1.875, 1.875])[1], 2 * 1.875 + 0.5)
    assert normed(TRIED[1], [-16.0, 16.0])[1] == 2 * 4 + 0.5  # outside of the buckets, the last one's gain


def test_only_the_leaky_clamp_has_no_bound():
    """As the appendix says of it; gain buckets grow outside of their range."""
    large = [-1000.0, 1000.0]
    assert max(normed(TRIED[2], large)) > 100
    assert max(map(abs, normed(TRIED[0], large))) <= 1
    assert max(map(abs, normed(TRIED[3], large))) <= 2.5


@pytest.mark.parametrize("tried", TRIED, ids=lambda tried: tried.tag)
def test_an_interrupted_training_ends_with_the_same_bits(tried, tmp_path):
    """Scale and shift are those of the LayerNorm that it replaces, so checkpoints hold them."""
    goal = NextToken(corpus_data(torch.arange(120) % 7, 5, 64, 1))

    def model():
        made = random_model(SIZES, 3)
        try_norm(made, tried)
        return made

    def kill(step, _loss):
        if step == 6:
            raise KeyboardInterrupt

    whole = fit(model(), goal, PLAN, tmp_path / "whole", Watcher()).model
    with pytest.raises(KeyboardInterrupt):
        fit(model(), goal, PLAN, tmp_path / "cut", Watcher(kill))
    again = fit(model(), goal, PLAN, tmp_path / "cut", Watcher()).model
    tokens = random_tokens(SIZES, 4)
    assert torch.equal(whole(tokens), again(tokens))
    assert not torch.equal(whole.norm.scale, model().norm.scale)


def test_a_model_directory_cannot_hold_one(tmp_path):
    """Its declaration is refused by everything that opens models, in one sentence."""
    save_model(tmp_path / "model", StoredModel(random_model(SIZES, 3), None))
    (file,) = (path for path in (tmp_path / "model").glob("*.json") if '"norm"' in path.read_text())
    content = json.loads(file.read_text())
    content["architecture"]["norm"] = {"kind": "clamp", "bound": "1"}
    file.write_text(json.dumps(content))
    (tmp_path / "model" / "manifest.json").unlink()
    seal(tmp_path / "model")
    with pytest.raises(InputError, match=r"norm.kind is 'clamp', want one of 'none', 'layer', 'band'"):
        open_model(tmp_path / "model")


def test_there_must_be_a_layer_norm_to_replace():
    """A model without norms has no scale and no shift to take over."""
    with pytest.raises(InputError, match="the model's norm is NoNorm, want LayerNorm"):
        try_norm(random_model(replace(SIZES, norm=NORMS[0]), 3), TRIED[0])


def test_buckets_must_have_a_range():
    """From the least deviation up to the most."""
    with pytest.raises(DeclarationError, match="want least <= most, got least 2 and most 1"):
        GainBuckets(Fraction(2), Fraction(1))
