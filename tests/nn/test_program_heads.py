"""Heads whose attention is a program, in the trainable model."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.reading import Fields
from circuitproof.models.architecture import tensor_shapes
from circuitproof.models.declaration import head_key, read_program_heads
from circuitproof.models.operators import Attention
from circuitproof.nn import program_heads
from circuitproof.nn.program_heads import Patterns
from circuitproof.nn.transformer import AttentionLayer, Transformer, initialise
from circuitproof.programs.meaning import row
from circuitproof.programs.text import parse
from floats import agree
from models import NORMS, PROGRAMS, random_model, random_tokens, tiny_architecture
from program_strategies import programs

GRAPH = Graph(2, 2)
HEADS = tuple(head for layer in range(2) for head in GRAPH.heads_of(layer))
SUBSETS = [
    pytest.param({head: PROGRAMS[head] for head in heads}, id=" ".join(map(head_key, heads)) or "none")
    for heads in chain.from_iterable(combinations(HEADS, size) for size in range(5))
]
batches = st.integers(1, 6).flatmap(
    lambda length: st.lists(
        st.lists(st.integers(0, 6), min_size=length, max_size=length), min_size=1, max_size=5
    )
)


def rounded_rows(program, prompts):
    """Return the exact rows of each prompt as FP32 numbers."""
    exact = [[dict(row(program, prompt, query)) for query in range(len(prompt))] for prompt in prompts]
    return torch.tensor(
        [[[float(keys.get(key, 0)) for key in range(len(prompts[0]))] for keys in rows] for rows in exact]
    )


@given(programs, batches)
def test_patterns_are_the_exact_rows_rounded(program, prompts):
    """The meaning of a program is said once, in rationals; torch only rounds it."""
    assert torch.equal(Patterns(torch.tensor(prompts)).of(program), rounded_rows(program, prompts))


@given(st.lists(st.integers(2**12, 2**60), min_size=2, max_size=3), batches)
def test_large_weights_are_the_exact_rows_too(large, prompts):
    """Beyond FP32 sums need FP64, and beyond that they would be rounded before the division."""
    added = "\n".join(
        f"add {weight}/{weight - 1} when key_token == {token}" for token, weight in enumerate(large)
    )
    program = parse(f"default 1\n{added}\notherwise self")
    assert torch.equal(Patterns(torch.tensor(prompts)).of(program), rounded_rows(program, prompts))


@given(st.lists(st.integers(1, 2**20), min_size=1, max_size=4), st.integers(0, 3))
def test_weights_of_a_moderate_size_are_rounded_once(whole, query):
    """Dividing integers below 2^24 in FP64 and rounding to FP32 gives the nearest FP32 number."""
    added = "\n".join(f"add {weight} when key_position == {key}" for key, weight in enumerate(whole))
    program = parse(f"default 0\n{added}\notherwise self")
    pattern = Patterns(torch.tensor([[0, 1, 2, 3]])).of(program)[0, query]
    for key, weight in row(program, (0, 1, 2, 3), query):
        found = pattern[key]
        near = [found.nextafter(torch.tensor(side)) for side in (-1.0, 2.0)]
        distance = abs(Fraction(found.item()) - weight)
        assert all(distance <= abs(Fraction(other.item()) - weight) for other in near)


def test_no_program_is_worked_out_twice(monkeypatch):
    """Heads share programs, and a forward pass asks for each of them."""
    asked = []
    honest = program_heads._pattern
    monkeypatch.setattr(program_heads, "_pattern", lambda *of: asked.append(of) or honest(*of))
    patterns = Patterns(torch.tensor([[1, 2], [3, 4], [1, 2]]))
    for _ in range(3):
        patterns.of(PROGRAMS[Head(0, 0)])
    assert len(asked) == 1


def test_numbers_beyond_every_tensor_are_compared_as_they_are():
    """A program may name any number; one that no position has is unequal to all of them."""
    huge = 10**18 - 1
    program = parse(
        f"default 0\nadd 1 when key_position < {huge} and key_token != {huge} and key_position != 1\n"
        f"add 2 when unmatched {{3: {huge}}} and key_count {{0, {huge}}} up to {huge} <= 1\notherwise self"
    )
    prompts = [[0, 3, 0, 3]]
    assert torch.equal(Patterns(torch.tensor(prompts)).of(program), rounded_rows(program, prompts))


@pytest.mark.parametrize(
    "text", ["first key_token == 1", "unmatched {1: 2}", "key_depth {1: 2} up to 1 == 1"]
)
def test_prompts_without_tokens_have_a_pattern_without_rows(text):
    """Nothing to look at is not a failure."""
    program = parse(f"default 0\nadd 1 when {text}\notherwise self")
    assert Patterns(torch.zeros(2, 0, dtype=torch.long)).of(program).shape == (2, 0, 0)


def test_narrow_integers_are_tokens_too():
    """Whoever stores tokens in 32 bits gets the same rows."""
    program = parse("default 0\nadd 1 when nearest unmatched {1: 2} or key_token == 50000\notherwise self")
    tokens = torch.tensor([[1, 1, 2, 5], [1, 2, 2, 1]])
    assert torch.equal(Patterns(tokens.int()).of(program), Patterns(tokens).of(program))


def test_a_batch_without_prompts_has_a_pattern_without_rows():
    """Nothing to do is not a failure."""
    assert Patterns(torch.zeros(0, 3, dtype=torch.long)).of(PROGRAMS[Head(0, 0)]).shape == (0, 3, 3)


@pytest.mark.parametrize("norm", NORMS, ids=lambda norm: type(norm).__name__)
@pytest.mark.parametrize("head", HEADS, ids=head_key)
def test_a_program_head_mixes_the_values_of_the_keys_it_names(head, norm):
    """The definition by hand, key by key: weight, as an FP32 number, times value, then the output map."""
    model = random_model(tiny_architecture(norm=norm), programs=PROGRAMS).double()
    tokens = random_tokens(model.architecture)
    chosen = circuit_of(GRAPH, [Edge(EMBED, head), Edge(head, LOGITS)])
    attention, tensors = model.attentions[head.layer], model.named_slices()
    inputs = attention.norm((model.token[tokens] + model.position)[None, None])[0, 0]
    name = f"head.{head.layer}.{head.index}"
    values = functional.linear(inputs, tensors[f"{name}.value.weight"], tensors[f"{name}.value.bias"])
    mixed = torch.zeros_like(values)
    for place, prompt in enumerate(tokens.tolist()):
        for query in range(len(prompt)):
            for key, weight in row(PROGRAMS[head], prompt, query):
                mixed[place, query] += torch.tensor(float(weight)) * values[place, key]
    residual = functional.linear(mixed, tensors[f"{name}.output.weight"], attention.output_bias)
    wanted = functional.linear(model.norm(residual[None, None])[0, 0], model.unembed, model.unembed_bias)
    assert agree(model(tokens, circuit=chosen), wanted)


def test_a_program_head_equals_the_neural_head_that_attends_alike(monkeypatch):
    """Sparsemax of equal scores is even attention over the causal keys: so is the program that adds 1.

    The rows of programs are FP32 numbers, so the weights of neural heads are rounded to FP32 here as well.
    """
    attend = AttentionLayer._attend
    monkeypatch.setattr(AttentionLayer, "_attend", lambda *given: attend(*given).float().double())
    architecture = tiny_architecture()
    neural = random_model(architecture).double()
    attention = neural.attentions[0]
    with torch.no_grad():
        attention.query[1] = 0
        attention.query_bias[1] = 0
    even = Transformer(architecture, {Head(0, 1): parse("default 1\notherwise self")}).double()
    tensors = neural.named_slices()
    with torch.no_grad():
        for name, view in even.named_slices().items():
            view.copy_(tensors[name])
    tokens = random_tokens(architecture)
    for circuit in (None, whole(GRAPH), *whole(GRAPH).lesions()):
        assert agree(even(tokens, circuit=circuit), neural(tokens, circuit=circuit))


@pytest.mark.parametrize("attention", Attention)
@pytest.mark.parametrize("chosen", SUBSETS)
def test_keeping_all_edges_equals_the_plain_forward_with_programs(chosen, attention):
    """The first law of circuits, for every choice of program heads."""
    model = random_model(tiny_architecture(attention=attention), programs=chosen).double()
    tokens = random_tokens(model.architecture)
    assert agree(model(tokens), model(tokens, circuit=whole(GRAPH)))


@pytest.mark.parametrize("chosen", SUBSETS)
def test_many_circuits_of_a_model_with_programs_run_as_one_batch(chosen):
    """A row of a program is shared by the circuits; what it mixes is not."""
    model = random_model(tiny_architecture(), programs=chosen).double()
    tokens = random_tokens(model.architecture)
    circuits = [whole(GRAPH), *whole(GRAPH).lesions()]
    for circuit, logits in zip(circuits, model.candidate_logits(tokens, (2, 5), circuits), strict=True):
        assert agree(logits, model(tokens, circuit=circuit)[:, -1, [2, 5]])


def test_a_row_that_attends_nowhere_gives_nothing_not_even_the_value_bias():
    """The head's output is zero there; the shared output bias remains."""
    program = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")
    model = random_model(tiny_architecture(), programs={Head(0, 0): program}).double()
    circuit = circuit_of(GRAPH, [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), LOGITS)])
    logits = model(torch.tensor([[1, 2, 3, 1]]), circuit=circuit)[0]
    bias = functional.linear(model.attentions[0].output_bias, model.unembed, model.unembed_bias)
    assert agree(logits[:2], bias.expand(2, 7))
    assert not agree(logits[2], bias)


def test_a_program_reads_tokens_that_no_kept_edge_carries():
    """Edges mask the values a program mixes, never what it looks at."""
    program = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")
    model = random_model(tiny_architecture(), programs={Head(1, 1): program}).double()
    circuit = circuit_of(GRAPH, [Edge(Mlp(0), Head(1, 1)), Edge(Head(1, 1), LOGITS)])
    seen, unseen = model(torch.tensor([[1, 3], [1, 2]]), circuit=circuit)[:, -1]
    assert not agree(seen, unseen)


def test_a_later_token_never_changes_an_earlier_position_of_a_model_with_programs():
    """Only causal keys count; training pads on the right and relies on it."""
    model = random_model(tiny_architecture(), programs=PROGRAMS)
    tokens = random_tokens(model.architecture)
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 7
    for circuit in (None, whole(GRAPH)):
        assert torch.equal(model(tokens, circuit=circuit)[:, :-1], model(changed, circuit=circuit)[:, :-1])


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("chosen", SUBSETS)
def test_the_file_layout_names_every_parameter_of_a_model_with_programs_once(chosen, biases):
    """In the order of `tensor_shapes`, and nothing is left for the optimizer that no file keeps."""
    architecture = tiny_architecture(biases=biases)
    model = random_model(architecture, programs=chosen)
    slices = model.named_slices()
    shapes = tensor_shapes(architecture, chosen)
    assert [(name, tuple(view.shape)) for name, view in slices.items()] == list(shapes.items())
    assert sum(view.numel() for view in slices.values()) == sum(p.numel() for p in model.parameters())
    assert all(parameter.numel() for parameter in model.parameters())


def test_a_layer_of_programs_has_no_query_and_no_key():
    """They are gone from the parameters, not frozen or empty."""
    model = random_model(tiny_architecture(), programs={head: PROGRAMS[head] for head in GRAPH.heads_of(0)})
    names = [name for name, _ in model.named_parameters() if "query" in name or "key" in name]
    assert sorted(names) == [f"attentions.1.{role}" for role in ("key", "key_bias", "query", "query_bias")]


def test_neural_heads_keep_their_own_queries_beside_programs():
    """With head 0 a program, the only slice of the queries is head 1's."""
    model = random_model(tiny_architecture(), programs={Head(0, 0): PROGRAMS[Head(0, 0)]})
    slices = model.named_slices()
    assert torch.equal(slices["head.0.1.query.weight"], model.attentions[0].query[0])
    assert torch.equal(slices["head.0.1.key.bias"], model.attentions[0].key_bias[0])


@pytest.mark.parametrize("head", [Head(2, 0), Head(0, 2), Head(-1, 0)], ids=str)
def test_a_program_for_a_head_that_is_not_there_is_refused(head):
    """It would be kept in the file and do nothing."""
    with pytest.raises(DeclarationError, match=f"{head} cannot be a program: there are 2 layers of 2 heads"):
        Transformer(tiny_architecture(), {head: PROGRAMS[Head(0, 0)]})


@pytest.mark.parametrize("condition", ["key_token == 7", "query_token in {1, 7}"])
def test_a_program_that_names_an_unknown_token_is_refused(condition):
    """Its rule could never hold: surely a program of another alphabet."""
    program = parse(f"default 0\nadd 1 when {condition}\notherwise self")
    with pytest.raises(
        DeclarationError, match=r"program of head 0\.1 names token 7, the model's tokens are 0 to 6"
    ):
        Transformer(tiny_architecture(), {Head(0, 1): program})


def test_a_position_beyond_the_context_is_no_unknown_token():
    """Positions are not tokens; a rule about a far one simply never holds."""
    Transformer(
        tiny_architecture(), {Head(0, 1): parse("default 0\nadd 1 when key_position == 99\notherwise self")}
    )


@pytest.mark.parametrize(
    "key",
    [
        "",
        "0",
        "0.",
        "00.1",
        "0.01",
        "-1.0",
        "0.1 ",
        "head 0.1",
        "\N{ARABIC-INDIC DIGIT ZERO}.1",
        f"0.{'9' * 5000}",
    ],
)
def test_a_head_has_one_spelling_as_a_key(key):
    """Two spellings of one head could carry two programs."""
    with pytest.raises(
        InputError, match=r"programs has a key .*, want layer and index of a head such as '0.1'"
    ):
        read_program_heads(Fields({key: []}, "programs"), lambda _: PROGRAMS[Head(0, 0)])


def test_changing_the_given_programs_later_changes_no_model():
    """The model keeps its own."""
    given_programs = dict(PROGRAMS)
    model = random_model(tiny_architecture(), programs=given_programs)
    tokens = random_tokens(model.architecture)
    before = model(tokens)
    given_programs.clear()
    assert model.programs == PROGRAMS
    assert torch.equal(model(tokens), before)


def test_training_goes_through_a_program_head_and_leaves_its_program_alone():
    """Values and outputs learn around fixed attention: the loss falls, the rows stay."""
    model = Transformer(tiny_architecture(), PROGRAMS)
    initialise(model, 0, 0.5)
    tokens = random_tokens(model.architecture, prompts=16)
    value, output = (
        view.detach().clone() for view in (model.attentions[0].value, model.attentions[0].output)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.75 * losses[0]
    assert model.programs == PROGRAMS
    for before, after in ((value, model.attentions[0].value), (output, model.attentions[0].output)):
        assert bool((before != after).flatten(1).any(1).all())


@given(st.sets(st.sampled_from(GRAPH.edges())))
@settings(max_examples=20)
def test_gradients_reach_just_the_program_heads_that_a_circuit_uses(edges):
    """Also where only some heads of a layer are computed."""
    model = random_model(tiny_architecture(), programs=PROGRAMS)
    circuit = circuit_of(GRAPH, edges).live()
    logits = model(random_tokens(model.architecture), circuit=circuit)
    logits.square().sum().backward()
    used = {edge.source for edge in circuit}
    for head in HEADS:
        gradient = model.attentions[head.layer].output.grad
        assert (gradient is not None and bool(gradient[head.index].any())) == (head in used)
