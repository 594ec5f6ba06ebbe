from itertools import product

import pytest
import torch

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.importers.release import load_release
from circuitproof.models.operators import Attention
from circuitproof.nn.transformer import AttentionLayer
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.attention import record
from circuitproof_lab.distill.prefix_table import PrefixTable
from distractor_models import HEAD, distractor_model
from floats import within
from models import NORMS, PROGRAMS, random_model, tiny_architecture
from releases import stored

PROMPTS = tuple(prompt for length in (1, 3, 4) for prompt in product((0, 4), repeat=length))


def heads_weights(model, head, prompt):
    """Return the weights that the model's own attention gives, seen from inside its forward pass."""
    seen = []
    layer = model.attentions[head.layer]
    own = AttentionLayer._attend

    def spy(self, asking, asked, heads, rotation):
        weights = own(self, asking, asked, heads, rotation)
        if self is layer:
            seen.append(weights[0, heads.index(head.index), 0])
        return weights

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(AttentionLayer, "_attend", spy)
        model(torch.tensor([prompt]))
    return seen[0]


def test_a_softmax_head_is_recorded_as_softmax_attends():
    """Every key of the past has weight then; candidates are ranked by that, and the answer says so."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX), 3)
    seen = record(model, Head(0, 1), PrefixTable(PROMPTS))
    assert seen.attention is Attention.SOFTMAX
    assert (seen.support == seen.softmax_support).all()
    assert (seen.support == seen.prefix_table.causal()).all()


@pytest.mark.parametrize(
    "kind", [*({"norm": norm} for norm in NORMS), {"rotary": 2, "parallel": True}], ids=str
)
@pytest.mark.parametrize("head", [Head(0, 1), Head(1, 0)])
def test_the_record_is_the_attention_of_the_models_own_forward(kind, head):
    """Prompts of several lengths, batched and one by one; after the norm that the head has.

    A record holds FP32 numbers, so FP64 attention is rounded once, and far less than a second time.
    """
    model, prefix_table = random_model(tiny_architecture(**kind), seed=1).double(), PrefixTable(PROMPTS)
    found = record(model, head, prefix_table)
    for prompt in PROMPTS:
        weights = heads_weights(model, head, prompt)
        for query in range(len(prompt)):
            column = prefix_table.columns()[prompt[: query + 1]]
            wanted = [*weights[query].tolist(), 0, 0, 0, 0][: prefix_table.longest]
            assert within(found.weights[:, column].tolist(), wanted, roundings=2, size=1)


def test_mean_supports_count_every_query():
    """Even attention has all causal keys, six queries of one to six keys; softmax always has."""
    found = record(distractor_model(), HEAD, PrefixTable(toy_quotes().domain.prompts))
    assert found.mean_support == found.mean_softmax_support == 3.5
    assert (found.support == found.prefix_table.causal()).all()


def test_the_supports_of_the_paper_are_found_in_its_public_model(reference):
    """Mean sparsemax support 1.33 keys against 3.5 under softmax, all queries counted."""
    model = stored(load_release(reference / "norm_free")).model
    found = record(model, Head(0, 0), PrefixTable(toy_quotes().domain.prompts))
    assert (round(found.mean_support, 2), found.mean_softmax_support) == (1.33, 3.5)


def test_other_programs_may_be_installed_already():
    """Heads are replaced one after the other."""
    programs = {head: program for head, program in PROGRAMS.items() if head != Head(1, 0)}
    model = random_model(tiny_architecture(), programs=programs).double()
    totals = record(model, Head(1, 0), PrefixTable(PROMPTS)).weights.astype(float).sum(0)
    assert within(totals.tolist(), [1.0] * len(totals), roundings=2, size=1)


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (Head(0, 0), "head 0.0 is a program already, .* want a neural head, head 0.1, head 1.0, head 1.1$"),
        (Head(5, 0), "there is no head 5.0 in 2 layers"),
    ],
)
def test_only_neural_heads_can_be_recorded(head, sentence):
    """A program has no scores."""
    model = random_model(tiny_architecture(), programs={Head(0, 0): PROGRAMS[Head(0, 0)]})
    with pytest.raises(InputError, match=sentence):
        record(model, head, PrefixTable(PROMPTS))
