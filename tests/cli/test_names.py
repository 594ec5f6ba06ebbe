"""Names that would steer a terminal: no command prints them raw, in tables, sentences, JSON or refusals."""

import json
from dataclasses import replace

import pytest

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY, Alphabet
from hand_models import QUOTE_EDGES, circuit_of, quote_model
from run_folders import FILES

EVIL = "e\x1b[2J\x9b31m\u202e\x7fv\nforged"
TASK = """name = {name}
alphabet = "model"
prompts = [[9, 1], [10, 1]]
answers = [9, 10]
classes = [0, 1]
"""
OF_ALL = ("--model", EVIL, "--circuit", f"{EVIL}.json", "--task", f"{EVIL}.task.toml")
COMMANDS = (
    ("task", f"{EVIL}.task.toml", "--model", EVIL),
    ("model", EVIL),
    ("circuit", f"{EVIL}.json"),
    ("evaluate", "--model", EVIL, "--task", f"{EVIL}.task.toml", "--circuit", f"{EVIL}.json"),
    ("extract", *OF_ALL[:2], *OF_ALL[4:], "--out", f"{EVIL}.found.json"),
    ("verify", *OF_ALL),
    ("verify", *OF_ALL, "--engine", "all", "--anchors", "1"),
    ("verify", *OF_ALL, "--out", f"{EVIL}.bundle"),
    ("radius", *OF_ALL),
    ("logits", "--model", EVIL, "--prompt", "9 1", "--circuit", f"{EVIL}.json"),
    ("minimal", *OF_ALL[:2], *OF_ALL[4:], "--most", "2"),
    ("synthesise", *OF_ALL[:2], *OF_ALL[4:], "--head", "0.0", "--rules", "1", "--out", f"{EVIL}.program"),
    ("cost", *OF_ALL),
    ("queries", *OF_ALL, "--property", "equivalence", "--out", f"{EVIL}.queries"),
    ("show", "run"),
    ("report", "run", "--out", f"{EVIL}.html"),
)
BAD = (
    ("verify", "--model", EVIL, "--task", EVIL),
    ("train", f"{EVIL}.toml"),
    *(
        tuple("named.toml" if word == f"{EVIL}.task.toml" else word for word in words)
        for words in COMMANDS
        if words[-1] == f"{EVIL}.task.toml"
    ),
)
"""What is refused, or may be: a task of such a name."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where a model, a circuit, a task and a run have such names."""
    monkeypatch.chdir(tmp_path)
    names = tuple(f"{name}{EVIL}" for name in TOY.names)
    save_model(tmp_path / EVIL, StoredModel(quote_model(programs={}), replace(TOY, names=names)))
    (tmp_path / f"{EVIL}.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))
    (tmp_path / f"{EVIL}.task.toml").write_text(TASK.format(name='"mine"'))
    (tmp_path / "named.toml").write_text(TASK.format(name=json.dumps(EVIL)))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({**FILES["run.json"], "recipe": EVIL}))


def assert_harmless(out: str, err: str) -> None:
    """Assert that something is said, and only in signs that print."""
    assert out or err
    assert all(sign.isprintable() for sign in (out + err).replace("\n", "")), repr(out + err)
    assert not any(line.startswith("forged") for line in (out + err).splitlines())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_no_command_prints_what_does_not_print(run, command, more):
    """Whoever names a token, a task or a folder moves no cursor and writes no line of ours."""
    code, out, err = run(*command, *more)
    assert code in {0, 1, 4}, err
    assert_harmless(out, err)
    if more:
        json.loads(out)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("command", BAD, ids=lambda words: words[0])
def test_neither_does_a_refusal(run, command, more):
    """A sentence about a bad name is one sentence."""
    _, out, err = run(*command, *more)
    assert_harmless(out, err)


def test_alphabets_may_hold_such_names():
    """They are untrusted: it is where they are printed that they are spelled out."""
    assert Alphabet((EVIL, "b")).names[0] == EVIL
