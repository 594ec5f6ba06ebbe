# pyright: basic
"""Fitting a surrogate: a small ReLU network trained until it agrees with its teacher on every word."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import AdamW

from circuitproof.arithmetic.grid import grid_of_float32
from circuitproof.errors import InputError, NumericError
from circuitproof.files.codec import PositiveInt
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.devices import deterministic
from circuitproof_lab.surrogate.network import Network, NetworkShape, build_network, measure_fidelity, one_hot
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.train.loop import Rate

_MARGIN = 1.0
"""Training stops once the taught answer leads every other by this much on every word."""
_FINEST = 16
"""Weights are rounded to multiples of 1, 1/2, 1/4 and so on to 2 to the minus this, coarsest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """How a surrogate is trained."""

    hidden: tuple[int, ...]
    steps: PositiveInt
    learning_rate: Rate
    attempts: PositiveInt
    """With how many seeds training is begun anew until one reaches every word."""
    seed: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of a surrogate that agrees with its teacher on every word, as a safetensors file."""

    shape: NetworkShape
    weights: bytes


def fit_network(relation: Relation, fitting: Fitting, device: Device = CPU) -> Fitted:
    """Return a surrogate that agrees everywhere, with the coarsest weights that do.

    Coarse weights are as exact as fine ones and make every later question easier. One that does not agree
    everywhere is never returned.
    """
    shape = NetworkShape(relation.words, relation.answers, fitting.hidden)
    best = 0
    for attempt in range(fitting.attempts):
        tensors = _train(relation, shape, replace(fitting, seed=fitting.seed + attempt), device)
        for rounded in _roundings(tensors):
            agreed = measure_fidelity(exact_network(shape, rounded), relation)
            if agreed == len(relation.words):
                return Fitted(shape, save(dict(rounded)))
            best = max(best, agreed)
    raise InputError(
        f"the surrogate with hidden layers {list(fitting.hidden)} agrees with teacher {relation.name!r} on "
        f"{best} of {len(relation.words)} words at best, in {fitting.attempts} attempts of {fitting.steps} "
        f"steps; want all of them: widen it or train it longer"
    )


def exact_network(shape: NetworkShape, tensors: Mapping[str, Tensor]) -> Network:
    return build_network(
        shape, lambda name: grid_of_float32(np.atleast_2d(tensors[name].numpy()).view(np.uint32))
    )


def _train(relation: Relation, shape: NetworkShape, fitting: Fitting, device: Device) -> Mapping[str, Tensor]:
    """Train on a device, and return the weights in main memory."""
    generator = torch.Generator(CPU).manual_seed(fitting.seed)
    maps = [_linear(into, out, generator, device) for into, out in pairwise(shape.sizes)]
    inputs = torch.from_numpy(one_hot(tuple(relation.words), relation.words)).float().to(device)
    taught = torch.tensor(relation.decided, device=device)
    trained = [tensor for pair in maps for tensor in pair]
    optimizer = AdamW(trained, lr=fitting.learning_rate, weight_decay=0.0)
    with deterministic(taught.device):
        for _ in range(fitting.steps):
            lead = _leads(_forward(maps, inputs), taught)
            if float(lead.detach().min()) >= _MARGIN:
                break
            loss = functional.relu(2 * _MARGIN - lead).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    tensors = {name: tensor.detach().cpu() for name, tensor in zip(shape.tensors(), trained, strict=True)}
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise NumericError("a weight of the surrogate is NaN or infinite; lower its learning rate")
    return tensors


def _linear(into: int, out: int, generator: torch.Generator, device: Device) -> tuple[Tensor, Tensor]:
    bound = into**-0.5
    weight, bias = (
        torch.empty(shape, device=CPU).uniform_(-bound, bound, generator=generator).to(device)
        for shape in ((out, into), (out,))
    )
    return nn.Parameter(weight), nn.Parameter(bias)


def _forward(maps: list[tuple[Tensor, Tensor]], values: Tensor) -> Tensor:
    for weight, bias in maps[:-1]:
        values = functional.relu(functional.linear(values, weight, bias))
    return functional.linear(values, *maps[-1])


def _leads(logits: Tensor, taught: Tensor) -> Tensor:
    """Return by how much the taught answer leads each other one; a row per word."""
    right = logits.gather(1, taught[:, None])
    others = torch.ones_like(logits, dtype=torch.bool).scatter(1, taught[:, None], value=False)
    return (right - logits)[others].view(len(logits), -1)


def _roundings(tensors: Mapping[str, Tensor]) -> Iterator[Mapping[str, Tensor]]:
    """Yield the tensors rounded to ever finer multiples of a power of two, and at last as they are."""
    for digits in range(_FINEST + 1):
        scale = float(1 << digits)
        yield {name: torch.round(tensor * scale) / scale for name, tensor in tensors.items()}
    yield tensors
