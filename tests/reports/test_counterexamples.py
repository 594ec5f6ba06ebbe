from dataclasses import replace
from fractions import Fraction

from circuitproof.proof.counterexamples import Counterexample, Decided
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.reports.counterexamples import counterexample_lines
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.task import Task
from circuitproof.verbs.counterexamples import counterexample_to_json
from hand_models import table_task

TASK: Task = table_task({(0,): 1, (1, 2): 0})
HOSTILE = Alphabet(("a\x1b[31m", "b\n", " ", "d", "e"))


def named(alphabet):
    """Return the task over other names."""
    return replace(TASK, alphabet=alphabet)


def test_a_prompt_is_shown_in_tokens_with_wanted_decided_and_margin():
    """Names that would move the cursor are spelled out."""
    task = named(HOSTILE)
    one = Decided((1, 2), 1, frozenset({1}), frozenset({0}), Fraction(-1, 3))
    lines = list(counterexample_lines(task, Counterexample(Equivalence(), (one,))))
    assert lines == [
        "equivalence is refuted",
        "  prompt 1: b⏎ ␣",
        "    wanted b⏎, decided a\\u001b[31m, margin -1/3",
    ]


def test_a_tie_a_pair_and_a_long_margin():
    """The exact number is in the JSON."""
    third = Fraction(1, 3**100)
    pair = (
        Decided((0,), 0, None, frozenset({0, 1}), Fraction(0)),
        Decided((1, 2), None, None, frozenset({1}), third),
    )
    found = Counterexample(Invariance(), pair)
    lines = list(counterexample_lines(TASK, found))
    assert "decided a tie of " in lines[2]
    assert lines[3].startswith("  prompt: ")
    assert "margin ≈ 1.9" in lines[4]
    assert counterexample_to_json(TASK, found)["prompts"][1]["margin"] == f"1/{3**100}"


def test_a_perturbation_is_told_by_its_support():
    """And written out exactly as JSON."""
    eta = (Fraction(0), Fraction(-1, 4))
    one = Decided((0,), 0, frozenset({1}), frozenset({0, 1}), Fraction(0), eta)
    found = Counterexample(Robustness(Fraction(1, 2)), (one,))
    assert list(counterexample_lines(TASK, found))[-1].endswith("where η moves 1 coordinate of 2: 1: -0.25")
    told = counterexample_to_json(TASK, found)["prompts"][0]
    assert told["eta"] == ["0", "-1/4"]
    assert told["wanted"] == [TASK.candidates[1]]
    assert told["decided"] == list(TASK.candidates)


def test_what_no_prompt_shows_is_a_line():
    """And nothing is nothing."""
    found = Counterexample(Necessity(), (), "no prompt needs embed -> mlp 0")
    assert list(counterexample_lines(TASK, found)) == ["necessity is refuted: no prompt needs embed -> mlp 0"]
    assert counterexample_to_json(TASK, None) is None
