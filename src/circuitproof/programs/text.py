"""The readable form of a program, one rule per line, and its parser.

    default 0
    add 1 when key_token in {366, 705} and relative_distance <= 3
    add 1/2 when not token_match      # a comment
    otherwise self

The lines `default` and `otherwise` are always there, first and last: what a program does where no rule
speaks is never implicit.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar

from circuitproof.errors import DeclarationError, InputError
from circuitproof.programs.syntax import Comparison, Condition, Feature, Otherwise, Program, Rule, Value
from circuitproof.reading import write_rational

_PIECES = re.compile(
    r"(?P<blank>[ \t\r]+|#.*)|(?P<word>[A-Za-z_]+|-?[0-9]+(?:[/.][0-9]+)?|[=!<>]=|[<>{},])|(?P<stray>.)",
    re.DOTALL,
)
_WHOLE = re.compile(r"[0-9]+")
_WEIGHT = re.compile(r"[0-9]+(?:[/.][0-9]+)?")
_LINE_END = "\n"
_TEXT_END = ""
_SHOWN = {_LINE_END: "the end of the line", _TEXT_END: "the end of the text"}

Choice = TypeVar("Choice", bound=StrEnum)


class _Truth(StrEnum):
    TRUE = "true"
    FALSE = "false"


def to_text(program: Program) -> str:
    r"""Return the text that `parse` reads back as the same program, ending in a newline.

    >>> to_text(Program(Fraction(0), (Rule(Fraction(1, 2)),), Otherwise.SELF))
    'default 0\nadd 1/2\notherwise self\n'
    """
    rules = [_rule_text(rule) for rule in program.rules]
    lines = [f"default {write_rational(program.default)}", *rules, f"otherwise {program.otherwise}"]
    return "".join(f"{line}\n" for line in lines)


def parse(text: str, where: str = "program") -> Program:
    r"""Return the program that `text` spells; `where` names the text in sentences about it.

    >>> parse("default 0\nadd 1 if token_match\notherwise self")
    Traceback (most recent call last):
    circuitproof.errors.InputError: program, line 2, column 7: found 'if', want 'when' or the end of the line
    """
    reader = _Reader(_words(text, where), where)
    reader.expect("default")
    default = _weight(reader)
    reader.expect(_LINE_END)
    rules = tuple(_rules(reader))
    reader.expect("otherwise", "'add' or 'otherwise'")
    otherwise = reader.choice(Otherwise)
    reader.expect(_LINE_END)
    reader.expect(_TEXT_END)
    return Program(default, rules, otherwise)


def _rule_text(rule: Rule) -> str:
    conditions = " and ".join(map(_condition_text, rule.conditions))
    return f"add {write_rational(rule.weight)}" + (f" when {conditions}" if conditions else "")


def _condition_text(condition: Condition) -> str:
    if condition.feature is Feature.TOKEN_MATCH and condition.comparison is Comparison.EQUAL:
        return f"{condition.feature}" if condition.value else f"not {condition.feature}"
    return f"{condition.feature} {condition.comparison} {_value_text(condition.value)}"


def _value_text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"{{{', '.join(map(str, value))}}}"
    return str(value).lower()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, number or sign of the text with its line and column, counted from 1."""

    text: str
    line: int
    column: int


class _Reader:
    """Walks over the words of a text and refuses what is not wanted, naming the place."""

    def __init__(self, words: Iterable[_Word], where: str) -> None:
        self._words = tuple(words)
        self._place = 0
        self._where = where

    @property
    def word(self) -> _Word:
        """The word that comes next."""
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
        text = self.word.text
        if text not in tuple(choices):
            raise self.unwanted("one of " + ", ".join(map(str, choices)))
        self.expect(text)
        return choices(text)

    def matching(self, pattern: re.Pattern[str], wanted: str) -> str:
        """Step over a word of the form `pattern`."""
        text = self.word.text
        if not pattern.fullmatch(text):
            raise self.unwanted(wanted)
        self.expect(text)
        return text

    def unwanted(self, wanted: str) -> InputError:
        """Return the refusal of the next word."""
        return self.refusal(self.word, f"found {_show(self.word.text)}, want {wanted}")

    def refusal(self, word: _Word, sentence: str) -> InputError:
        """Return an error that points at `word`."""
        return _refusal(word, sentence, self._where)


def _rules(reader: _Reader) -> Iterator[Rule]:
    while reader.skip("add"):
        weight = _weight(reader)
        conditions = tuple(_conditions(reader)) if reader.skip("when") else ()
        reader.expect(
            _LINE_END, "'and' or the end of the line" if conditions else "'when' or the end of the line"
        )
        yield Rule(weight, conditions)


def _conditions(reader: _Reader) -> Iterator[Condition]:
    yield _condition(reader)
    while reader.skip("and"):
        yield _condition(reader)


def _condition(reader: _Reader) -> Condition:
    start = reader.word
    if reader.skip("not"):
        reader.expect(Feature.TOKEN_MATCH)
        return Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=False)
    feature = reader.choice(Feature)
    if feature is Feature.TOKEN_MATCH:
        return _match(reader)
    comparison = reader.choice(Comparison)
    value = _members(reader) if comparison is Comparison.AMONG else _whole(reader)
    try:
        return Condition(feature, comparison, value)
    except DeclarationError as error:
        raise reader.refusal(start, str(error)) from error


def _match(reader: _Reader) -> Condition:
    for comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
        if reader.skip(comparison):
            return Condition(Feature.TOKEN_MATCH, comparison, value=reader.choice(_Truth) is _Truth.TRUE)
    return Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True)


def _members(reader: _Reader) -> tuple[int, ...]:
    reader.expect("{")
    members = [_whole(reader)]
    while reader.skip(","):
        members.append(_whole(reader))
    reader.expect("}", "',' or '}'")
    return tuple(sorted(members))


def _whole(reader: _Reader) -> int:
    start = reader.word
    text = reader.matching(_WHOLE, "a whole number from 0")
    try:
        return int(text)
    except ValueError as error:
        raise reader.refusal(start, f"a number of {len(text)} digits is too long to be read") from error


def _weight(reader: _Reader) -> Fraction:
    start = reader.word
    text = reader.matching(_WEIGHT, "a weight of at least 0 such as 1 or 1/2")
    try:
        return Fraction(text)
    except ZeroDivisionError as error:
        raise reader.refusal(start, f"found {text!r}, want a denominator other than 0") from error
    except ValueError as error:
        raise reader.refusal(start, f"a weight of {len(text)} characters is too long to be read") from error


def _words(text: str, where: str) -> Iterator[_Word]:
    """Yield the words, a line end after each line that has any, and the end of the text."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        words = tuple(_words_of_line(line, number, where))
        yield from words
        if words:
            yield _Word(_LINE_END, number, len(line) + 1)
    yield _Word(_TEXT_END, len(lines), len(lines[-1]) + 1)


def _words_of_line(line: str, number: int, where: str) -> Iterator[_Word]:
    for piece in _PIECES.finditer(line):
        word = _Word(piece[0], number, piece.start() + 1)
        if piece.lastgroup == "stray":
            raise _refusal(word, f"found {word.text!r}, want a word, a number or a sign", where)
        if piece.lastgroup == "word":
            yield word


def _refusal(word: _Word, sentence: str, where: str) -> InputError:
    return InputError(f"{where}, line {word.line}, column {word.column}: {sentence}")


def _show(text: str) -> str:
    return _SHOWN.get(text, repr(str(text)))
