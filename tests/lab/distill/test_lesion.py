from dataclasses import replace
from math import log

import pytest
import torch

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import LOGITS, Edge, Head, Mlp
from circuitproof.errors import NumericError
from circuitproof.files.codec import to_json
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.lesion import Behaviour, Where, lesion, lesions_of, silence
from floats import agree
from hand_models import (
    IDENTITY,
    QUOTE_EDGES,
    QUOTE_SIZES,
    circuit_of,
    quote_model,
    table_task,
    torch_decision,
)
from models import PROGRAMS, random_model, tiny_architecture

TWO_HEADS = replace(QUOTE_SIZES, heads=2)
OWN, OTHER = Head(0, 0), Head(0, 1)
QUOTES = Behaviour(toy_quotes(), circuit_of(QUOTE_EDGES, heads=2))


def with_bypass(strength: float):
    """Return the quote model with a neural head beside its program that copies the mean of all tokens.

    Its queries and keys are zero, so it attends to everything alike; the opener is in the mean.
    """
    copied = [[strength, 0], [0, strength]]
    changes = {"head.0.1.value.weight": IDENTITY, "head.0.1.output.weight": copied}
    return quote_model(changes, TWO_HEADS).double()


def effects(model):
    """Return the effects on quotes by where and which."""
    return {(effect.where, effect.heads): effect for effect in lesions_of(model, QUOTES)}


def test_silencing_takes_every_edge_out_of_a_head_and_no_other():
    """The head goes on reading; what it says is heard by nobody."""
    model = random_model(tiny_architecture())
    silenced = silence(whole(model.graph), {Head(0, 1)})
    gone = whole(model.graph) - silenced
    readers = (Mlp(0), Head(1, 0), Head(1, 1), Mlp(1), LOGITS)
    assert gone.edges == frozenset(Edge(Head(0, 1), reader) for reader in readers)


def test_silencing_a_head_that_a_circuit_does_not_read_changes_nothing():
    """A lesion is of what is there."""
    assert silence(QUOTES.circuit, {OTHER}) == QUOTES.circuit


def test_a_silenced_head_writes_zero():
    """The twin zeroes the output weights; without biases that is the same model."""
    model = random_model(tiny_architecture(biases=False), 4, PROGRAMS).double()
    tokens = torch.tensor([[0, 3, 5, 1, 6], [2, 2, 4, 0, 1]])
    silenced = model(tokens, silence(whole(model.graph), {Head(0, 0), Head(1, 1)}))
    with torch.no_grad():
        model.attentions[0].output[0] = 0
        model.attentions[1].output[1] = 0
    assert agree(silenced, model(tokens))


def test_the_core_are_the_programs_that_the_circuit_reads():
    """A head that is computed but not read, or not there at all, is no part of the mechanism."""
    unread = circuit_of((*QUOTE_EDGES, "embed -> head 0.1"), heads=2)
    assert Behaviour(toy_quotes(), unread).core((OTHER, OWN)) == (OWN,)


def test_a_planted_bypass_survives_the_lesion():
    """Every decision stays, and the candidates hardly move."""
    found = effects(with_bypass(100))[Where.MODEL, (OWN,)]
    assert (found.answers.agreed, found.change.agreed) == (128, 128)
    assert found.change.kl < 1e-6
    assert agree(found.answers.worst_margin, 100 / 6)


def test_without_a_bypass_the_lesion_leaves_ties():
    """The program is all there is: without it nothing is preferred, and a tie is not right."""
    found = effects(with_bypass(0))
    for where in Where:
        assert found[where, (OWN,)].answers.agreed == 0
        assert found[where, (OWN,)].change.agreed == 0
        assert found[where, ()].answers.agreed == 128


def test_the_divergence_is_from_the_candidates_before_to_those_after():
    """By hand: a margin of one before, a tie after."""
    found = effects(with_bypass(0))[Where.CIRCUIT, (OWN,)]
    likely = 1 / (1 + 2.718281828459045**-1)
    expected = likely * log(likely) + (1 - likely) * log(1 - likely) + log(2)
    assert agree(found.change.kl, expected)


def test_a_declared_circuit_of_all_edges_is_still_the_circuit():
    """Its effects are those of the model under another name; neither set may be missing."""
    everything = Behaviour(toy_quotes(), whole(QUOTES.circuit.graph))
    found = lesions_of(with_bypass(0), everything)
    named = [(effect.where, effect.heads) for effect in found]
    assert named == [(where, heads) for where in Where for heads in ((), (OWN,), (OWN,))]
    assert [effect.change for effect in found[:3]] == [effect.change for effect in found[3:]]


def test_programs_are_silenced_together_and_one_by_one_in_model_and_circuit():
    """In the circuit only those that it reads: of the others there is nothing to take away."""
    model = quote_model(None, TWO_HEADS, {OWN: PROGRAMS[Head(0, 0)], OTHER: PROGRAMS[Head(0, 1)]})
    assert [(effect.where, effect.heads) for effect in lesions_of(model, QUOTES)] == [
        (Where.MODEL, ()),
        (Where.MODEL, (OWN, OTHER)),
        (Where.MODEL, (OWN,)),
        (Where.MODEL, (OTHER,)),
        (Where.CIRCUIT, ()),
        (Where.CIRCUIT, (OWN, OTHER)),
        (Where.CIRCUIT, (OWN,)),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_agreement_is_counted_as_a_walk_over_the_prompts_counts_it(seed):
    """The slow twin decides one prompt at a time."""
    model = random_model(tiny_architecture(), seed, PROGRAMS).double()
    prompts = [(0, 1), (3, 4, 2), (1, 1, 4), (4, 2, 0, 3)]
    task = table_task({prompt: sum(prompt) % 2 for prompt in prompts})
    base = whole(model.graph)
    heads = (Head(0, 1), Head(1, 0))
    (found,) = lesion(model, Behaviour(task, base), Where.MODEL, [heads])
    before = [torch_decision(model, prompt, (0, 1), base) for prompt in prompts]
    after = [torch_decision(model, prompt, (0, 1), silence(base, heads)) for prompt in prompts]
    assert found.change.agreed == sum(one == other for one, other in zip(before, after, strict=True))
    assert found.answers.agreed == sum(
        one == {sum(prompt) % 2} for one, prompt in zip(after, prompts, strict=True)
    )


def test_weights_that_overflow_are_no_measure():
    """A NaN must not pass for a lesion that changed nothing."""
    with pytest.raises(NumericError, match="NaN or infinite"):
        lesions_of(with_bypass(1e39), QUOTES)


def test_an_effect_has_its_numbers_in_json():
    """What a report says must be what was measured."""
    found = to_json(effects(with_bypass(0))[Where.MODEL, (OWN,)].record())
    assert found["silenced"] == ["head 0.0"]
    assert (found["right"], found["unchanged"], found["prompts"], found["worst_margin"]) == (0, 0, 128, 0)
