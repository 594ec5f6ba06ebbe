import pytest

from circuitproof.errors import InputError
from circuitproof.lab.surrogate.data import read_data
from circuitproof.lab.surrogate.words import Words
from circuitproof.text.reading import reading
from surrogate_twin import AB, SMALL


def read(content, words=SMALL):
    """Read data from a recipe's table."""
    with reading(content, "data") as fields:
        return read_data(fields, words)


def test_short_words_are_data():
    """Every one up to the length."""
    assert read({"kind": "short", "longest": 1}) == ((0,), (1,))


def test_words_with_at_most_one_of_some_tokens_are_data():
    """As prompts with one quotation mark are."""
    words = Words(AB, 1, 3)
    assert read({"kind": "at most one", "tokens": ["b"]}, words) == tuple(w for w in words if sum(w) <= 1)


def test_listed_words_are_data():
    """Each once, in the order of the list."""
    assert read({"kind": "listed", "words": ["b a", "a", "b a"]}) == ((1, 0), (0,))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"kind": "listed", "words": []}, "data leaves no data to fit an explanation to"),
        ({"kind": "listed", "words": ["a c"]}, r"data.words: 'a c': 'c' is not one of the tokens"),
        ({"kind": "listed", "words": ["a a a a a"]}, "has 5 tokens, want 1 to 4"),
        ({"kind": "at most one", "tokens": ["c"]}, "data.tokens: 'c' is not one of the tokens"),
        ({"kind": "random"}, "data.kind is 'random', want one of 'short'"),
    ],
)
def test_data_outside_the_domain_or_none_at_all_is_refused(content, sentence):
    """An agreement of 0 out of 0 says nothing."""
    with pytest.raises(InputError, match=sentence):
        read(content)


def test_data_shorter_than_the_domain_is_none():
    """The shortest word is longer."""
    with pytest.raises(InputError, match="no data"):
        read({"kind": "short", "longest": 1}, Words(AB, 2, 3))
