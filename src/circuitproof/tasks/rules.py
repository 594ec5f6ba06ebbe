"""What a task says of its prompts: the right answer P and the relation R, by tables or by rules."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from circuitproof.errors import DeclarationError
from circuitproof.files.codec import Whole
from circuitproof.tasks.answer_rules import SequenceRule
from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """P as a table: the answer to each prompt of the domain, in the domain's order."""

    tag: ClassVar[str] = "table"
    answers: tuple[int, ...]

    def only(self, places: Sequence[int]) -> "AnswerTable":
        """Return the table of some of the prompts."""
        return AnswerTable(tuple(self.answers[place] for place in places))


@dataclass(frozen=True, slots=True)
class OnlyOpener:
    """P as a rule: find the only token that is a declared opener and answer what it maps to."""

    tag: ClassVar[str] = "only opener"
    answers: tuple[tuple[int, int], ...]
    """Pairs (opener, answer)."""

    def __post_init__(self) -> None:
        _refuse_repeated_openers([opener for opener, _ in self.answers], "answer")

    def opener(self, prompt: Prompt) -> int:
        return _only_opener(prompt, dict(self.answers), "answer")


@dataclass(frozen=True, slots=True)
class ClassTable:
    """R as a table: prompts with the same number must be decided alike."""

    tag: ClassVar[str] = "table"
    classes: tuple[Whole, ...]

    def only(self, places: Sequence[int]) -> "ClassTable":
        """Return the table of some of the prompts."""
        return ClassTable(tuple(self.classes[place] for place in places))


@dataclass(frozen=True, slots=True)
class SameOpener:
    """R as a rule: prompts with the same only opener must be decided alike, whatever else they hold."""

    tag: ClassVar[str] = "same opener"
    openers: tuple[int, ...]

    def __post_init__(self) -> None:
        _refuse_repeated_openers(self.openers, "relation")

    def opener(self, prompt: Prompt) -> int:
        return _only_opener(prompt, self.openers, "relation")


@dataclass(frozen=True, slots=True)
class SameAnswer:
    """R as a rule: prompts with the same right answer must be decided alike."""

    tag: ClassVar[str] = "same answer"


AnswerRule: TypeAlias = AnswerTable | OnlyOpener | SequenceRule
RelationRule: TypeAlias = ClassTable | SameOpener | SameAnswer


def rule_on(rule: AnswerRule, places: Sequence[int]) -> AnswerRule:
    """Return what a rule says of some of the prompts; one that is no table says the same of any."""
    return rule.only(places) if isinstance(rule, AnswerTable) else rule


def relation_on(relation: RelationRule, places: Sequence[int]) -> RelationRule:
    """Return what a relation says of some of the prompts, likewise."""
    return relation.only(places) if isinstance(relation, ClassTable) else relation


def _refuse_repeated_openers(openers: Collection[int], where: str) -> None:
    if not openers or len(set(openers)) != len(openers):
        raise DeclarationError(f"{where}: openers are {tuple(openers)}, want at least one, all distinct")


def _only_opener(prompt: Prompt, openers: Collection[int], where: str) -> int:
    found = [token for token in prompt if token in openers]
    if len(found) != 1:
        raise DeclarationError(
            f"{where}: prompt {prompt} has {len(found)} declared openers, want just one of {tuple(openers)}"
        )
    return found[0]
