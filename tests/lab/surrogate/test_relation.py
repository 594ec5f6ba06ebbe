import json

import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.reading import reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.records.surrogate import Basis
from circuitproof_lab.surrogate.relation import Relation, load_relation, read_relation
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import AB, NO_YES, SMALL, random_teachers, relation_of, table_json

TINY = relation_of("tiny", Words(AB, 1, 1), NO_YES, lambda word: word[0])


def changed(change):
    """Return the tiny table after a change to it."""
    table = table_json(TINY)
    change(table)
    return table


@given(random_teachers())
def test_a_relation_is_read_back_as_it_was_written(relation):
    """The digest is that of everything it says."""
    with reading(relation.to_json(), "teacher") as fields:
        found = read_relation(fields)
    assert found == relation
    assert found.digest == relation.digest


@given(random_teachers())
def test_an_answer_is_found_by_its_word(relation):
    """Whatever the order of the words."""
    assert [relation.answer(word) for word in SMALL] == list(relation.decided)


def test_a_table_of_any_row_order_from_anywhere_is_a_teacher(tmp_path):
    """Somebody else's file says nothing about how its answers are known."""
    table = changed(lambda t: t["rows"].reverse())
    (tmp_path / "teacher.json").write_text(json.dumps(table))
    found = load_relation(tmp_path / "teacher.json")
    assert (found.decided, found.basis) == ((0, 1), Basis.LISTED)


def test_digests_tell_relations_apart():
    """One answer more or less is another teacher."""
    other = Relation("tiny", TINY.words, NO_YES, (0, 0))
    assert other.digest != TINY.digest


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda t: t["rows"].append({"input": ["a"], "answer": "yes"}),
            "gives input 'a' two answers, 'no' and 'yes'; a teacher has one answer to each input",
        ),
        (
            lambda t: t["rows"].append({"input": ["a"], "answer": "no"}),
            "lists an input twice; list each once",
        ),
        (lambda t: t["rows"].pop(), "lacks 1 of 2 inputs, first 'b'; list every input"),
        (
            lambda t: t["rows"].append({"input": ["c"], "answer": "no"}),
            r"rows\[2\].input: 'c' is not one of the tokens \['a', 'b'\]",
        ),
        (
            lambda t: t["rows"].append({"input": ["a", "a"], "answer": "no"}),
            r"rows\[2\].input has 2 tokens, want 1 to 1",
        ),
        (
            lambda t: t["rows"].append({"input": ["a"], "answer": "maybe"}),
            r"rows\[2\].answer is 'maybe', want one of \['no', 'yes'\]",
        ),
        (lambda t: t.update(shortest=2), "empty domain"),
        (lambda t: t.update(answers=["no"], rows=[]), "rows lacks 2 of 2"),
        (lambda t: t.update(longest=40), "at most 200000 can be listed"),
        (lambda t: t.update(note="mine"), "note is not a known key"),
    ],
)
def test_a_table_with_a_mistake_is_refused_in_one_sentence(tmp_path, change, sentence):
    """Never a partial teacher."""
    (tmp_path / "teacher.json").write_text(json.dumps(changed(change)))
    with pytest.raises(InputError, match=sentence):
        load_relation(tmp_path / "teacher.json")


@pytest.mark.parametrize(
    ("answers", "decided", "sentence"),
    [
        (NO_YES, (0,), "1 answers to 2 words"),
        (NO_YES, (0, 2), "an answer is outside 0 to 1"),
        (Alphabet(("only",)), (0, 0), "1 possible answers, want 2 to 256: a single one"),
        (Alphabet(tuple(map(str, range(257)))), (0, 0), "257 possible answers, want 2 to 256"),
    ],
)
def test_a_relation_that_is_no_function_cannot_be_made(answers, decided, sentence):
    """Holding one is proof that it is."""
    with pytest.raises(DeclarationError, match=sentence):
        Relation("bad", TINY.words, answers, decided)
