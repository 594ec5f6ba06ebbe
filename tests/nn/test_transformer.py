"""The transformer whole and in parts: the semantics of circuits, against an obvious twin."""

from itertools import product

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.nn import functional

from circuitproof.circuits.circuit import circuit_of, empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.errors import InputError
from circuitproof.models.architecture import tensor_shapes
from circuitproof.models.operators import Attention, NoNorm
from circuitproof.nn.edge_masks import edge_masks_of
from circuitproof.nn.program_heads import Patterns
from circuitproof.nn.transformer import initialise
from floats import agree
from models import ACTIVATIONS, NORMS, PROGRAMS, random_model, random_tokens, tiny_architecture
from strategies import circuits_in

GRAPH = Graph(2, 2)
VARIANTS = [
    pytest.param(norm, attention, activation, id=f"{norm}-{attention}-{activation}")
    for norm, attention, activation in product(NORMS, Attention, ACTIVATIONS)
]
program_heads = st.sets(st.sampled_from(sorted(PROGRAMS, key=str))).map(
    lambda heads: {head: PROGRAMS[head] for head in heads}
)
circuits_of_graph = st.sets(st.sampled_from(GRAPH.edges())).map(lambda edges: circuit_of(GRAPH, edges))


def slow_logits(model, tokens, circuit):
    """Run one circuit node by node, straight from the definition, with a sum over kept predecessors."""
    positions = 0 if model.position is None else model.position[: tokens.shape[1]]
    outputs = {EMBED: model.token[tokens] + positions}
    for node in GRAPH.nodes()[1:]:
        sources = circuit.sources(node)
        total = torch.zeros_like(outputs[EMBED])
        for source in sources:
            total = total + outputs[source]
        for layer in {source.layer for source in sources if isinstance(source, Head)}:
            bias = model.attentions[layer].output_bias
            total = total if bias is None else total + bias
        match node:
            case Head(layer, index):
                attention = model.attentions[layer]
                read = (total[None, None],) * 3
                mixed = attention.mix(read, (index,), Patterns(tokens), model.rotation)[0, 0]
                outputs[node] = mixed @ attention.output[index].T
            case Mlp(layer):
                outputs[node] = model.mlps[layer](total[None, None])[0, 0]
            case _:
                weight = model.token if model.architecture.tied else model.unembed
                return functional.linear(model.norm(total[None, None])[0, 0], weight, model.unembed_bias)
    raise AssertionError


@pytest.mark.parametrize(("norm", "attention", "activation"), VARIANTS)
def test_keeping_all_edges_equals_the_plain_forward(norm, attention, activation):
    """The first law of circuits, for every architecture."""
    model = random_model(tiny_architecture(norm=norm, attention=attention, activation=activation)).double()
    tokens = random_tokens(model.architecture)
    assert agree(model(tokens), model(tokens, circuit=whole(GRAPH)))


@given(circuits_of_graph, st.integers(0, 5), st.booleans(), st.booleans(), program_heads)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_circuit_computes_what_its_definition_says(circuit, seed, tied, biases, programs):
    """The batched, gated forward against the node-by-node twin on random circuits."""
    model = random_model(tiny_architecture(tied=tied, biases=biases), seed, programs).double()
    tokens = random_tokens(model.architecture)
    assert agree(model(tokens, circuit=circuit), slow_logits(model, tokens, circuit))


@given(st.data(), st.integers(0, 5), st.sampled_from([None, 2]), program_heads)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_circuit_of_a_parallel_model_computes_what_its_definition_says(data, seed, rotary, programs):
    """An MLP reads beside the heads of its layer; the whole circuit is the plain forward."""
    model = random_model(tiny_architecture(rotary=rotary, parallel=True), seed, programs).double()
    tokens = random_tokens(model.architecture)
    circuit = data.draw(circuits_in(model.graph))
    assert agree(model(tokens, circuit=circuit), slow_logits(model, tokens, circuit))
    assert agree(model(tokens), slow_logits(model, tokens, whole(model.graph)))


def test_gaps_of_a_parallel_model_are_those_of_its_graph(monkeypatch):
    """The stream with gaps subtracts nothing that a node beside it has written."""
    monkeypatch.setattr("circuitproof.nn.edge_masks._LARGE", 0)
    model = random_model(tiny_architecture(parallel=True)).double()
    tokens = random_tokens(model.architecture)
    for circuit in (whole(model.graph), *whole(model.graph).lesions()):
        assert edge_masks_of([circuit]).is_nearly_whole
        assert agree(model(tokens, circuit=circuit), slow_logits(model, tokens, circuit))


def test_rotations_are_saved_with_the_model_and_never_trained():
    """They are tensors of the file and no parameters."""
    model = random_model(tiny_architecture(rotary=2))
    tables = {"rotary.cos", "rotary.sin"}
    assert {name: tuple(view.shape) for name, view in model.named_slices().items()} == dict(
        tensor_shapes(model.architecture)
    )
    trained = sum(parameter.numel() for parameter in model.parameters())
    held = {name: view.numel() for name, view in model.named_slices().items()}
    assert trained == sum(size for name, size in held.items() if name not in tables)
    cosines, sines = model.rotation.tables()
    assert torch.equal(cosines[:, 0], torch.arange(5.0).double().cos().float())
    assert torch.equal(sines[:, 0], torch.arange(5.0).double().sin().float())


@given(circuits_of_graph)
@settings(deadline=None)
def test_deleting_dead_edges_changes_nothing(circuit):
    """What cannot reach logits cannot matter."""
    model = random_model(tiny_architecture()).double()
    tokens = random_tokens(model.architecture)
    assert torch.equal(model(tokens, circuit=circuit), model(tokens, circuit=circuit.live()))
    assert agree(slow_logits(model, tokens, circuit), slow_logits(model, tokens, circuit.live()))


def test_many_circuits_run_as_one_batch():
    """A batch of circuits gives what each gives alone."""
    model = random_model(tiny_architecture()).double()
    tokens = random_tokens(model.architecture)
    circuits = [whole(GRAPH), *whole(GRAPH).lesions(), empty(GRAPH)]
    together = model.candidate_logits(tokens, (2, 5), circuits)
    for circuit, logits in zip(circuits, together, strict=True):
        assert agree(logits, model(tokens, circuit=circuit)[:, -1, [2, 5]])


def test_an_edge_from_a_node_without_inputs_still_carries_its_constant():
    """An MLP that reads zeros still adds its biases; dropping the edge must be seen."""
    model = random_model(tiny_architecture()).double()
    tokens = random_tokens(model.architecture)
    constant = model(tokens, circuit=circuit_of(GRAPH, [Edge(Mlp(0), LOGITS)]))
    nothing = model(tokens, circuit=empty(GRAPH))
    assert agree(constant, constant[:1, :1].expand_as(constant))
    assert not agree(constant, nothing)


def test_the_empty_circuit_outputs_the_logit_bias_alone():
    """Logits that read nothing read zeros."""
    model = random_model(tiny_architecture())
    tokens = random_tokens(model.architecture)
    assert torch.equal(model(tokens, circuit=empty(GRAPH)), model.unembed_bias.expand(6, 5, 7))


def test_a_block_equals_the_union_of_its_heads():
    """Attention computed as one block, its output bias once, is the circuit spelled `attn 0`."""
    model = random_model(tiny_architecture()).double()
    tokens = random_tokens(model.architecture)
    names = ["embed -> attn 0", "attn 0 -> logits"]
    content = {"layers": 2, "heads": 2, "ablation": "zero", "edges": names}
    embedded = model.token[tokens] + model.position
    attention = model.attentions[0]
    mixed = attention.mix((embedded[None, None],) * 3, (0, 1), Patterns(tokens))[0].movedim(0, -2).flatten(-2)
    block = functional.linear(mixed, attention.output.movedim(0, 1).flatten(1), attention.output_bias)
    wanted = functional.linear(block, model.unembed, model.unembed_bias)
    assert agree(model(tokens, circuit=parse_circuit(content, "test")), wanted)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("norm", NORMS[:2])
def test_the_file_layout_names_every_parameter_once(norm, tied, biases):
    """What is saved is the whole model and nothing twice."""
    architecture = tiny_architecture(norm=norm, tied=tied, biases=biases)
    model = random_model(architecture)
    slices = model.named_slices()
    assert {name: tuple(view.shape) for name, view in slices.items()} == dict(tensor_shapes(architecture))
    assert sum(view.numel() for view in slices.values()) == sum(p.numel() for p in model.parameters())


def test_a_later_token_never_changes_an_earlier_position():
    """Attention is causal, in the model and in its circuits."""
    model = random_model(tiny_architecture())
    tokens = random_tokens(model.architecture)
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 7
    for circuit in (None, whole(GRAPH)):
        before, after = model(tokens, circuit=circuit), model(changed, circuit=circuit)
        assert torch.equal(before[:, :-1], after[:, :-1])


def test_prompts_outside_the_model_are_refused():
    """Too long, unknown token, negative token, circuit of another graph."""
    model = random_model(tiny_architecture())
    with pytest.raises(InputError, match="has 6 tokens, the model's context is 5"):
        model(torch.zeros(1, 6, dtype=torch.long))
    for token in (7, -1):
        with pytest.raises(InputError, match="outside 0 to 6"):
            model(torch.full((1, 2), token))
    with pytest.raises(InputError, match="1 layers of 2 heads, the model has 2 of 2"):
        model(torch.zeros(1, 2, dtype=torch.long), circuit=whole(Graph(1, 2)))


def test_initial_weights_depend_on_the_seed_alone():
    """Training is deterministic from its first number; biases start at zero."""
    first, again, other = (random_model(tiny_architecture(), seed) for seed in (1, 2, 3))
    for model in (first, again, other):
        model.mlps[0].up_bias.data.zero_()
    for model, seed in ((first, 5), (again, 5), (other, 6)):
        initialise(model, seed, 0.02)
    assert torch.equal(first.token, again.token)
    assert not torch.equal(first.token, other.token)
    assert 0.005 < first.mlps[0].up.std().item() < 0.05
    assert not first.mlps[0].up_bias.any()


def test_a_circuit_can_be_trained_through_its_gates():
    """Gradients reach the parameters that a circuit uses and no others."""
    model = random_model(tiny_architecture(norm=NoNorm()))
    chain = circuit_of(GRAPH, [Edge(EMBED, Mlp(0)), Edge(Mlp(0), LOGITS)])
    model(random_tokens(model.architecture), circuit=chain).sum().backward()
    assert model.mlps[0].up.grad is not None
    assert model.mlps[1].up.grad is None
