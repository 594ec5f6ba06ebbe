import pytest

from circuitproof.errors import CircuitproofError
from circuitproof.files.reading import reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.answer_rules import AfterPrevious, Count, Maximum, StateMachine, Sum
from circuitproof.tasks.loading import load_task, read_declared
from circuitproof.tasks.rules import ClassTable, SameAnswer
from circuitproof.tasks.task import read_task

PATTERN = {"name": "t", "vocabulary": 6, "candidates": [4, 0, 2], "pattern": "[0, 2, 4]{2}"}
MACHINE = {
    "kind": "automaton",
    "tokens": [[0], [2, 4]],
    "transitions": [[0, 1], [0, 1]],
    "answers": [[0, 4], [1, 2]],
}


def task_with(answer, **keys):
    """Return the task of a file that names a rule."""
    return read_declared({**PATTERN, "answer": answer, **keys}, "task.toml")


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        ("maximum", Maximum((4, 0, 2))),
        ("count", Count((4, 0, 2), (4, 0, 2))),
        ({"kind": "maximum", "of": [0, 2, 4]}, Maximum((0, 2, 4))),
        ({"kind": "maximum", "of": "ordered"}, Maximum((0, 2, 4))),
        ({"kind": "sum", "of": "ordered", "answers": [0, 2]}, Sum((0, 2, 4), (0, 2))),
        ({"kind": "count", "of": ["two"]}, Count((2,), (4, 0, 2))),
        (MACHINE, StateMachine(((0,), (2, 4)), ((0, 1), (0, 1)), ((0, 4), (1, 2)))),
    ],
)
def test_a_rule_is_named_or_given_by_its_parts(answer, rule):
    """What is left out are the candidates, in their order; sets and names of tokens are those of the file."""
    task = task_with(answer, sets={"ordered": [0, 2, 4]}, names={"2": "two"})
    assert (task.answer, task.relation) == (rule, SameAnswer())
    with reading(task.to_json(), "again") as fields:
        assert read_task(fields) == task


def test_a_list_may_be_answered_by_a_rule_too():
    """With the classes that it lists, or those of the answers."""
    listed = {
        "name": "t",
        "alphabet": ["a", "b", "c"],
        "prompts": ["a b", "b a c", "a"],
        "candidates": ["a", "b", "c"],
    }
    task = read_declared({**listed, "answer": "maximum"}, "task.toml")
    assert task.answers() == (1, 2, 0)
    assert task.classes() == ((0,), (1,), (2,))
    assert task.only([2]).answers() == (0,)
    told = read_declared({**listed, "answer": "maximum", "classes": ["x", "x", "y"]}, "task.toml")
    assert told.relation == ClassTable((0, 0, 1))
    assert told.tokens == Alphabet(("a", "b", "c"))
    with pytest.raises(CircuitproofError, match=r"'after previous' gives no answer to prompt \(0, 1\)"):
        read_declared({**listed, "answer": "after previous"}, "task.toml")
    del listed["candidates"]
    with pytest.raises(CircuitproofError, match="candidates is missing, want the tokens that the rule may"):
        read_declared({**listed, "answer": "maximum"}, "task.toml")


@pytest.mark.parametrize(
    ("answer", "keys", "found"),
    [
        ("median", {}, "task.toml.answer is 'median', want one of 'maximum', 'minimum', 'first'"),
        (
            "maximum",
            {"answers": [[0, 0]]},
            "task.toml.answer is a rule, by which prompts with one answer are a",
        ),
        (
            {"kind": "maximum", "of": "sorted"},
            {},
            r"task.toml.answer.of is 'sorted', want a list of tokens or",
        ),
        (
            {"kind": "maximum", "off": [0, 2]},
            {},
            "task.toml.answer.off is not a known key; known here: answers, kind, of",
        ),
        ("automaton", {}, "task.toml.answer is 'automaton' alone, want a table with tokens, transitions and"),
        (
            {**MACHINE, "transitions": [[0, 1], [0]]},
            {},
            "task.toml.answer: state 1 of the automaton has 1",
        ),
        (
            {**MACHINE, "answers": [[0, 4, 2]]},
            {},
            r"answers\[0\] is \[0, 4, 2\], want a state and its answer",
        ),
        ({"kind": "maximum", "of": [2, 9]}, {}, "token 9 is unknown"),
        (
            {"kind": "maximum", "of": [0, 2]},
            {},
            r"denotes prompt \(4, 4\), to which rule 'maximum' gives no answer",
        ),
        (
            "maximum",
            {"candidates": [0, 2]},
            r"denotes prompt \(4, 4\), to which rule 'maximum' gives no answer",
        ),
        (
            {"kind": "maximum", "of": [0, 2, 4]},
            {"candidates": [0, 2]},
            "answer 4 to some prompts by rule 'maximum'",
        ),
    ],
)
def test_a_mistake_is_one_sentence(answer, keys, found):
    """What was found, what was wanted, and where."""
    with pytest.raises(CircuitproofError, match=found):
        task_with(answer, **keys)


def test_a_task_file_says_its_rule_in_a_line(tmp_path):
    """As the shipped one of the largest of four tokens does."""
    path = tmp_path / "task.toml"
    path.write_text(
        'name = "t"\nvocabulary = 3\ncandidates = "all"\nanswer = "after previous"\npattern = "0 any 0"\n'
    )
    task = load_task(str(path))
    assert task.answer == AfterPrevious((0, 1, 2))
    assert {label.answer for label in task.labelled.labels} == {0, 1, 2}
