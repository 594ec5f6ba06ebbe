import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.openers import opener_task

LETTERS = "ABCDEF"
ALPHABET = Alphabet(("<BOS>", "<ASK>", *LETTERS, "(", "[", "<", ")", "]", ">"))
CLOSERS = {"(": ")", "[": "]", "<": ">"}


@given(st.sets(st.sampled_from(LETTERS), min_size=1), st.sets(st.sampled_from(sorted(CLOSERS)), min_size=2))
def test_every_filler_stands_in_every_place_beside_every_opener(fillers, openers):
    """The domain is the whole product: nothing is sampled."""
    task = opener_task("pairs", ALPHABET, {opener: CLOSERS[opener] for opener in openers}, "<ASK>", fillers)
    expected = {
        f"<BOS> <ASK> {first} {opener} {second} {third}"
        for opener in openers
        for first in fillers
        for second in fillers
        for third in fillers
    }
    assert {ALPHABET.text(prompt) for prompt in task.domain.prompts} == expected
    assert len(task.domain) == len(expected)


@given(st.sets(st.sampled_from(LETTERS), min_size=1))
def test_answer_class_and_stratum_follow_the_opener(fillers):
    """The opener stands at position 3, and nothing else may matter."""
    task = opener_task("pairs", ALPHABET, CLOSERS, "<ASK>", fillers)
    openers = [ALPHABET.names[prompt[3]] for prompt in task.domain.prompts]
    assert list(task.domain.strata) == openers
    assert ALPHABET.text(task.answers()) == " ".join(CLOSERS[opener] for opener in openers)
    assert [len(members) for members in task.classes()] == [len(fillers) ** 3] * 3
    assert all(len({openers[index] for index in members}) == 1 for members in task.classes())


def test_two_openers_may_share_an_answer():
    """GPT-2 has two tokens for each kind of quote; a candidate is listed once all the same."""
    task = opener_task("shared", ALPHABET, {"(": ")", "<": ")", "[": "]"}, "<ASK>", "A")
    assert task.candidates == ALPHABET.tokens(")]")
    assert len(task.classes()) == 3


def test_a_filler_that_opens_is_refused():
    """With two openers in a prompt there is no right answer."""
    with pytest.raises(DeclarationError, match="has 2 declared openers"):
        opener_task("pairs", ALPHABET, CLOSERS, "<ASK>", "A(")


def test_a_task_without_fillers_has_no_prompts():
    """An empty product is an empty domain."""
    with pytest.raises(DeclarationError, match="no prompts"):
        opener_task("pairs", ALPHABET, CLOSERS, "<ASK>", "")


@pytest.mark.parametrize(("marker", "fillers", "name"), [("<NO>", "A", "<NO>"), ("<ASK>", "AZ", "Z")])
def test_an_unknown_name_is_refused(marker, fillers, name):
    """Names come from the alphabet and from nowhere else."""
    with pytest.raises(DeclarationError, match=f"'{name}' is not a token"):
        opener_task("pairs", ALPHABET, CLOSERS, marker, fillers)
