"""The question to a solver: is there a word on which an automaton and a surrogate disagree?

The word is symbolic: a truth value for each position and token, so the text grows with the length of the
words and not with their number. The surrogate is computed as always, over terms in the place of numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from circuitproof.solvers.arithmetic import Symbolic
from circuitproof.solvers.assertions import Assertion, AssertionSource
from circuitproof.solvers.queries import clear
from circuitproof.solvers.smtlib import script_text
from circuitproof.solvers.table import TermTable
from circuitproof.solvers.terms import Selector, SmtFormula
from circuitproof_lab.surrogate.network import Network
from circuitproof_lab.surrogate.template import MooreMachine
from circuitproof_lab.surrogate.words import Word, Words

_HEADER = (
    "a word on which a program and a surrogate disagree",
    "sat: they disagree on the word that the tokens spell",
    "unsat: they agree on every word of the domain",
)


def disagreement(automaton: MooreMachine, network: Network) -> str:
    """Return SMT-LIB text that is satisfiable if and only if the two disagree on some word.

    They agree where the answer of the automaton is the only maximal one of the surrogate; a tie disagrees.
    """
    arithmetic, words = Symbolic(), network.shape.words
    terms = arithmetic.log.terms
    tokens = range(len(words.tokens))
    spelled = [[terms.selector(_at(place, token)) for token in tokens] for place in range(words.longest)]
    one, zero = terms.number(Fraction(1)), terms.number(Fraction(0))
    inputs = tuple(terms.choose(token, one, zero) for tokens in spelled for token in tokens)
    (logits,) = arithmetic.sums(network.logits(arithmetic, (inputs,)))
    reached, steps = _run(terms, automaton, spelled)
    differs = terms.any_of(
        terms.all_of((state, terms.negation(clear(terms, logits, answer))))
        for state, answer in zip(reached, automaton.answers, strict=True)
    )
    computed = [assertion for group in arithmetic.log.groups for assertion in group.assertions]
    asserted = [
        Assertion(one, AssertionSource.DECISION) for one in (*_word(terms, words, spelled), *steps, differs)
    ]
    return script_text(_HEADER, (*computed, *asserted))


def symbols(words: Words) -> tuple[str, ...]:
    """Return the names of the truth values that spell the word."""
    return tuple(_at(position, token) for position, token in _spots(words))


def spelled_word(words: Words, values: Mapping[str, object]) -> Word:
    """Return the word that a solver's values spell; a value that it left out may be anything, so false."""
    return tuple(token for position, token in _spots(words) if values.get(_at(position, token)) is True)


def _word(terms: TermTable, words: Words, spelled: Sequence[Sequence[Selector]]) -> Iterator[SmtFormula]:
    """At each position at most one token, none after a position without one, and enough of them."""
    for position, tokens in enumerate(spelled):
        yield from (terms.negation(terms.all_of(pair)) for pair in combinations(tokens, 2))
        present = terms.any_of(tokens)
        if position < words.shortest:
            yield present
        else:
            yield terms.any_of((terms.negation(present), terms.any_of(spelled[position - 1])))


def _run(
    terms: TermTable, automaton: MooreMachine, spelled: Sequence[Sequence[Selector]]
) -> tuple[list[SmtFormula], list[SmtFormula]]:
    """Return for each state that the automaton ends there, and what must hold of it before.

    A state can be true only where it is reached, which is all that a solution claims. The automaton rests
    where the word has ended.
    """
    states = range(len(automaton.steps))
    reached: list[SmtFormula] = [terms.false if state else terms.true for state in states]
    steps: list[SmtFormula] = []
    for position, tokens in enumerate(spelled):
        ended = terms.negation(terms.any_of(tokens))
        sources = [[terms.all_of((reached[state], ended))] for state in states]
        for state in states:
            for token, after in zip(tokens, automaton.steps[state], strict=True):
                sources[after].append(terms.all_of((reached[state], token)))
        reached = [terms.selector(f"state_{position + 1}_{state}") for state in states]
        pairs = zip(reached, sources, strict=True)
        steps += [terms.any_of((terms.negation(state), *parts)) for state, parts in pairs]
    return reached, steps


def _spots(words: Words) -> Iterator[tuple[int, int]]:
    return product(range(words.longest), range(len(words.tokens)))


def _at(position: int, token: int) -> str:
    return f"token_{position}_{token}"
