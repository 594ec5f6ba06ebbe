# pyright: basic
"""Models and circuits as teachers: what they decide on every abstract word, exactly wherever possible."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.errors import DeclarationError, InputError, NotExactError
from circuitproof.files.codec import Key
from circuitproof.files.devices import CPU, Device
from circuitproof.forward.cells import refuse_unreadable
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.proof.fold import fold
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet
from circuitproof.tasks.domain import Domain, Prompt
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from circuitproof_lab.records.surrogate import Basis
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.words import MOST_LISTED, Word, Words


@dataclass(frozen=True, slots=True)
class Rendering:
    """How an abstract word becomes prompts of a model: a token stands for one or more tokens of the model."""

    before: tuple[int, ...]
    members: Annotated[tuple[tuple[int, ...], ...], Key("tokens")]
    """For each abstract token, the model's tokens that it stands for."""
    after: tuple[int, ...]
    answers: tuple[int, ...]
    """For each answer, the model's token that gives it."""

    def __post_init__(self) -> None:
        if not all(self.members):
            raise DeclarationError("a token of the teacher stands for none of the model's; name at least one")
        if len(set(self.answers)) != len(self.answers):
            raise DeclarationError(f"two answers are the same token of the model: {list(self.answers)}")

    def prompts(self, word: Word) -> Iterator[Prompt]:
        for chosen in product(*(self.members[token] for token in word)):
            yield (*self.before, *chosen, *self.after)

    def count(self, words: Words) -> int:
        return sum(prod(len(self.members[token]) for token in word) for word in words)


@dataclass(frozen=True, slots=True)
class TeacherQuestion:
    """What a teacher is asked: a name for it, the words, and the names of the answers."""

    name: str
    words: Words
    answers: Alphabet


def plain_rendering(question: TeacherQuestion, alphabet: Alphabet) -> Rendering:
    """Return the rendering in which tokens and answers are called as the model calls its own."""
    members = tuple((alphabet.token(name),) for name in question.words.tokens.names)
    return Rendering((), members, (), alphabet.tokens(question.answers.names))


def circuit_relation(
    model: Path,
    circuit: Circuit | None,
    question: TeacherQuestion,
    rendering: Rendering,
    device: Device = CPU,
) -> Relation:
    """Return what a circuit, or without one the whole model, decides on every word.

    A word that is a tie, or that stands for prompts decided differently, has two answers and is refused.
    """
    if (count := rendering.count(question.words)) > MOST_LISTED:
        raise InputError(f"{question.name}: the words stand for {count} prompts, want at most {MOST_LISTED}")
    frozen = open_model(model)
    prompts = list(dict.fromkeys(prompt for word in question.words for prompt in rendering.prompts(word)))
    sizes = frozen.architecture
    refuse_unreadable(prompts, sizes.vocabulary, sizes.context)
    if (largest := max(rendering.answers)) >= sizes.vocabulary:
        raise InputError(f"an answer is token {largest}, the model's vocabulary is {sizes.vocabulary}")
    asked = circuit or whole(frozen.graph)
    found, basis = _decide(frozen, asked, rendering.answers, prompts, device)
    decided = dict(zip(prompts, found, strict=True))
    answers = tuple(
        _only_answer(question, word, [decided[prompt] for prompt in rendering.prompts(word)])
        for word in question.words
    )
    return Relation(question.name, question.words, question.answers, answers, basis)


def _decide(
    frozen: Frozen, circuit: Circuit, candidates: tuple[int, ...], prompts: Sequence[Prompt], device: Device
) -> tuple[list[frozenset[int]], Basis]:
    """Return the maximal candidates on each prompt, and how they are known."""
    if circuit.graph != frozen.graph:
        raise InputError(
            f"the circuit has {circuit.graph}, the model {frozen.graph}; they do not belong together"
        )
    try:
        folds = fold(frozen, candidates, [circuit], prompts).of(circuit)
    except NotExactError:
        return _measure(frozen.file.path.parent, circuit, candidates, prompts, device), Basis.MEASURED
    return [one.decision for one in folds], Basis.EXACT


def _measure(
    model: Path, circuit: Circuit, candidates: tuple[int, ...], prompts: Sequence[Prompt], device: Device
) -> list[frozenset[int]]:
    from circuitproof.nn.checkpoint import load_model
    from circuitproof.nn.decisions import task_logits

    loaded = load_model(model, device).model
    asked = _table_task(loaded.architecture.vocabulary, candidates, prompts)
    (rows,) = task_logits(loaded, asked, [circuit]).tolist()
    return [frozenset(place for place, logit in enumerate(row) if logit == max(row)) for row in rows]


def _table_task(vocabulary: int, candidates: tuple[int, ...], prompts: Sequence[Prompt]) -> Task:
    """Return a task that only says which logits are wanted; its answers are not looked at."""
    return Task(
        name="teacher",
        alphabet=sparse_alphabet(vocabulary, {}),
        candidates=candidates,
        domain=Domain(tuple(prompts), ("all",) * len(prompts)),
        answer=AnswerTable((candidates[0],) * len(prompts)),
        relation=ClassTable((0,) * len(prompts)),
    )


def _only_answer(question: TeacherQuestion, word: Word, decisions: Sequence[frozenset[int]]) -> int:
    """Return the one answer that all prompts of a word have."""
    together = frozenset[int]().union(*decisions)
    if len(together) > 1:
        names = " and ".join(repr(question.answers.names[answer]) for answer in sorted(together))
        cause = "a tie" if len(decisions) == 1 else f"its {len(decisions)} prompts are not decided alike"
        raise InputError(
            f"teacher {question.name!r} gives input '{question.words.tokens.text(word)}' two answers, "
            f"{names}: {cause}; a teacher has one answer to each input"
        )
    (answer,) = together
    return answer
