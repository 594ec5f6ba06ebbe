"""A task: an alphabet, the candidates T, a domain, the right answer P and the relation R, all of it data."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TypeAlias, assert_never

from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.declare.tasks.domain import Domain, Prompt, read_domain
from circuitproof.errors import DeclarationError, InputError
from circuitproof.text.canonical import Digest, Json, digest_json
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
        return _only_opener(prompt, dict(self.answers), "answer")


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


Answer: TypeAlias = AnswerTable | OnlyOpener
Relation: TypeAlias = ClassTable | SameOpener


class _AnswerKind(StrEnum):
    TABLE = "table"
    ONLY_OPENER = "only opener"


class _RelationKind(StrEnum):
    TABLE = "table"
    SAME_OPENER = "same opener"


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a claim needs to know about what is asked. Holding one is proof that it is consistent."""

    name: str
    alphabet: Alphabet
    candidates: tuple[int, ...]
    domain: Domain
    answer: Answer
    relation: Relation

    def __post_init__(self) -> None:
        if len(set(self.candidates)) != len(self.candidates) or len(self.candidates) < 2:  # noqa: PLR2004  # a choice
            raise DeclarationError(
                f"{self.name}: candidates are {self.candidates}, want two or more, all distinct"
            )
        self._refuse_unknown("candidate", self.candidates)
        self._refuse_unknown("prompt token", chain.from_iterable(self.domain.prompts))
        self._refuse_unknown("rule token", self.rule_tokens())
        for prompt, answer in zip(self.domain.prompts, self.answers(), strict=True):
            if answer not in self.candidates:
                raise DeclarationError(
                    f"{self.name}: answer {answer} to prompt {prompt} is not among candidates "
                    f"{self.candidates}; add it to the candidates or narrow the domain"
                )
        self.classes()

    def answers(self) -> tuple[int, ...]:
        """Return P(x) for every prompt x of the domain."""
        match self.answer:
            case AnswerTable(answers):
                self._one_per_prompt("answers", len(answers))
                return answers
            case OnlyOpener(pairs) as rule:
                mapping = dict(pairs)
                return tuple(mapping[rule.opener(prompt)] for prompt in self.domain.prompts)
            case _:
                assert_never(self.answer)

    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Return the classes of R as tuples of prompt indices, in order of their first prompt."""
        groups: dict[int, list[int]] = {}
        for index, label in enumerate(self._labels()):
            groups.setdefault(label, []).append(index)
        return tuple(map(tuple, groups.values()))

    def rule_tokens(self) -> Iterator[int]:
        """Return the candidates, and the openers and answers that rules speak of."""
        yield from self.candidates
        if isinstance(self.answer, OnlyOpener):
            yield from chain.from_iterable(self.answer.answers)
        if isinstance(self.relation, SameOpener):
            yield from self.relation.openers

    def refuse_other_alphabet(self, alphabet: Alphabet | None) -> None:
        """Refuse a model that calls its tokens by other names; a model without an alphabet cannot tell."""
        if alphabet is not None and alphabet != self.alphabet:
            raise InputError(f"the model's alphabet is not that of task {self.name!r}: token names differ")

    def refuse_smaller(self, vocabulary: int) -> None:
        """Refuse a model that has fewer tokens than the alphabet."""
        if len(self.alphabet) > vocabulary:
            raise InputError(f"task {self.name!r} has {len(self.alphabet)} tokens, the model {vocabulary}")

    @property
    def digest(self) -> Digest:
        """Return the digest of the whole declaration."""
        return digest_json(self.to_json())

    def to_json(self) -> Json:
        """Return the declaration as JSON that `read_task` reads back."""
        return {
            "name": self.name,
            "alphabet": list(self.alphabet.names),
            "candidates": list(self.candidates),
            "domain": self.domain.to_json(),
            "answer": _answer_to_json(self.answer),
            "relation": _relation_to_json(self.relation),
        }

    def in_claim(self) -> dict[str, Json]:
        """Return the task as it stands in a claim; the domain stands apart, and few tokens need a name."""
        occurring = sorted({*chain.from_iterable(self.domain.prompts), *self.candidates})
        return {
            "name": self.name,
            "declaration": str(self.digest),
            "names": {str(token): self.alphabet.names[token] for token in occurring},
            "candidates": list(self.candidates),
            "answer": _answer_to_json(self.answer),
            "relation": _relation_to_json(self.relation),
        }

    def _labels(self) -> tuple[int, ...]:
        match self.relation:
            case ClassTable(classes):
                self._one_per_prompt("classes", len(classes))
                return classes
            case SameOpener(openers):
                return tuple(_only_opener(prompt, openers, "relation") for prompt in self.domain.prompts)
            case _:
                assert_never(self.relation)

    def _one_per_prompt(self, what: str, count: int) -> None:
        if count != len(self.domain):
            raise DeclarationError(
                f"{self.name}: {count} {what} for {len(self.domain)} prompts; give one per prompt"
            )

    def _refuse_unknown(self, what: str, tokens: Iterable[int]) -> None:
        for token in tokens:
            if not 0 <= token < len(self.alphabet):
                raise DeclarationError(
                    f"{self.name}: {what} {token} is unknown; "
                    f"the alphabet has tokens 0 to {len(self.alphabet) - 1}"
                )


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


def read_task(fields: Fields) -> Task:
    """Read a task's declaration."""
    with reading_part(fields, "domain") as part:
        domain = read_domain(part)
    answer, relation = read_rules(fields)
    return Task(
        name=fields.text("name"),
        alphabet=Alphabet(fields.texts("alphabet")),
        candidates=fields.integers("candidates"),
        domain=domain,
        answer=answer,
        relation=relation,
    )


def read_rules(fields: Fields) -> tuple[Answer, Relation]:
    """Read P and R of a declaration."""
    with reading_part(fields, "answer") as part:
        answer = _read_answer(part)
    with reading_part(fields, "relation") as part:
        relation = _read_relation(part)
    return answer, relation


def _read_answer(fields: Fields) -> Answer:
    match fields.choice("kind", _AnswerKind):
        case _AnswerKind.TABLE:
            return AnswerTable(fields.integers("answers"))
        case _AnswerKind.ONLY_OPENER:
            return OnlyOpener(_read_pairs(fields))
        case _ as kind:
            assert_never(kind)


def _read_pairs(fields: Fields) -> tuple[tuple[int, int], ...]:
    pairs: list[tuple[int, int]] = []
    for index, row in enumerate(fields.integer_rows("answers")):
        match row:
            case (opener, answer):
                pairs.append((opener, answer))
            case _:
                raise InputError(f"{fields.path('answers')}[{index}] is {list(row)}, want [opener, answer]")
    return tuple(pairs)


def _answer_to_json(answer: Answer) -> Json:
    match answer:
        case AnswerTable(answers):
            return {"kind": str(_AnswerKind.TABLE), "answers": list(answers)}
        case OnlyOpener(pairs):
            return {"kind": str(_AnswerKind.ONLY_OPENER), "answers": [list(pair) for pair in pairs]}
        case _:
            assert_never(answer)


def _read_relation(fields: Fields) -> Relation:
    match fields.choice("kind", _RelationKind):
        case _RelationKind.TABLE:
            return ClassTable(fields.integers("classes"))
        case _RelationKind.SAME_OPENER:
            return SameOpener(fields.integers("openers"))
        case _ as kind:
            assert_never(kind)


def _relation_to_json(relation: Relation) -> Json:
    match relation:
        case ClassTable(classes):
            return {"kind": str(_RelationKind.TABLE), "classes": list(classes)}
        case SameOpener(openers):
            return {"kind": str(_RelationKind.SAME_OPENER), "openers": list(openers)}
        case _:
            assert_never(relation)
