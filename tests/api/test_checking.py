"""The checker is asked in a process of its own, and its answer is typed."""

import subprocess
import sys

import pytest

import circuitproof as cp


def test_a_bundle_is_judged_by_the_independent_checker(model, answers):
    """Compared with the model and the declaration, each property with its verdict and remarks."""
    found = cp.check(answers, against=model, task=cp.load_task("quotes"))
    assert found.outcome is cp.Outcome.VALID
    assert [(one.kind, one.verdict) for one in found.properties] == [
        (str(answer.prop.kind), answer.verdict) for answer in answers.answers
    ]
    assert [one.remarks for one in found.properties] == [
        tuple(map(str, answer.remarks)) for answer in answers.answers
    ]
    assert "as declared" in repr(found).replace("\n", " ")
    assert "judgement valid" in found._repr_html_()


def test_nothing_installed_has_a_part_in_the_answer(monkeypatch, answers):
    """Python runs isolated and without site-packages; the checker is the only thing on its path."""
    seen = []

    def watched(command, **given):
        seen.append(command)
        return run(command, **given)

    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", watched)
    cp.check(answers)
    (command,) = seen
    assert command[:3] == [sys.executable, "-I", "-S"]
    assert command[3].endswith("circuitproof_check")


def test_a_changed_bundle_is_invalid_and_a_missing_one_an_error(answers, tmp_path):
    """What does not hold is an answer; what is not there is not."""
    (answers.bundle / "certificate.json").write_bytes(b"{}")
    found = cp.check(answers.bundle)
    assert (found.outcome, found.properties) == (cp.Outcome.INVALID, ())
    assert "judgement invalid" in found._repr_html_()
    with pytest.raises(cp.InputError, match="cannot be judged"):
        cp.check(tmp_path / "nowhere")


def test_another_model_is_told(model, answers):
    """A bundle of one model is not valid of another."""
    other = answers.bundle.parent / "other"
    other.mkdir()
    for file in model.path.iterdir():
        (other / file.name).write_bytes(file.read_bytes().replace(b"<TASK_QUOTE>", b"<TASK_QUOTA>"))
    assert cp.check(answers, against=other).outcome is cp.Outcome.INVALID


def test_answers_without_a_bundle_cannot_be_checked(model):
    """The sentence says how to get one."""
    with pytest.raises(cp.InputError, match=r"the answers were not written; give out="):
        cp.check(cp.verify(model, "quotes"))


def test_the_checker_has_as_long_as_it_is_given(monkeypatch, answers):
    """A deadline is an error of its own: give more time. So is a checker that says nothing."""
    with pytest.raises(cp.OverdueError, match=r"not done after 1e-06 seconds; give it more time"):
        cp.check(answers, deadline=1e-6)
    with pytest.raises(cp.InputError, match="the checker gave no answer: usage"):
        cp.check(answers, operations=-1)
    monkeypatch.setattr("circuitproof.bundle.checker.find_spec", lambda _: None)
    with pytest.raises(cp.InputError, match="is not installed; install circuitproof again"):
        cp.check(answers)
