from dataclasses import replace

import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import canonical_json
from circuitproof.files.reading import parse_json, reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable, OnlyOpener, SameOpener
from circuitproof.tasks.task import Task, read_task
from strategies import opener_tasks, table_tasks, tasks

ALPHABET = Alphabet(("x", "y", "(", "[", ")", "]"))
ROUND, SQUARE, CLOSE_ROUND, CLOSE_SQUARE = 2, 3, 4, 5
DOMAIN = Domain(((0, ROUND), (SQUARE, 1), (ROUND, 0, 1)), ("round", "square", "round"))

TABLE = Task(
    name="pairs",
    alphabet=ALPHABET,
    candidates=(CLOSE_ROUND, CLOSE_SQUARE),
    domain=DOMAIN,
    answer=AnswerTable((CLOSE_ROUND, CLOSE_SQUARE, CLOSE_ROUND)),
    relation=ClassTable((7, -1, 7)),
)
RULE = replace(
    TABLE,
    answer=OnlyOpener(((ROUND, CLOSE_ROUND), (SQUARE, CLOSE_SQUARE))),
    relation=SameOpener((ROUND, SQUARE)),
)


def read(content: object) -> Task:
    """Read a task to its last key."""
    with reading(content, "task") as fields:
        return read_task(fields)


@given(tasks)
def test_a_task_reads_back_from_its_canonical_json(task):
    """A claim file is complete: the checker rebuilds the task from it alone."""
    assert read(parse_json(canonical_json(task.to_json()), "task")) == task


@given(tasks)
def test_the_digest_depends_on_what_is_declared_and_on_nothing_else(task):
    """The same declaration made again has the same digest; another name has another."""
    assert replace(task).digest == task.digest
    assert replace(task, name=task.name + "x").digest != task.digest
    assert replace(task, candidates=task.candidates[::-1]).digest != task.digest


@given(tasks)
def test_every_answer_is_a_candidate(task):
    """Holding a task is proof that the right answer can be given at all."""
    assert len(task.answers()) == len(task.domain)
    assert set(task.answers()) <= set(task.candidates)


@given(tasks)
def test_the_classes_of_the_relation_partition_the_domain(task):
    """Each prompt is in one class, and classes come in order of their first prompt."""
    classes = task.classes()
    assert sorted(index for members in classes for index in members) == list(range(len(task.domain)))
    assert [members[0] for members in classes] == sorted(members[0] for members in classes)
    assert all(list(members) == sorted(members) for members in classes)


@given(table_tasks())
def test_a_table_puts_prompts_together_by_their_number(task):
    """The slow twin compares every pair."""
    labels = task.relation.classes
    together = {(one, other) for members in task.classes() for one in members for other in members}
    assert all(
        ((one, other) in together) == (labels[one] == labels[other])
        for one in range(len(labels))
        for other in range(len(labels))
    )


@given(opener_tasks())
def test_the_opener_decides_answer_and_class(task):
    """What else stands in the prompt plays no part."""
    mapping = dict(task.answer.answers)
    for prompt, answer in zip(task.domain.prompts, task.answers(), strict=True):
        (opener,) = set(prompt) & set(mapping)
        assert task.answer.opener(prompt) == opener
        assert answer == mapping[opener]
    for members in task.classes():
        assert len({task.answer.opener(task.domain.prompts[index]) for index in members}) == 1


def test_tables_and_rules_that_say_the_same_agree():
    """A rule is a short way to write the table."""
    assert RULE.answers() == TABLE.answers()
    assert RULE.classes() == TABLE.classes() == ((0, 2), (1,))
    assert RULE.digest != TABLE.digest


@pytest.mark.parametrize("candidates", [(), (CLOSE_ROUND,), (CLOSE_ROUND, CLOSE_SQUARE, CLOSE_ROUND)])
def test_a_decision_is_between_two_or_more_candidates(candidates):
    """With one candidate every circuit is right."""
    with pytest.raises(DeclarationError, match=r"pairs: candidates are .*, want two or more, all distinct"):
        replace(TABLE, candidates=candidates)


def test_an_answer_outside_the_candidates_is_refused():
    """The reference code calls a circuit verified whose right answer it can never give."""
    with pytest.raises(
        DeclarationError, match=r"answer 0 to prompt \(3, 1\) is not among candidates \(4, 5\); add it to the"
    ):
        replace(TABLE, answer=AnswerTable((CLOSE_ROUND, 0, CLOSE_ROUND)))
    with pytest.raises(DeclarationError, match=r"answer 1 to prompt \(3, 1\) is not among candidates"):
        replace(RULE, answer=OnlyOpener(((ROUND, CLOSE_ROUND), (SQUARE, 1))))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"candidates": (4, 6)}, "candidate 6"),
        ({"candidates": (4, -1)}, "candidate -1"),
        ({"domain": Domain(((0,), (6,), (1,)), ("a",) * 3)}, "prompt token 6"),
        ({"answer": OnlyOpener(((2, 4), (3, 5), (9, 4)))}, "rule token 9"),
        ({"answer": OnlyOpener(((2, 4), (3, 5), (1, -3)))}, "rule token -3"),
        ({"relation": SameOpener((2, 3, 6))}, "rule token 6"),
    ],
)
def test_an_unknown_token_is_refused_wherever_it_stands(change, what):
    """A token outside the alphabet is a mistake even where the domain never uses it."""
    with pytest.raises(DeclarationError, match=f"^pairs: {what} is unknown; the alphabet has tokens 0 to 5$"):
        replace(TABLE, **change)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"answer": AnswerTable((4, 5))}, "2 answers"),
        ({"answer": AnswerTable((4, 5, 4, 4))}, "4 answers"),
        ({"relation": ClassTable((0,))}, "1 classes"),
        ({"relation": ClassTable((0, 0, 0, 0))}, "4 classes"),
    ],
)
def test_a_table_has_one_entry_per_prompt(change, what):
    """A table of another length would be about another domain."""
    with pytest.raises(DeclarationError, match=f"^pairs: {what} for 3 prompts; give one per prompt$"):
        replace(TABLE, **change)


@pytest.mark.parametrize(("prompt", "count"), [((0, 1), 0), ((ROUND, 0, SQUARE), 2), ((ROUND, ROUND), 2)])
def test_a_prompt_has_just_one_opener(prompt, count):
    """Two openers, or one twice, have no right answer under this rule; nor has none."""
    domain = Domain((*DOMAIN.prompts[:2], prompt), DOMAIN.strata)
    with pytest.raises(
        DeclarationError, match=f"^answer: prompt .* has {count} declared openers, want just one"
    ):
        replace(RULE, domain=domain)
    with pytest.raises(DeclarationError, match=f"^relation: prompt .* has {count} declared openers"):
        replace(RULE, domain=domain, answer=TABLE.answer)


@pytest.mark.parametrize("openers", [(), (ROUND, ROUND)])
def test_declared_openers_are_distinct_and_at_least_one(openers):
    """One opener with two answers contradicts itself; the sentence says whether P or R is wrong."""
    with pytest.raises(DeclarationError, match=r"^answer: openers are .*, want at least one, all distinct"):
        OnlyOpener(tuple((opener, CLOSE_ROUND) for opener in openers))
    with pytest.raises(DeclarationError, match=r"^relation: openers are .*, want at least one, all distinct"):
        SameOpener(openers)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"candidate": [1]}, r"task\.candidate is not a known key; known here: alphabet, answer, candidates"),
        ({"name": None}, r"task\.name is null, want a string"),
        ({"alphabet": ["x", 2]}, r"task\.alphabet\[1\] is the number 2, want a string"),
        ({"candidates": [4, True]}, r"task\.candidates\[1\] is true, want a whole number"),
        ({"domain": []}, r"task\.domain is a list, want an object"),
        ({"domain": DOMAIN.to_json() | {"x": 1}}, r"task\.domain\.x is not a known key"),
        ({"answer": {"kind": "rule"}}, r"task\.answer\.kind is 'rule', want one of 'table', 'only opener'"),
        (
            {"answer": {"kind": "table", "answers": [4, 5, "4"]}},
            r"task\.answer\.answers\[2\] is the string '4'",
        ),
        (
            {"answer": {"kind": "only opener", "answers": [[2, 4], [3]]}},
            r"task\.answer\.answers\[1\] has 1 entries, want 2 entries",
        ),
        (
            {"answer": {"kind": "only opener", "answers": [[2, 4, 5]]}},
            r"task\.answer\.answers\[0\] has 3 entries, want 2 entries",
        ),
        (
            {"answer": {"kind": "only opener", "answers": [[2, 4], [3, True]]}},
            r"task\.answer\.answers\[1\]\[1\] is true, want a whole number",
        ),
        (
            {"answer": {"kind": "only opener", "answers": ["24"]}},
            r"answers\[0\] is the string '24', want a list",
        ),
        (
            {"relation": {"kind": "none"}},
            r"task\.relation\.kind is 'none', want one of 'table', 'same opener'",
        ),
        ({"relation": {"kind": "table", "openers": [1]}}, r"task\.relation\.classes is missing"),
    ],
)
def test_a_fault_in_the_file_is_told_where_it_stands(keys, sentence):
    """A task file is read strictly: nothing is guessed, converted or ignored."""
    with pytest.raises(InputError, match=sentence):
        read(TABLE.to_json() | keys)


def test_a_contradiction_in_a_file_is_refused_too():
    """There is no way into the program around the checks."""
    content = TABLE.to_json()
    content["candidates"] = [0, 1]
    with pytest.raises(InputError, match=r"task: .* is not among candidates"):
        read(content)
