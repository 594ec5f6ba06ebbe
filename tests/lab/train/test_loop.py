import json
import shutil
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError, NumericError
from circuitproof.files.canonical import digest_bytes
from circuitproof.files.sealed import write_sealed
from circuitproof.nn.checkpoint import StoredModel, model_files, save_tensors
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.train import loop
from circuitproof_lab.train.data import CorpusData
from circuitproof_lab.train.loop import NextToken, TrainingPlan, Watcher, fit, learning_rate, train
from circuitproof_lab.train.measures import Evaluation
from corpora import corpus_data
from floats import agree
from models import NORMS, PROGRAMS, random_model, tiny_architecture

PLAN = TrainingPlan(
    seed=1,
    steps=7,
    learning_rate=0.01,
    warmup=2,
    weight_decay=0.01,
    gradient_limit=1.0,
    initial_deviation=0.2,
    evaluate_every=3,
    checkpoint_every=2,
)
ARCHITECTURE = tiny_architecture(norm=NORMS[1])


class Killed(Exception):  # noqa: N818  # not an error of the program under test
    """Stands in for a kill between two steps."""


def data(seed: int = 1) -> CorpusData:
    """Return a text that repeats with period seven."""
    return corpus_data(torch.arange(120) % 7, 5, 64, seed)


def run(checkpoints, plan=PLAN, *, stop_after=None, architecture=ARCHITECTURE):
    """Train, if wanted only to a step, and return the model's files and what the watcher saw."""
    seen = []

    def on_step(step: int, _loss: float) -> None:
        if step == stop_after:
            raise Killed

    watcher = Watcher(on_step=on_step, on_evaluation=seen.append)
    trained = train(architecture, data(plan.seed), plan, checkpoints, watcher)
    assert trained.evaluations == tuple(seen)
    return model_files(StoredModel(trained.model, None)), seen


def names(checkpoints) -> list[str]:
    """Return what is in the folder of checkpoints."""
    return sorted(path.name for path in checkpoints.iterdir())


def test_the_same_seed_gives_the_same_bits(tmp_path):
    """A result that cannot be repeated cannot be checked."""
    assert run(tmp_path / "one") == run(tmp_path / "other")


def test_another_seed_gives_other_weights(tmp_path):
    """A seed that did nothing would make every spread over seeds a lie."""
    assert run(tmp_path / "one")[0] != run(tmp_path / "other", replace(PLAN, seed=2))[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"learning_rate": 0.02},
        {"warmup": 3},
        {"weight_decay": 0.5},
        {"gradient_limit": 1e-7},
        {"initial_deviation": 0.1},
        {"steps": 8},
    ],
    ids=str,
)
def test_every_setting_of_the_plan_does_something(tmp_path, changed):
    """A setting that is read and then forgotten is worse than none."""
    assert run(tmp_path / "one")[0] != run(tmp_path / "other", replace(PLAN, **changed))[0]


def test_how_often_one_looks_changes_nothing(tmp_path):
    """Evaluations and checkpoints are observations; they draw no random number."""
    other = replace(PLAN, evaluate_every=1, checkpoint_every=100)
    assert run(tmp_path / "one")[0] == run(tmp_path / "other", other)[0]


@pytest.mark.parametrize("stop", range(1, 8))
def test_a_run_stopped_after_any_step_ends_with_the_same_bits(tmp_path, stop):
    """Optimizer, step and evaluations must all come back, not only the weights."""
    expected = run(tmp_path / "whole")
    with pytest.raises(Killed):
        run(tmp_path / "stopped", stop_after=stop)
    assert run(tmp_path / "stopped") == expected


def test_a_run_stopped_again_and_again_ends_with_the_same_bits(tmp_path):
    """Each resume starts from what the last one saved."""
    expected = run(tmp_path / "whole")
    for stop in (3, 5, 7):
        with pytest.raises(Killed):
            run(tmp_path / "stopped", stop_after=stop)
    assert run(tmp_path / "stopped") == expected


def test_a_finished_run_takes_no_more_steps(tmp_path):
    """When the last step is also a checkpoint, asking again only reads it."""
    plan = replace(PLAN, steps=6)
    expected = run(tmp_path, plan)
    assert run(tmp_path, plan, stop_after=6) == expected


def test_only_the_newest_checkpoint_is_kept(tmp_path):
    """A long run must not fill the disk."""
    run(tmp_path)
    assert names(tmp_path) == ["step-000000006"]


def test_an_older_checkpoint_that_a_kill_left_half_deleted_is_neither_read_nor_kept(tmp_path):
    """The newest whole one counts."""
    expected = run(tmp_path / "whole")
    with pytest.raises(Killed):
        run(tmp_path / "stopped", stop_after=5)
    shutil.copytree(tmp_path / "stopped" / "step-000000004", tmp_path / "stopped" / "step-000000002")
    (tmp_path / "stopped" / "step-000000002" / "manifest.json").unlink()
    assert run(tmp_path / "stopped") == expected
    assert names(tmp_path / "stopped") == ["step-000000006"]


@pytest.mark.parametrize("name", [".step-000000006.x7f", "step-6", "step-000000006.old", "notes"])
def test_what_is_not_a_finished_checkpoint_is_left_alone(tmp_path, name):
    """A killed write leaves a folder with a dot; it must not be taken for the newest checkpoint."""
    expected = run(tmp_path / "whole")
    with pytest.raises(Killed):
        run(tmp_path / "stopped", stop_after=5)
    (tmp_path / "stopped" / name).mkdir()
    (tmp_path / "stopped" / name / "weights.safetensors").write_bytes(b"half")
    assert run(tmp_path / "stopped") == expected
    assert name in names(tmp_path / "stopped")


def test_a_checkpoint_that_is_already_there_is_not_written_again(tmp_path):
    """The same step has the same bits, so there is nothing to add."""
    expected = run(tmp_path)
    assert names(tmp_path) == ["step-000000006"]
    (tmp_path / "step-000000006").rename(tmp_path / "aside")
    with pytest.raises(Killed):
        run(tmp_path, stop_after=5)
    training = loop._resume(Transformer(ARCHITECTURE), PLAN, tmp_path)
    (tmp_path / "aside").rename(tmp_path / "step-000000006")
    while training.step < 6:
        loop._take_step(training, NextToken(data()), PLAN)
    loop._save_checkpoint(training, tmp_path)
    assert run(tmp_path) == expected


def test_evaluations_come_at_their_steps_and_at_the_end(tmp_path):
    """The last one is about the model that is handed over."""
    assert [evaluation.step for evaluation in run(tmp_path)[1]] == [3, 6, 7]


def test_the_loss_falls(tmp_path):
    """The loop does what it is for: a text of period seven is learned in a moment."""
    plan = replace(PLAN, steps=60, evaluate_every=5, checkpoint_every=60, learning_rate=0.03)
    losses = [evaluation.measures["development loss"] for evaluation in run(tmp_path, plan)[1]]
    assert losses[0] > 1
    assert losses[-1] < 0.2


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path):
    """Going on with it would end in a model that no recipe describes."""
    with pytest.raises(Killed):
        run(tmp_path, stop_after=5)
    with pytest.raises(InputError, match=r"step-000000004 holds another architecture than the recipe"):
        run(tmp_path, architecture=tiny_architecture())


def fit_programmed(checkpoints, programs, *, stop_after=None):
    """Train a given model with programs, if wanted only to a step, and return its files."""

    def on_step(step: int, _loss: float) -> None:
        if step == stop_after:
            raise Killed

    model = random_model(ARCHITECTURE, 3, programs)
    trained = fit(model, NextToken(data()), PLAN, checkpoints, Watcher(on_step=on_step))
    return model_files(StoredModel(trained.model, None))


def test_training_of_a_given_model_stopped_after_any_step_ends_with_the_same_bits(tmp_path):
    """The checkpoint, and not the model given, is what a resumed run goes on from."""
    expected = fit_programmed(tmp_path / "whole", PROGRAMS)
    for stop in (3, 6):
        with pytest.raises(Killed):
            fit_programmed(tmp_path / "stopped", PROGRAMS, stop_after=stop)
    assert fit_programmed(tmp_path / "stopped", PROGRAMS) == expected


class OnlyTokens:
    """A goal that the embedding of tokens alone serves, so that nothing else has a gradient."""

    def losses(self, model, _step):
        yield model.token.square().mean()

    def evaluate(self, _model):
        return {}


def test_what_has_no_gradient_stays_and_is_kept_in_checkpoints(tmp_path):
    """It is not even made smaller, before and after a kill."""

    def trained(checkpoints, stop_after=None):
        def on_step(step, _loss):
            if step == stop_after:
                raise Killed

        model = random_model(tiny_architecture())
        return fit(model, OnlyTokens(), PLAN, checkpoints, Watcher(on_step=on_step)).model

    with pytest.raises(Killed):
        trained(tmp_path / "killed", stop_after=5)
    before, whole = random_model(tiny_architecture()), trained(tmp_path / "whole")
    resumed = trained(tmp_path / "killed")
    for name, tensor in before.named_parameters():
        assert torch.equal(tensor, whole.get_parameter(name)) == (name != "token")
        assert torch.equal(resumed.get_parameter(name), whole.get_parameter(name))


def test_a_checkpoint_of_other_programs_is_refused(tmp_path):
    """The architecture is the same; the model that came out would attend elsewhere."""
    with pytest.raises(Killed):
        fit_programmed(tmp_path, PROGRAMS, stop_after=5)
    swapped = {**PROGRAMS, Head(0, 0): PROGRAMS[Head(0, 1)]}
    with pytest.raises(InputError, match=r"step-000000004 holds other programs than the model to train"):
        fit_programmed(tmp_path, swapped)


@pytest.mark.parametrize("file", ["weights.safetensors", "optimizer.safetensors", "progress.json"])
def test_a_damaged_checkpoint_is_refused(tmp_path, file):
    """A kill cannot cause this, a bad disk can; going on would give other bits without a word."""
    with pytest.raises(Killed):
        run(tmp_path, stop_after=5)
    path = tmp_path / "step-000000004" / file
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=f"{file} has digest"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("optimizer.safetensors", save_tensors({}), "optimizer.safetensors lacks tensor 0.step"),
        ("progress.json", b"{}", "progress.json.step is missing"),
        ("progress.json", b'{"step": 4, "evaluations": [{"step": 3}]}', r"evaluations\[0\].measures is miss"),
    ],
)
def test_a_checkpoint_with_something_missing_is_refused(tmp_path, file, content, sentence):
    """Even under a good seal: the seal says who wrote it, not that it is whole."""
    with pytest.raises(Killed):
        run(tmp_path, stop_after=5)
    path = tmp_path / "step-000000004"
    (path / file).write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][file] = str(digest_bytes(content))
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=sentence):
        run(tmp_path)


def test_a_checkpoint_without_the_optimizer_is_refused(tmp_path):
    """A bare model in the place of a checkpoint would restart Adam from zero."""
    with pytest.raises(Killed):
        run(tmp_path, stop_after=5)
    path = tmp_path / "step-000000004"
    files = {name: (path / name).read_bytes() for name in ("model.json", "weights.safetensors")}
    shutil.rmtree(path)
    write_sealed(path, files)
    with pytest.raises(InputError, match=r"cannot read .*optimizer.safetensors"):
        run(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_ends_the_run_before_it_spoils_the_weights(tmp_path, monkeypatch, value):
    """The sentence names the step and what to do."""
    monkeypatch.setattr(loop, "next_token_loss", lambda *_: torch.tensor(value))
    with pytest.raises(NumericError, match=rf"the loss is {value} at step 0; lower the learning rate"):
        run(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_measure_that_is_no_number_cannot_be_reported(value):
    """JSON has no word for it, and nobody could compare it."""
    with pytest.raises(NumericError, match=f"training: margin is {value} after step 4"):
        Evaluation(4, {"accuracy": 1.0, "margin": value})


@pytest.mark.parametrize("stop", [None, 3])
@pytest.mark.parametrize("before", [True, False])
def test_the_callers_choice_of_algorithms_is_given_back(tmp_path, before, stop):
    """Determinism is switched on for the run only, also when the run fails."""
    torch.use_deterministic_algorithms(before)
    try:
        if stop is None:
            run(tmp_path)
        else:
            with pytest.raises(Killed):
                run(tmp_path, stop_after=stop)
        assert torch.are_deterministic_algorithms_enabled() is before
    finally:
        torch.use_deterministic_algorithms(mode=False)


def test_the_watcher_may_be_silent(tmp_path):
    """Nobody has to look."""
    train(ARCHITECTURE, data(), replace(PLAN, steps=1), tmp_path, Watcher())


@given(st.integers(1, 50), st.integers(0, 60))
def test_the_learning_rate_rises_and_then_falls_to_a_tenth(steps, warmup):
    """It is positive at every step and never above what the plan says."""
    plan = replace(PLAN, steps=steps, warmup=warmup)
    rates = [learning_rate(plan, step) for step in range(steps)]
    rise, fall = rates[:warmup], rates[warmup:]
    assert rise == sorted(rise)
    assert fall == sorted(fall, reverse=True)
    assert all(0 < rate <= plan.learning_rate for rate in rates)


def test_the_learning_rate_has_its_three_landmarks():
    """First step of the rise, top, end of the cosine."""
    plan = replace(PLAN, steps=100, warmup=10, learning_rate=1.0)
    assert [learning_rate(plan, step) for step in (0, 9, 10)] == [0.1, 1.0, 1.0]
    assert agree(learning_rate(plan, 55), 0.55)
    assert agree(learning_rate(plan, 100), 0.1)


def test_a_model_of_other_outputs_than_tokens_is_not_trained(tmp_path):
    """The loss is over one logit for each token."""
    sizes = replace(ARCHITECTURE, outputs=2, tied=False)
    with pytest.raises(InputError, match=r"architecture.outputs is 2, want none"):
        run(tmp_path / "checkpoints", architecture=sizes)
