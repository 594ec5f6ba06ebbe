import pytest

from circuitproof.errors import InputError
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.rules import AnswerTable, ClassTable, OnlyOpener, SameOpener

LISTED = """
name = "first"
alphabet = ["a", "b", "c"]
prompts = ["a b", [1, "c"], [2, 0]]
answers = ["a", 1, "c"]
classes = ["x", 4, "y"]
"""
OPENERS = """
name = "openers"
alphabet = ["(", ")", "[", "]", "x"]
prompts = ["x (", "[ x"]
openers = { "(" = ")", "[" = 3 }
"""


def written(folder, text):
    """Return the task that a file with this text declares."""
    (folder / "task.toml").write_text(text)
    return load_task(str(folder / "task.toml"))


def test_prompts_answers_and_classes_are_names_or_numbers(tmp_path):
    """Strata are the answers, candidates the answers that occur, and classes are numbered as they come."""
    task = written(tmp_path, LISTED)
    assert task.domain.prompts == ((0, 1), (1, 2), (2, 0))
    assert task.domain.strata == ("a", "b", "c")
    assert (task.answer, task.relation) == (AnswerTable((0, 1, 2)), ClassTable((0, 1, 2)))
    assert task.candidates == (0, 1, 2)


def test_openers_are_a_rule_for_answers_and_classes(tmp_path):
    """The same as the shipped tasks: the only opener decides."""
    task = written(tmp_path, OPENERS)
    assert task.answer == OnlyOpener(((0, 1), (2, 3)))
    assert task.relation == SameOpener((0, 2))
    assert task.candidates == (1, 3)
    assert task.domain.strata == ("(", "[")


def test_candidates_can_be_more_than_the_answers(tmp_path):
    """A wrong answer that never is right can be a candidate."""
    assert written(tmp_path, OPENERS + 'candidates = ["]", ")", "x"]').candidates == (3, 1, 4)


@pytest.mark.parametrize(
    ("text", "old", "new", "sentence"),
    [
        (LISTED, '"a b"', '"a d"', r"prompts\[0\]\[1\] is 'd', want a token's number or one of the 3 names"),
        (LISTED, '"a b"', "7", r"prompts\[0\] is 7, want a text of names or a list of tokens"),
        (LISTED, '"a b"', '"b c"', r"prompts 0 and 1 are both \(1, 2\); list each prompt once"),
        (LISTED, '"a b"', '""', "prompt 0 is .*, want at least one token"),
        (LISTED, '"a b"', "[0, 3]", "prompt token 3 is unknown; the alphabet has tokens 0 to 2"),
        (
            LISTED,
            '["x", 4, "y"]',
            '["x", 4, "x"]',
            "class 'x' has 2 right answers, a c: what must",
        ),
        (LISTED, '["a", 1, "c"]', '["a", 1]', "answers has 2 entries for 3 prompts; give one per prompt"),
        (LISTED, '["a", 1, "c"]', '["a", true, "c"]', r"answers\[1\] is True, want a token's number"),
        (LISTED, '["a", 1, "c"]', '["a", "a", "a"]', r"candidates are \(0,\), want two or more"),
        (LISTED, '["x", 4, "y"]', '["x", 4]', "2 classes for 3 prompts; give one per prompt"),
        (LISTED, '["x", 4, "y"]', '["x", 4, 0.5]', "classes has 0.5, want whole numbers or names"),
        (LISTED, '["a", "b", "c"]', '["a", "b", "a"]', "the name 'a' stands for two tokens"),
        (LISTED, '["a", "b", "c"]', '"others"', "alphabet is the string 'others', want a list"),
        (LISTED, "classes", "clases", "classes is missing"),
        (OPENERS, '"x ("', '"x x"', "has 0 declared openers, want just one of"),
        (OPENERS, '"(" =', '"<" =', "openers is '<', want a token's number or one of the 5 names"),
        (OPENERS, "openers =", "answers = [1, 3]\nopeners =", "answers is not a known key"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path, text, old, new, sentence):
    """Nothing is guessed: an unknown name is not a new one."""
    with pytest.raises(InputError, match=sentence):
        written(tmp_path, text.replace(old, new, 1))
