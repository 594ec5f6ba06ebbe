"""The stage that asks a teacher: a table, a stored model or one that is trained answers every word."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.files.codec import FolderName
from circuitproof.files.records import write_record
from circuitproof.files.run import Run
from circuitproof.find.extraction import ExtractionMethod
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.recipe import Recipe, TasksSource
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.train import CORPUS, material_of, train_model
from circuitproof_lab.pipeline.surrogate_recipe import (
    StoredTeacher,
    StudyRecipe,
    SurrogateRecipe,
    TableTeacher,
    TrainedTeacher,
)
from circuitproof_lab.records.surrogate import Basis, SurrogateReport
from circuitproof_lab.surrogate.relation import Relation, load_relation
from circuitproof_lab.surrogate.teachers import TeacherQuestion, circuit_relation, plain_rendering
from circuitproof_lab.train.loop import Watcher

TEACHER = "teacher.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeacherStudy:
    """One study of a recipe, its part of the run, and how far it has come."""

    recipe: SurrogateRecipe
    study: StudyRecipe
    run: Run
    relation: Relation | None = None
    """What the teacher answers."""
    surrogate: Path | None = None
    """The folder of a network that answers every word as the teacher does."""
    report: SurrogateReport | None = None

    @property
    def name(self) -> str:
        return self.study.question.name


def teach(work: TeacherStudy) -> TeacherStudy:
    """Write down what the teacher answers; a teacher of other words than the study's is refused."""
    question, run = work.study.question, work.run

    def write(path: Path) -> None:
        write_record(path, _relation(work.study, run))

    relation = load_relation(run.stage(TEACHER, write, f"{question.name}: teacher"))
    _refuse_misfit(relation, question)
    return replace(work, relation=relation)


def _refuse_misfit(relation: Relation, question: TeacherQuestion) -> None:
    if (relation.words.tokens, relation.answers) != (question.words.tokens, question.answers):
        raise InputError(
            f"teacher {question.name!r} has tokens {list(relation.words.tokens.names)} and answers "
            f"{list(relation.answers.names)}, its study another alphabet: "
            f"{list(question.words.tokens.names)} and {list(question.answers.names)}"
        )
    if relation.words != question.words:
        raise InputError(
            f"teacher {question.name!r} has words of {relation.words.shortest} to {relation.words.longest} "
            f"tokens, its study of {question.words.shortest} to {question.words.longest}"
        )


def _relation(study: StudyRecipe, run: Run) -> Relation:
    question, teacher = study.question, study.teacher
    match teacher:
        case TableTeacher(path):  # whatever the table says of itself, to us it is a list
            return replace(load_relation(path), name=question.name, basis=Basis.LISTED)
        case StoredTeacher(model, rendering, circuit):
            kept = None if circuit is None else load_circuit(circuit)
            return circuit_relation(model, kept, question, rendering, run.device)
        case TrainedTeacher():
            task = rule_task(question, teacher)
            recipe = Recipe(
                name=FolderName(question.name),
                architecture=teacher.architecture,
                source=TasksSource((task,), teacher.batch),
                plan=teacher.plan,
                digest=task.digest,
            )
            model = train_model(run, recipe, material_of(recipe, run.folder / CORPUS), Watcher())
            kept = None
            if teacher.threshold is not None:
                method = ExtractionMethod(thresholds=(teacher.threshold,))
                kept = load_circuit(extract_circuit(run, CircuitSearch(model, task, method)))
            rendering = plain_rendering(question, task.tokens)
            return circuit_relation(model, kept, question, rendering, run.device)
        case _:
            assert_never(teacher)


def rule_task(question: TeacherQuestion, teacher: TrainedTeacher) -> Task:
    """Return the task that a teacher is trained on: every word, with the rule's answer."""
    names = dict.fromkeys((*question.words.tokens.names, *question.answers.names))
    alphabet, prompts = Alphabet(tuple(names)), tuple(question.words)
    candidates = alphabet.tokens(question.answers.names)
    return Task(
        name=question.name,
        alphabet=alphabet,
        candidates=candidates,
        domain=Domain(prompts, tuple(f"{len(prompt)} tokens" for prompt in prompts)),
        answer=AnswerTable(tuple(candidates[teacher.rule.automaton.answer(prompt)] for prompt in prompts)),
        relation=ClassTable(tuple(range(len(prompts)))),
    )
