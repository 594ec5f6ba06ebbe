"""The readable form of a program, one rule per line, and its parser.

    default 0
    add 1 when key_token in {366, 705} and relative_distance <= 3
    add 1/2 when not token_match      # a comment
    add 2 when nearest (key_token == 9 or unmatched {40: 41, 91: 93})
    otherwise self

The lines `default` and `otherwise` are always there, first and last: what a program does where no rule
speaks is never implicit. `docs/programs.md` is the reference of the language; `lines.py` reads the form in
which programs are stored, which has no comments, blank lines and decimals.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar, assert_never

from circuitproof.declare.programs.syntax import (
    DEEPEST,
    NUMBER_DIGITS,
    WEIGHT_DIGITS,
    AllOf,
    AnyOf,
    Bracketed,
    Brackets,
    Comparison,
    Condition,
    Feature,
    Formula,
    Link,
    Not,
    Otherwise,
    Pick,
    Place,
    Program,
    Rule,
    Scan,
    Tally,
    Value,
    WordKind,
    all_of,
    any_of,
    negate,
)
from circuitproof.text.reading import write_rational
from circuitproof.text.words import LINE_END, TEXT_END, Reader

Member = TypeVar("Member")

_WHOLE = re.compile(r"[0-9]+")
_WEIGHT = re.compile(r"[0-9]+(?:[/.][0-9]+)?")
_PARTS = re.compile(r"[/.]")
_TALLIES = {f"{at}_{kind}": (at, kind) for at in Place for kind in ("count", "depth")}
_BEGINNINGS = (*Feature, *_TALLIES, *Link)
_WANTED = f"a condition: 'not', first, last, nearest, '(' or one of {', '.join(_BEGINNINGS)}"
_OPEN_ENDED, _JOINED, _SINGLE = range(3)
"""How tightly a formula must bind to stand without parentheses: any, all but `or`, neither `or` nor `and`."""


class _Truth(StrEnum):
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many tokens and positions there are, where that is known: larger numbers are refused."""

    tokens: int | None = None
    positions: int | None = None


NO_LIMITS = Limits()


def to_text(program: Program) -> str:
    r"""Return the text that `parse` reads back as the same program, ending in a newline.

    >>> to_text(Program(Fraction(0), (Rule(Fraction(1, 2)),), Otherwise.SELF))
    'default 0\nadd 1/2\notherwise self\n'
    """
    rules = [_rule_text(rule) for rule in program.rules]
    lines = [f"default {write_rational(program.default)}", *rules, f"otherwise {program.otherwise}"]
    return "".join(f"{line}\n" for line in lines)


def parse(text: str, where: str = "program", limits: Limits = NO_LIMITS) -> Program:
    r"""Return the program that `text` spells; `where` names the text in sentences about it.

    >>> parse("default 0\nadd 1 if token_match\notherwise self")
    Traceback (most recent call last):
    circuitproof.errors.InputError: program, line 2, column 7: found 'if', want 'when' or the end of the line
      add 1 if token_match
            ^
    """
    reader = Reader(text, where)
    reader.expect("default")
    default = _weight(reader)
    reader.expect(LINE_END)
    rules = tuple(_rules(reader, limits))
    reader.expect("otherwise", "'add' or 'otherwise'")
    otherwise = reader.choice(Otherwise)
    reader.expect(LINE_END)
    reader.expect(TEXT_END)
    return Program(default, rules, otherwise)


def formula_text(formula: Formula) -> str:
    """Return a formula as it stands in the text of a program, with no more parentheses than it needs."""
    return _text(formula, _OPEN_ENDED)


def _rule_text(rule: Rule) -> str:
    spelled = f"add {write_rational(rule.weight)}"
    return f"{spelled} when {formula_text(all_of(rule.conditions))}" if rule.conditions else spelled


def _text(formula: Formula, binding: int) -> str:
    match formula:
        case Condition():
            return _condition_text(formula)
        case Tally(_, of, bound, comparison, value):
            counted = _pairs_text(of) if isinstance(of, Brackets) else _value_text(of)
            return f"{formula.name} {counted} up to {bound} {comparison} {_value_text(value)}"
        case Bracketed(link, brackets):
            return f"{link} {_pairs_text(brackets)}"
        case Not(part):
            return f"not {_text(part, _SINGLE)}"
        case Scan(pick, part):
            return f"{pick} {_text(part, _SINGLE)}"
        case AllOf(parts):
            return _in_parentheses(" and ".join(_text(part, _SINGLE) for part in parts), binding > _JOINED)
        case AnyOf(parts):
            return _in_parentheses(" or ".join(_text(part, _JOINED) for part in parts), binding > _OPEN_ENDED)
        case _:
            assert_never(formula)


def _in_parentheses(text: str, wanted: bool) -> str:  # noqa: FBT001  # called in the two lines above
    return f"({text})" if wanted else text


def _condition_text(condition: Condition) -> str:
    if condition.feature.words is None and condition.comparison is Comparison.EQUAL:
        return f"{condition.feature}" if condition.value else f"not {condition.feature}"
    return f"{condition.feature} {condition.comparison} {_value_text(condition.value)}"


def _value_text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"{{{', '.join(map(str, value))}}}"
    return str(value).lower()


def _pairs_text(brackets: Brackets) -> str:
    return f"{{{', '.join(f'{opener}: {closer}' for opener, closer in brackets.pairs)}}}"


def _rules(reader: Reader, limits: Limits) -> Iterator[Rule]:
    while reader.skip("add"):
        weight = _weight(reader)
        if reader.skip("when"):
            formula = _Formulas(reader, limits).read()
            reader.expect(LINE_END, "'and', 'or' or the end of the line")
            yield Rule(weight, formula.parts if isinstance(formula, AllOf) else (formula,))
        else:
            reader.expect(LINE_END, "'when' or the end of the line")
            yield Rule(weight)


class _Formulas:
    """Reads formulas: `or` binds less than `and`, and `and` less than `not` and the scans."""

    def __init__(self, reader: Reader, limits: Limits) -> None:
        self._reader = reader
        self._limits = limits
        self._levels = 0

    def read(self) -> Formula:
        """Read parts joined by `or`."""
        return self._joined("or", lambda: self._joined("and", self._part, all_of), any_of)

    def _joined(
        self, word: str, read: Callable[[], Formula], join: Callable[[list[Formula]], Formula]
    ) -> Formula:
        start = self._reader.word
        parts = [read()]
        while self._reader.skip(word):
            parts.append(read())
        return self._reader.build(start, lambda: join(parts))

    def _part(self) -> Formula:
        start = self._reader.word
        self._levels += 1
        if self._levels > 2 * DEEPEST:  # each level may have its parentheses
            raise self._reader.refusal(start, f"found more than {2 * DEEPEST} levels, want fewer")
        if self._reader.skip("("):
            formula = self.read()
            self._reader.expect(")", "'and', 'or' or ')'")
        elif start.text == "not" or start.text in tuple(Pick):
            self._reader.expect(start.text)
            part = self._part()
            formula = self._reader.build(start, lambda: _applied(start.text, part))
        else:
            formula = self._atom()
        self._levels -= 1
        return formula

    def _atom(self) -> Formula:
        start = self._reader.word
        word = self._reader.one_of(_BEGINNINGS, _WANTED)
        if word == Feature.TOKEN_MATCH:
            return _match(self._reader)
        if word in tuple(Link):
            return self._reader.build(start, lambda: Bracketed(Link(word), self._brackets()))
        if word in _TALLIES:
            return self._reader.build(start, lambda: self._tally(*_TALLIES[word]))
        return self._reader.build(start, lambda: self._comparison(Feature(word)))

    def _comparison(self, feature: Feature) -> Condition:
        number = self._token if feature.words is WordKind.TOKEN else self._position
        return Condition(feature, *self._compared(number))

    def _tally(self, at: Place, kind: str) -> Tally:
        of = self._brackets() if kind == "depth" else self._set(self._token)
        self._reader.expect("up", "'up to' and how far it is counted")
        self._reader.expect("to")
        bound = _whole(self._reader)
        return Tally(at, of, bound, *self._compared(lambda: _whole(self._reader)))

    def _compared(self, number: Callable[[], int]) -> tuple[Comparison, int | tuple[int, ...]]:
        comparison = self._reader.choice(Comparison)
        return comparison, self._set(number) if comparison is Comparison.AMONG else number()

    def _brackets(self) -> Brackets:
        return Brackets(tuple(sorted(self._members(self._pair))))

    def _pair(self) -> tuple[int, int]:
        opener = self._token()
        self._reader.expect(":")
        return opener, self._token()

    def _set(self, number: Callable[[], int]) -> tuple[int, ...]:
        return tuple(sorted(self._members(number)))

    def _members(self, read: Callable[[], Member]) -> list[Member]:
        self._reader.expect("{")
        members = [read()]
        while self._reader.skip(","):
            members.append(read())
        self._reader.expect("}", "',' or '}'")
        return members

    def _token(self) -> int:
        return _below(self._reader, self._limits.tokens, "token", "tokens")

    def _position(self) -> int:
        return _below(self._reader, self._limits.positions, "position or distance", "positions")


def _applied(word: str, part: Formula) -> Formula:
    return negate(part) if word == "not" else Scan(Pick(word), part)


def _match(reader: Reader) -> Condition:
    for comparison in (Comparison.EQUAL, Comparison.UNEQUAL):
        if reader.skip(comparison):
            return Condition(Feature.TOKEN_MATCH, comparison, value=reader.choice(_Truth) is _Truth.TRUE)
    return Condition(Feature.TOKEN_MATCH, Comparison.EQUAL, value=True)


def _below(reader: Reader, limit: int | None, one: str, many: str) -> int:
    start = reader.word
    number = _whole(reader)
    if limit is not None and number >= limit:
        raise reader.refusal(start, f"found {one} {number}, but there are {limit} {many}, 0 to {limit - 1}")
    return number


def _whole(reader: Reader) -> int:
    start = reader.word
    text = reader.matching(_WHOLE, "a whole number from 0")
    if len(text) > NUMBER_DIGITS:
        raise reader.refusal(start, f"found a number of {len(text)} digits, want at most {NUMBER_DIGITS}")
    return int(text)


def _weight(reader: Reader) -> Fraction:
    start = reader.word
    text = reader.matching(_WEIGHT, "a weight of at least 0 such as 1 or 1/2")
    if (longest := max(map(len, _PARTS.split(text)))) > WEIGHT_DIGITS:
        raise reader.refusal(start, f"found a weight of {longest} digits, want at most {WEIGHT_DIGITS}")
    try:
        weight = Fraction(text)
    except ZeroDivisionError as error:
        raise reader.refusal(start, f"found {text!r}, want a denominator other than 0") from error
    reader.build(start, lambda: Rule(weight))  # refuses a decimal that is longer as a fraction
    return weight
