"""What steps of training are computed with, and whether that works on this machine, tried in a child process.

A processor may lack the instructions that a kernel of torch assumes, and then the process dies without an
exception; a compiler may be missing. So the trial has a process of its own, and says why not.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from signal import Signals
from typing import assert_never

import torch
from jaxtyping import Float
from torch import Tensor

from circuitproof.errors import InputError, NumericError
from circuitproof.files.devices import Device
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.operators import Attention, LayerNorm, LeakyRelu
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof_lab.train.windows import next_token_loss

_SECONDS = 300
"""How long a trial may take: compiling takes most of it."""
_TINY = Architecture(
    vocabulary=64,
    context=32,
    layers=1,
    heads=2,
    width=32,
    head_width=16,
    mlp_width=64,
    norm=LayerNorm(Fraction(1, 100000)),
    attention=Attention.SPARSEMAX,
    attention_scale=inverse_root(16),
    activation=LeakyRelu(Fraction(1, 100)),
    tied=True,
    biases=True,
    logit_bias=False,
)


class Precision(StrEnum):
    """In what numbers matrices are multiplied while training; weights and their updates are always FP32."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"

    def through(self, losses: Iterator[Float[Tensor, ""]], kind: str) -> Iterator[Float[Tensor, ""]]:
        """Return the losses, each computed in this precision; what is done with them in between is not.

        `kind` is that of the device where they are computed.
        """
        while True:
            with self._used(kind):
                loss = next(losses, None)
            if loss is None:
                return
            yield loss

    def _used(self, kind: str) -> AbstractContextManager[object]:
        match self:
            case Precision.FLOAT32:
                return nullcontext()
            case Precision.BFLOAT16:
                return torch.autocast(kind, torch.bfloat16)
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True)
class Computation:
    """How steps are computed."""

    precision: Precision
    is_compiled: bool

    @contextmanager
    def ready(self, model: Transformer) -> Iterator[None]:
        """Let a model be compiled, where that was asked for."""
        if self.is_compiled:
            is_strict = torch.are_deterministic_algorithms_enabled()
            torch.use_deterministic_algorithms(is_strict)  # the compiler has a switch of its own
            model.compile()
        try:
            yield
        finally:
            vars(model).pop("_compiled_call_impl", None)  # torch has no other way back

    def refuse_unworkable(self, device: torch.device) -> None:
        """Refuse what does not work here, by trying it on a tiny model in a child process."""
        works_anywhere = self == Computation(Precision.FLOAT32, is_compiled=False)
        if not works_anywhere and (reason := _trial(self, device)) is not None:
            raise InputError(
                f"training: precision '{self.precision}' with compile {str(self.is_compiled).lower()} does "
                f"not work on this machine's {device.type} ({reason}); leave both out: float32, not "
                "compiled, works anywhere"
            )


def tiny_step(computation: Computation, device: Device) -> None:
    """Take one step of a tiny model, or fail as a larger one would."""
    model = Transformer(_TINY)
    initialise(model, 0, 0.02)
    model.to(device)
    tokens = torch.arange(2 * _TINY.context, device=model.device).reshape(2, -1) % _TINY.vocabulary
    losses = (next_token_loss(model(one), one) for one in (tokens,))
    with computation.ready(model):
        (loss,) = computation.precision.through(losses, model.device.type)
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    if not all(gradient is not None and gradient.sum().isfinite() for gradient in (loss, *gradients)):
        raise NumericError("a gradient is missing or not finite")


def _trial(computation: Computation, device: torch.device) -> str | None:
    """Return why a tiny step fails in a process of its own, or nothing if it does not."""
    wanted = f"Computation(Precision('{computation.precision}'), is_compiled={computation.is_compiled})"
    step = tiny_step.__name__
    code = f"from {tiny_step.__module__} import Computation, Precision, {step}; {step}({wanted}, '{device}')"
    try:
        done = subprocess.run(  # noqa: S603  # our own interpreter and code
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"a tiny step took more than {_SECONDS} seconds"
    if done.returncode < 0:
        return f"a tiny step was ended by {Signals(-done.returncode).name}"
    if done.returncode > 0:
        return done.stderr.strip().splitlines()[-1]
    return None
