from math import exp, log

import torch

from circuitproof_lab.train.windows import NO_TARGET, next_token_loss
from floats import agree


def random_logits(seed: int = 0) -> torch.Tensor:
    """Return logits of three prompts of four positions over five tokens."""
    return torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(seed))


TARGETS = torch.tensor([[NO_TARGET, 1, NO_TARGET, 4], [NO_TARGET] * 4, [0, NO_TARGET, 2, 3]])


def test_the_loss_is_the_mean_surprise_at_the_asked_positions():
    """The slow twin writes the formula out, position by position."""
    logits = random_logits().double()
    surprises = []
    for prompt, position in TARGETS.ne(NO_TARGET).nonzero().tolist():
        row = logits[prompt, position].tolist()
        surprises.append(log(sum(map(exp, row))) - row[int(TARGETS[prompt, position])])
    assert agree(next_token_loss(logits, TARGETS), sum(surprises) / 5)


def test_positions_without_a_target_do_not_count():
    """Padding and fillers must not teach the model anything, not even through the gradient."""
    logits = random_logits().requires_grad_()
    loss = next_token_loss(logits, TARGETS)
    loss.backward()
    other = torch.where((TARGETS == NO_TARGET)[..., None], random_logits(1), logits)
    assert next_token_loss(other, TARGETS) == loss
    assert logits.grad is not None
    assert not logits.grad[TARGETS == NO_TARGET].any()
    assert logits.grad[TARGETS != NO_TARGET].any(-1).all()


def test_all_tokens_of_the_vocabulary_compete():
    """A model that knows nothing pays log of the vocabulary, not of the candidates."""
    assert agree(next_token_loss(torch.zeros(3, 4, 5).double(), TARGETS), log(5))


def test_a_batch_that_asks_nothing_has_no_loss():
    """The mean of nothing is not zero: silence is not success."""
    assert not next_token_loss(random_logits(), torch.full((3, 4), NO_TARGET)).isfinite()
