"""Small teachers, networks and recipes, and the slow obvious twin of the templates: plain functions on words.

The twin shares no code with the product: a program is a Python function from a word to an answer, and a
template is the list of all of them.
"""

import json
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from pathlib import Path

from hypothesis import strategies as st

from circuitproof.arithmetic.grid import grid_of_fractions
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.machines import TEMPLATES
from circuitproof_lab.surrogate.network import Layer, Network, NetworkShape
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.synthesis import Oracle
from circuitproof_lab.surrogate.template import FilledTemplate, Signature
from circuitproof_lab.surrogate.words import Words

AB = Alphabet(("a", "b"))
NO_YES = Alphabet(("no", "yes"))
SMALL = Words(AB, 1, 4)
SMALL_SIGNATURE = Signature(Words(AB, 1, 4), NO_YES)


def all_words(tokens: int, shortest: int, longest: int) -> list[tuple[int, ...]]:
    """Return every word, shorter ones first."""
    return [w for n in range(shortest, longest + 1) for w in product(range(tokens), repeat=n)]


def relation_of(name, words, answers, decide) -> Relation:
    """Return what a callable answers on every word of a domain."""
    return Relation(name, words, answers, tuple(decide(word) for word in words))


def count_programs(template, signature) -> int:
    """Return in how many ways the holes of a template can be filled."""
    return prod(map(len, template.holes(signature).values()))


def automaton_teacher(steps, answers, words=SMALL, names=NO_YES) -> Relation:
    """Return the relation of a machine given by its table of steps and its answers."""

    def decide(word):
        state = 0
        for token in word:
            state = steps[state][token]
        return answers[state]

    return relation_of("machine", words, names, decide)


def oracle_of(relation: Relation) -> Oracle:
    """Return the oracle of agreeing with a relation on every word, asked one by one."""
    words = relation.words

    def oracle(program):
        return next((w for w in words if program.automaton.answer(w) != relation.answer(w)), None)

    return oracle


@st.composite
def random_teachers(draw, most_states=3):
    """Draw the relation of a random machine over two tokens and two answers."""
    states = draw(st.integers(1, most_states))
    state = st.integers(0, states - 1)
    steps = draw(st.lists(st.tuples(state, state), min_size=states, max_size=states))
    answers = draw(st.lists(st.integers(0, 1), min_size=states, max_size=states))
    return automaton_teacher(steps, answers)


@st.composite
def programs(draw, signature=SMALL_SIGNATURE, templates=TEMPLATES):
    """Draw a program of any template."""
    template = draw(st.sampled_from([t for t in templates if all(t.holes(signature).values())]))
    holes = template.holes(signature)
    return FilledTemplate(template, signature, {hole: draw(st.sampled_from(c)) for hole, c in holes.items()})


def twin_meanings(name: str, tokens: int, answers: int, words) -> set[tuple[int, ...]]:
    """Return every function on `words` that a program of the named template computes."""
    longest = max(map(len, words))
    kind, _, number = name.partition(" ")
    makers = {
        "constant": lambda: ((lambda _, a=a: a) for a in range(answers)),
        "last": lambda: _predicates(tokens, answers, lambda word, inside: word[-1] in inside),
        "first": lambda: _predicates(tokens, answers, lambda word, inside: word[0] in inside),
        "ever": lambda: _predicates(tokens, answers, lambda word, inside: not inside.isdisjoint(word)),
        "toggle": lambda: _predicates(
            tokens, answers, lambda word, inside: sum(t in inside for t in word) % 2 == 1
        ),
        "counter": lambda: _counters(tokens, answers, longest, int(number)),
        "latest": lambda: _latest(tokens, answers),
        "memory": lambda: _memories(tokens, answers),
        "toggles": lambda: _toggles(tokens, answers),
        "machine": lambda: _machines(tokens, answers, int(number)),
    }
    return {tuple(program(word) for word in words) for program in makers[kind]()}


def _subsets(tokens):
    for bits in product((False, True), repeat=tokens):
        yield frozenset(token for token, is_in in enumerate(bits) if is_in)


def _predicates(tokens, answers, holds):
    for inside in _subsets(tokens):
        for pair in product(range(answers), repeat=2):
            yield lambda word, inside=inside, pair=pair: pair[bool(holds(word, inside))]


def _counters(tokens, answers, longest, count):
    moves = (lambda c: c, lambda c: c + 1, lambda c: max(0, c - 1), lambda _: 0)
    rising = [c for c in product(range(1, longest + 1), repeat=count) if list(c) == sorted(set(c))]
    for chosen in product(moves, repeat=tokens):
        for levels in product(range(answers), repeat=count + 1):
            for least in rising:
                yield lambda word, chosen=chosen, levels=levels, least=least: levels[
                    sum(_folded(word, chosen) >= bound for bound in least)
                ]


def _folded(word, moves):
    count = 0
    for token in word:
        count = moves[token](count)
    return count


def _latest(tokens, answers):
    for watched in _subsets(tokens):
        for table in product(range(answers), repeat=tokens + 1):
            yield lambda word, watched=watched, table=table: table[
                next((token for token in reversed(word) if token in watched), tokens)
            ]


def _memories(tokens, answers):
    for watched in _subsets(tokens):
        for same, other in product(("keep", "forget"), ("keep", "replace", "forget")):
            for table in product(range(answers), repeat=tokens + 1):
                yield lambda word, rule=(watched, same, other), table=table: table[_held(word, tokens, *rule)]


def _held(word, empty, watched, same, other):
    held = empty
    for token in word:
        if token not in watched:
            continue
        rule = "replace" if held == empty else same if token == held else other
        held = {"keep": held, "replace": token, "forget": empty}[rule]
    return held


def _toggles(tokens, answers):
    for one, other, guarded in product(_subsets(tokens), _subsets(tokens), (False, True)):
        for table in product(range(answers), repeat=4):
            yield lambda word, rule=(one, other, guarded), table=table: table[_bits(word, *rule)]


def _bits(word, one, other, guarded):
    first = second = 0
    for token in word:
        flips = (token in one and not (guarded and second), token in other and not (guarded and first))
        first, second = first ^ flips[0], second ^ flips[1]
    return 2 * first + second


def _machines(tokens, answers, states):
    for steps in product(product(range(states), repeat=tokens), repeat=states):
        for table in product(range(answers), repeat=states):

            def program(word, steps=steps, table=table):
                state = 0
                for token in word:
                    state = steps[state][token]
                return table[state]

            yield program


def network_of(words: Words, answers: Alphabet, *layers) -> Network:
    """Return a network of given layers, each a matrix and a bias of numbers."""
    exact = [
        Layer(
            grid_of_fractions([[Fraction(w) for w in row] for row in weight], len(weight[0])),
            grid_of_fractions([[Fraction(b) for b in bias]], len(bias)),
        )
        for weight, bias in layers
    ]
    return Network(NetworkShape(words, answers, tuple(len(bias) for _, bias in layers[:-1])), tuple(exact))


@st.composite
def networks(draw, words=SMALL, answers=NO_YES, width=2):
    """Draw a network with one hidden layer of small weights, ties not unlikely."""
    numbers = st.integers(-2, 2) | st.sampled_from([Fraction(1, 2), Fraction(-3, 4)])
    sizes = (words.longest * len(words.tokens), width, len(answers))

    def matrix(out, into):
        return draw(st.lists(st.lists(numbers, min_size=into, max_size=into), min_size=out, max_size=out))

    layers = [(matrix(o, i), matrix(1, o)[0]) for i, o in pairwise(sizes)]
    return network_of(words, answers, *layers)


def table_json(relation: Relation) -> dict:
    """Return a relation as somebody else might write it down: without saying how it is known."""
    return {key: value for key, value in relation.to_json().items() if key != "basis"}


RECIPE = """
name = "tables"
seed = 3
solvers = ["z3", "cvc5"]
seconds = 20

[[studies]]
name = "machine"
tokens = ["a", "b"]
answers = ["no", "yes"]
shortest = 1
longest = 4
data = { kind = "short", longest = 2 }
surrogate = { hidden = [12], steps = 2000, learning_rate = 0.02, attempts = 5 }
teacher = { kind = "table", path = "teacher.json" }
"""
"""A study of a table over two tokens."""


def write_table_recipe(folder: Path, table: object, changes: dict[str, str] | None = None) -> Path:
    """Write a recipe and the table it names into a folder, with some text of the recipe replaced."""
    text = RECIPE
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "teacher.json").write_text(json.dumps(table))
    (folder / "recipe.toml").write_text(text)
    return folder / "recipe.toml"
