"""A published kind of model by one command each: a classifier that decides at its first position."""

import json
import re

import numpy as np
import pytest

from bundle_maker import seal
from floats import agree
from lens_files import CONFIG, lens_logits, lens_state, write_lens

NAMES = ["(", ")", "PAD", "START", "END"]
BRACKETS = [(3, *map(int, f"{number:03b}"), 4) for number in range(8)]
KIND = {"attention_dir": "bidirectional", "d_vocab": 5, "d_vocab_out": 2, "n_ctx": 6, "seed": 42}
TASK = {"name": "balanced", "alphabet": NAMES, "outputs": ["unbalanced", "balanced"], "position": 0}


def written(task):
    """Return a task file, whose values are spelled alike in JSON and in TOML."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in task.items())


@pytest.fixture(scope="module")
def state():
    """Return the weights of a classifier with more than one answer."""
    drawn = (lens_state({**CONFIG, **KIND}, seed) for seed in range(50))
    return next(one for one in drawn if len(set(classes(one))) > 1)


def classes(state):
    """Return what the forward of the stored names answers at the first position."""
    return [int(np.argmax(lens_logits(state, {**CONFIG, **KIND}, list(one))[0])) for one in BRACKETS]


@pytest.fixture
def kit(run, tmp_path, state):
    """Return the model directory that the import makes, and the keys of a task file of what it answers."""
    source = write_lens(tmp_path / "source", {**CONFIG, **KIND}, state)
    code, out, err = run("import-tl", source, "--out", tmp_path / "model")
    assert (code, err) == (0, "")
    assert "note: it has 2 outputs and 5 tokens: no output is taken for a token" in out
    return tmp_path / "model", {
        **TASK,
        "prompts": [" ".join(NAMES[token] for token in prompt) for prompt in BRACKETS],
        "answers": [TASK["outputs"][one] for one in classes(state)],
        "classes": list(range(len(BRACKETS))),
    }


def test_a_classifier_is_imported_proved_checked_and_shown(run, kit, tmp_path, state):
    """Its answers have names of their own everywhere, and everybody says where it decides."""
    model, task = kit
    (tmp_path / "task.toml").write_text(written(task))
    given = ["--model", model, "--task", tmp_path / "task.toml"]
    code, out, err = run("verify", *given, "--property", "equivalence", "--out", tmp_path / "bundle")
    assert (code, err) == (0, "")
    assert "decided at position 0, proved" in out
    code, _, _ = run("task", tmp_path / "task.toml", "--out", tmp_path / "task.json")
    code, out, err = run("check", tmp_path / "bundle", "--against", model, "--task", tmp_path / "task.json")
    assert code == 0, err
    assert "2 candidates at position 0, enclosed arithmetic" in out
    code, out, err = run("explain", "--bundle", tmp_path / "bundle", "#0")
    assert (code, "balanced" in out) == (0, True), err
    code, _, err = run("report", tmp_path / "bundle", "--out", tmp_path / "page.html")
    assert code == 0, err
    assert "computes at position 0 of x" in (tmp_path / "page.html").read_text()
    code, out, err = run("logits", "--model", model, "--tokens", "3 0 4", "--position", "0", "--json")
    (asked,) = json.loads(out)["prompts"]
    assert agree(asked["floats"], list(lens_logits(state, {**CONFIG, **KIND}, [3, 0, 4])[0]))
    code, _, err = run("logits", "--model", model, "--tokens", "3 0 4", "--candidates", "0 4")
    assert (code, "'4' is no output of the model; its outputs are 0 to 1" in err) == (2, True)
    code, _, err = run("logits", "--model", model, "--tokens", "3", "--position", "1")
    assert (code, "logits: prompt 0 has 1 tokens, and position 1 is decided at" in err) == (2, True)
    code, out, err = run("evaluate", *given)
    assert (code, "8/8" in out) == (0, True), err
    code, _, err = run("explain", "--bundle", tmp_path / "bundle", "7")
    assert (code, "no token of this bundle" in err) == (2, True)


def test_another_position_is_another_task(run, kit, tmp_path):
    """What it says there is wanted nowhere, so some prompt refutes it; the digest is another one."""
    model, task = kit
    (tmp_path / "task.toml").write_text(written(task))
    asked = [
        "verify",
        "--model",
        model,
        "--task",
        tmp_path / "task.toml",
        "--property",
        "equivalence",
        "--json",
    ]
    found = [json.loads(run(*asked, "--position", place)[1]) for place in (0, -5, 2)]
    assert [one["verdict"] for one in found] == ["proved", "proved", "refuted"]
    assert len({one["declaration"] for one in found}) == 3


@pytest.mark.parametrize(
    ("changes", "options", "sentence"),
    [
        ({"position": 5}, (), "prompt 0 has 5 tokens, and position 5 is decided at; want at least 6 tokens"),
        ({}, ("--position", "-6"), "position -6 is decided at; want at least 6 tokens in each, or another"),
        ({"position": "first"}, (), "position is the string 'first', want a whole number"),
        ({}, ("--candidates", "all", "--position", "9"), "position 9 is decided at"),
        (
            {"outputs": ["unbalanced", "balanced", "perhaps"]},
            (),
            "names 3 outputs, the model has 2; name each",
        ),
        ({"outputs": ["no", "no"]}, (), "the name 'no' stands for two tokens"),
        (
            {"answers": ["maybe"] * 8},
            (),
            "answers[0] is 'maybe', want a token's number or one of the 2 names of the outputs",
        ),
        ({"candidates": [0, 2]}, (), "candidate 2 is unknown; the outputs are 0 to 1"),
        (
            {"outputs": None, "candidates": [0, 3], "answers": [0, 3] * 4},
            (),
            "the model has outputs 0 to 1 only",
        ),
    ],
)
def test_what_does_not_fit_is_answered_in_one_sentence(run, kit, changes, options, sentence):
    """What was found, what is wanted, and where."""
    (model, task), tmp_path = kit, kit[0].parent
    spoiled = {key: one for key, one in {**task, **changes}.items() if one is not None}
    (tmp_path / "task.toml").write_text(written(spoiled))
    given = ["--model", model, "--task", tmp_path / "task.toml", "--property", "equivalence"]
    code, _, err = run("verify", *given, *options)
    assert (code, len(err.strip().splitlines())) == (3, 1), err
    assert sentence in err


def test_a_perturbation_behind_the_decision_is_refused(run, tmp_path, state):
    """Through a mask it changes nothing; without one it would."""
    source = write_lens(tmp_path / "causal", {**CONFIG, **KIND, "attention_dir": "causal"}, state)
    run("import-tl", source, "--out", tmp_path / "model")
    keys = {**TASK, "prompts": ["START ( END", "START ) END"], "answers": ["balanced"] * 2, "classes": [0, 0]}
    (tmp_path / "task.toml").write_text(written(keys))
    given = ["--model", tmp_path / "model", "--task", tmp_path / "task.toml", "--epsilon", "1/100"]
    code, _, err = run("verify", *given, "--at", "mlp 0 output", "--positions", "0,2")
    assert code == 3
    assert "position 2 is perturbed, but a prompt has only 1 tokens that its decision reads" in err


def test_patterns_are_decided_at_their_ends(run, tmp_path):
    """Their evidence speaks of nothing else."""
    text = PATTERN.replace("name =", "position = 0\nname =")
    (tmp_path / "task.toml").write_text(text)
    code, _, err = run("task", tmp_path / "task.toml")
    assert code == 3
    assert "position is not known over patterns, which are answered by tokens at the last position" in err


PATTERN = """name = "marks"
vocabulary = 32
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "any{1..6} with exactly 1 of [9, 10]"
"""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"outputs": 5}, "outputs is 5, as many as there are tokens; leave it out"),
        ({"outputs": 2, "tied": True}, "outputs is 2 and tied is true: the output embedding cannot be that"),
        ({"outputs": 0}, "outputs is 0, want at least 1"),
        ({"outputs": None}, "outputs is null, want a whole number"),
        ({"outputs": 3_000_000}, "outputs is 3000000, want 1 to 2097152"),
    ],
)
def test_a_model_of_impossible_outputs_is_refused(run, kit, tmp_path, changes, sentence):
    """They would be taken for tokens, or for rows that are not there."""
    model, task = kit
    declared = json.loads((model / "model.json").read_text())
    declared["architecture"] |= changes
    weights = (model / "weights.safetensors").read_bytes()
    seal(tmp_path / "spoiled", {"model.json": json.dumps(declared).encode(), "weights.safetensors": weights})
    (tmp_path / "task.toml").write_text(written(task))
    code, _, err = run("verify", "--model", tmp_path / "spoiled", "--task", tmp_path / "task.toml")
    assert (code, re.sub(r"\s+", " ", err).count(sentence)) == (3, 1), err
