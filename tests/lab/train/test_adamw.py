"""AdamW, bit by bit what torch's own computes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.lab.train.adamw import AdamW

SHAPES = [(), (3,), (5, 7), (2, 3, 33)]


def parameters(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in SHAPES]


def set_gradients(tensors: list[torch.Tensor], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for tensor in tensors:
        size = 10.0 ** int(torch.randint(-6, 3, (), generator=generator))
        tensor.grad = torch.randn(tensor.shape, generator=generator) * size


@given(
    st.integers(0, 99),
    st.sampled_from([(0.9, 0.999), (0.9, 0.95), (0.0, 0.5)]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.lists(st.sampled_from([1e-4, 3e-3, 0.1]), min_size=1, max_size=8),
)
def test_every_step_has_the_bits_of_torchs_own(seed, betas, decay, rates):
    """Whatever the learning rates, the decay and the memory of gradients."""
    ours, theirs = parameters(seed), parameters(seed)
    optimizer = AdamW(ours, rates[0], betas, decay)
    twin = torch.optim.AdamW(theirs, lr=rates[0], betas=betas, weight_decay=decay)
    for step, rate in enumerate(rates):
        optimizer.learning_rate = twin.param_groups[0]["lr"] = rate
        for tensors in (ours, theirs):
            set_gradients(tensors, seed + step)
        optimizer.step()
        twin.step()
        assert all(map(torch.equal, ours, theirs))


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_what_has_no_gradient_stays(decay):
    """It is not even made smaller."""
    tensors = parameters(0)
    before = [tensor.detach().clone() for tensor in tensors]
    optimizer = AdamW(tensors, 0.1, weight_decay=decay)
    set_gradients(tensors, 1)
    tensors[2].grad = None
    optimizer.step()
    assert [torch.equal(*pair) for pair in zip(before, tensors, strict=True)] == [False, False, True, False]
    optimizer.forget_gradients()
    assert all(tensor.grad is None for tensor in tensors)
