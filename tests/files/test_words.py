import re

import pytest

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.words import LINE_END, TEXT_END, Lexeme, LexicalRules, Reader

PROGRAM = LexicalRules(r"[a-z]+|[0-9]+(?:/[0-9]+)?|[<=]=|[{}:]", r"[ \t]+|#.*", has_lines=True)


def words(text):
    """Return the words of a text, with the ends of lines."""
    reader, found = Reader(text, "text", PROGRAM), []
    while reader.word.text != TEXT_END:
        found.append(reader.word)
        reader.skip(reader.word.text)
    return found


def test_words_know_their_line_and_column():
    """Counted from 1, as editors do; blanks and comments are no words, and lines without words no lines."""
    assert words("# note\n add 1/2\t<= {3:4}\n\n") == [
        Lexeme("add", 2, 2),
        Lexeme("1/2", 2, 6),
        Lexeme("<=", 2, 10),
        Lexeme("{", 2, 13),
        Lexeme("3", 2, 14),
        Lexeme(":", 2, 15),
        Lexeme("4", 2, 16),
        Lexeme("}", 2, 17),
        Lexeme(LINE_END, 2, 18),
    ]


def test_a_sign_that_no_program_has_is_refused():
    """Before anything else is read."""
    with pytest.raises(
        InputError, match=re.escape("text, line 1, column 3: found '$', want a word, a number")
    ):
        Reader("a $", "text", PROGRAM)


def test_what_contradicts_itself_is_refused_where_it_begins():
    """Data checks itself; only the reader knows where it was written."""
    reader = Reader("one\ntwo", "text", PROGRAM)
    start = reader.word

    def contradict():
        raise DeclarationError("a square circle")

    with pytest.raises(InputError) as caught:
        reader.build(start, contradict)
    assert str(caught.value) == "text, line 1, column 1: a square circle\n  one\n  ^"


def test_a_grammar_without_lines_knows_columns_alone():
    """The end of a line is a blank there."""
    reader = Reader("a\nb", "text", LexicalRules(r"[a-z]", r"\s+", has_lines=False))
    assert reader.skip("a")
    with pytest.raises(InputError, match=r"^text, column 3: found 'b', want 'c'\n  a b\n    \^$"):
        reader.expect("c")
