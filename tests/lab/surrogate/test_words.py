import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.reading import reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.words import Words, read_data, read_words
from surrogate_twin import AB, SMALL, all_words

domains = st.builds(
    lambda size, bounds: Words(Alphabet(tuple("abcd"[:size])), *sorted(bounds)),
    st.integers(1, 4),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
)


@given(domains)
def test_the_words_are_all_words_in_order(words):
    """Shorter ones first, then in token order, each once."""
    expected = all_words(len(words.tokens), words.shortest, words.longest)
    assert list(words) == expected
    assert len(words) == len(expected)


@given(domains)
def test_a_place_and_its_word_are_inverse(words):
    """What is stored by place is found by word."""
    for place, word in enumerate(words):
        assert words.place(word) == place
        assert words.word(place) == word


@given(domains)
def test_a_domain_is_read_back_as_it_was_written(words):
    """Three keys say it all."""
    with reading(words.to_json(), "words") as fields:
        assert read_words(fields) == words


@pytest.mark.parametrize(("shortest", "longest"), [(2, 1), (0, 0), (0, 3)])
def test_an_empty_domain_is_refused(shortest, longest):
    """Nothing can be proved about no words; the empty word is none either."""
    with pytest.raises(DeclarationError, match="leave an empty domain, about which nothing can be proved"):
        Words(Alphabet(("a",)), shortest, longest)


@pytest.mark.parametrize("word", [(), (0, 0, 0), (2,), (-1,)])
def test_a_word_outside_the_domain_has_no_place(word):
    """Too short, too long, or of unknown tokens."""
    words = Words(Alphabet(("a", "b")), 1, 2)
    assert word not in words
    with pytest.raises(DeclarationError, match="not in the domain"):
        words.place(word)


def test_a_domain_too_large_to_list_is_counted_but_not_walked():
    """It can still be asked about symbolically."""
    words = Words(Alphabet(("a", "b", "c")), 1, 30)
    assert len(words) == (3**31 - 3) // 2
    assert not words.is_listable
    with pytest.raises(InputError, match="308836698141972 words, at most 200000 can be listed"):
        next(iter(words))


def read_listed(content, words=SMALL):
    """Read data from a recipe's table."""
    with reading(content, "data") as fields:
        return read_data(fields, words)


def test_short_words_are_data():
    """Every one up to the length."""
    assert read_listed({"kind": "short", "longest": 1}) == ((0,), (1,))


def test_words_with_at_most_one_of_some_tokens_are_data():
    """As prompts with one quotation mark are."""
    words = Words(AB, 1, 3)
    assert read_listed({"kind": "at most one", "tokens": ["b"]}, words) == tuple(
        w for w in words if sum(w) <= 1
    )


def test_listed_words_are_data():
    """Each once, in the order of the list."""
    assert read_listed({"kind": "listed", "words": ["b a", "a", "b a"]}) == ((1, 0), (0,))


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
        read_listed(content)


def test_data_shorter_than_the_domain_is_none():
    """The shortest word is longer."""
    with pytest.raises(InputError, match="no data"):
        read_listed({"kind": "short", "longest": 1}, Words(AB, 2, 3))
