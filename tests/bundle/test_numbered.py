import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.bundle.numbered import Numbering
from circuitproof.files.canonical import canonical_json
from circuitproof.proof.evidence import (
    EdgeSplit,
    FoldLeaf,
    OneEdge,
    Open,
    PromptSplit,
    Radius,
    Replay,
    Replayed,
)
from circuitproof.proof.fold import Fold

HALF = Fraction(1, 2)
PROMPTS = {(place,): place for place in range(10)}
FOLDS = tuple(Fold((Fraction(number), Fraction(0))) for number in range(10))


TREES = (
    (
        PromptSplit((FoldLeaf(FOLDS[7]), FoldLeaf(FOLDS[5]))),
        {"split": "prompt", "children": [{"fold": 0}, {"fold": 1}]},
    ),
    (
        PromptSplit((FoldLeaf(FOLDS[5], radius=Radius(HALF)), FoldLeaf(FOLDS[7], radius=Radius(None)))),
        {"split": "prompt", "children": [{"fold": 1, "radius": "1/2"}, {"fold": 0, "radius": "infinite"}]},
    ),
    (
        PromptSplit((FoldLeaf(FOLDS[5], second=FOLDS[9]),)),
        {"split": "prompt", "children": [{"fold": 1, "other": 2}]},
    ),
    (
        EdgeSplit((Replay((Replayed((4,), FoldLeaf(FOLDS[7], second=FOLDS[9])),)),)),
        {"split": "edge", "children": [{"replay": [{"prompt": 4, "fold": 0, "other": 2}]}]},
    ),
    (
        OneEdge(3, PromptSplit((FoldLeaf(FOLDS[5], second=FOLDS[5]),))),
        {"edge": 3, "evidence": {"split": "prompt", "children": [{"fold": 1, "other": 1}]}},
    ),
    (
        Replay((Replayed((0,), FoldLeaf(FOLDS[7])), Replayed((2,), FoldLeaf(FOLDS[9])))),
        {"replay": [{"prompt": 0, "fold": 0}, {"prompt": 2, "fold": 2}]},
    ),
    (
        Replay((Replayed((0,), FoldLeaf(FOLDS[7]), (HALF, -HALF, Fraction(0))),)),
        {"replay": [{"prompt": 0, "fold": 0, "eta": ["1/2", "-1/2", "0"]}]},
    ),
    (Open("nobody knows"), {"open": "nobody knows"}),
)
"""Each kind of evidence with what docs/certificate.md says it looks like."""

leaves = st.builds(
    FoldLeaf,
    st.sampled_from(FOLDS),
    second=st.none() | st.sampled_from(FOLDS),
)
replays = st.lists(st.builds(Replayed, st.sampled_from(list(PROMPTS)), leaves), min_size=1, max_size=3).map(
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
    assert Numbering(PROMPTS, {FOLDS[7]: 0, FOLDS[5]: 1, FOLDS[9]: 2}, "other").evidence(tree) == content


def fold_numbers(content: object) -> list[int]:
    """Return every fold that written evidence mentions, in the order of reading."""
    if isinstance(content, list):
        return [number for item in content for number in fold_numbers(item)]
    if not isinstance(content, dict):
        return []
    own = [content[key] for key in ("fold", "other") if key in content]
    return own + [number for value in content.values() for number in fold_numbers(value)]


@given(st.lists(trees, max_size=4))
def test_folds_are_numbered_as_a_reader_meets_them_and_none_is_left_over(drawn):
    """The format demands that every fold is referred to; a fixed order makes bundles repeatable."""
    numbers = Numbering(PROMPTS, second="other")
    written = json.loads(canonical_json([numbers.evidence(tree) for tree in drawn]))
    assert list(dict.fromkeys(fold_numbers(written))) == list(range(len(numbers.folds)))
