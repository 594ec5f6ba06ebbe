"""What Hypothesis draws: the declarations of this project, each valid by construction."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Graph
from circuitproof.models.architecture import Architecture
from circuitproof.models.operators import (
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Relu,
)
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable, OnlyOpener, SameOpener
from circuitproof.tasks.task import Task

sizes = st.integers(1, 2000)
positive_rationals = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)
positive_float32s = st.floats(0, width=32, exclude_min=True, allow_infinity=False).map(Fraction)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
"""JSON without floats: what has canonical bytes."""

norms = st.one_of(
    st.just(NoNorm()),
    positive_rationals.map(LayerNorm),
    st.tuples(positive_rationals, positive_rationals, st.sampled_from(Lift)).map(
        lambda drawn: BandNorm(min(drawn[:2]), max(drawn[:2]), drawn[2])
    ),
)
activations = st.one_of(
    st.sampled_from(GeluForm).map(Gelu),
    st.just(Relu()),
    st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6)).map(LeakyRelu),
)


def architectures(size=sizes):
    """Draw an architecture whose sizes come from `size`."""
    plain = st.builds(
        Architecture,
        vocabulary=size,
        context=size,
        layers=st.integers(1, 100) if size is sizes else size,
        heads=st.integers(1, 100) if size is sizes else size,
        width=size.map(lambda drawn: max(drawn, 2)),
        head_width=size,
        mlp_width=size,
        norm=norms,
        attention=st.sampled_from(Attention),
        attention_scale=positive_float32s,
        activation=activations,
        tied=st.booleans(),
        biases=st.booleans(),
        logit_bias=st.booleans(),
        parallel=st.booleans(),
    )
    return st.one_of(plain, plain.flatmap(_rotated))


def _rotated(architecture: Architecture):
    """Draw the same architecture with rotary positions, where its heads have two coordinates."""
    pairs = architecture.head_width // 2
    return st.sampled_from(range(min(pairs, 1), pairs + 1)).map(
        lambda half: replace(architecture, rotary=2 * half or None)
    )


small_architectures = architectures(st.integers(1, 4))

graphs = st.builds(Graph, st.integers(1, 3), st.integers(1, 3), is_parallel=st.booleans())


def circuits_in(graph: Graph):
    """Draw a circuit of `graph`."""
    return st.frozensets(st.sampled_from(graph.edges())).map(lambda edges: Circuit(graph, edges))


circuits = graphs.flatmap(circuits_in)


def alike_circuits(count: int):
    """Draw `count` circuits of one graph."""
    return graphs.flatmap(lambda graph: st.tuples(*[circuits_in(graph)] * count))


alphabets = st.lists(st.text(max_size=3), min_size=2, max_size=8, unique=True).map(
    lambda names: Alphabet(tuple(names))
)


gpt2_tokens = st.integers(0, 50_256)


@st.composite
def domains(draw, tokens=gpt2_tokens):
    """Draw a domain of a few prompts made of `tokens`."""
    prompt = st.lists(tokens, min_size=1, max_size=6).map(tuple)
    prompts = draw(st.lists(prompt, min_size=1, max_size=8, unique=True))
    strata = draw(st.lists(st.text(max_size=3), min_size=len(prompts), max_size=len(prompts)))
    return Domain(tuple(prompts), tuple(strata))


@st.composite
def table_tasks(draw):
    """Draw a task whose answers and classes are tables."""
    alphabet = draw(alphabets)
    tokens = st.integers(0, len(alphabet) - 1)
    domain = draw(domains(tokens))
    candidates = draw(st.lists(tokens, min_size=2, unique=True))
    count = len(domain)
    return Task(
        name=draw(st.text()),
        alphabet=alphabet,
        candidates=tuple(candidates),
        domain=domain,
        answer=AnswerTable(
            tuple(draw(st.lists(st.sampled_from(candidates), min_size=count, max_size=count)))
        ),
        relation=ClassTable(tuple(draw(st.lists(st.integers(), min_size=count, max_size=count)))),
    )


@st.composite
def opener_tasks(draw):
    """Draw a task whose answers and classes follow from the only opener of each prompt."""
    size = draw(st.integers(3, 8))
    openers = draw(st.lists(st.integers(0, size - 2), min_size=1, max_size=size - 2, unique=True))
    fillers = st.sampled_from([token for token in range(size) if token not in openers])
    prompts = st.builds(
        lambda before, opener, after: (*before, opener, *after),
        st.lists(fillers, max_size=3),
        st.sampled_from(openers),
        st.lists(fillers, max_size=3),
    )
    drawn = draw(st.lists(prompts, min_size=1, max_size=8, unique=True))
    answers = draw(st.lists(st.integers(0, size - 1), min_size=len(openers), max_size=len(openers)))
    return Task(
        name=draw(st.text()),
        alphabet=Alphabet(tuple(f"token {token}" for token in range(size))),
        candidates=tuple(range(size)),
        domain=Domain(tuple(drawn), ("only",) * len(drawn)),
        answer=OnlyOpener(tuple(zip(openers, answers, strict=True))),
        relation=SameOpener(tuple(openers)),
    )


tasks = table_tasks() | opener_tasks()
