"""A task: tokens, the candidates T, a list or a pattern of prompts, the right answer P and the relation R."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import assert_never

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Digest, Json, digest_json
from circuitproof.files.codec import Codec, Whole, to_json
from circuitproof.files.printing import preformatted, printable
from circuitproof.files.reading import Fields, reading_part
from circuitproof.tasks.alphabet import Alphabet, Vocabulary, read_vocabulary
from circuitproof.tasks.answer_rules import SequenceRule, rule_answer
from circuitproof.tasks.domain import LAST, Domain, Prompt, places_of, read_domain, refuse_without_position
from circuitproof.tasks.labelled import Labelled
from circuitproof.tasks.names import TokenNames
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.patterns import Pattern, read_pattern
from circuitproof.tasks.rules import (
    AnswerRule,
    AnswerTable,
    ClassTable,
    OnlyOpener,
    RelationRule,
    SameAnswer,
    SameOpener,
    relation_on,
    rule_on,
)

_SHOWN = 5
"""How many prompts are shown at Python's prompt."""
_WORDS = 16
"""How many tokens of one are shown there."""


@dataclass(frozen=True, repr=False)
class Task:
    """Everything a claim needs to know about what is asked. Holding one is proof that it is consistent."""

    name: str
    alphabet: Alphabet | Vocabulary
    candidates: tuple[int, ...]
    domain: Domain | Pattern
    """The prompts: a list, whose tokens all have names, or a pattern over a vocabulary."""
    answer: AnswerRule
    relation: RelationRule
    outputs: Alphabet | None = None
    """The names of what is answered, where that is no token: candidates and answers are numbers of these."""
    position: Whole = LAST
    """Where in a prompt is decided: from its start, or if negative from its end."""

    def __post_init__(self) -> None:
        if len(set(self.candidates)) != len(self.candidates) or len(self.candidates) < 2:  # noqa: PLR2004  # a choice
            raise DeclarationError(
                f"{self.name}: candidates are {self.candidates}, want two or more, all distinct"
            )
        match self.domain:
            case Domain(prompts):
                self._refuse_misfit_list(prompts)
            case Pattern():
                self._refuse_misfit_pattern()
            case _:
                assert_never(self.domain)

    def __repr__(self) -> str:
        """Say what is asked, and of which prompts: the first of a list with their answers, or the pattern."""
        head = f"task {self.name!r}: one of {self._answer_words(self.candidates)}{self._place()}"
        if isinstance(self.domain, Pattern):
            return printable(f"{head}, on every prompt of {print_pattern(self.domain)}")
        shown = zip(self.prompts[:_SHOWN], self.answers(), strict=False)
        lines = [f"  {self._words(prompt)} -> {self._answer_words([answer])}" for prompt, answer in shown]
        more = [f"  … {self.size - _SHOWN} more"] if self.size > _SHOWN else []
        title = f"{head}, on {self.size} prompts in {len(self.classes())} classes"
        return "\n".join(map(printable, (title, *lines, *more)))

    def _words(self, tokens: Sequence[int]) -> str:
        """Return the names of tokens, the last ones where there are many."""
        return ("… " if len(tokens) > _WORDS else "") + self.alphabet.named().text(tokens[-_WORDS:])

    def _answer_words(self, answers: Sequence[int]) -> str:
        return ("… " if len(answers) > _WORDS else "") + self.answer_names.text(answers[-_WORDS:])

    def _place(self) -> str:
        return "" if self.position == LAST else f" at position {self.position}"

    def _repr_html_(self) -> str:
        return preformatted(repr(self))

    @property
    def listed(self) -> Domain:
        """Return the list of prompts, which a task about a pattern does not have."""
        self.refuse_pattern()
        assert isinstance(self.domain, Domain)  # noqa: S101  # just asked
        return self.domain

    def refuse_pattern(self) -> None:
        """Refuse a pattern where what is asked can only be asked of a list."""
        if isinstance(self.domain, Pattern):
            raise InputError(
                f"task {self.name!r} is about a pattern, and listed prompts are wanted here; "
                "circuitproof verify (with the exact engine) handles patterns"
            )

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return self.listed.prompts

    @property
    def tokens(self) -> Alphabet:
        """Return the names of all tokens, which a task about a list has."""
        if isinstance(self.alphabet, Alphabet):
            return self.alphabet
        raise DeclarationError(f"{self.name}: a vocabulary names some tokens, want an alphabet of all")

    @property
    def answer_names(self) -> TokenNames:
        """Return the names of candidates and answers: those of tokens, unless outputs have their own."""
        return (self.alphabet if self.outputs is None else self.outputs).named()

    @cached_property
    def labelled(self) -> Labelled:
        """Return the prompts of the pattern with their labels, which rules give."""
        if not isinstance(self.domain, Pattern) or not isinstance(self.alphabet, Vocabulary):
            raise DeclarationError(
                f"{self.name}: want a pattern over a vocabulary, or a list of named tokens"
            )
        if isinstance(self.answer, AnswerTable) or isinstance(self.relation, ClassTable):
            raise DeclarationError(
                f"{self.name}: has a table, but answers and classes on a pattern are rules"
            )
        try:
            return Labelled(self.domain, len(self.alphabet), self.answer, self.relation)
        except DeclarationError as error:
            raise DeclarationError(f"{self.name}: {error}") from error

    @property
    def size(self) -> int:
        return len(self.domain) if isinstance(self.domain, Domain) else self.labelled.size

    @property
    def longest(self) -> int:
        """Return the length of the longest prompt; of a pattern, what it allows."""
        return self.domain.longest

    def lengths(self) -> set[int]:
        """Return how many tokens prompts have."""
        if isinstance(self.domain, Domain):
            return set(map(len, self.domain.prompts))
        return self.labelled.lengths()

    def answers(self) -> tuple[int, ...]:
        """Return P(x) for every prompt x of a list."""
        match self.answer:
            case AnswerTable(answers):
                self._one_per_prompt("answers", len(answers))
                return answers
            case OnlyOpener(pairs) as rule:
                mapping = dict(pairs)
                return tuple(mapping[rule.opener(prompt)] for prompt in self.prompts)
            case rule:
                return tuple(self._by_rule(rule, prompt) for prompt in self.prompts)

    def decisions(self) -> tuple[int, ...]:
        """Return the place of P(x) among the candidates for every prompt x of a list."""
        places = {candidate: place for place, candidate in enumerate(self.candidates)}
        return tuple(places[answer] for answer in self.answers())

    def among_all(self, outputs: int | None = None) -> "Task":
        """Return the task with every output of a model as a candidate; without a count, every token."""
        return replace(self, candidates=tuple(range(outputs or len(self.outputs or self.alphabet))))

    def at(self, position: int) -> "Task":
        """Return the task decided at another position."""
        return replace(self, position=position)

    def classes(self) -> tuple[tuple[int, ...], ...]:
        """Return the classes of R as tuples of indices of listed prompts, in order of their first prompt."""
        return tuple(map(tuple, places_of(self._groups()).values()))

    def spread(self, count: int) -> tuple[int, ...]:
        """Return at most so many places of listed prompts, spread over the answers and over the list."""
        by_answer = places_of(self.answers()).values()
        each = -(-count // len(by_answer))
        chosen = [place for places in by_answer for place in places[:: -(-len(places) // each)]]
        return tuple(sorted(chosen)[:count])

    def only(self, places: Sequence[int]) -> "Task":
        """Return the task on some of the listed prompts, with what its tables say of them."""
        listed = self.listed
        domain = Domain(
            tuple(listed.prompts[place] for place in places), tuple(listed.strata[place] for place in places)
        )
        answer, relation = rule_on(self.answer, places), relation_on(self.relation, places)
        return replace(self, domain=domain, answer=answer, relation=relation)

    def answers_by_class(self) -> Mapping[int, frozenset[int]]:
        """Return for each class of R, by any name, the right answers of its prompts."""
        found: dict[int, set[int]] = {}
        for group, answer in self._labels():
            found.setdefault(group, set()).add(answer)
        return {group: frozenset(answers) for group, answers in found.items()}

    def right_answers(self) -> frozenset[int]:
        """Return every answer that is right for some prompt."""
        return frozenset(answer for _, answer in self._labels())

    def rule_tokens(self) -> Iterable[int]:
        """Return the tokens that rules look for."""
        openers = self.relation.openers if isinstance(self.relation, SameOpener) else ()
        return (*self._read_by_rule(), *openers)

    def _read_by_rule(self) -> Iterable[int]:
        match self.answer:
            case AnswerTable():
                return ()
            case OnlyOpener(pairs):
                return (opener for opener, _ in pairs)
            case rule:
                return chain.from_iterable(rule.classes())

    def named_answers(self) -> Iterable[int]:
        """Return the candidates, and the answers that a rule gives."""
        return (*self.candidates, *self._rule_answers())

    def _rule_answers(self) -> Iterable[int]:
        match self.answer:
            case AnswerTable():
                return ()
            case OnlyOpener(pairs):
                return (answer for _, answer in pairs)
            case rule:
                return rule.outputs()

    def refuse_elsewhere(self) -> None:
        """Refuse a task that is not answered by a token at the end, where nothing else is asked."""
        if self.position != LAST or self.outputs is not None:
            how = "by outputs that are no tokens" if self.outputs else f"at position {self.position}"
            raise InputError(
                f"task {self.name!r} is decided {how}, and here only a token at the end is asked for; "
                "circuitproof verify and extract decide otherwise"
            )

    def refuse_other_alphabet(self, alphabet: Alphabet | None) -> None:
        """Refuse a model that calls tokens by other names; a model without an alphabet cannot tell."""
        other = None if alphabet is None else self.alphabet.other_name(alphabet)
        if other is not None:
            raise InputError(f"the model's alphabet is not that of task {self.name!r}: {other}")

    def refuse_other_outputs(self, predicted: int) -> None:
        """Refuse a model that has no logit for an answer, or not those that the task names."""
        if self.outputs is not None and len(self.outputs) != predicted:
            raise InputError(
                f"task {self.name!r} names {len(self.outputs)} outputs, the model has {predicted}; name each"
            )
        if unknown := [one for one in self.named_answers() if one >= predicted]:
            raise InputError(
                f"task {self.name!r} has candidate {unknown[0]}, and the model has outputs 0 to "
                f"{predicted - 1} only; choose among these"
            )

    def refuse_smaller(self, vocabulary: int) -> None:
        """Refuse a model that has fewer tokens than the alphabet."""
        if len(self.alphabet) > vocabulary:
            raise InputError(f"task {self.name!r} has {len(self.alphabet)} tokens, the model {vocabulary}")

    @property
    def digest(self) -> Digest:
        return digest_json(self.to_json())

    def to_json(self) -> Json:
        return {
            **self._rules(),
            **self.alphabet.to_json(),
            "domain": self.domain_to_json(),
            **self._asked_otherwise(),
        }

    def domain_to_json(self) -> dict[str, Json]:
        """Return the list, or the pattern, as it stands in a declaration."""
        written = self.domain.to_json()
        return written if isinstance(self.domain, Domain) else {"pattern": written}

    def in_claim(self) -> dict[str, Json]:
        """Return the task as it stands in a claim; the domain stands apart, and few tokens need a name."""
        named, is_list = self.alphabet.named(), isinstance(self.domain, Domain)
        answered = self.candidates if self.outputs is None else ()
        occurring = {*chain.from_iterable(self.prompts), *answered} if is_list else named
        names: Json = {str(token): named[token] for token in sorted(occurring)}
        pinned: dict[str, Json] = {"name": self.name, "declaration": str(self.digest)}
        told = {"name": self.name, "names": names, **self._rules()}
        other = self._asked_otherwise()
        if self.outputs is not None:
            other["outputs"] = {str(one): self.outputs.names[one] for one in sorted(self.candidates)}
        return {**pinned, **told, **other} if is_list else {**told, **pinned}  # the order of format 2

    def _asked_otherwise(self) -> dict[str, Json]:
        """Return the names of outputs and the position, which stand only where they are not as usual."""
        outputs: dict[str, Json] = {} if self.outputs is None else {"outputs": list(self.outputs.names)}
        return outputs if self.position == LAST else {**outputs, "position": self.position}

    def _rules(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "candidates": list(self.candidates),
            "answer": to_json(self.answer),
            "relation": to_json(self.relation),
        }

    def _labels(self) -> Iterable[tuple[int, int]]:
        """Return the class and the right answer of each listed prompt, or those of each label."""
        if isinstance(self.domain, Domain):
            return zip(self._groups(), self.answers(), strict=True)
        return ((label.group, label.answer) for label in self.labelled.labels)

    def _groups(self) -> tuple[int, ...]:
        match self.relation:
            case ClassTable(classes):
                self._one_per_prompt("classes", len(classes))
                return classes
            case SameOpener() as rule:
                return tuple(map(rule.opener, self.prompts))
            case SameAnswer():
                return self.answers()
            case _:
                assert_never(self.relation)

    def _by_rule(self, rule: SequenceRule, prompt: Prompt) -> int:
        found = rule_answer(rule, prompt)
        if found is None:
            raise DeclarationError(
                f"{self.name}: rule {rule.tag!r} gives no answer to prompt {prompt}: it {rule.lack}"
            )
        return found

    def _one_per_prompt(self, what: str, count: int) -> None:
        if count != self.size:
            raise DeclarationError(
                f"{self.name}: {count} {what} for {self.size} prompts; give one per prompt"
            )

    def _refuse_misfit_list(self, prompts: tuple[Prompt, ...]) -> None:
        self._refuse_unknown("candidate", self.candidates, self.outputs or self.tokens)
        self._refuse_unknown("prompt token", chain.from_iterable(prompts), self.tokens)
        self._refuse_unknown("rule token", self.rule_tokens(), self.tokens)
        self._refuse_unknown("rule token", self.named_answers(), self.outputs or self.tokens)
        refuse_without_position(prompts, self.position, self.name)
        self._refuse_other_outputs()
        known = frozenset(self.candidates)
        for prompt, answer in zip(prompts, self.answers(), strict=True):
            if answer not in known:
                raise self._other_answer(answer, f"prompt {prompt}")
        self.classes()

    def _refuse_misfit_pattern(self) -> None:
        if self.outputs is not None or self.position != LAST:
            what = "decided at the last position" if self.outputs is None else "answered by tokens"
            raise DeclarationError(f"{self.name}: patterns are {what}; list prompts")
        self._refuse_unknown("token", (*self.rule_tokens(), *self.named_answers()), self.alphabet)
        assert self.labelled  # noqa: S101  # made here, so that what it refuses is refused
        self._refuse_other_outputs()

    def _refuse_other_outputs(self) -> None:
        """Refuse what a rule may answer and is no candidate."""
        known = frozenset(self.candidates)
        match self.answer:
            case AnswerTable():
                pass  # each prompt's is looked at
            case OnlyOpener(pairs):
                for opener, answer in pairs if isinstance(self.domain, Pattern) else ():
                    if answer not in known:
                        raise self._other_answer(answer, f"opener {opener}")
            case rule:
                for answer in rule.outputs():
                    if answer not in known:
                        raise self._other_answer(answer, f"some prompts by rule {rule.tag!r}")

    def _refuse_unknown(self, what: str, tokens: Iterable[int], known: Alphabet | Vocabulary) -> None:
        for token in tokens:
            if not 0 <= token < len(known):
                raise DeclarationError(
                    f"{self.name}: {what} {token} is unknown; {self._known(known)} 0 to {len(known) - 1}"
                )

    def _known(self, known: Alphabet | Vocabulary) -> str:
        return (
            "the outputs are" if known is self.outputs else f"the {type(known).__name__.lower()} has tokens"
        )

    def _other_answer(self, answer: int, to: str) -> DeclarationError:
        return DeclarationError(
            f"{self.name}: answer {answer} to {to} is not among candidates "
            f"{self.candidates}; add it to the candidates or narrow the domain"
        )


def read_task(fields: Fields) -> Task:
    """Read a task's declaration; only that of a pattern has a vocabulary."""
    is_pattern = fields.has("vocabulary")
    with reading_part(fields, "domain") as part:
        domain = read_pattern(part) if is_pattern else read_domain(part)
    alphabet = read_vocabulary(fields) if is_pattern else Alphabet(fields.texts("alphabet"))
    outputs = Alphabet(fields.texts("outputs")) if fields.has("outputs") else None
    return Codec().record(Task, fields, alphabet=alphabet, domain=domain, outputs=outputs)
