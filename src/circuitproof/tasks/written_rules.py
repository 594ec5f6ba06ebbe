"""A rule over the sequence as a person writes it: `answer = "maximum"`, or a table with its parts."""

from typing import cast as trust

from circuitproof.errors import InputError
from circuitproof.files.codec import Codec
from circuitproof.files.reading import Fields, about, reading_part
from circuitproof.tasks.answer_rules import SEQUENCE_RULES, Count, SequenceRule, StateMachine, Sum
from circuitproof.tasks.pattern_text import Sets
from circuitproof.tasks.spelling import Spelling

_RULES = {rule.tag: rule for rule in SEQUENCE_RULES}


def read_written_rule(
    asked: tuple[Fields, str], spelling: Spelling, candidates: tuple[int, ...], sets: Sets | None = None
) -> SequenceRule:
    """Read the rule at a key of a table; what it leaves out are the candidates, in their order."""
    if isinstance(asked[0].value(asked[1]), str):
        return _made(*asked, candidates, candidates)
    with reading_part(*asked) as part:
        if part.one_of("kind", _RULES) == StateMachine.tag:
            return _machine(part, spelling)
        of, answers = (
            _tokens(part, key, spelling, sets or {}) if part.has(key) else candidates
            for key in ("of", "answers")
        )
        return _made(part, "kind", of, answers)


def _made(fields: Fields, key: str, of: tuple[int, ...], answers: tuple[int, ...]) -> SequenceRule:
    rule = _RULES[fields.one_of(key, _RULES)]
    if issubclass(rule, StateMachine):
        raise InputError(
            f"{fields.path(key)} is {rule.tag!r} alone, want a table with tokens, transitions and answers"
        )
    with about(fields.where):
        return rule(of, answers) if issubclass(rule, (Count, Sum)) else rule(of)


def _machine(part: Fields, spelling: Spelling) -> StateMachine:
    """Read an automaton: classes of tokens, rows of states, pairs of a state and its answer."""
    classes = tuple(spelling.prompt(entry, where) for entry, where in part.entries("tokens"))
    rows = Codec().value(tuple[tuple[int, ...], ...], part, "transitions")
    pairs = tuple(_pair(entry, where, spelling) for entry, where in part.entries("answers"))
    with about(part.where):
        return StateMachine(classes, rows, pairs)


def _pair(entry: object, where: str, spelling: Spelling) -> tuple[int, int]:
    match trust("list[object]", entry) if isinstance(entry, list) else ():
        case [int() as state, answer] if not isinstance(state, bool):
            return state, spelling.token(answer, where)
        case _:
            raise InputError(f"{where} is {entry!r}, want a state and its answer, such as [0, 5]")


def _tokens(part: Fields, key: str, spelling: Spelling, sets: Sets) -> tuple[int, ...]:
    """Read tokens in their order, or the name of a set."""
    value = part.value(key)
    if not isinstance(value, str):
        return spelling.tokens(part, key)
    if value not in sets:
        raise InputError(
            f"{part.path(key)} is {value!r}, want a list of tokens or one of the sets {sorted(sets)}"
        )
    return sets[value]
