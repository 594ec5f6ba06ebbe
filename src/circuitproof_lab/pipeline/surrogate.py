"""Surrogate studies from a recipe: teacher, surrogate, explanation, verdict and repair, each stage kept."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import assert_never

from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.files.canonical import Json, readable_json, write_file
from circuitproof.files.codec import FolderName, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import read_json, reading, reading_part
from circuitproof.files.records import write_record
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.files.sealed import read_manifest
from circuitproof.find.extraction import ExtractionMethod
from circuitproof.solvers.find import find_solver
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.recipe import Recipe, TasksSource
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.pipeline.stages.extract import CircuitSearch, extract_circuit
from circuitproof_lab.pipeline.stages.train import CORPUS, material_of, train_model
from circuitproof_lab.pipeline.surrogate_recipe import (
    StoredTeacher,
    StudyRecipe,
    SurrogateRecipe,
    TableTeacher,
    TrainedTeacher,
)
from circuitproof_lab.surrogate.equivalence import Examiners
from circuitproof_lab.surrogate.fitting import fit_network
from circuitproof_lab.surrogate.network import WEIGHTS, open_network, write_network
from circuitproof_lab.surrogate.refutation import read_refuted
from circuitproof_lab.surrogate.relation import Basis, Relation, load_relation
from circuitproof_lab.surrogate.report import SurrogateReport, read_report, report_of
from circuitproof_lab.surrogate.study import run_study
from circuitproof_lab.surrogate.teachers import TeacherQuestion, circuit_relation, plain_rendering
from circuitproof_lab.train.loop import Watcher

TEACHER = "teacher.json"
SURROGATE, STUDY = "surrogate", "study.json"
REFUTATIONS, DISPUTE = "refutations.json", "dispute.smt2"


def run_surrogate(
    recipe: SurrogateRecipe, out: Path, tell: Tell = silent, device: Device = CPU
) -> tuple[SurrogateReport, ...]:
    """Run every study of a recipe into a folder of its own in `out`; what is finished is not repeated."""
    for name in recipe.solvers:
        find_solver(name)
    trained = [one.teacher for one in recipe.studies if isinstance(one.teacher, TrainedTeacher)]
    size = sum(training_size(teacher.architecture) for teacher in trained)
    with begin_run(out, recipe.name, recipe.digest, size, tell, device) as run:
        return tuple(_run(recipe, study, run.within(study.question.name)) for study in recipe.studies)


def _run(recipe: SurrogateRecipe, study: StudyRecipe, run: Run) -> SurrogateReport:
    name = study.question.name
    relation = _teach(study, run)
    fit = partial(_fit, study, relation, run.device)
    surrogate = run.stage(SURROGATE, fit, f"{name}: surrogate")
    result = run.stage(STUDY, lambda path: _study(recipe, study, relation, path), f"{name}: explanation")
    return _read_study(result, relation, surrogate)


def _teach(study: StudyRecipe, run: Run) -> Relation:
    """Return what the teacher answers; a teacher of other words than the study's is refused."""
    question = study.question
    told = f"{question.name}: teacher"
    relation = load_relation(run.stage(TEACHER, lambda path: write_record(path, _relation(study, run)), told))
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
    return relation


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


def _fit(study: StudyRecipe, relation: Relation, device: Device, path: Path) -> None:
    fitted = fit_network(relation, study.fitting, device)
    write_network(path, fitted.shape, fitted.weights, relation)


def _study(recipe: SurrogateRecipe, study: StudyRecipe, relation: Relation, path: Path) -> None:
    surrogate = path.parent / SURROGATE
    network = open_network(surrogate, relation)
    solvers = tuple(map(find_solver, recipe.solvers))
    examiners = Examiners(solvers, recipe.seconds, path.parent / DISPUTE)
    found = run_study(relation, network, study.plan, examiners)
    tested = {"explanation": found.explanation, "repair": found.repair}
    content: Json = {
        "teacher_digest": str(relation.digest),
        "surrogate_digest": str(read_manifest(surrogate)[WEIGHTS]),
        "report": report_of(found, relation, len(study.plan.data)).to_json(),
        "programs": {name: None if one is None else one.program.to_json() for name, one in tested.items()},
        "trials": to_json(found.trials),
    }
    write_file(path.parent / REFUTATIONS, readable_json({"refutations": to_json(found.refutations)}))
    write_file(path, readable_json(content))


def _read_study(path: Path, relation: Relation, surrogate: Path) -> SurrogateReport:
    """Read what a study taught and check again what refutes whole templates.

    A study of another teacher or surrogate than those beside it is refused.
    """
    with reading(read_json(path), str(path)) as fields:
        found = (fields.text("teacher_digest"), fields.text("surrogate_digest"))
        if found != (str(relation.digest), str(read_manifest(surrogate)[WEIGHTS])):
            raise InputError(f"{path} is about another teacher or surrogate; remove it to repeat the study")
        for key in ("programs", "trials"):
            fields.value(key)
        with reading_part(fields, "report") as part:
            report = read_report(part)
    file = path.parent / REFUTATIONS
    with reading(read_json(file), str(file)) as fields:
        refuted = fields.each("refutations", lambda part: read_refuted(part, relation))
    if refuted != tuple(closed.template for closed in report.closed):
        raise InputError(f"{file} refutes other templates than {path} says")
    return report
