from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, OverdueError
from circuitproof.programs.atoms import Brackets
from circuitproof.programs.candidates import Grammar, Language, NamedOperand, simplicity, words_of
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Otherwise, Pick
from circuitproof.proof.effort import Pace
from circuitproof_lab.distill.meanings import Meanings, meaning_name, overlaps
from circuitproof_lab.distill.prefix_table import PrefixTable
from floats import agree
from program_strategies import all_programs

grammars = st.builds(
    Grammar,
    rules=st.integers(1, 3),
    conditions=st.integers(1, 2),
    alternatives=st.integers(1, 2),
    members=st.integers(1, 2),
    features=st.lists(st.sampled_from(Feature), min_size=1, max_size=2, unique=True).map(tuple),
    picks=st.lists(st.sampled_from(Pick), max_size=1).map(tuple),
    brackets=st.sampled_from([(), (Brackets(((0, 1),)),)]),
    weights=st.sampled_from([(Fraction(1),), (Fraction(1), Fraction(3, 2)), (Fraction(2), Fraction(4))]),
    otherwise=st.sampled_from([(Otherwise.SELF,), tuple(Otherwise), (Otherwise.NOWHERE,)]),
)
prompts = st.lists(st.integers(0, 2), min_size=1, max_size=4).map(tuple)
prefix_tables = st.lists(prompts, min_size=1, max_size=3).map(lambda drawn: PrefixTable(tuple(drawn)))


def walked(prefix_table, grammar, words):
    """Return the meanings of a language, all words learnt at once."""
    meanings = Meanings(prefix_table, grammar, prefix_table.own())
    meanings.learn(words)
    meanings.grow()
    return meanings


@settings(max_examples=15)
@given(prefix_tables, grammars, st.data())
def test_the_meanings_are_those_of_every_program_listed_one_by_one(prefix_table, grammar, data):
    """The twin lists every program and asks the exact meaning of each; the simplest of a meaning is kept."""
    words = data.draw(
        st.lists(st.sampled_from(words_of(prefix_table.prompts, grammar) or (None,)), max_size=2)
    )
    language = Language(grammar, tuple(dict.fromkeys(word for word in words if word is not None)))
    if language.program_count() > 4000:
        return
    simplest: dict[bytes, int] = {}
    for program in all_programs(language):
        name = meaning_name(prefix_table.rows(program))
        cost = sum(map(simplicity, program.rules))
        simplest[name] = min(cost, simplest.get(name, cost))
    meanings = walked(prefix_table, grammar, language.words)
    found = {meaning_name(rows): place for place, rows in enumerate(meanings.rows(range(len(meanings))))}
    assert found.keys() == simplest.keys()
    for name, place in found.items():
        program = meanings.program(place)
        assert meaning_name(prefix_table.rows(program)) == name
        assert sum(map(simplicity, program.rules)) == simplest[name]
    assert meanings.language == language


@settings(max_examples=20)
@given(prefix_tables, grammars, st.randoms(use_true_random=False))
def test_words_may_come_one_by_one_in_any_order(prefix_table, grammar, random):
    """Guided search ends with the same list of meanings as a search that knows all words."""
    words = list(words_of(prefix_table.prompts, grammar))[:3]
    if Language(grammar, tuple(words)).program_count() > 200_000:
        return
    together = walked(prefix_table, grammar, words)
    random.shuffle(words)
    one_by_one = Meanings(prefix_table, grammar, prefix_table.own())
    formed = one_by_one.learn(())
    seen = [*one_by_one.grow()]
    for word in words:
        formed += one_by_one.learn([word])
        seen += one_by_one.grow()
    assert one_by_one.digest == together.digest
    assert seen == [*range(len(together))]
    assert formed >= len(together)


def test_overlaps_are_means_over_queries_of_intersection_over_union():
    """Worked out by hand: a query that two prompts share counts twice."""
    prefix_table = PrefixTable(((7, 8), (7, 9)))
    target = prefix_table.own()
    rows = np.array([prefix_table.causal(), prefix_table.own(), prefix_table.nothing()])
    assert agree(overlaps(rows, target, prefix_table.queries), [3 / 4, 1, 0])
    assert overlaps(rows[2:], prefix_table.nothing(), prefix_table.queries) == [1]


def test_ranks_put_overlap_first_and_simplicity_second():
    """Of the programs that attend to themselves alone the one without rules is simplest."""
    prefix_table = PrefixTable(((7, 8),))
    grammar = Grammar(rules=1, features=(Feature.RELATIVE_DISTANCE,))
    meanings = walked(prefix_table, grammar, [NamedOperand(WordKind.DISTANCE, 0)])
    best = min(range(len(meanings)), key=meanings.rank)
    assert meanings.overlaps[best] == 1
    assert meanings.program(best).rules == ()


def test_weights_that_do_not_fit_a_byte_are_refused():
    """Sums of weights are counted in bytes."""
    with pytest.raises(DeclarationError, match="want fewer rules or coarser weights"):
        Meanings(PrefixTable(((7,),)), Grammar(rules=2, weights=(Fraction(128),)), PrefixTable(((7,),)).own())


def test_forming_programs_is_told_and_ends_with_its_time():
    """A large language is not formed in silence, and not beyond the end."""
    prefix_table, heard = PrefixTable(((0, 1, 2), (1, 0))), []
    meanings = Meanings(prefix_table, Grammar(rules=2), prefix_table.own())
    formed = meanings.learn(words_of(prefix_table.prompts, meanings.grammar))
    meanings.grow(Pace(hear=lambda what, done, total: heard.append((what, done, total))))
    assert heard[-1] == ("programs formed", formed, formed)
    late = Meanings(prefix_table, Grammar(rules=2), prefix_table.own())
    late.learn(words_of(prefix_table.prompts, late.grammar))
    with pytest.raises(OverdueError, match="the work was ended while programs were formed"):
        late.grow(Pace(deadline=0))
