import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.codec import to_json
from circuitproof.files.reading import reading
from circuitproof_lab.surrogate import refutation
from circuitproof_lab.surrogate.machines import TEMPLATES, ladder
from circuitproof_lab.surrogate.refutation import (
    certify,
    check_tree,
    list_meanings,
    read_refuted,
    read_tree,
)
from circuitproof_lab.surrogate.registers import Constant, Predicate, Toggle, When
from circuitproof_lab.surrogate.synthesis import Exhausted, HoleSplit, RefutedLeaf, synthesise
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import (
    AB,
    NO_YES,
    SMALL,
    SMALL_SIGNATURE,
    all_words,
    count_programs,
    oracle_of,
    random_teachers,
    relation_of,
    twin_meanings,
)

LADDER = ladder(TEMPLATES, SMALL_SIGNATURE)
LAST = relation_of("last", Words(AB, 1, 2), NO_YES, lambda word: word[-1])
TREE = HoleSplit("always", (RefutedLeaf((1,)), RefutedLeaf((0,))))
"""Refutes both constants as the relation "the last token": one is wrong after b, the other after a."""


@given(random_teachers(most_states=4))
def test_a_certificate_counts_programs_and_meanings_as_the_twin_does(relation):
    """Every program is covered, and each distinct function on the domain is listed with what refutes it."""
    for exhausted in synthesise(relation, oracle_of(relation), LADDER[:6]).exhausted:
        found = certify(exhausted, relation)
        assert found.programs == count_programs(exhausted.template, SMALL_SIGNATURE)
        assert found.meanings is not None
        assert len(found.meanings) == len(twin_meanings(exhausted.template.name, 2, 2, all_words(2, 1, 4)))
        assert 1 <= found.leaves <= found.programs


@given(random_teachers(most_states=4))
def test_the_input_of_a_meaning_is_the_first_that_refutes_it(relation):
    """Each meaning by its answers' digest, computed here from the twin's functions."""
    template = Toggle()
    meanings = twin_meanings("toggle", 2, 2, list(SMALL))
    if relation.decided in meanings:
        with pytest.raises(DeclarationError, match="a program agrees everywhere"):
            list_meanings(template, relation)
        return
    expected = {}
    for meaning in meanings:
        pairs = zip(SMALL, meaning, relation.decided, strict=True)
        first = next(word for word, found, taught in pairs if found != taught)
        expected[refutation.digest_bytes(bytes(meaning))] = first
    listed = list_meanings(template, relation)
    assert {one.digest: one.word for one in listed} == expected


@given(random_teachers(most_states=4))
def test_a_tree_is_read_back_as_it_was_written(relation):
    """What was found is checked independently."""
    for exhausted in synthesise(relation, oracle_of(relation), LADDER[:6]).exhausted:
        with reading(to_json(exhausted.tree), "tree") as fields:
            assert read_tree(fields) == exhausted.tree


def test_the_tree_of_the_example_refutes_both_constants():
    """What the forgeries below break."""
    assert check_tree(Constant(), TREE, LAST) == 2


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        (
            HoleSplit("always", (RefutedLeaf((0,)), RefutedLeaf((0,)))),
            "input 'a' does not refute the programs at its leaf",
        ),
        (HoleSplit("always", (RefutedLeaf((1,)),)), "splits 'always' wrongly"),
        (
            HoleSplit("always", (RefutedLeaf((1,)), RefutedLeaf((0,)), RefutedLeaf((0,)))),
            "splits 'always' wrongly",
        ),
        (HoleSplit("sometimes", (RefutedLeaf((1,)), RefutedLeaf((0,)))), "splits 'sometimes' wrongly"),
        (
            HoleSplit("always", (HoleSplit("always", (RefutedLeaf((1,)),) * 2), RefutedLeaf((0,)))),
            "splits 'always' wrongly",
        ),
        (RefutedLeaf((1,)), "input 'b' depends on 'always', not filled"),
        (HoleSplit("always", (RefutedLeaf((1, 1, 1)), RefutedLeaf((0,)))), "not in the domain"),
        (HoleSplit("always", (RefutedLeaf((7,)), RefutedLeaf((0,)))), "token 7 is unknown"),
    ],
)
def test_a_forged_tree_is_refused(tree, sentence):
    """One forgery per side condition."""
    with pytest.raises(DeclarationError, match=sentence):
        check_tree(Constant(), tree, LAST)


def certificate():
    """Return the JSON of the example's certificate."""
    return certify(Exhausted(Constant(), TREE), LAST).to_json()


def test_a_stored_certificate_is_checked_again_when_it_is_read():
    """What is on disk may have been changed."""
    with reading(certificate(), "refuted") as fields:
        assert read_refuted(fields, LAST) == "constant"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"programs": 3}, "refuted.programs is wrong: the tree refutes 2"),
        ({"tree": {"input": [0]}}, "refuted is not a refutation: constant: input 'a' depends on"),
        (
            {"refuted_meanings": []},
            "refuted.refuted_meanings is not the list of the digest and number beside it",
        ),
        ({"meanings": 3}, "refuted.refuted_meanings is not the list of the digest and number beside it"),
        ({"template": "toggle"}, "refuted is not a refutation: toggle: the tree splits 'always' wrongly"),
    ],
)
def test_a_changed_certificate_is_refused(change, sentence):
    """The sentence says what does not hold."""
    content = {**certificate(), **change}
    with pytest.raises(InputError, match=sentence), reading(content, "refuted") as fields:
        read_refuted(fields, LAST)


def test_a_template_that_has_the_program_cannot_be_certified():
    """There is no tree for it: the search finds the program instead."""
    with pytest.raises(DeclarationError, match="a program agrees everywhere, nothing refutes it"):
        list_meanings(Predicate(When.LAST), LAST)


def test_where_programs_are_too_many_the_tree_alone_is_the_certificate(monkeypatch):
    """No list then, and no count that looks like one."""
    monkeypatch.setattr(refutation, "MOST_MEANINGS", 1)
    found = certificate()
    assert (found["programs"], found["meanings"], found["meanings_digest"]) == (2, None, None)
    with reading(found, "refuted") as fields:
        assert read_refuted(fields, LAST) == "constant"
