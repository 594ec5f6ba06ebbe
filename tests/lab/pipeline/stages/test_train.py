import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from circuitproof.errors import InputError
from circuitproof.files import canonical
from circuitproof.files.canonical import digest_bytes, digest_file
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof.nn.checkpoint import load_model
from circuitproof.tasks.alphabet import BYTES, TOY
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import train_recipe
from circuitproof_lab.train.loop import Watcher
from corpora import corpus_changes, write_corpus
from places import RECIPES
from recipes import recipe_text, write_recipe

SILENT = Watcher()
CHANGES_OF_THE_DISK = ("replace", "rename", "unlink", "rmdir", "mkdir", "open", "chmod")
"""The calls through which everything that is written goes."""


def model_content(out: Path) -> dict[str, bytes]:
    """Return every file of a finished run's model directory."""
    return {path.name: path.read_bytes() for path in (out / "model").iterdir()}


@pytest.fixture
def recipe(tmp_path):
    """Return a recipe that trains in a moment."""
    return load_recipe(write_recipe(tmp_path / "tiny.toml"))


def test_a_run_leaves_a_model_and_its_history(tmp_path, recipe):
    """The model directory alone says where it comes from."""
    stored = train_recipe(recipe, tmp_path / "run", SILENT)
    assert stored.alphabet == TOY
    assert stored.model.architecture == recipe.architecture
    history = json.loads(model_content(tmp_path / "run")["training.json"])
    assert (history["recipe"], history["recipe_digest"]) == ("tiny", str(recipe.digest))
    assert [evaluation["step"] for evaluation in history["evaluations"]] == [4, 6]
    assert set(history["evaluations"][0]["measures"]) == {
        "quotes accuracy",
        "quotes worst margin",
        "brackets accuracy",
        "brackets worst margin",
    }


def test_models_that_are_kept_on_the_way_change_no_bit_of_how_it_ends(tmp_path, recipe):
    """A model directory for each step that is asked for, and for the last; also where a kill came between."""

    def kill(step: int, _loss: float) -> None:
        if step == 5:
            raise KeyboardInterrupt

    keeping = replace(recipe, keep_every=2)
    train_recipe(recipe, tmp_path / "run", SILENT)
    with pytest.raises(KeyboardInterrupt):
        train_recipe(keeping, tmp_path / "kept", Watcher(kill))
    train_recipe(keeping, tmp_path / "kept", SILENT)
    assert model_content(tmp_path / "kept") == model_content(tmp_path / "run")
    kept = sorted((tmp_path / "kept" / "kept").iterdir())
    assert [path.name for path in kept] == ["step-000000002", "step-000000004", "step-000000006"]
    last = tmp_path / "run" / "model" / "weights.safetensors"
    digests = [digest_file(path / "weights.safetensors") for path in kept]
    assert len({*digests}) == 3
    assert digests[-1] == digest_file(last)
    assert load_model(kept[0]).alphabet == TOY
    assert not (tmp_path / "run" / "kept").exists()


def test_an_empty_folder_may_be_used(tmp_path, recipe):
    """The user made it for this."""
    (tmp_path / "run").mkdir()
    train_recipe(recipe, tmp_path / "run", SILENT)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        ".run.json.lock",
        "checkpoints",
        "model",
        "run.json",
    ]


def test_a_finished_run_is_not_repeated(tmp_path, recipe):
    """The same command again costs nothing and changes nothing."""
    train_recipe(recipe, tmp_path / "run", SILENT)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")}
    told = []
    train_recipe(recipe, tmp_path / "run", Watcher(lambda *_: pytest.fail("a step was taken"), told.append))
    assert [evaluation.step for evaluation in told][-1] == recipe.plan.steps
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*")} == before


def test_a_run_begun_with_another_recipe_is_refused(tmp_path, recipe):
    """Going on would mix two recipes in one model."""
    train_recipe(recipe, tmp_path / "run", SILENT)
    other = load_recipe(write_recipe(tmp_path / "other.toml", {"training.steps": "7"}))
    with pytest.raises(
        InputError, match=r"run was begun with recipe 'tiny' of another content; remove it or"
    ):
        train_recipe(other, tmp_path / "run", SILENT)


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "checkpoints"])
def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(tmp_path, recipe, name):
    """A slip in `--out` must not spread files over somebody's folder."""
    (tmp_path / "home" / name).mkdir(parents=True)
    with pytest.raises(InputError, match=r"home is not empty and no run of ours; choose another place"):
        train_recipe(recipe, tmp_path / "home", SILENT)
    assert [path.name for path in (tmp_path / "home").iterdir()] == [name]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, recipe):
    """It is not overwritten."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match=r"file is a file, want a folder; choose another place"):
        train_recipe(recipe, tmp_path / "file", SILENT)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_damaged_mark_is_refused(tmp_path, recipe):
    """Without it nobody knows which recipe began the run."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"run.json.recipe is missing"):
        train_recipe(recipe, tmp_path / "run", SILENT)


@pytest.fixture
def on_corpus(tmp_path):
    """Return a recipe that trains on a corpus of small files."""
    write_corpus(tmp_path)
    return load_recipe(write_recipe(tmp_path / "corpus.toml", corpus_changes()))


def test_a_corpus_is_trained_on_by_the_same_loop(tmp_path, on_corpus):
    """From files to a model that has its tokenizer beside it, and the digests of what it was trained on."""
    stored = train_recipe(on_corpus, tmp_path / "run", SILENT)
    assert stored.alphabet is not None
    assert len(stored.alphabet) == 300
    content = model_content(tmp_path / "run")
    assert FileTokenizer(tmp_path / "run" / "model").alphabet == stored.alphabet
    pinned = json.loads(content["corpus.json"])
    assert pinned["text"]["7.txt"] == str(digest_file(tmp_path / "code" / "7.txt"))
    assert pinned["tokenizer"] == str(digest_bytes(content["tokenizer.json"]))
    measures = json.loads(content["training.json"])["evaluations"][-1]["measures"]
    assert list(measures) == [
        "development loss",
        "development perplexity",
        "second loss",
        "second perplexity",
    ]


def test_a_run_on_a_corpus_goes_on_after_a_kill_to_the_same_bits_but_not_on_another_corpus(
    tmp_path, on_corpus
):
    """The recipe is the same; the texts that it names need not be."""

    def kill(step: int, _loss: float) -> None:
        if step == 3:
            raise KeyboardInterrupt

    train_recipe(on_corpus, tmp_path / "whole", SILENT)
    with pytest.raises(KeyboardInterrupt):
        train_recipe(on_corpus, tmp_path / "killed", Watcher(kill))
    text = (tmp_path / "code" / "7.txt").read_text()
    (tmp_path / "code" / "7.txt").write_text(text + "!")
    with pytest.raises(InputError, match=r"7.txt has another content \(1 documents differ\); restore it or"):
        train_recipe(on_corpus, tmp_path / "killed", SILENT)
    (tmp_path / "code" / "7.txt").write_text(text)
    train_recipe(on_corpus, tmp_path / "killed", SILENT)
    assert model_content(tmp_path / "killed") == model_content(tmp_path / "whole")


def test_a_model_of_bytes_calls_its_tokens_by_them(tmp_path):
    """So that a task of another alphabet is refused, however many tokens it has."""
    write_corpus(tmp_path)
    changes = corpus_changes(tokenizer='{ kind = "bytes" }')
    recipe = load_recipe(write_recipe(tmp_path / "bytes.toml", changes))
    assert train_recipe(recipe, tmp_path / "run", SILENT).alphabet == BYTES


def test_several_runs_can_share_their_tokens(tmp_path, on_corpus):
    """Variants of a model are compared on the same windows."""
    for name in ("one", "other"):
        train_recipe(on_corpus, tmp_path / name, SILENT, corpus=tmp_path / "tokens")
    assert model_content(tmp_path / "one") == model_content(tmp_path / "other")
    assert not (tmp_path / "one" / "corpus").exists()


def test_tokens_beyond_the_vocabulary_are_refused(tmp_path):
    """Before a step is taken; the sentence names the key to change."""
    write_corpus(tmp_path)
    changes = corpus_changes(tokenizer='{ kind = "bytes" }') | {"architecture.vocabulary": "90"}
    recipe = load_recipe(write_recipe(tmp_path / "text.toml", changes))
    with pytest.raises(
        InputError, match=r"corpus has token 1\d\d, the recipe's architecture.vocabulary is 90"
    ):
        train_recipe(recipe, tmp_path / "run", SILENT)


def test_what_a_kill_at_any_moment_leaves_behind_is_gone_on_from_to_the_same_bits(tmp_path, monkeypatch):
    """A kill leaves the disk as it is at some moment; each such state is kept here, and gone on from.

    What still waits in the program's buffers is in none of the copies, as after a kill.
    """
    changes = {"training.steps": "2", "training.checkpoint_every": "1", "training.evaluate_every": "1"}
    recipe = load_recipe(write_recipe(tmp_path / "tiny.toml", changes))
    states = _states_during(
        monkeypatch, tmp_path / "run", lambda: train_recipe(recipe, tmp_path / "run", SILENT)
    )
    assert len(states) > 40
    expected = model_content(tmp_path / "run")
    monkeypatch.setattr(canonical, "_flush", lambda _: None)
    for moment, state in enumerate(states):
        out = tmp_path / f"killed-{moment}"
        _restore(state, out)
        train_recipe(recipe, out, SILENT)
        assert model_content(out) == expected, f"state {moment}: {sorted(state)}"
        shutil.rmtree(out)


def _states_during(monkeypatch, folder: Path, work) -> list[dict[str, bytes | None]]:
    """Do the work and return every different state that the folder went through."""
    states: dict[str, dict[str, bytes | None]] = {}

    def watched(call):
        def wrapped(*arguments, **options):
            state = _state(folder)
            states.setdefault(repr(sorted(state.items())), state)
            return call(*arguments, **options)

        return wrapped

    with monkeypatch.context() as patch:
        for name in (*CHANGES_OF_THE_DISK, "fsync"):
            patch.setattr(os, name, watched(getattr(os, name)))
        work()
    return list(states.values())


def _state(folder: Path) -> dict[str, bytes | None]:
    """Return each file with its content, and each folder with none."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in (folder.rglob("*") if folder.exists() else ())
    }


def _restore(state: dict[str, bytes | None], folder: Path) -> None:
    folder.mkdir()
    for name, content in sorted(state.items()):
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)


@pytest.mark.slow
def test_a_run_killed_for_real_again_and_again_ends_with_the_same_weights(tmp_path):
    """The whole command, the real signal: at the first checkpoint, a while later, and during the start."""
    changes = {"training.steps": "160", "training.checkpoint_every": "20", "training.evaluate_every": "50"}
    recipe = write_recipe(tmp_path / "tiny.toml", changes)
    train_recipe(load_recipe(recipe), tmp_path / "whole", SILENT)
    out = tmp_path / "killed"
    for wait in (0.0, 0.15):
        _kill_after_a_new_checkpoint(recipe, out, wait)
        assert not (out / "model").exists()
    result = subprocess.run(_command(recipe, out), check=False, capture_output=True)  # noqa: S603  # our own interpreter
    assert result.returncode == 0
    assert model_content(out) == model_content(tmp_path / "whole")


def _command(recipe: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "circuitproof.cli.main", "train", str(recipe), "--out", str(out)]


def _checkpoints(out: Path) -> set[str]:
    return {path.name for path in (out / "checkpoints").glob("step-*")}


def _kill_after_a_new_checkpoint(recipe: Path, out: Path, wait: float) -> None:
    before = _checkpoints(out)
    with subprocess.Popen(_command(recipe, out), stderr=subprocess.DEVNULL) as process:  # noqa: S603  # our own interpreter
        while not _checkpoints(out) - before and process.poll() is None:
            time.sleep(0.002)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "the run was over before it could be killed"


@pytest.mark.parametrize("name", ["toy", "toy-band", "toy-control"])
def test_a_shipped_toy_recipe_learns(tmp_path, name):
    """A first stretch of the real recipe: the loss falls below what guessing among the candidates costs."""
    text = (RECIPES / f"{name}.toml").read_text()
    (tmp_path / "short.toml").write_text(text.replace("\nsteps = 1000", "\nsteps = 150"))
    losses: list[float] = []
    train_recipe(
        load_recipe(tmp_path / "short.toml"), tmp_path / "run", Watcher(lambda _, loss: losses.append(loss))
    )
    assert len(losses) == 150
    assert losses[0] > 3
    assert losses[-1] < 1


def test_the_seed_of_a_recipe_decides_the_weights(tmp_path):
    """Same seed, same bytes; another seed, other bytes."""
    contents = []
    for name, seed in (("one", "5"), ("same", "5"), ("other", "6")):
        (tmp_path / f"{name}.toml").write_text(recipe_text({"seed": seed}))
        train_recipe(load_recipe(tmp_path / f"{name}.toml"), tmp_path / name, SILENT)
        contents.append(model_content(tmp_path / name)["weights.safetensors"])
    assert contents[0] == contents[1] != contents[2]
