"""The slow obvious twin of the enclosed forward pass: real numbers of very many digits, node by node.

It is the twin of exact numbers with the operators that have none, from mpmath, which nothing else here uses.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from random import Random

import mpmath
import torch

from circuitproof.circuits.graph import Head
from circuitproof.models.operators import (
    Attention,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    NoNorm,
    Relu,
)
from circuitproof.nn.transformer import Transformer
from hand_models import PLAIN
from tiny_claims import PROGRAM
from twin import Twin

ACTIVATIONS = (Gelu(GeluForm.TANH), Gelu(GeluForm.EXACT), Relu(), LeakyRelu(Fraction(1, 3)))
NORMS = (LayerNorm(Fraction(1, 100000)), NoNorm())


def gelu(form: GeluForm, x: mpmath.mpf) -> mpmath.mpf:
    """Return GELU as its forms are usually written."""
    if form is GeluForm.EXACT:
        return x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2
    factor = mpmath.mpmathify(Fraction("0.7978845608028654"))
    return x * (1 + mpmath.tanh(factor * (x + Fraction("0.044715") * x**3))) / 2


def real_weights(attention: Attention, scores: list[mpmath.mpf]) -> list[mpmath.mpf]:
    """Return what a row of scores becomes."""
    if attention is Attention.SPARSEMAX:
        totals = accumulate(sorted(scores, reverse=True))
        cut = max((total - 1) / rank for rank, total in enumerate(totals, start=1))
        return [max(score - cut, mpmath.mpf(0)) for score in scores]
    powers = [mpmath.exp(score) for score in scores]
    return [power / mpmath.fsum(powers) for power in powers]


@dataclass(frozen=True)
class RealTwin(Twin):
    """A model whose operators have real values."""

    def sparsemax(self, scores):
        """Return the weights of a neural head, by softmax where the model has it."""
        real = [mpmath.mpmathify(score) for score in scores]
        return real_weights(self.architecture.attention, real)

    def bend(self, number):
        """Return the activation of a number."""
        activation = self.architecture.activation
        return (
            gelu(activation.form, mpmath.mpmathify(number))
            if isinstance(activation, Gelu)
            else super().bend(number)
        )

    def band_norm(self, vector):
        """Return the norm before its scale and shift."""
        middle = [mpmath.mpmathify(one) - sum(vector) / len(vector) for one in vector]
        variance = sum(one**2 for one in middle) / len(middle)
        return [one / mpmath.sqrt(variance + self.architecture.norm.epsilon) for one in middle]


def ordinary_model(draw: Random, seed: int) -> Transformer:
    """Return a tiny model of ordinary operators, with weights of all sizes."""
    sizes = replace(
        PLAIN,
        layers=draw.choice((1, 2)),
        heads=draw.choice((1, 2)),
        width=draw.choice((2, 3, 5)),
        head_width=draw.choice((1, 2, 3)),
        mlp_width=draw.choice((0, 2, 4)),
        norm=draw.choice(NORMS),
        attention=draw.choice((Attention.SOFTMAX, Attention.SOFTMAX, Attention.SPARSEMAX)),
        activation=draw.choice(ACTIVATIONS),
        attention_scale=draw.choice((Fraction(1), Fraction(11863283, 33554432))),
        biases=draw.random() < 0.5,
        tied=draw.random() < 0.3,
        logit_bias=draw.random() < 0.3,
    )
    model = Transformer(sizes, {Head(0, 0): PROGRAM} if draw.random() < 0.3 else {})
    generator = torch.Generator().manual_seed(seed)
    size = draw.choice((0.1, 1.0, 3.0))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * size)
    return model.double()
