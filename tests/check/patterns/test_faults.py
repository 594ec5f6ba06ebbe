"""The checker contradicts itself: that is a failure, and never a verdict."""

import pytest

import pattern_forgeries
from circuitproof_check.main import Outcome, check
from circuitproof_check.patterns import rows

LAST = {"0.0": ["default 0", "add 1 when last key_token in {0, 2}", "otherwise self"]}
ONE = "query_count {0, 2} up to 1 == 1 and key_token in {0, 2}"
COUNTED = {"0.0": ["default 0", f"add 1 when {ONE}", "otherwise self"]}


def guessed(programs: dict[str, list[str]]):
    """Return an honest proof with a head that is followed by guesses; each prompt has one opener to find."""
    bundle = pattern_forgeries.honest()
    bundle.claim["programs"] = programs
    return bundle


@pytest.mark.parametrize("programs", [LAST, COUNTED], ids=["scan", "count"])
def test_one_guess_about_each_prompt_survives(programs, tmp_path):
    """So that each failure below is due to the fault."""
    outcome, sentence = check(guessed(programs).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, sentence


@pytest.mark.parametrize("programs", [LAST, COUNTED], ids=["scan", "count"])
@pytest.mark.parametrize("survives", [True, False])
def test_a_graph_with_more_or_fewer_paths_than_prompts_is_a_failure(
    programs, survives, tmp_path, monkeypatch
):
    """Wrong guesses that survive add rows that no prompt has; right ones that do not lose prompts."""
    monkeypatch.setattr(rows.ProgramRow, "ends", lambda *_: survives)
    outcome, sentence = check(guessed(programs).write(tmp_path / "bundle"))
    assert outcome is Outcome.FAILURE
    assert sentence.startswith('the checker failed: FaultError: "a graph has ')
