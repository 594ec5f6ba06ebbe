import json
import signal
import sys

import pytest

from circuitproof.cli.main import main
from circuitproof.files.canonical import readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import Outcome, check
from hand_models import QUOTE_EDGES, circuit_of, quote_model, rows

TASK = """
name = "quotes"
vocabulary = 32
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "any{1..6} with exactly 1 of quotes"
sets = {quotes = [9, 10]}
names = {9 = "'", 10 = '"'}
"""
SIZE = sum(2 * length * 30 ** (length - 1) for length in range(1, 7))
"""One of two marks at one of the places, and any of 30 tokens elsewhere."""


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs `circuitproof verify` in this process, just as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    monkeypatch.setenv("COLUMNS", "300")

    def run_command(*arguments):
        monkeypatch.setattr(sys, "argv", ["circuitproof", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run_command


def given(folder, changes=None, edges=QUOTE_EDGES):
    """Write a model, a circuit and a task, and return the arguments that name them."""
    save_model(folder / "model", StoredModel(quote_model(changes), TOY))
    (folder / "circuit.json").write_bytes(readable_json(circuit_of(edges).to_json()))
    (folder / "task.toml").write_text(TASK)
    named = ["--model", folder / "model", "--circuit", folder / "circuit.json"]
    return [*named, "--task", folder / "task.toml"]


def test_a_proof_says_how_many_prompts_it_is_about(run, tmp_path):
    """The number is exact, and the bundle is valid."""
    code, out, err = run(*given(tmp_path), "--epsilon", "1/3", "--out", tmp_path / "bundle")
    assert (code, err) == (0, "")
    assert ": 2 edges, ablation zero, proved" in out
    assert f"{SIZE} prompts: any{{1..6}} with exactly 1 of [9, 10]" in out
    assert "robustness at 1/3, logits input, positions last" in out
    assert out.count("implied by equivalence; ") == 2
    assert "least margin 1, least radius 0.5" in out
    assert check(tmp_path / "bundle")[0] is Outcome.VALID


def test_a_refutation_shows_a_prompt_and_where_the_claim_holds(run, tmp_path):
    """The last position speaks for one of the marks: there the other one fails."""
    changes = {"embed.position": [*[[0, 0]] * 5, [5, 0]]}
    code, out, _ = run(*given(tmp_path, changes), "--limits")
    assert code == 1
    assert "1 of 12 cells fail:" in out
    assert 'head 0.0 reads token 10 " at 5: margin -4' in out
    assert "proved openers at 0 to 4:" in out
    assert "proved up to 5 tokens: " in out


def test_the_json_is_the_whole_result(run, tmp_path):
    """For programs; rationals are exact."""
    changes = {"embed.position": [*[[0, 0]] * 5, [5, 0]]}
    code, out, _ = run(*given(tmp_path, changes), "--limits", "--json", "--property", "equivalence")
    content = json.loads(out)
    assert code == 1
    assert content["prompts"] == str(SIZE)
    (answer,) = content["answers"]
    assert (answer["verdict"], answer["prompts"][0][-1]) == ("refuted", 10)
    cell = {"class": 10, "head": "head 0.0", "token": 10, "position": 5, "margin": "-4"}
    assert content["frontier"]["first_failing"] == [cell]
    assert [part["what"] for part in content["frontier"]["proved"]] == ["openers at 0 to 4", "up to 5 tokens"]


def test_what_is_open_is_said_and_named(run, tmp_path):
    """Exit code 4, and a sentence with the node."""
    edges = (*QUOTE_EDGES, "head 0.0 -> mlp 0", "embed -> mlp 0", "mlp 0 -> logits")
    changes = {"mlp.0.up.weight": [[1, 0], [0, 1]], "mlp.0.down.weight": [[1, 0], [0, 1]]}
    arguments = given(tmp_path, changes, edges)
    arguments += ["--pattern", "any{2..6} with exactly 1 of quotes", "--property", "equivalence"]
    code, out, _ = run(*arguments, "--regions", "3", "--listed", "0", "--limits")
    assert code == 4
    assert "mlp 0 bends what head 0.0 and the last position bring together" in out
    assert "no part of the pattern was found to be proved" in out


def test_an_edge_that_no_prompt_needs_refutes_necessity(run, tmp_path):
    """It is named; the proof covers every prompt."""
    arguments = given(tmp_path, {"embed.position": rows(6, {})}, (*QUOTE_EDGES, "mlp 0 -> logits"))
    code, out, _ = run(*arguments, "--property", "necessity", "--out", tmp_path / "bundle")
    assert code == 1
    assert "no prompt needs mlp 0 -> logits" in out
    assert ": necessity refuted (" in check(tmp_path / "bundle")[1]


def test_a_wrong_pattern_is_one_sentence_and_exit_code_3(run, tmp_path):
    """With the column of the mistake."""
    code, _, err = run(*given(tmp_path), "--pattern", "any{1..6} with exactly 1 off quotes")
    assert code == 3
    assert "circuitproof: --pattern, column 26: found 'off', want 'of'" in err


def test_verify_does_the_same_under_its_own_name(run, tmp_path, monkeypatch, capsys):
    """A pattern is a task like any other; the older command is another name for it."""
    arguments = [*given(tmp_path), "--json"]
    _, expected, _ = run(*arguments)
    arguments[4] = "--task"
    monkeypatch.setattr(sys, "argv", ["circuitproof", "verify", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    content = json.loads(capsys.readouterr().out)
    assert end.value.code == 0
    assert content | {"seconds": 0} == json.loads(expected) | {"seconds": 0}


WANTED = "listed prompts are wanted here; circuitproof verify"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["minimal", "--model", "MODEL"], WANTED),
        (["radius", "--model", "MODEL"], WANTED),
        (["evaluate", "--model", "MODEL"], WANTED),
        (
            ["extract", "--model", "MODEL", "--out", "x"],
            "listed prompts are wanted here; circuitproof verify",
        ),
        (
            ["queries", "--model", "MODEL", "--out", "x"],
            "listed prompts are wanted here; circuitproof verify",
        ),
        (
            ["verify", "--model", "MODEL", "--engine", "z3"],
            "listed prompts are wanted here; circuitproof verify",
        ),
        (
            ["verify", "--model", "MODEL", "--measure-floats"],
            "--measure-floats is given, but task 'quotes' is",
        ),
    ],
)
def test_what_needs_listed_prompts_refuses_a_pattern(command, sentence, tmp_path, monkeypatch, capsys):
    """In one sentence that says which command handles it."""
    given(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    asked = [str(tmp_path / "model") if word == "MODEL" else word for word in command]
    monkeypatch.setattr(sys, "argv", ["circuitproof", *asked, "--task", str(tmp_path / "task.toml")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == (2 if "--measure-floats" in command else 3)
    assert sentence in capsys.readouterr().err


def test_flags_about_patterns_are_refused_with_listed_prompts(tmp_path, monkeypatch, capsys):
    """They would otherwise be ignored in silence."""
    named = given(tmp_path)[:4]
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for more, sentence in (
        (["--limits"], "--limits is given, but task 'quotes' lists its prompts; leave it out"),
        (["--pattern", "any"], "--pattern is given, but quotes is no TOML file about a pattern"),
    ):
        words = ["circuitproof", "verify", *map(str, named), "--task", "quotes", *more]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert sentence in capsys.readouterr().err
