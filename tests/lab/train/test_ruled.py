import pytest
import torch

from circuitproof.errors import DeclarationError
from circuitproof.models.operators import Attention
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.answer_rules import AfterPrevious, Count, Maximum, MostFrequent, NextAbove, Sum
from circuitproof_lab.train.data import Data
from circuitproof_lab.train.ruled import Draw, RuleData, RuleSource
from circuitproof_lab.train.windows import NO_TARGET
from models import random_model, tiny_architecture
from rule_twin import obvious

EVERY = tuple(range(7))
RULES = (Maximum(EVERY), MostFrequent(EVERY), Count((1, 2), (0, 4, 5)), Sum(EVERY, EVERY))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.tag)
@pytest.mark.parametrize("draw", Draw)
def test_a_batch_asks_for_the_answer_after_the_last_token(rule, draw):
    """The rule's, whatever was drawn; nothing is asked before."""
    data = RuleData(RuleSource(rule, 7, 5, 40, draw), 3)
    assert isinstance(data, Data)
    batch = data.batch(8)
    assert batch.tokens.shape == (40, 5)
    assert (batch.targets[:, :-1] == NO_TARGET).all()
    for tokens, answer in zip(batch.tokens.tolist(), batch.targets[:, -1].tolist(), strict=True):
        assert answer == obvious(rule, tokens)
    assert torch.equal(batch.tokens, data.batch(8).tokens)
    assert not torch.equal(batch.tokens, data.batch(9).tokens)


@pytest.mark.parametrize("rule", [NextAbove(EVERY), AfterPrevious(EVERY), Maximum((1, 2))])
def test_a_rule_that_leaves_some_sequence_without_an_answer_is_refused(rule):
    """There would be nothing to train on; the sequence is shown."""
    with pytest.raises(
        DeclarationError, match=rf"denotes prompt \(.*\), to which rule '{rule.tag}' gives no"
    ):
        RuleSource(rule, 7, 3, 4)


def test_ranges_meet_small_answers_more_often():
    """Of seven tokens the largest of five is hardly ever the first, unless the range was drawn so."""
    counts = {}
    for draw in Draw:
        batch = RuleData(RuleSource(Maximum(EVERY), 7, 5, 4000, draw), 1).batch(0)
        assert {0, 6} <= set(batch.tokens.flatten().tolist()) <= set(EVERY)
        counts[draw] = int((batch.targets[:, -1] == 0).sum())
    assert counts[Draw.UNIFORM] < 5
    assert counts[Draw.RANGES] > 40


def test_a_model_is_measured_on_sequences_that_belong_to_no_step():
    """Accuracy and worst margin among the rule's tokens, as the model's own logits say."""
    sizes = tiny_architecture(attention=Attention.SOFTMAX)
    model, data = random_model(sizes), RuleData(RuleSource(Maximum((4, 0, 2, 1, 3)), 5, 4, 8), 2)
    batch = data.fixed_batch()
    with torch.no_grad():
        ends = model(batch.tokens)[:, -1, :5]
    wanted = batch.targets[:, -1:]
    leads = ends.gather(1, wanted) - ends.scatter(1, wanted, -torch.inf).amax(1, keepdim=True)
    found = data.evaluate(model)
    assert found["accuracy"] == int((leads > 0).sum()) / len(leads)
    assert abs(found["worst margin"] - leads.min().item()) < 1e-4
    still = Transformer(sizes)
    assert data.evaluate(still)["accuracy"] == 0
