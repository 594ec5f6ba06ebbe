import json
import os
import signal

import pytest

from circuitproof.cli.output import INTERRUPTS
from circuitproof.cli.pacing import Foresight, paced
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import Outcome, check
from hand_models import quote_model
from terminals import on_terminal

INSIDE = ("--at", "head 0.0 input", "--positions", "all")
LONG = {
    "verify": ("--model", "model", "--task", "quotes", "--epsilon", "1/3", "--out", "out"),
    "radius": ("--model", "model", "--task", "quotes", *INSIDE),
    "minimal": ("--model", "model", "--task", "quotes", "--out", "out"),
    "cost": ("--model", "model", "--task", "quotes", "--circuit", "circuit.json"),
    "queries": ("--model", "model", "--task", "quotes", "--out", "out"),
    "extract": ("--model", "model", "--task", "quotes", "--out", "out"),
    "synthesise": ("--model", "model", "--task", "quotes", "--head", "0.0", "--out", "out"),
}
"""Every command that takes a deadline, as it is called."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where a model and a circuit of it are."""
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    circuit = {"layers": 1, "heads": 1, "ablation": "zero", "edges": edges}
    (tmp_path / "circuit.json").write_text(json.dumps(circuit))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", LONG)
def test_a_deadline_that_comes_at_once_leaves_everything_undecided(here, run, command):
    """Exit code 4, and what is written says no more than that."""
    code, out, err = run(command, *LONG[command], "--deadline", "0.001")
    assert code == 4, err
    assert "Traceback" not in err
    assert command in {"verify", "radius", "minimal"} or "the work was ended" in out + err
    assert (here / "out").exists() is (command == "verify")
    if command == "verify":
        assert check(here / "out")[0] is Outcome.INCOMPLETE


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "soon"])
@pytest.mark.parametrize("command", LONG)
def test_a_deadline_is_a_positive_finite_number(here, run, command, seconds):
    """Anything else is a wrong command line, and nothing begins."""
    code, out, err = run(command, *LONG[command], "--deadline", seconds)
    assert (code, out) == (2, "")
    assert "deadline" in err
    assert not (here / "out").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_progress_goes_to_a_terminal_and_nowhere_else(run):
    """Nothing of it where a program reads."""
    asked = ("verify", *LONG["verify"][:6])
    assert "circuits computed" in on_terminal(*asked).drawn
    assert "circuits computed" not in on_terminal(*asked, "--json").drawn
    assert run(*asked)[2] == ""


ENDLESS = {
    "verify": ("--model", "model", "--task", "quotes", "--epsilon", "1/3", *INSIDE, "--out", "out"),
    "radius": LONG["radius"],
    "synthesise": (*LONG["synthesise"], "--rules", "3", "--members", "3", "--budget", "100000000"),
    "cost": ("--model", "model", "--task", "quotes", "--circuit", "circuit.json", "--engine", "all"),
    "queries": LONG["queries"],
}
"""Commands that take long, or as long as an interrupt needs."""


@pytest.mark.slow
@pytest.mark.parametrize("command", ENDLESS)
def test_an_interrupt_on_a_terminal_is_answered_and_ends_with_what_is_known(here, command):
    """What it says is not drawn over by progress bars, and fits the terminal; no deadline is spoken of."""
    ended = on_terminal(command, *ENDLESS[command], interrupt_at="0/")
    assert ended.code == 4, ended.screen
    assert "interrupted: ending with what is known so far; interrupt again" in ended.screen
    assert "deadline" not in ended.screen
    assert "Traceback" not in ended.drawn
    assert (here / "out").exists() is (command == "verify")
    if command == "verify":
        assert check(here / "out")[0] is Outcome.INCOMPLETE


@pytest.mark.parametrize("number", INTERRUPTS)
def test_the_first_interrupt_is_a_deadline_and_the_second_is_what_it_was_before(capsys, number):
    """What is proved so far is told; who wants an end at once gets it."""
    before = signal.getsignal(number)
    with paced(None, as_json=False) as pace:
        assert not pace.is_over
        os.kill(os.getpid(), number)
        assert pace.is_over
        assert pace.left == 0
        assert signal.getsignal(number) is before
    assert signal.getsignal(number) is before
    assert "interrupted: ending with what is known so far; interrupt again" in capsys.readouterr().err


def test_a_deadline_lies_so_many_seconds_ahead():
    """And without one there is no end."""
    with paced(100, as_json=True) as pace:
        assert 99 < pace.left <= 100
    with paced(None, as_json=True) as pace:
        assert pace.left == float("inf")


def test_long_work_is_foreseen_once_from_what_is_done():
    """Seven circuits in 28 seconds make 756 about fifty minutes; what is short is not worth a line."""
    said, now = [], [0.0]
    foresight = Foresight(said.append, lambda: now[0])
    for done in range(20):
        now[0] = 4.0 * done
        foresight.hear("circuits computed", done, 756)
        foresight.hear("prompts", done, 30)
    assert len(said) == 1
    assert said[0].startswith(
        "circuits computed: 5 of 756 in 20 s; at this pace the others take about 50 minutes"
    )
    foresight.hear("lesions", 0, 100_000)
    now[0] += 40
    foresight.hear("lesions", 1, 1000)
    assert "about 11.1 hours" in said[1]
