import itertools
from dataclasses import replace
from functools import cache

import pytest

from circuitproof.circuits.circuit import empty
from circuitproof.circuits.graph import LOGITS, Edge, Head
from circuitproof.errors import DeclarationError
from circuitproof.programs.text import parse
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.fold import fold
from circuitproof.proof.patterns import tables as module
from circuitproof.proof.patterns.outline import outline
from circuitproof.proof.patterns.regions import Missing, UnsettledError
from circuitproof.proof.patterns.tables import Function, PairBinding, Tables
from hand_models import freeze
from models import random_model
from pattern_claims import SIZES, random_claim

CANDIDATES = (0, 1, 2)
PAIRS = [(token, position) for token in (0, 2, 5) for position in (0, 1, 3)]
ATOMS = [(position, (0, 2, 5)) for position in (0, 1, 3)]
NOWHERE = parse("default 0\notherwise nowhere")
SEEDS = (0, 1, 2, 4, 33)


@cache
def looking(seed, program):
    """Return a random model in which every head runs one program."""
    return freeze(random_model(SIZES, seed, dict.fromkeys(random_claim(seed).frozen.programs, program)))


def single(seed, pace=UNHURRIED):
    """Return the functions of one coordinate of a random circuit; its programs do not matter here."""
    circuit = random_claim(seed).circuit
    frozen = looking(seed, NOWHERE)
    try:
        found = outline(circuit, frozen.programs, has_norm=False)
    except UnsettledError:
        return None, []
    made = Tables(frozen, CANDIDATES, found, pace)
    groups = [group for group in found.groups if len(group.coordinates) == 1]
    return made, [Function(g, *g.coordinates, None, found.is_separable(g)) for g in groups]


def slow(seed, outlined, function, token, position):
    """Return what a pair contributes: logits of the group's own circuit, less those of nothing and biases."""
    circuit, sources = outlined.circuit, function.group.sources
    above = set(circuit.upstream(sources))
    own = {edge for edge in circuit.edges if edge.target in above} | {Edge(s, LOGITS) for s in sources}
    biases = {Edge(source, LOGITS) for source in sources if isinstance(source, Head)}
    prompt = (*(1,) * position, token)
    if function.coordinate is not None:
        prompt = (*prompt, 4)
    program = parse(f"default 0\nadd 1 when key_position == {position}\notherwise nowhere")
    parts = [(program, own), (NOWHERE, biases)]
    (logits, rest) = (
        fold(looking(seed, one), CANDIDATES, [made], [prompt]).of(made)[0].logits
        for one, made in ((one, replace(circuit, edges=frozenset(edges))) for one, edges in parts)
    )
    return tuple(a - b for a, b in zip(logits, rest, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_is_what_a_token_at_a_position_brings_to_the_logits(seed):
    """Of the last position, or of a key that a head attends to alone."""
    made, functions = single(seed)
    for function in functions:
        made.prepare(function, ATOMS)
        for token, position in PAIRS:
            found = made.at(function, token, position)
            assert found == slow(seed, made.outline, function, token, position)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_separable_function_is_the_sum_of_its_parts(seed):
    """Tokens and positions apart give what pairs give."""
    made, functions = single(seed)
    for function in functions:
        if function.is_separable:
            joint = replace(function, is_separable=False)
            made.prepare(function, ATOMS)
            made.prepare(joint, ATOMS)
            tokens, places = made.parts(function)
            for token, place in PAIRS:
                assert made.at(function, token, place) == made.at(joint, token, place)
                both = zip(tokens[token], places[place], strict=True)
                assert made.at(joint, token, place) == tuple(a + b for a, b in both)


def test_functions_of_all_kinds_were_met():
    """So that the laws above say something about each."""
    found = [function for seed in SEEDS for function in single(seed)[1]]
    assert {function.is_separable for function in found} == {False, True}
    assert {type(function.coordinate) for function in found} == {Head, type(None)}
    assert any(function.group.bent for function in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_is_computed_once_and_its_token_is_remembered(seed):
    """However often it is needed."""
    made, functions = single(seed)
    for function in functions:
        made.prepare(function, ATOMS[:1])
        before = made.evaluations
        made.prepare(function, ATOMS[:1])
        assert made.evaluations - before <= function.is_separable
        assert made.tokens() >= {0, 2, 5}


def test_values_do_not_depend_on_how_many_are_computed_at_a_time(monkeypatch):
    """Large tables are computed in parts."""
    (one, functions), (other, _) = single(0), single(0)
    function = replace(functions[0], is_separable=False)
    one.prepare(function, ATOMS)
    monkeypatch.setattr(module, "_CHUNK", 1)
    other.prepare(function, ATOMS)
    assert [one.at(function, *pair) for pair in PAIRS] == [other.at(function, *pair) for pair in PAIRS]


def test_too_many_pairs_are_not_computed(monkeypatch):
    """The region is then left to other arguments."""
    monkeypatch.setattr(module, "_MOST_PAIRS", 8)
    made, functions = single(0)
    with pytest.raises(UnsettledError, match="would have to be computed at 9 tokens and positions") as caught:
        made.prepare(replace(functions[0], is_separable=False), ATOMS)
    assert caught.value.missing is Missing.STRUCTURE


def test_large_tables_are_told_of_and_end_between_two_batches(monkeypatch):
    """A value is computed or it is not: what was known before is not lost, nothing is half known."""
    monkeypatch.setattr(module, "_CHUNK", 1)
    heard, ticks = [], itertools.count()
    made, functions = single(0, Pace(5, ticks.__next__, lambda *told: heard.append(told)))
    function = replace(functions[0], is_separable=False)
    made.prepare(function, ATOMS[:1])
    known = [made.at(function, token, 0) for token in (0, 2, 5)]
    with pytest.raises(UnsettledError, match="the work was ended first"):
        made.prepare(function, ATOMS)
    assert {one[0] for one in heard} == {"tokens and places, in batches"}
    assert [one[1:] for one in heard] == [(0, 3), (1, 3), (2, 3), (3, 3), (0, 6), (1, 6), (2, 6)]
    assert [made.at(function, token, 0) for token in (0, 2, 5)] == known
    with pytest.raises(KeyError):
        made.at(function, 0, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_fixed_has_the_logits_of_the_empty_circuit_and_the_shared_biases(seed):
    """Heads that attend nowhere and read nothing bring just these."""
    made, _ = single(seed)
    if made is not None:
        circuit = made.outline.circuit
        heads = {Edge(one, LOGITS) for one in circuit.sources(LOGITS) if isinstance(one, Head)}
        bare = replace(empty(circuit.graph), edges=frozenset(heads))
        assert (
            made.fixed([], None)
            == fold(looking(seed, NOWHERE), CANDIDATES, [bare], [(0,)]).of(bare)[0].logits
        )


def test_pairs_know_nothing_of_neural_heads():
    """A neural head reads every token, which no pair stands for."""
    with pytest.raises(DeclarationError, match="a neural head reads more than"):
        PairBinding().keys(((0, 0), None))
