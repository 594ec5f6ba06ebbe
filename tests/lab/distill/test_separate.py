import numpy as np

from circuitproof.models.operators import Attention
from circuitproof.programs.candidates import Grammar, NamedOperand, words_of
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.text import parse
from circuitproof_lab.distill.attention import AttentionRecord
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.separate import separating_word

PROMPTS = ((1, 9, 5, 6), (1, 5, 9, 6), (1, 6, 5, 9), (1, 9, 6, 6))
GRAMMAR = Grammar(rules=1, features=(Feature.KEY_TOKEN, Feature.KEY_POSITION, Feature.RELATIVE_DISTANCE))
WORDS = words_of(PROMPTS, GRAMMAR)


def setting(text):
    """Return the meanings without words and a record of a head that attends as a program does."""
    prefix_table = PrefixTable(PROMPTS)
    rows = prefix_table.rows(parse(f"default 0\n{text}\notherwise self"))
    weights = (rows / rows.sum(0)).astype(np.float32)
    seen = AttentionRecord(prefix_table, Attention.SPARSEMAX, weights, prefix_table.causal())
    meanings = Meanings(prefix_table, GRAMMAR, seen.support)
    meanings.learn(())
    meanings.grow()
    return meanings, seen


def lacking(text, words=WORDS):
    """Return the word that even attention lacks at the end of the first prompt."""
    meanings, seen = setting(text)
    (even,) = (place for place in range(len(meanings)) if meanings.program(place).rules)
    return separating_word(meanings, seen, even, [PROMPTS[0]], words)


def test_the_token_that_a_head_looks_for_is_found():
    """It stands at different positions, so that no position covers the difference as well."""
    assert lacking("add 1 when key_token == 9") == NamedOperand(WordKind.TOKEN, 9)


def test_the_distance_that_a_head_looks_at_is_found():
    """The same for relative distances."""
    assert lacking("add 1 when relative_distance == 2") == NamedOperand(WordKind.DISTANCE, 2)


def test_the_position_that_a_head_looks_at_is_found():
    """The same for positions; the token at it changes."""
    assert lacking("add 1 when key_position == 2") == NamedOperand(WordKind.POSITION, 2)


def test_the_next_pair_is_asked_when_the_worst_has_no_new_word():
    """Words that are known already are not among those that are offered."""
    others = [word for word in WORDS if word.number in {1, 6}]
    assert lacking("add 1 when key_token == 9", others) in others


def test_without_any_difference_the_first_word_is_taken():
    """So that the search always comes to the end of the language."""
    assert lacking("add 1") == WORDS[0]
