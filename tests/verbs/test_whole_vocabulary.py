"""Decisions over as many tokens as GPT-2 has: nothing may grow with the square of their number."""

from dataclasses import replace

import pytest
import torch

import circuitproof as cp
from circuitproof.bundle.files import bundle_files
from circuitproof.errors import InputError
from circuitproof.models.operators import Attention
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.properties.accuracy import Accuracy
from hand_models import PLAIN, freeze

TOKENS = 50_257
KINDS = ["accuracy", "loss", "logit difference", "recovered difference", "faithfulness"]
TASK = {"prompts": [[3, 5], [7], [9, 9]], "answers": [5, 7, 9], "classes": [0, 1, 2]}


def model_of(attention):
    """Return a model of width two with random rows."""
    model = Transformer(replace(PLAIN, vocabulary=TOKENS, attention=attention))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randint(-(2**12), 2**12, parameter.shape, generator=generator) / 2**10)
    return freeze(model)


def test_every_token_of_a_large_vocabulary_is_a_candidate():
    """Counted, measured, compared and bundled."""
    frozen = model_of(Attention.SOFTMAX)
    task = cp.declare_task("large", model=cp.Model(frozen), **TASK)
    found = cp.verify(cp.Model(frozen), task, properties=KINDS, candidates="all")
    claim = found.battery.claim
    assert claim.task.candidates == tuple(range(TOKENS))
    assert bundle_files(found.battery)
    assert all(len(row.numbers) == TOKENS for row in found.battery.folded.of(claim.circuit))


def test_exact_numbers_have_all_candidates_too():
    """Each fold has as many logits as there are tokens."""
    frozen = model_of(Attention.SPARSEMAX)
    written = cp.declare_task("large", model=cp.Model(frozen), candidates="all", **TASK)
    found = cp.verify(cp.Model(frozen), written, properties=["accuracy"])
    assert isinstance(found.answers[0].prop, Accuracy)
    assert len(found.battery.folded.folds[0].logits) == TOKENS


def test_another_word_for_candidates_is_refused():
    """There is one."""
    with pytest.raises(InputError, match="candidates is 'some'"):
        cp.verify(cp.Model(model_of(Attention.SPARSEMAX)), "quotes", candidates="some")
