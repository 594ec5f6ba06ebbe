"""The text of patterns: `any{1..1024} with exactly 1 of [366, 705]`, read with places and written back.

    text     = choice ["with" clause {"and" clause}] ["up" "to" N "tokens"]
    choice   = sequence {"|" sequence}
    sequence = unit [times] {unit [times]}
    unit     = class | "(" choice ")"
    times    = "*" | "+" | "?" | "{N}" | "{N..M}" | "{N..}"
    class    = simple ["but" simple]
    simple   = "any" | member | "[" member {"," member} "]"
    member   = N | name | text
    clause   = ("exactly" N [".." M] | "at" "most" N | "at" "least" N) "of" class
             | class "only" "at" N [".." M]

A name stands for a set of tokens that is declared beside the text; a text between quotation marks of either
kind for the token that is written so.
"""

import re
from collections.abc import Callable, Mapping
from itertools import chain

from circuitproof.errors import InputError
from circuitproof.files.words import LexicalRules, Reader
from circuitproof.tasks.patterns import (
    ANY,
    Alternation,
    Clause,
    CountClause,
    Only,
    Pattern,
    Repeat,
    Sequence,
    Shape,
    TokenClass,
    joined,
    longest_of,
)

_GRAMMAR = LexicalRules(
    r"[A-Za-z_][A-Za-z_0-9-]*|[0-9]+|\.\.|[][{}()|*+?,]|\"[^\"]*\"|'[^']*'", r"\s+", has_lines=False
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_NUMBER = re.compile(r"[0-9]{1,12}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9-]*")
_RESERVED = frozenset(
    {"any", "but", "with", "and", "exactly", "at", "most", "least", "of", "only", "up", "to", "tokens"}
)
_MOST_LEVELS = 64
"""How deeply brackets may be nested."""
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}

Sets = Mapping[str, tuple[int, ...]]
Meant = Callable[[str, str], int]
"""The token that a text means; the second argument names the text in sentences about it."""


def parse_pattern(
    text: str, sets: Sets | None = None, where: str = "pattern", meant: Meant | None = None
) -> Pattern:
    """Read a pattern; a mistake is refused with its column.

    >>> print_pattern(parse_pattern("any{1..8} with exactly 1 of quotes", {"quotes": (9, 10)}))
    'any{1..8} with exactly 1 of [9, 10]'
    """
    for name in sets or {}:
        if name in _RESERVED or not _NAME.fullmatch(name):
            raise InputError(f"{where}: a set is called {name!r}, want a name that is no word of patterns")
    return _Parser(text, sets or {}, where, meant).pattern()


def print_pattern(pattern: Pattern) -> str:
    """Return the text of a pattern that reads back as the same."""
    text = _print(pattern.shape, 0)
    if pattern.clauses:
        text += " with " + " and ".join(map(_print_clause, pattern.clauses))
    if longest_of(pattern.shape) != pattern.longest:
        text += f" up to {pattern.longest} tokens"
    return text


class _Parser(Reader):
    def __init__(self, text: str, sets: Sets, where: str, meant: Meant | None) -> None:
        super().__init__(text, where, _GRAMMAR)
        self._sets, self._meant = sets, meant
        self._level = 0

    def pattern(self) -> Pattern:
        start = self.word
        shape = self._choice()
        clauses = self.separated("and", self._clause) if self.skip("with") else []
        longest = self._longest(shape)
        if self.word.text:
            raise self.unwanted("the end, 'with', 'and' or 'up to N tokens'" if clauses else "a token class")
        return self.build(start, lambda: Pattern(shape, tuple(clauses), longest))

    def _longest(self, shape: Shape) -> int:
        most, word = longest_of(shape), self.word
        if self.skip("up"):
            self.expect("to")
            given = self._number()
            self.expect("tokens")
            return given if most is None else min(given, most)
        if most is None:
            raise self.refusal(word, "the pattern has no longest prompt, want 'up to N tokens' at its end")
        return most

    def _choice(self) -> Shape:
        return joined(Alternation, self.separated("|", self._sequence))

    def _sequence(self) -> Shape:
        parts = [self._unit()]
        while self._starts_unit():
            parts.append(self._unit())
        return joined(Sequence, parts)

    def _starts_unit(self) -> bool:
        text = self.word.text
        is_name = bool(_NAME.fullmatch(text)) and (text == "any" or text not in _RESERVED)
        return text in ("(", "[") or is_name or bool(_NUMBER.fullmatch(text) or _QUOTED.fullmatch(text))

    def _unit(self) -> Shape:
        start = self.word
        if self.skip("("):
            self._level += 1
            if self._level > _MOST_LEVELS:
                raise self.refusal(start, f"brackets are nested more than {_MOST_LEVELS} deep, want fewer")
            shape = self._choice()
            self.expect(")")
            self._level -= 1
        else:
            shape = self._class()
        if self.word.text in _SIGNS:
            return Repeat(shape, *_SIGNS[self.one_of(_SIGNS, "a sign")])
        return self.build(start, lambda: self._times(shape)) if self.skip("{") else shape

    def _times(self, shape: Shape) -> Shape:
        least = self._number()
        most: int | None = least
        if self.skip(".."):
            most = None if self.word.text == "}" else self._number()
        self.expect("}")
        return Repeat(shape, least, most)

    def _class(self) -> TokenClass:
        start = self.word
        first = self._simple()
        if not self.skip("but"):
            return first
        second = self._simple()
        return self.build(start, lambda: _difference(first, second))

    def _simple(self) -> TokenClass:
        if self.skip("any"):
            return ANY
        is_list = self.skip("[")
        start = self.word
        listed = self.separated(",", self._members) if is_list else [self._members()]
        if is_list:
            self.expect("]")
        return self.build(start, lambda: TokenClass(tuple(sorted({*chain(*listed)}))))

    def _members(self) -> tuple[int, ...]:
        if _NUMBER.fullmatch(self.word.text):
            return (self._number(),)
        if self._meant is not None and _QUOTED.fullmatch(self.word.text):
            return (self._text(self._meant),)
        known = f", one of the sets {', '.join(self._sets)}" if self._sets else ""
        return self._sets[self.one_of(self._sets, f"a token class: any, a token's number, [...]{known}")]

    def _text(self, meant: Meant) -> int:
        start = self.word
        text = self.matching(_QUOTED, "a text between quotation marks")[1:-1]
        try:
            return meant(text, "the token")
        except InputError as error:
            raise self.refusal(start, str(error)) from error

    def _clause(self) -> Clause:
        start = self.word
        if self.skip("exactly"):
            least = self._number()
            most = self._number() if self.skip("..") else least
            return self.build(start, lambda: CountClause(self._of(), least, most))
        if self.skip("at"):
            bound, number = self.one_of(("most", "least"), "'most' or 'least'"), self._number()
            least, most = (0, number) if bound == "most" else (number, None)
            return self.build(start, lambda: CountClause(self._of(), least, most))
        of = self._class()
        self.expect("only")
        self.expect("at")
        first = self._number()
        last = self._number() if self.skip("..") else first
        return self.build(start, lambda: Only(of, first, last))

    def _of(self) -> TokenClass:
        self.expect("of")
        return self._class()

    def _number(self) -> int:
        return int(self.matching(_NUMBER, "a whole number"))


def _difference(first: TokenClass, second: TokenClass) -> TokenClass:
    ours, theirs = frozenset(first.listed), frozenset(second.listed)
    match first.is_complement, second.is_complement:
        case True, False:
            return TokenClass(tuple(sorted(ours | theirs)), is_complement=True)
        case True, True:
            return TokenClass(tuple(sorted(theirs - ours)))
        case False, False:
            return TokenClass(tuple(sorted(ours - theirs)))
        case _:
            return TokenClass(tuple(sorted(ours & theirs)))


def _print(shape: Shape, tightness: int) -> str:
    """Print a shape, in brackets where it binds less than `tightness`."""
    match shape:
        case TokenClass(listed, is_complement):
            text, binding = _print_tokens(shape), 1 if listed and is_complement else 2
        case Sequence(parts):
            text, binding = " ".join(_print(part, 1) for part in parts), 1
        case Alternation(parts):
            text, binding = " | ".join(_print(part, 0) for part in parts), 0
        case Repeat(part, least, most):
            text, binding = f"{_print(part, 2)}{_print_times(least, most)}", 1
    return f"({text})" if tightness > binding else text


def _print_tokens(tokens: TokenClass) -> str:
    listed = str(tokens.listed[0]) if len(tokens.listed) == 1 else f"[{', '.join(map(str, tokens.listed))}]"
    if not tokens.is_complement:
        return listed
    return f"any but {listed}" if tokens.listed else "any"


def _print_times(least: int, most: int | None) -> str:
    signs = {times: sign for sign, times in _SIGNS.items()}
    if (least, most) in signs:
        return signs[least, most]
    return f"{{{least}}}" if least == most else f"{{{least}..{'' if most is None else most}}}"


def _print_clause(clause: Clause) -> str:
    match clause:
        case Only(of, first, last):
            places = str(first) if first == last else f"{first}..{last}"
            return f"{_print_tokens(of)} only at {places}"
        case CountClause(of, least, most):
            if most is None:
                return f"at least {least} of {_print_tokens(of)}"
            if least == 0 < most:
                return f"at most {most} of {_print_tokens(of)}"
            return f"exactly {least}{'' if least == most else f'..{most}'} of {_print_tokens(of)}"
