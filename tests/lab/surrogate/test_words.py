import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.errors import DeclarationError, InputError
from circuitproof.lab.surrogate.words import Words, read_words
from circuitproof.text.reading import reading
from surrogate_twin import all_words

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
