from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head, Mlp
from circuitproof.nn import below as below_module
from circuitproof.nn.below import Below, Levels
from circuitproof.nn.edge_masks import edge_masks_of
from circuitproof_lab.distill.lesion import silence
from models import random_model, tiny_architecture

TOKENS = torch.tensor([[1, 2, 3], [3, 2, 0]])
SMALL = replace(tiny_architecture(), layers=3)
LARGE = replace(SMALL, layers=8, heads=6)
"""A graph so large that circuits which keep nearly everything run with gaps."""


def circuits_of(model):
    """Return the whole, lesions that differ above and below layer 2, and a path."""
    everything, head = whole(model.graph), Head(2, 0)
    path = [Edge(EMBED, Mlp(0)), Edge(Mlp(0), head), Edge(head, LOGITS)]
    return [
        everything,
        silence(everything, [head]),
        silence(everything, [Head(0, 1)]),
        everything.without(*path),
        circuit_of(model.graph, path),
        circuit_of(model.graph, []),
    ]


def computed_below(model, layer: int) -> list[int]:
    """Return a list that grows by a number for each MLP below a layer that is run from now on."""
    seen: list[int] = []
    for place in range(layer):
        model.mlps[place].register_forward_hook(lambda *_, place=place: seen.append(place))
    return seen


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_what_is_remembered_is_what_is_computed_bit_by_bit(sizes, layer):
    """The model, circuits alone and together: computed plainly, for the first time, and from memory."""
    model = random_model(sizes, 3)
    circuits = circuits_of(model)
    asked = [None, *([circuit] for circuit in circuits), circuits]
    plain = [model.candidate_logits(TOKENS, (0, 1), masks) for masks in asked]
    model.below = Below(layer)
    for _ in range(2):
        for masks, wanted in zip(asked, plain, strict=True):
            assert torch.equal(model.candidate_logits(TOKENS, (0, 1), masks), wanted)


def test_what_is_below_is_computed_once_for_lesions_above():
    """And again for each circuit that differs below, and for other prompts."""
    model = random_model(LARGE, 3)
    everything, silenced, lower, gap, *_ = circuits_of(model)
    assert edge_masks_of([gap]).is_nearly_whole
    model.below = Below(2)
    seen = computed_below(model, 2)
    for circuit, times in [(everything, 1), (silenced, 1), (everything, 1), (lower, 2), (gap, 3), (gap, 3)]:
        model.candidate_logits(TOKENS, (0, 1), [circuit])
        assert seen == [0, 1] * times
    model.candidate_logits(TOKENS[:1], (0, 1), [everything])
    assert seen == [0, 1] * 4


def test_what_does_not_fit_is_computed_each_time(monkeypatch):
    """Memory is bounded, whatever text a model is measured on."""
    model = random_model(LARGE, 3)
    wanted = model(TOKENS)
    numbers = TOKENS.numel() * LARGE.width
    monkeypatch.setattr(below_module, "_NUMBERS", numbers)
    model.below = Below(2)
    seen = computed_below(model, 2)
    for tokens, times in [(TOKENS, 1), (TOKENS, 1), (TOKENS.flip(0), 2), (TOKENS.flip(0), 3), (TOKENS, 3)]:
        model(tokens)
        assert seen == [0, 1] * times
    assert torch.equal(model(TOKENS), wanted)


def test_no_gradient_goes_below():
    """Above it is what it was."""
    model = random_model(SMALL, 3)
    lower, upper = model.mlps[1].get_parameter("up"), model.mlps[2].get_parameter("up")
    (wanted,) = torch.autograd.grad(model(TOKENS).square().sum(), [upper])
    model.below = Below(2)
    total = model(TOKENS).square().sum()
    nothing, found = torch.autograd.grad(total, [lower, upper], allow_unused=True)
    assert nothing is None
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_a_circuit_goes_on_from_another_bit_by_bit(sizes):
    """Whatever was tried before, in whatever order, on whichever prompts."""
    model = random_model(sizes, 3)
    circuits = [
        smaller
        for circuit in circuits_of(model)[::3]
        for smaller in (
            circuit,
            *(circuit.without(edge) for edge in sorted(circuit.edges, key=str)[::7][:5]),
        )
    ]
    asked = [(tokens, [circuit]) for circuit in circuits for tokens in (TOKENS, TOKENS.flip(0))]
    plain = [model.candidate_logits(tokens, (0, 1), circuit) for tokens, circuit in asked]
    model.below = Levels(sizes.layers)
    for places in (range(len(asked)), reversed(range(len(asked)))):
        for place in places:
            tokens, circuit = asked[place]
            assert torch.equal(model.candidate_logits(tokens, (0, 1), circuit), plain[place])


def test_only_what_differs_is_computed_however_many_were_tried_in_vain():
    """Edges are tried from the layer that they lead to."""
    model = random_model(LARGE, 3)
    path = [Edge(EMBED, Mlp(0)), Edge(Mlp(0), Mlp(3)), Edge(Mlp(3), Mlp(6)), Edge(Mlp(6), LOGITS)]
    path += [Edge(EMBED, Mlp(place)) for place in (3, 6)]
    kept = circuit_of(model.graph, path)
    model.below = Levels(LARGE.layers)
    seen = computed_below(model, LARGE.layers)
    for without, again in [(None, [0, 3, 6]), (path[5], [6]), (path[4], [3, 6]), (path[5], [6]), (None, [])]:
        seen.clear()
        model.candidate_logits(TOKENS, (0, 1), [kept if without is None else kept.without(without)])
        assert seen == again
    smaller = kept.without(path[4])
    for circuit, again in [(smaller, [6]), (smaller.without(path[5]), [6]), (kept, [])]:
        seen.clear()
        model.candidate_logits(TOKENS, (0, 1), [circuit])
        assert seen == again
