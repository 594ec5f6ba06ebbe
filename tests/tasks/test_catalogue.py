import json
from itertools import product

import pytest

from circuitproof.errors import InputError
from circuitproof.tasks.catalogue import TASK_NAMES, find_task

FILLERS = (5, 6, 7, 8)


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_task_is_found_under_its_own_name(name):
    """The name on the command line is the name in the claim."""
    assert find_task(name).name == name


@pytest.mark.parametrize("name", ["quote", "", "Quotes"])
def test_an_unknown_task_is_told_what_there_is(name):
    """A misspelt name is not a default."""
    with pytest.raises(InputError, match=f"^there is no task '{name}'; known tasks: quotes, brackets, or a "):
        find_task(name)


@pytest.mark.parametrize(
    ("name", "marker", "answers"), [("quotes", 2, {9: 9, 10: 10}), ("brackets", 3, {11: 13, 12: 14})]
)
def test_the_toy_tasks_are_those_of_the_paper(name, marker, answers):
    """BOS TASK x1 o x2 x3 with every filler in every place: 128 prompts, answered by the opener."""
    task = find_task(name)
    assert len(task.domain) == 128
    assert set(task.domain.prompts) == {
        (1, marker, x1, opener, x2, x3) for opener in answers for x1, x2, x3 in product(FILLERS, repeat=3)
    }
    assert task.answers() == tuple(answers[prompt[3]] for prompt in task.domain.prompts)
    assert task.candidates == tuple(answers.values())
    assert sorted(task.domain.sizes().values()) == [64, 64]
    assert {frozenset(task.domain.prompts[index][3] for index in members) for members in task.classes()} == {
        frozenset({opener}) for opener in answers
    }


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("quotes", "a190a56709d6ed706716f9c1e64a4a06b210b6db75c9bd88d81656c8f959fe1e"),
        ("brackets", "b993ab91879c2c830061ed92a55d5749dcf0e6932e14732cc419502e20474b56"),
    ],
)
def test_the_toy_tasks_stay_what_they_are(name, digest):
    """A certificate written today names this digest; a change here breaks it and must be meant."""
    assert str(find_task(name).digest) == digest


@pytest.mark.parametrize(("name", "marker"), [("quotes", "2"), ("brackets", "3")])
def test_the_candidates_are_those_of_the_public_models(reference, name, marker):
    """Our claims and the authors' are about the same choice."""
    vocabulary = json.loads((reference / "norm_free" / "vocab.json").read_text())
    assert list(find_task(name).candidates) == vocabulary["task_to_candidates"][marker]
