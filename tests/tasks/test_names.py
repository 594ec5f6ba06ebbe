"""What people see of tokens: text with visible blanks, never the spelling of bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import ByteLevel

from circuitproof.tasks.names import TokenNames

SIGNS = ByteLevel.alphabet()
SPELLER = ByteLevel(add_prefix_space=False, use_regex=False)
EVERY_BYTE = dict(enumerate(sorted(SIGNS)))


def spelled(text: str) -> str:
    """Return a text as a byte-level tokenizer spells it."""
    return "".join(piece for piece, _ in SPELLER.pre_tokenize_str(text))


def names_of(*names: str) -> TokenNames:
    """Return names of an alphabet that has every byte too."""
    return TokenNames(EVERY_BYTE | {1000 + place: name for place, name in enumerate(names)})


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(lambda text: "␣" not in text))
def test_a_name_that_spells_bytes_is_shown_as_its_text(text):
    """In every language: bytes of one letter are not shown one by one."""
    shown = names_of(spelled(f" {text}\n")).shown(1000)
    signs = {"⏎": r"\u23ce", "⇥": r"\u21e5", "␍": r"\u240d"}
    assert shown == "␣" + "".join(signs.get(sign, sign) for sign in text) + "⏎"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ġif", "␣if"),
        ("ĊĠĠĠ", "⏎␣␣␣"),
        ("ĉ", "⇥"),
        ("č", "␍"),
        ("Ã©", "é"),
        ("Ã", "<0xC3>"),
        ("ĠÃ", "␣<0xC3>"),
        ("âĲ£", r"\u2423"),
        ("<|endoftext|>", "<|endoftext|>"),
        ("Ā", r"\u0000"),
    ],
)
def test_blanks_line_ends_and_single_bytes_are_seen(name, shown):
    """Whatever a token is, one sees it; a text that has our sign for a blank is not taken for a blank."""
    assert names_of(name).shown(1000) == shown


def test_a_few_names_of_a_claim_are_known_to_spell_bytes():
    """A claim names the tokens of its prompts and no others."""
    names = TokenNames({0: "Ġif", 1: "ĊĠĠĠ", 2: "x", 3: "Ã©"})
    assert [names.shown(token) for token in range(5)] == ["␣if", "⏎␣␣␣", "x", "é", "<4>"]
    assert names.text((0, 2)) == "␣if x"


@pytest.mark.parametrize("words", [("čas", "dům"), ("Ġorġ", "Ċajta"), ("ĉu", "pięć", "Łódź"), ("für", "é")])
def test_words_of_languages_are_not_taken_for_bytes(words):
    """Letters that byte-level encodings use as signs are letters elsewhere."""
    names = TokenNames(dict(enumerate(words)))
    assert [names.shown(token) for token in range(len(words))] == list(words)


def test_names_of_other_alphabets_show_their_blanks_too():
    """A name that is a blank, or nothing, is seen."""
    names = TokenNames({0: " ", 1: "New York", 2: "", 3: "a\nb"})
    assert [names.shown(token) for token in range(4)] == ["␣", "New␣York", "''", "a⏎b"]


def test_what_is_shown_means_the_token_unless_two_are_shown_alike():
    """Nothing that is ambiguous is guessed."""
    names = TokenNames({0: " a", 1: "␣b", 2: "<3>", 4: "x y", 5: "x y"})
    assert names.meant["␣a"] == 0
    assert "x␣y" not in names.meant
    assert set(EVERY_BYTE) == set(TokenNames(EVERY_BYTE).meant.values())


def test_a_stratum_that_is_called_by_a_token_is_shown_as_that():
    """And one that is called by words keeps its words."""
    names = TokenNames({0: "Ġ'", 1: 'Ġ"'})
    assert [names.stratum(name) for name in ("Ġ'", "after a call")] == ["␣'", "after a call"]
