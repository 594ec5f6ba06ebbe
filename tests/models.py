"""Small random models, for tests that need weights but no training."""

from fractions import Fraction

import torch

from circuitproof.circuits.graph import Head
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.declaration import NO_PROGRAMS, ProgramHeads
from circuitproof.models.operators import (
    Activation,
    Attention,
    BandNorm,
    Gelu,
    GeluForm,
    LayerNorm,
    LeakyRelu,
    Lift,
    NoNorm,
    Norm,
    Relu,
)
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse

NORMS = (
    NoNorm(),
    LayerNorm(Fraction(1, 100000)),
    BandNorm(Fraction(11, 10), Fraction(21, 10), Lift.REFERENCE),
    BandNorm(Fraction(11, 10), Fraction(21, 10), Lift.CONTINUOUS),
)
ACTIVATIONS = (Relu(), LeakyRelu(Fraction(1, 100)), Gelu(GeluForm.EXACT), Gelu(GeluForm.TANH))
PROGRAMS = {
    Head(0, 0): parse("default 0\nadd 1 when key_token in {1, 3, 5}\notherwise self"),
    Head(0, 1): parse("default 1/3\nadd 2 when relative_distance == 1\notherwise self"),
    Head(1, 0): parse("default 0\nadd 1/2 when token_match and key_position < 3\notherwise nowhere"),
    Head(1, 1): parse("default 0\nadd 1 when key_position == 2\nadd 5 when query_token == 0\notherwise self"),
}
"""A program for each head of the tiny architecture, each reading something else."""
SCANS = {
    Head(0, 0): parse("default 0\nadd 1 when nearest (key_token == 1 or key_token == 4)\notherwise self"),
    Head(0, 1): parse(
        "default 1/3\nadd 2 when first not token_match\nadd 1 when last key_token in {0, 2}\notherwise self"
    ),
    Head(1, 0): parse("default 0\nadd 1/2 when nearest unmatched {0: 2, 4: 2, 4: 3}\notherwise nowhere"),
    Head(1, 1): parse(
        "default 0\nadd 1 when key_depth {0: 2, 4: 3} up to 2 >= 1 and query_count {1} up to 1 == 0\n"
        "add 5 when partner {4: 3} or key_count {2, 3} up to 2 == 1\notherwise self"
    ),
}
"""The same with programs that scan, count and match brackets."""


def tiny_architecture(
    *,
    norm: Norm = NORMS[0],
    attention: Attention = Attention.SPARSEMAX,
    activation: Activation = ACTIVATIONS[1],
    tied: bool = False,
    biases: bool = True,
    rotary: int | None = None,
    parallel: bool = False,
) -> Architecture:
    """Return an architecture of two layers of two heads and width four."""
    return Architecture(
        vocabulary=7,
        context=5,
        layers=2,
        heads=2,
        width=4,
        head_width=3,
        mlp_width=6,
        norm=norm,
        attention=attention,
        attention_scale=inverse_root(3),
        activation=activation,
        tied=tied,
        biases=biases,
        logit_bias=biases,
        rotary=rotary,
        parallel=parallel,
    )


def random_model(
    architecture: Architecture, seed: int = 0, programs: ProgramHeads = NO_PROGRAMS
) -> Transformer:
    """Return a model with every parameter drawn at random, biases and norms included."""
    model = Transformer(architecture, programs)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=generator)
    return model


def random_tokens(architecture: Architecture, prompts: int = 6, seed: int = 1) -> torch.Tensor:
    """Return random prompts of the longest length."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(architecture.vocabulary, (prompts, architecture.context), generator=generator)
