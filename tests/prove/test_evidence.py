import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.prove.evidence import (
    EdgeSplit,
    FoldLeaf,
    OneEdge,
    Open,
    PromptSplit,
    Radius,
    Replay,
    Replayed,
    evidence_to_json,
    fold_order,
)
from circuitproof.text.canonical import canonical_json

HALF = Fraction(1, 2)
NUMBERS = {7: 0, 5: 1, 9: 2}
TREES = (
    (PromptSplit((FoldLeaf(7), FoldLeaf(5))), {"split": "prompt", "children": [{"fold": 0}, {"fold": 1}]}),
    (
        PromptSplit((FoldLeaf(5, radius=Radius(HALF)), FoldLeaf(7, radius=Radius(None)))),
        {"split": "prompt", "children": [{"fold": 1, "radius": "1/2"}, {"fold": 0, "radius": "infinite"}]},
    ),
    (
        PromptSplit((FoldLeaf(5, model=9),)),
        {"split": "prompt", "children": [{"fold": 1, "model": 2}]},
    ),
    (
        EdgeSplit((Replay((Replayed(4, FoldLeaf(7, lesion=9)),)),)),
        {"split": "edge", "children": [{"replay": [{"prompt": 4, "fold": 0, "lesion": 2}]}]},
    ),
    (
        OneEdge(3, PromptSplit((FoldLeaf(5, lesion=5),))),
        {"edge": 3, "evidence": {"split": "prompt", "children": [{"fold": 1, "lesion": 1}]}},
    ),
    (
        Replay((Replayed(0, FoldLeaf(7)), Replayed(2, FoldLeaf(9)))),
        {"replay": [{"prompt": 0, "fold": 0}, {"prompt": 2, "fold": 2}]},
    ),
    (
        Replay((Replayed(0, FoldLeaf(7), (HALF, -HALF, Fraction(0))),)),
        {"replay": [{"prompt": 0, "fold": 0, "eta": ["1/2", "-1/2", "0"]}]},
    ),
    (Open("nobody knows"), {"open": "nobody knows"}),
)
"""Each kind of evidence with what docs/certificate.md says it looks like."""

leaves = st.builds(
    FoldLeaf, st.integers(0, 9), lesion=st.none() | st.integers(0, 9), model=st.none() | st.integers(0, 9)
)
replays = st.lists(st.builds(Replayed, st.integers(0, 9), leaves), min_size=1, max_size=3).map(
    lambda prompts: Replay(tuple(prompts))
)
splits = st.lists(leaves, min_size=1, max_size=5).map(lambda children: PromptSplit(tuple(children)))
trees = st.one_of(
    splits,
    replays,
    st.lists(replays, min_size=1, max_size=3).map(lambda children: EdgeSplit(tuple(children))),
    st.builds(OneEdge, st.integers(0, 9), splits),
    st.builds(Open, st.just("why")),
)


@pytest.mark.parametrize(("tree", "content"), TREES)
def test_evidence_is_written_as_the_format_says(tree, content):
    """Whoever writes another checker has the page and nothing else."""
    assert evidence_to_json(tree, NUMBERS) == content


def fold_numbers(content: object) -> list[int]:
    """Return every fold that written evidence mentions, in the order of reading."""
    if isinstance(content, list):
        return [number for item in content for number in fold_numbers(item)]
    if not isinstance(content, dict):
        return []
    own = [content[key] for key in ("fold", "lesion", "model") if key in content]
    return own + [number for value in content.values() for number in fold_numbers(value)]


@given(st.lists(trees, max_size=4))
def test_folds_are_numbered_as_a_reader_meets_them_and_none_is_left_over(drawn):
    """The format demands that every fold is referred to; a fixed order makes bundles repeatable."""
    order = fold_order(drawn)
    numbers = {old: new for new, old in enumerate(order)}
    written = json.loads(canonical_json([evidence_to_json(tree, numbers) for tree in drawn]))
    assert list(dict.fromkeys(fold_numbers(written))) == list(range(len(order)))


@given(st.fractions(0, 3, max_denominator=6), st.fractions(Fraction(1, 6), 3, max_denominator=6))
def test_a_radius_exceeds_an_epsilon_only_if_it_is_larger(radius, epsilon):
    """At equality a perturbation of that size draws level, so the decision is lost."""
    assert Radius(radius).exceeds(epsilon) == (radius > epsilon)
    assert Radius(None).exceeds(epsilon)


def test_a_radius_of_zero_is_not_an_infinite_one():
    """Both are falsy in places; they say opposite things."""
    assert str(Radius(Fraction(0))) == "0"
    assert str(Radius(None)) == "infinite"
    assert not Radius(Fraction(0)).exceeds(Fraction(1, 10**9))
