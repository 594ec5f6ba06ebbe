"""The stages of a study whose teacher is known: its surrogate is fitted, and an explanation is tested."""

from dataclasses import dataclass
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest
from circuitproof.files.reading import read_json, reading
from circuitproof.files.records import write_record
from circuitproof.files.run import Run
from circuitproof.files.sealed import read_manifest
from circuitproof.solvers.find import find_solver
from circuitproof_lab.pipeline.surrogate_recipe import StudyRecipe, SurrogateRecipe
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


@dataclass(frozen=True, slots=True)
class TaughtStudy:
    """A study of a recipe, and what its teacher answers."""

    recipe: SurrogateRecipe
    study: StudyRecipe
    relation: Relation

    @property
    def name(self) -> str:
        return self.study.question.name


def fit_surrogate(run: Run, taught: TaughtStudy) -> Path:
    """Return the folder of a network that answers every word as the teacher does."""

    def fit(path: Path) -> None:
        fitted = fit_network(taught.relation, taught.study.fitting, run.device)
        write_network(path, fitted.shape, fitted.weights, taught.relation)

    return run.stage(SURROGATE, fit, f"{taught.name}: surrogate")


def explain(run: Run, taught: TaughtStudy, surrogate: Path) -> SurrogateReport:
    """Return what is found of an explanation; what refutes whole templates is checked again.

    A study of another teacher or surrogate than those beside it is refused.
    """
    relation, weights = taught.relation, read_manifest(surrogate)[WEIGHTS]

    def study() -> SurrogateReport:
        return _study(run, taught, surrogate, weights)

    report = run.record(STUDY, SurrogateReport, study, f"{taught.name}: explanation")
    path = run.folder / STUDY
    if (report.teacher_digest, report.surrogate_digest) != (relation.digest, weights):
        raise InputError(f"{path} is about another teacher or surrogate; remove it to repeat the study")
    file = run.folder / REFUTATIONS
    with reading(read_json(file), str(file)) as fields:
        refuted = fields.each("refutations", lambda part: read_refuted(part, relation))
    if refuted != tuple(closed.template for closed in report.closed):
        raise InputError(f"{file} refutes other templates than {path} says")
    return report


def _study(run: Run, taught: TaughtStudy, surrogate: Path, weights: Digest) -> SurrogateReport:
    """Test the explanation; the certificates stand beside the record before the record does."""
    solvers = tuple(map(find_solver, taught.recipe.solvers))
    examiners = Examiners(solvers, taught.recipe.seconds, run.folder / DISPUTE)
    relation, plan = taught.relation, taught.study.plan
    found = run_study(relation, open_network(surrogate, relation), plan, examiners)
    write_record(run.folder / REFUTATIONS, {"refutations": found.refutations})
    return report_of(found, relation, len(plan.data), weights)
