"""Other people's tasks, each from its file to a bundle that the independent checker has an answer to."""

import pytest

from circuitproof.find.choices import Objective
from circuitproof.find.extraction import ExtractionMethod, extract
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.loading import load_task
from circuitproof.verbs.verification import Request, parse_properties, verify
from circuitproof_check.main import Outcome, check
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import MODEL, train_recipe
from circuitproof_lab.train.loop import Watcher
from places import RECIPES

TASKS = sorted(path for path in (RECIPES / "tasks").glob("*.toml") if path.stem != "maximum")
"""Those of lists; `maximum` is about a pattern, which models are trained on by a rule."""
OUTCOMES = {Verdict.PROVED: Outcome.VALID, Verdict.REFUTED: Outcome.REFUTED}


def test_the_documented_tasks_are_all_here():
    """Four forms: a list with answers, a list with openers, templates with a table, templates that copy."""
    assert [path.stem for path in TASKS] == [
        "closing-tags",
        "first-letter",
        "indirect-object",
        "subject-verb",
    ]


def test_the_documentation_shows_the_files_as_they_are(tmp_path):
    """And the example of the first steps is a task."""
    shown = (RECIPES.parent / "docs" / "tasks.md").read_text()
    assert all(path.read_text() in shown for path in TASKS)
    steps = (RECIPES.parent / "docs" / "start.md").read_text()
    (tmp_path / "task.toml").write_text(steps.split("```toml\n")[1].split("```")[0])
    assert len(load_task(str(tmp_path / "task.toml")).domain) == 4


@pytest.mark.slow
@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_a_task_of_ones_own_goes_from_training_to_a_checked_bundle(path, tmp_path):
    """What is proved depends on the CPU that trained; that prover and checker agree does not."""
    model, spec = tmp_path / "run" / MODEL, str(path)
    train_recipe(load_recipe(RECIPES / f"own-{path.stem}.toml"), tmp_path / "run", Watcher())
    extract(model, spec, ExtractionMethod(objective=Objective.PROGRAM), tmp_path / "circuit.json")
    request = Request(
        model=model,
        circuit=tmp_path / "circuit.json",
        task=spec,
        properties=parse_properties([], "1/1000"),
    )
    found = verify(request, tmp_path / "bundle")
    outcome, sentence = check(tmp_path / "bundle", model)
    assert outcome is OUTCOMES[found.verdict]
    assert f"task {str(load_task(spec).digest)[:12]} not compared" in sentence
    assert found.battery.answers[0].verdict is Verdict.PROVED
