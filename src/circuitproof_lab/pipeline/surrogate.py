"""Surrogate studies from a recipe: teacher, surrogate, explanation, verdict and repair, each stage kept."""

from pathlib import Path

from circuitproof.files.devices import CPU, Device
from circuitproof.files.run import Tell, begin_run, silent
from circuitproof.solvers.find import find_solver
from circuitproof_lab.pipeline.engine import RunStage, StageName, follow, written
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.pipeline.stages.explain import explain, fit_surrogate
from circuitproof_lab.pipeline.stages.teach import TeacherStudy, teach
from circuitproof_lab.pipeline.surrogate_recipe import SurrogateRecipe, TrainedTeacher
from circuitproof_lab.records.surrogate import SurrogateReport

STAGES: tuple[RunStage[TeacherStudy], ...] = (
    RunStage(StageName.TEACH, teach),
    RunStage(StageName.FIT, fit_surrogate),
    RunStage(StageName.EXPLAIN, explain),
)
"""How each teacher is studied."""


def run_surrogate(
    recipe: SurrogateRecipe, out: Path, tell: Tell = silent, device: Device = CPU
) -> tuple[SurrogateReport, ...]:
    """Run every study of a recipe into a folder of its own in `out`; what is finished is not repeated."""
    for name in recipe.solvers:
        find_solver(name)
    trained = [one.teacher for one in recipe.studies if isinstance(one.teacher, TrainedTeacher)]
    size = sum(training_size(teacher.architecture) for teacher in trained)
    with begin_run(out, recipe.name, recipe.digest, size, tell, device) as run:
        begun = (
            TeacherStudy(recipe=recipe, study=study, run=run.within(study.question.name))
            for study in recipe.studies
        )
        return tuple(map(_reported, begun))


def _reported(begun: TeacherStudy) -> SurrogateReport:
    done, _ = follow(STAGES, begun)
    return written(done.report, "report")
