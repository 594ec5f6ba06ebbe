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
from fractions import Fraction

from circuitproof.files.reading import write_rational
from circuitproof.files.words import LINE_END, TEXT_END, LexicalRules
from circuitproof.programs.atoms import BEGINNINGS, NO_LIMITS, AtomReader, Limits
from circuitproof.programs.syntax import (
    DEEPEST,
    WEIGHT_DIGITS,
    AllOf,
    AnyOf,
    Formula,
    Not,
    Otherwise,
    Pick,
    Program,
    Rule,
    Scan,
    all_of,
    any_of,
    negate,
)

_GRAMMAR = LexicalRules(
    r"[A-Za-z_]+|-?[0-9]+(?:[/.][0-9]+)?|[=!<>]=|[<>{}(),:]", r"[ \t\r]+|#.*", has_lines=True
)
_WEIGHT = re.compile(r"[0-9]+(?:[/.][0-9]+)?")
_PARTS = re.compile(r"[/.]")
_WANTED = f"a condition: 'not', first, last, nearest, '(' or one of {', '.join(BEGINNINGS)}"
_OPEN_ENDED, _JOINED, _SINGLE = range(3)
"""How tightly a formula must bind to stand without parentheses: any, all but `or`, neither `or` nor `and`."""


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
    return _Parser(text, where, _GRAMMAR, limits).program()


def formula_text(formula: Formula, binding: int = _OPEN_ENDED) -> str:
    """Return a formula as it stands in the text of a program, with no more parentheses than it needs.

    It needs them where it binds less tightly than `binding`.
    """
    match formula:
        case Not(part):
            text, found = f"not {formula_text(part, _SINGLE)}", _SINGLE
        case Scan(pick, part):
            text, found = f"{pick} {formula_text(part, _SINGLE)}", _SINGLE
        case AllOf(parts):
            text, found = " and ".join(formula_text(part, _SINGLE) for part in parts), _JOINED
        case AnyOf(parts):
            text, found = " or ".join(formula_text(part, _JOINED) for part in parts), _OPEN_ENDED
        case _:
            text, found = str(formula), _SINGLE
    return f"({text})" if binding > found else text


def _rule_text(rule: Rule) -> str:
    spelled = f"add {write_rational(rule.weight)}"
    return f"{spelled} when {formula_text(all_of(rule.conditions))}" if rule.conditions else spelled


class _Parser(AtomReader):
    """Reads programs: `or` binds less than `and`, and `and` less than `not` and the scans."""

    _levels = 0

    def program(self) -> Program:
        self.expect("default")
        default = self._weight()
        self.expect(LINE_END)
        rules = tuple(self._rules())
        self.expect("otherwise", "'add' or 'otherwise'")
        otherwise = self.choice(Otherwise)
        self.expect(LINE_END)
        self.expect(TEXT_END)
        return Program(default, rules, otherwise)

    def _rules(self) -> Iterator[Rule]:
        while self.skip("add"):
            weight = self._weight()
            if self.skip("when"):
                formula = self._formula()
                self.expect(LINE_END, "'and', 'or' or the end of the line")
                yield Rule(weight, formula.parts if isinstance(formula, AllOf) else (formula,))
            else:
                self.expect(LINE_END, "'when' or the end of the line")
                yield Rule(weight)

    def _weight(self) -> Fraction:
        start = self.word
        text = self.matching(_WEIGHT, "a weight of at least 0 such as 1 or 1/2")
        if (longest := max(map(len, _PARTS.split(text)))) > WEIGHT_DIGITS:
            raise self.refusal(start, f"found a weight of {longest} digits, want at most {WEIGHT_DIGITS}")
        try:
            weight = Fraction(text)
        except ZeroDivisionError as error:
            raise self.refusal(start, f"found {text!r}, want a denominator other than 0") from error
        self.build(start, lambda: Rule(weight))  # refuses a decimal that is longer as a fraction
        return weight

    def _formula(self) -> Formula:
        return self._joined("or", lambda: self._joined("and", self._part, all_of), any_of)

    def _joined(
        self, word: str, read: Callable[[], Formula], join: Callable[[list[Formula]], Formula]
    ) -> Formula:
        start = self.word
        parts = self.separated(word, read)
        return self.build(start, lambda: join(parts))

    def _part(self) -> Formula:
        start = self.word
        self._levels += 1
        if self._levels > 2 * DEEPEST:  # each level may have its parentheses
            raise self.refusal(start, f"found more than {2 * DEEPEST} levels, want fewer")
        if self.skip("("):
            formula = self._formula()
            self.expect(")", "'and', 'or' or ')'")
        elif self.skip("not"):
            part = self._part()
            formula = self.build(start, lambda: negate(part))
        elif start.text in tuple(Pick):
            pick, part = self.choice(Pick), self._part()
            formula = self.build(start, lambda: Scan(pick, part))
        else:
            formula = self.atom(_WANTED)
        self._levels -= 1
        return formula
