"""What a task says of its prompts: the right answer P and the relation R, by tables or by openers."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TypeAlias, assert_never

from circuitproof.declare.tasks.domain import Prompt
from circuitproof.errors import DeclarationError, InputError
from circuitproof.text.canonical import Json
from circuitproof.text.reading import Fields, reading_part


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """P as a table: the answer to each prompt of the domain, in the domain's order."""

    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OnlyOpener:
    """P as a rule: find the only token that is a declared opener and answer what it maps to."""

    answers: tuple[tuple[int, int], ...]
    """Pairs (opener, answer)."""

    def __post_init__(self) -> None:
        _refuse_repeated_openers([opener for opener, _ in self.answers], "answer")

    def opener(self, prompt: Prompt) -> int:
        """Return the only declared opener of a prompt."""
        return only_opener(prompt, dict(self.answers), "answer")


@dataclass(frozen=True, slots=True)
class ClassTable:
    """R as a table: prompts with the same number must be decided alike."""

    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SameOpener:
    """R as a rule: prompts with the same only opener must be decided alike, whatever else they hold."""

    openers: tuple[int, ...]

    def __post_init__(self) -> None:
        _refuse_repeated_openers(self.openers, "relation")


AnswerRule: TypeAlias = AnswerTable | OnlyOpener
RelationRule: TypeAlias = ClassTable | SameOpener


class _AnswerKind(StrEnum):
    TABLE = "table"
    ONLY_OPENER = "only opener"


class _RelationKind(StrEnum):
    TABLE = "table"
    SAME_OPENER = "same opener"


def _refuse_repeated_openers(openers: Collection[int], where: str) -> None:
    if not openers or len(set(openers)) != len(openers):
        raise DeclarationError(f"{where}: openers are {tuple(openers)}, want at least one, all distinct")


def rule_tokens(answer: AnswerRule, relation: RelationRule) -> Iterator[int]:
    """Return the openers and answers that rules speak of."""
    if isinstance(answer, OnlyOpener):
        yield from chain.from_iterable(answer.answers)
    if isinstance(relation, SameOpener):
        yield from relation.openers


def only_opener(prompt: Prompt, openers: Collection[int], where: str) -> int:
    """Return the only declared opener of a prompt."""
    found = [token for token in prompt if token in openers]
    if len(found) != 1:
        raise DeclarationError(
            f"{where}: prompt {prompt} has {len(found)} declared openers, want just one of {tuple(openers)}"
        )
    return found[0]


def read_rules(fields: Fields) -> tuple[AnswerRule, RelationRule]:
    with reading_part(fields, "answer") as part:
        answer = _read_answer(part)
    with reading_part(fields, "relation") as part:
        relation = _read_relation(part)
    return answer, relation


def _read_answer(fields: Fields) -> AnswerRule:
    match fields.choice("kind", _AnswerKind):
        case _AnswerKind.TABLE:
            return AnswerTable(fields.integers("answers"))
        case _AnswerKind.ONLY_OPENER:
            return OnlyOpener(read_pairs(fields))
        case _ as kind:
            assert_never(kind)


def read_pairs(fields: Fields) -> tuple[tuple[int, int], ...]:
    pairs: list[tuple[int, int]] = []
    for index, row in enumerate(fields.integer_rows("answers")):
        match row:
            case (opener, answer):
                pairs.append((opener, answer))
            case _:
                raise InputError(f"{fields.path('answers')}[{index}] is {list(row)}, want [opener, answer]")
    return tuple(pairs)


def answer_to_json(answer: AnswerRule) -> Json:
    match answer:
        case AnswerTable(answers):
            return {"kind": str(_AnswerKind.TABLE), "answers": list(answers)}
        case OnlyOpener(pairs):
            return {"kind": str(_AnswerKind.ONLY_OPENER), "answers": [list(pair) for pair in pairs]}
        case _:
            assert_never(answer)


def _read_relation(fields: Fields) -> RelationRule:
    match fields.choice("kind", _RelationKind):
        case _RelationKind.TABLE:
            return ClassTable(fields.integers("classes"))
        case _RelationKind.SAME_OPENER:
            return SameOpener(fields.integers("openers"))
        case _ as kind:
            assert_never(kind)


def relation_to_json(relation: RelationRule) -> Json:
    match relation:
        case ClassTable(classes):
            return {"kind": str(_RelationKind.TABLE), "classes": list(classes)}
        case SameOpener(openers):
            return {"kind": str(_RelationKind.SAME_OPENER), "openers": list(openers)}
        case _:
            assert_never(relation)
