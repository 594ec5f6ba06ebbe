"""Models, tasks and circuits of a notebook are those of files."""

import pytest

import circuitproof as cp
from hand_models import QUOTE_EDGES, circuit_of
from places import RECIPES

LETTERS = {
    "alphabet": ["a", "b", "c", "?"],
    "prompts": [f"{x} {y} ?" for x in "abc" for y in "abc"],
    "answers": [x for x in "abc" for _ in "abc"],
    "classes": [x for x in "abc" for _ in "abc"],
}


def test_a_task_said_in_place_is_that_of_its_file():
    """The arguments are the keys of a task file: the declarations have one digest."""
    declared = cp.declare_task("first-letter", **LETTERS)
    assert declared == cp.load_task(RECIPES / "tasks" / "first-letter.toml")


def test_a_pattern_said_in_place_is_that_of_its_file():
    """Answers map openers to answers, and numbers are tokens."""
    written = cp.load_task(RECIPES / "toy-quotes-pattern.toml")
    declared = cp.declare_task(
        written.name,
        vocabulary=len(written.alphabet),
        candidates=written.candidates,
        answers=dict(written.answer.answers),
        pattern="any{1..6} with exactly 1 of quotes",
        sets={"quotes": (9, 10)},
        names=dict(written.alphabet.names),
    )
    assert declared.domain.longest == 6
    assert (declared.answer, declared.relation, declared.alphabet) == (
        written.answer,
        written.relation,
        written.alphabet,
    )


def test_a_task_takes_the_names_of_a_models_tokens(model):
    """Templates, with the alphabet of the model."""
    task = cp.declare_task(
        "close",
        model=model,
        slots={"mark": ["'", '"'], "word": ["A", "B"]},
        templates=[
            {
                "name": "one",
                "text": "<BOS> {mark} {word}",
                "answer": {"mark": {"'": "'", '"': '"'}},
                "irrelevant": ["word"],
            }
        ],
    )
    assert (task.size, len(task.classes()), task.alphabet) == (4, 2, model.alphabet)
    assert cp.verify(model, task, cp.circuit(model, QUOTE_EDGES)).verdict is cp.Verdict.PROVED


def test_a_task_that_contradicts_itself_is_one_sentence_about_it():
    """As of a file, with the task in the file's place."""
    with pytest.raises(cp.InputError, match=r"task 'mine'\.answers has 1 entries for 9 prompts"):
        cp.declare_task("mine", **{**LETTERS, "answers": ["a"]})
    with pytest.raises(cp.InputError, match="task 'mine' has no prompts, want one of prompts, templates"):
        cp.declare_task("mine", alphabet=["a"])


def test_a_circuit_is_said_by_its_edges(model):
    """In the words of a circuit file; a text in place of a list is refused, and so is what is no edge."""
    assert cp.circuit(model, QUOTE_EDGES) == circuit_of(QUOTE_EDGES)
    with pytest.raises(cp.InputError, match="edges is the text 'embed -> logits', want a list"):
        cp.circuit(model, "embed -> logits")
    with pytest.raises(cp.InputError, match=r"head 7\.0 is outside 1 layers of 1 heads"):
        cp.circuit(model, ["embed -> head 7.0"])


def test_a_model_says_where_it_is_and_whether_it_can_be_proved(model):
    """In a notebook and at Python's prompt."""
    assert repr(model).startswith(str(model.path)[:40])
    assert "every circuit of it can be computed exactly" in repr(model)
    assert len(model.programs) == 1
    with pytest.raises(cp.InputError, match=r"nowhere"):
        cp.load_model(model.path / "nowhere")
