import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError
from circuitproof.tasks.alphabet import TOY, Alphabet, sparse_alphabet
from strategies import alphabets


@given(alphabets)
def test_names_and_tokens_are_two_ways_to_say_one_thing(alphabet):
    """A token is the index of its name, and back."""
    assert alphabet.tokens(alphabet.names) == tuple(range(len(alphabet)))
    assert all(alphabet.names[alphabet.token(name)] == name for name in alphabet.names)


def test_an_alphabet_has_tokens():
    """A task without tokens has no prompts."""
    with pytest.raises(DeclarationError, match="alphabet: no tokens; name at least one"):
        Alphabet(())


def test_a_name_stands_for_one_token():
    """A name for two tokens would make a readable claim ambiguous."""
    with pytest.raises(DeclarationError, match="the name 'B' stands for two tokens"):
        Alphabet(("A", "B", "C", "B"))


def test_an_unknown_name_is_refused():
    """A misspelt token must not become some token."""
    with pytest.raises(DeclarationError, match="'E' is not a token of this alphabet of 2 tokens"):
        Alphabet(("A", "B")).tokens(["A", "E"])


def test_a_prompt_is_read_by_its_names():
    """Reports show words, not numbers."""
    assert Alphabet(("A", "B")).text((1, 0, 1)) == "B A B"
    assert Alphabet(("A", "B")).text(()) == ""


@pytest.mark.parametrize("token", [-1, 2])
def test_an_unknown_token_has_no_name(token):
    """Python would read -1 as the last token and show a prompt that was never asked."""
    with pytest.raises(DeclarationError, match=f"token {token} is unknown; the alphabet has tokens 0 to 1"):
        Alphabet(("A", "B")).text((0, token))


@given(st.integers(1, 40), st.data())
def test_a_sparse_alphabet_keeps_the_given_names_and_numbers_the_rest(size, data):
    """A vocabulary with holes is still a full table."""
    names = data.draw(st.dictionaries(st.integers(0, size - 1), st.from_regex("[A-Z]{8}", fullmatch=True)))
    if len(set(names.values())) < len(names):
        with pytest.raises(DeclarationError, match="stands for two tokens"):
            sparse_alphabet(size, names)
        return
    alphabet = sparse_alphabet(size, names)
    assert len(alphabet) == size
    assert all(alphabet.token(names.get(token, f"<{token}>")) == token for token in range(size))


@pytest.mark.parametrize("token", [-1, 3])
def test_a_name_outside_the_size_is_refused(token):
    """A name for a token that the model lacks is a mistake in one of the two."""
    with pytest.raises(DeclarationError, match=f"token {token} is named but the alphabet has 3 tokens"):
        sparse_alphabet(3, {0: "A", token: "B"})


def test_a_name_that_looks_like_a_number_of_another_token_is_refused():
    """`<2>` given to token 1 would read as token 2."""
    with pytest.raises(DeclarationError, match="the name '<2>' stands for two tokens"):
        sparse_alphabet(3, {1: "<2>"})


@pytest.mark.parametrize("model", ["norm_free", "band_norm_matched", "program_healed"])
def test_the_toy_alphabet_is_the_one_of_the_public_models(reference, model):
    """Our tasks can be asked of the authors' own models."""
    vocabulary = json.loads((reference / model / "vocab.json").read_text())
    assert len(TOY) == vocabulary["vocab_size"]
    assert {str(TOY.token(name)): name for name in vocabulary["token_names"].values()} == vocabulary[
        "token_names"
    ]
