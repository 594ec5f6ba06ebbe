"""What pages say of remarks and ablations."""

from typing import get_args

import pytest

from circuitproof.circuits.ablation import ZERO, Counterfactual, Mean, Pooling
from circuitproof.proof import remarks
from circuitproof.reports.words import ablation_words, remark_meaning

PROMPTS = ((1, 2), (2, 1))
PARTNERED = tuple((prompt, prompt[::-1]) for prompt in PROMPTS)


def test_every_remark_has_a_meaning():
    """The page looks it up by the words before the colon."""
    named = [kind for kind in get_args(remarks.Remark) if kind is not remarks.Plain]
    spelled = [str(kind(3)) for kind in named if kind is not remarks.OpenRemark]
    assert all(map(remark_meaning, [*map(str, remarks.Plain), *spelled]))


@pytest.mark.parametrize("remark", [remarks.Plain.UNEDGED, remarks.SharedBias("head 0.0 -> logits")])
def test_a_remark_that_may_apply_says_that_it_is_not_known(remark):
    """And what it would mean."""
    meaning = remark_meaning(str(remarks.OpenRemark(remark)))
    assert meaning == f"it is not known whether this is so: {remark_meaning(str(remark))}"


@pytest.mark.parametrize(
    ("ablation", "words"),
    [
        (ZERO, "A cut edge carries zero."),
        (Mean(PROMPTS), "on 2 declared prompts, at the same position of those of the same length."),
        (Mean(PROMPTS[:1], Pooling.ALL), "in the whole model on 1 declared prompt, at all positions."),
        (Counterfactual(PARTNERED), "on the prompt's partner; 2 prompts have one."),
        (Counterfactual(PARTNERED[:1]), "on the prompt's partner; 1 prompt has one."),
    ],
)
def test_an_ablation_is_a_sentence(ablation, words):
    """It says what a cut edge carries, and from how many prompts."""
    assert ablation_words(ablation).endswith(words)
