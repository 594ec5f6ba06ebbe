import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph, Head
from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.files.records import read_record
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from circuitproof_lab.commands.distillation import show_stage
from circuitproof_lab.distill.migrate import Fate
from circuitproof_lab.pipeline.distillation import CHASE, distill
from circuitproof_lab.pipeline.distillation_recipe import load_distillation_recipe
from circuitproof_lab.records.blocks import BlockRegression
from distill_recipes import write_distillation

SEED = 6
"""A model whose circuits read one head each, so that its distillation is short."""


class Killed(Exception):  # noqa: N818  # not an error of the program under test
    """Stands in for a kill at the beginning of a stage."""


def recipe_in(folder: Path, changes=None, source=None):
    """Return the small recipe of one seed."""
    return load_distillation_recipe(
        write_distillation(folder, {"seeds": f"[{SEED}]", **(changes or {})}, source)
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a finished run: its recipe, its folder, its report and the stages it went through."""
    folder = tmp_path_factory.mktemp("finished")
    recipe, stages = recipe_in(folder), []
    (report,) = distill(recipe, folder / "out", 1, lambda _seed, stage: stages.append(stage))
    return recipe, folder / "out", report, stages


def copied(finished, folder: Path) -> Path:
    """Return a copy of the finished run that a test may damage."""
    shutil.copytree(finished[1], folder / "out")
    return folder / "out"


def weights(out: Path) -> dict[str, bytes]:
    """Return the bytes of every healed model of a run."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("weights.safetensors"))
        if "checkpoints" not in path.parts
    }


def test_all_three_objectives_are_compared_on_one_model(finished):
    """They start from the same installed model, and every row is there whatever became of it."""
    report = finished[2]
    assert [done.name for done in report.rounds] == ["unhealed", "plain", "ablation_aware", "core_aware"]
    assert all(done.programs.keys() == {Head(0, 1)} for done in report.rounds)
    assert all(
        [one.behaviour.task.name for one in done.migrations] == ["quotes", "brackets"]
        for done in report.rounds
    )


def test_the_final_circuits_have_no_neural_attention_and_prove_all_four_properties(finished):
    """What it is all for, and the independent checker confirms it from the bundle and the model."""
    report = finished[2]
    assert report.is_held
    assert report.rounds[-1].fate is Fate.HELD
    for proof in report.proofs:
        assert proof.neural == ()
        kinds = (Kind.EQUIVALENCE, Kind.INVARIANCE, Kind.NECESSITY, Kind.ROBUSTNESS)
        assert proof.verdicts == dict.fromkeys(kinds, Verdict.PROVED)
        assert check(proof.bundle, report.rounds[-1].model)[0] is Outcome.VALID


def test_each_declared_circuit_is_compared_with_its_blocks(finished):
    """Block regression, before any head gets a program; the model's decisions are right in both."""
    _, out, report, _ = finished
    for one in report.rounds[0].migrations:
        name = f"{one.behaviour.task.name}.blocks.json"
        kept = read_record(out / f"seed-{SEED}" / "declared" / name, BlockRegression)
        assert (kept.task, kept.prompts) == (one.behaviour.task.name, one.behaviour.task.size)
        assert kept.right == kept.prompts
        assert kept.heads == len(one.behaviour.circuit.live().heads())


def test_scoring_parameters_are_counted_before_and_after(finished):
    """Two heads of width four read eight numbers: 72 each with biases, of which one is gone."""
    scoring = finished[2].rounds[-1].scoring
    assert (scoring.without_programs, scoring.with_programs) == (144, 72)


def test_a_finished_run_repeats_nothing(finished):
    """Every stage is an artifact; asking again only reads."""
    recipe, out, report, stages = finished
    again: list[str] = []
    (repeated,) = distill(recipe, out, 1, lambda _seed, stage: again.append(stage))
    assert again == []
    assert repeated.to_json() == report.to_json()
    assert [stage for stage in stages if "healing" in stage] == [
        "plain: healing",
        "ablation_aware: healing",
        "core_aware: healing",
    ]


@pytest.mark.parametrize("stop", ["installed: synthesising head 0.1", "core_aware: healing"])
def test_a_run_killed_at_a_stage_ends_with_the_same_bits(finished, tmp_path, stop):
    """What came before is not done again, what comes after is as if nothing had happened."""
    recipe, out = finished[0], copied(finished, tmp_path)
    later = (
        ("core_aware", "proofs")
        if stop.startswith("core")
        else ("core_aware", "proofs", "plain", "unhealed", "installed")
    )
    for name in later:
        shutil.rmtree(out / f"seed-{SEED}" / name)

    def kill(_seed, stage):
        if stage == stop:
            raise Killed

    with pytest.raises(Killed):
        distill(recipe, out, 1, kill)
    (report,) = distill(recipe, out)
    assert weights(out) == weights(finished[1])
    assert report.is_held


def test_a_mechanism_that_drifted_is_chased_once(finished, tmp_path):
    """Where extraction finds a neural head, it gets a program too, and what was found is declared."""
    recipe, out = finished[0], copied(finished, tmp_path)
    seed = out / f"seed-{SEED}"
    shutil.rmtree(seed / "proofs")
    (seed / "core_aware" / "migration.json").unlink()
    everything = whole(Graph(1, 2))
    (seed / "core_aware" / "quotes.circuit.json").write_bytes(readable_json(everything.to_json()))
    (report,) = distill(recipe, out)
    drifted, chased = report.rounds[-2:]
    assert (drifted.fate, drifted.migrations[0].arrived) == (Fate.DRIFTED, (Head(0, 0),))
    assert chased.name == CHASE
    assert chased.programs.keys() == {Head(0, 0), Head(0, 1)}
    assert chased.scoring.with_programs == 0
    assert chased.migrations[0].behaviour.circuit == everything
    assert report.proofs
    assert all(proof.neural == () and proof.checker is Outcome.VALID for proof in report.proofs)


def test_a_source_that_does_not_know_the_task_ends_its_seed(tmp_path):
    """Its row says why; nothing is healed, nothing proved, and it does not count as held."""
    recipe = recipe_in(tmp_path, source={"training.steps": "2"})
    (report,) = distill(recipe, tmp_path / "out")
    assert re.fullmatch(r"the source decides \d+ of 128 prompts of quotes right", report.stopped)
    assert (report.rounds, report.proofs, report.is_held) == ((), (), False)


def test_numbers_that_are_none_end_their_seed(tmp_path):
    """The other seeds go on, and the row says what happened."""
    recipe = recipe_in(tmp_path, source={"training.initial_deviation": "1e30"})
    (report,) = distill(recipe, tmp_path / "out")
    assert "a NaN or infinite number reached an operator" in report.stopped
    assert (report.rounds, report.proofs, report.is_held) == ((), (), False)


def test_a_head_without_a_program_ends_its_seed(finished, tmp_path):
    """A program that was not accepted is never installed."""
    recipe = replace(finished[0], bounds=replace(finished[0].bounds, budget=1))
    out = copied(finished, tmp_path)
    shutil.rmtree(out / f"seed-{SEED}" / "installed")
    (report,) = distill(recipe, out)
    assert report.stopped == "no program within the bounds is accepted for head 0.1"
    assert (report.proofs, report.is_held) == ((), False)


def test_healing_that_loses_the_task_proves_nothing(finished, tmp_path):
    """One step of a huge rate: the row says failed, and there is no proof to point at."""
    broken = {"healing.steps": "1", "healing.learning_rate": "1.0", "healing.warmup": "0"}
    recipe = recipe_in(tmp_path / "recipe", broken)
    recipe = replace(recipe, digest=finished[0].digest)
    out = copied(finished, tmp_path)
    for name in ("core_aware", "proofs"):
        shutil.rmtree(out / f"seed-{SEED}" / name)
    (report,) = distill(recipe, out)
    assert report.rounds[-1].fate is Fate.FAILED
    assert (report.proofs, report.is_held) == ((), False)


def test_a_bypass_is_not_held_though_everything_is_proved(finished):
    """Proofs are about circuits; whether the model uses them is another question."""
    recipe, out, _, _ = finished
    strict = replace(recipe, gates=replace(recipe.gates, kl=100.0))
    (report,) = distill(strict, out)
    assert report.rounds[-1].fate is Fate.BYPASSED
    assert all(proof.is_good for proof in report.proofs)
    assert not report.is_held


def test_seeds_can_run_in_processes_of_their_own(finished):
    """The reports are the same and in the order of the recipe."""
    recipe, out, report, _ = finished
    (found,) = distill(recipe, out, 2, show_stage)
    assert found.to_json() == report.to_json()


def test_a_folder_of_another_recipe_is_refused(finished, tmp_path):
    """Other weights or gates are another run."""
    other = recipe_in(tmp_path, {"gates.lesion_kl": "0.2"})
    with pytest.raises(InputError, match="was begun with recipe 'small' of another content"):
        distill(other, finished[1])


def test_no_jobs_do_no_work(finished):
    """Zero processes would answer nothing, and nothing must not look like success."""
    with pytest.raises(InputError, match="0 jobs were asked for, want at least 1"):
        distill(finished[0], finished[1], 0)


def test_a_report_without_proofs_is_never_held(finished):
    """Success is counted: no rounds or no proofs are not a pass."""
    report = finished[2]
    assert not replace(report, proofs=()).is_held
    assert not replace(report, rounds=()).is_held
    assert not replace(report, stopped="why").is_held
