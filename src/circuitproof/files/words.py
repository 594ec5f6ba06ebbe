"""The words of a text with their places, and sentences that point at them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from circuitproof.errors import DeclarationError, InputError

LINE_END = "\n"
TEXT_END = ""

_SHOWN = {LINE_END: "the end of the line", TEXT_END: "the end of the text"}
_REACH = 48
"""How much of a line is shown on either side of a mistake."""

Choice = TypeVar("Choice", bound=StrEnum)
Built = TypeVar("Built")


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A word, number or sign of a text with its line and column, counted from 1."""

    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class LexicalRules:
    """What is a word of a text, what stands between words, and whether the ends of lines are words too."""

    words: str
    blanks: str
    has_lines: bool


class Reader:
    """Walks over the words of a text and refuses what is not wanted, naming the place."""

    def __init__(self, text: str, where: str, grammar: LexicalRules) -> None:
        self._lines = text.split("\n") if grammar.has_lines else [text]
        self._grammar = grammar
        self._where = where
        self._place = 0
        self._words = tuple(self._split())

    @property
    def word(self) -> Lexeme:
        return self._words[self._place]

    def skip(self, text: str) -> bool:
        """Step over `text` if it comes next, and say whether it did."""
        found = self.word.text == text
        if found:
            self._place += 1
        return found

    def expect(self, text: str, wanted: str = "") -> None:
        """Step over `text`, which must come next."""
        if not self.skip(text):
            raise self.unwanted(wanted or _show(text))

    def choice(self, choices: type[Choice]) -> Choice:
        """Step over the name of a member of `choices`."""
        return choices(self.one_of(choices, "one of " + ", ".join(choices)))

    def one_of(self, texts: Iterable[str], wanted: str) -> str:
        """Step over one of `texts`."""
        text = self.word.text
        if text not in tuple(texts):
            raise self.unwanted(wanted)
        self._place += 1
        return text

    def matching(self, pattern: re.Pattern[str], wanted: str) -> str:
        """Step over a word of the form `pattern`."""
        text = self.word.text
        if not pattern.fullmatch(text):
            raise self.unwanted(wanted)
        self._place += 1
        return text

    def separated(self, by: str, read: Callable[[], Built]) -> list[Built]:
        """Read one thing, and one more after each `by`."""
        found = [read()]
        while self.skip(by):
            found.append(read())
        return found

    def unwanted(self, wanted: str) -> InputError:
        """Return the refusal of the next word."""
        return self.refusal(self.word, f"found {_show(self.word.text)}, want {wanted}")

    def refusal(self, word: Lexeme, sentence: str) -> InputError:
        """Return an error that points at `word`, with its line and a mark below the place."""
        line = "".join(sign if sign.isprintable() else " " for sign in self._lines[word.line - 1])
        start = max(0, word.column - 1 - _REACH)
        shown = line[start : word.column + _REACH].rstrip()
        mark = " " * (word.column - 1 - start) + "^"
        where = f"line {word.line}, column" if self._grammar.has_lines else "column"
        place = f"{self._where}, {where} {word.column}"
        return InputError(f"{place}: {sentence}\n  {shown}\n  {mark}")

    def build(self, start: Lexeme, make: Callable[[], Built]) -> Built:
        """Return what `make` builds; if it contradicts itself, the refusal points at `start`."""
        try:
            return make()
        except DeclarationError as error:
            raise self.refusal(start, str(error)) from error

    def _split(self) -> Iterator[Lexeme]:
        """Yield the words, a line end after each line that has any, and the end of the text."""
        for number, line in enumerate(self._lines, start=1):
            words = tuple(self._words_of_line(line, number))
            yield from words
            if words and self._grammar.has_lines:
                yield Lexeme(LINE_END, number, len(line) + 1)
        yield Lexeme(TEXT_END, len(self._lines), len(self._lines[-1]) + 1)

    def _words_of_line(self, line: str, number: int) -> Iterator[Lexeme]:
        pieces = f"(?P<blank>{self._grammar.blanks})|(?P<word>{self._grammar.words})|(?P<stray>.)"
        for piece in re.finditer(pieces, line, re.DOTALL):
            word = Lexeme(piece[0], number, piece.start() + 1)
            if piece.lastgroup == "stray":
                raise self.refusal(word, f"found {word.text!r}, want a word, a number or a sign")
            if piece.lastgroup == "word":
                yield word


def _show(text: str) -> str:
    return _SHOWN.get(text, repr(str(text)) if len(text) <= _REACH else f"{text[:_REACH]!r}...")
