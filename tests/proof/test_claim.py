from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import empty, whole
from circuitproof.circuits.graph import LOGITS, Graph, Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import InputError
from circuitproof.forward.cells import BiasKept
from circuitproof.forward.interface import Interface
from circuitproof.programs.syntax import Otherwise
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from hand_models import ADDED, ADDER, ADDER_TASK, DIRECT, PLAIN, build, circuit_of, freeze, table_task

FROZEN = freeze(build(ADDER))
CIRCUIT = circuit_of(ADDED)
EQUIVALENCE = (Equivalence(),)
SOMETIMES = parse("default 0\nadd 1 when key_token == 3\notherwise nowhere")


def claim(circuit=CIRCUIT, task=ADDER_TASK, properties=EQUIVALENCE, frozen=FROZEN) -> Claim:
    """Return a claim about the adder with some part changed."""
    return Claim(frozen, circuit, task, properties)


def test_parts_that_fit_are_a_claim():
    """The refusals below change one part of this."""
    assert claim().circuit == CIRCUIT


@pytest.mark.parametrize(
    "edges",
    [(), ("embed -> mlp 0",), ("mlp 0 -> logits",), ("embed -> head 0.0", "mlp 0 -> logits")],
    ids=["nothing", "no way out", "no way in", "a gap"],
)
def test_a_circuit_whose_logits_the_prompt_does_not_reach_is_refused(edges):
    """Its decision is the same whatever is asked; claims about it look deep and say nothing."""
    with pytest.raises(
        InputError,
        match="may attend nowhere reaches logits along kept edges",
    ):
        claim(circuit_of(edges))


def test_a_prompt_is_read_along_any_path():
    """The longest path and the shortest; the order of the edges does not matter."""
    path = ("head 0.0 -> mlp 0", "mlp 0 -> logits", "embed -> head 0.0")
    assert reads_prompt(circuit_of(path), {})
    assert reads_prompt(circuit_of(DIRECT), {})
    assert reads_prompt(whole(Graph(3, 2)), {})
    assert not reads_prompt(empty(Graph(3, 2)), {Head(0, 0): SOMETIMES})


def test_a_program_head_reads_its_prompt_without_the_embedding():
    """Whether it attends depends on the tokens, so what it hands on may too."""
    alone, programs = circuit_of(["head 0.0 -> logits"]), {Head(0, 0): SOMETIMES}
    assert reads_prompt(alone, programs)
    assert not reads_prompt(alone, {})
    assert not reads_prompt(circuit_of(["head 0.0 -> mlp 0"]), programs)


@pytest.mark.parametrize("change", [{"otherwise": Otherwise.SELF}, {"default": Fraction(1)}, {"rules": ()}])
def test_a_program_head_that_always_or_never_attends_reads_nothing_by_itself(change):
    """What it hands on is the same for all prompts then."""
    alone, program = circuit_of(["head 0.0 -> logits"]), replace(SOMETIMES, **change)
    assert not reads_prompt(alone, {Head(0, 0): program})
    assert reads_prompt(circuit_of(["embed -> head 0.0", "head 0.0 -> logits"]), {Head(0, 0): program})


@pytest.mark.parametrize(("layers", "heads"), [(2, 1), (1, 2)])
def test_a_circuit_of_another_graph_is_refused(layers, heads):
    """Node names of another model may exist here too and mean something else."""
    other = circuit_of(ADDED, layers=layers, heads=heads)
    with pytest.raises(InputError, match=rf"of {layers} layers of {heads} heads, the model has 1 of 1"):
        claim(other)


def test_no_properties_are_no_claim():
    """Everything would follow from it."""
    with pytest.raises(InputError, match="one or more distinct properties, got none"):
        claim(properties=())


@pytest.mark.parametrize(
    "properties",
    [
        (Equivalence(), Necessity(), Equivalence()),
        (Robustness(Fraction(1)), Robustness(Fraction(2))),
    ],
)
def test_a_property_is_claimed_once(properties):
    """Two entries of a kind would make it unclear which answer is to which."""
    with pytest.raises(InputError, match="one or more distinct properties, got "):
        claim(properties=properties)


def test_a_candidate_outside_the_vocabulary_is_refused():
    """The output embedding has no row for it."""
    task = replace(ADDER_TASK, candidates=(0, 1, 5), alphabet=Alphabet(tuple("abcdef")))
    with pytest.raises(InputError, match="has candidate 5, and the model has outputs 0 to 4 only"):
        claim(task=task)


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": OnlyOpener(((0, 1), (1, 0), (5, 0)))},
        {"relation": SameOpener((0, 1, 5))},
    ],
    ids=["an answer's opener", "a class's opener"],
)
def test_an_opener_outside_the_vocabulary_is_refused(changes):
    """No prompt can hold it, so the rule is another model's."""
    task = replace(table_task({(0,): 1, (1,): 0}), alphabet=Alphabet(tuple("abcdef")))
    with pytest.raises(InputError, match="speaks of token 5, which is not in the model's 5 tokens"):
        claim(task=replace(task, **changes))


def test_a_perturbation_that_reaches_no_prompt_is_refused():
    """That it changes nothing says nothing; one that reaches some is a claim."""
    first = (Robustness(Fraction(1), Interface(positions=(0,))),)
    sentence = "logits input at positions 0 reaches the logits of no prompt; choose positions that are read"
    with pytest.raises(InputError, match=sentence):
        claim(task=table_task({(0, 0): 1, (1, 0): 0}), properties=first)
    some = claim(task=table_task({(0, 0): 1, (1,): 0}), properties=first)
    assert first[0].unreached(some) == 1


def test_lesions_with_a_shared_bias_kept_are_folded_for_necessity_alone():
    """They are no circuits of the claim, so their tensors are not asked for twice."""
    frozen = freeze(build(ADDER, replace(PLAIN, biases=True)))
    circuit = circuit_of(("embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"))
    through = list(circuit)[2]
    found = claim(circuit, frozen=frozen, properties=(Necessity(),)).variants()
    assert found[len(circuit.lesions()) + 1 :] == (BiasKept(circuit.without(through), LOGITS, 0),)
    assert claim(circuit, frozen=frozen).variants() == (circuit,)
    assert claim(circuit, properties=(Necessity(),)).variants() == (circuit, *circuit.lesions())


def test_a_token_outside_the_vocabulary_is_refused():
    """The token embedding has no row for it."""
    task = replace(table_task({(0,): 0, (1,): 1}), alphabet=Alphabet(tuple("abcdef")))
    unknown = replace(task, domain=replace(task.domain, prompts=((0,), (1, 5))))
    with pytest.raises(InputError, match="prompt 1 has token 5, the model's vocabulary is 5"):
        claim(task=unknown)


def test_a_prompt_longer_than_the_context_is_refused():
    """There is no embedding for the positions beyond."""
    with pytest.raises(InputError, match="prompt 1 has 4 tokens, the model's context is 3"):
        claim(task=table_task({(0, 0, 0): 0, (0, 0, 0, 0): 0}))


def test_a_task_that_speaks_of_other_tokens_is_refused():
    """The same numbers with other names make another task; a model without names cannot tell."""
    named = freeze(build(ADDER), Alphabet(tuple("abcdX")))
    with pytest.raises(InputError, match="alphabet is not that of task 'table'"):
        claim(frozen=named)
    assert claim(frozen=freeze(build(ADDER), ADDER_TASK.alphabet)).task is ADDER_TASK


def test_directions_are_the_rows_of_the_output_embedding_in_the_order_of_the_candidates():
    """The same order as the logits of a fold."""
    weights = {**ADDER, "logits.weight": [[1, 0], [0, 0.5], [7, 8], [0, 0], [0, 0]]}
    task = replace(ADDER_TASK, candidates=tuple(reversed(ADDER_TASK.candidates)))
    rows = freeze(build(weights)).unembedding(range(5)).fractions()
    found = claim(task=task, frozen=freeze(build(weights))).directions()
    assert found.rows == tuple(rows[token] for token in task.candidates)
