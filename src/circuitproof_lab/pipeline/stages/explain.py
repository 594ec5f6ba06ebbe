"""The stages of a study whose teacher is known: its surrogate is fitted, and an explanation is tested."""

from dataclasses import replace
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest
from circuitproof.files.reading import read_json, reading
from circuitproof.files.records import write_record
from circuitproof.files.sealed import read_manifest
from circuitproof.solvers.find import find_solver
from circuitproof_lab.pipeline.engine import written
from circuitproof_lab.pipeline.stages.teach import TeacherStudy
from circuitproof_lab.records.surrogate import STUDY, SurrogateReport
from circuitproof_lab.surrogate.equivalence import Examiners
from circuitproof_lab.surrogate.fitting import fit_network
from circuitproof_lab.surrogate.network import WEIGHTS, open_network, write_network
from circuitproof_lab.surrogate.refutation import read_refuted
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.report import report_of
from circuitproof_lab.surrogate.study import run_study

SURROGATE = "surrogate"
REFUTATIONS, DISPUTE = "refutations.json", "dispute.smt2"


def fit_surrogate(work: TeacherStudy) -> TeacherStudy:
    """Fit a network that answers every word as the teacher does."""
    relation = written(work.relation, "teacher's answers")

    def fit(path: Path) -> None:
        fitted = fit_network(relation, work.study.fitting, work.run.device)
        write_network(path, fitted.shape, fitted.weights, relation)

    return replace(work, surrogate=work.run.stage(SURROGATE, fit, f"{work.name}: surrogate"))


def explain(work: TeacherStudy) -> TeacherStudy:
    """Write down what is found of an explanation; what refutes whole templates is checked again.

    A study of another teacher or surrogate than those beside it is refused.
    """
    relation, folder = written(work.relation, "teacher's answers"), work.run.folder
    surrogate = written(work.surrogate, "surrogate")
    weights = read_manifest(surrogate)[WEIGHTS]

    def study() -> SurrogateReport:
        return _study(work, relation, surrogate, weights)

    report = work.run.record(STUDY, SurrogateReport, study, f"{work.name}: explanation")
    if (report.teacher_digest, report.surrogate_digest) != (relation.digest, weights):
        raise InputError(
            f"{folder / STUDY} is about another teacher or surrogate; remove it to repeat the study"
        )
    file = folder / REFUTATIONS
    with reading(read_json(file), str(file)) as fields:
        refuted = fields.each("refutations", lambda part: read_refuted(part, relation))
    if refuted != tuple(closed.template for closed in report.closed):
        raise InputError(f"{file} refutes other templates than {folder / STUDY} says")
    return replace(work, report=report)


def _study(work: TeacherStudy, relation: Relation, surrogate: Path, weights: Digest) -> SurrogateReport:
    """Test the explanation; the certificates stand beside the record before the record does."""
    folder, plan = work.run.folder, work.study.plan
    examiners = Examiners(tuple(map(find_solver, work.recipe.solvers)), work.recipe.seconds, folder / DISPUTE)
    found = run_study(relation, open_network(surrogate, relation), plan, examiners)
    write_record(folder / REFUTATIONS, {"refutations": found.refutations})
    return report_of(found, relation, len(plan.data), weights)
