"""Constrained calibration: training only what a lesion of the programs takes away.

The readout of a program head is its value and output map. Whatever is done to it, the model without the
program heads is the same model, tensor by tensor: so calibration cannot build a way around the programs.
The bias that the heads of a layer share stays frozen, because it is left when one head of several is gone.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call
from torch.optim import AdamW

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.errors import DeclarationError, NumericError
from circuitproof.files.codec import Positive, PositiveInt
from circuitproof.files.devices import CPU
from circuitproof.models.architecture import Architecture
from circuitproof.nn.devices import deterministic
from circuitproof.nn.seeding import generator_of
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.domain import by_length
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.heal import TextTerm
from circuitproof_lab.distill.install import replace_tensors
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.records.audit import Aim
from circuitproof_lab.train.memory import freed_memory_kept
from circuitproof_lab.train.windows import next_token_loss

_KINDS = {"value": "value.weight", "value_bias": "value.bias", "output": "output.weight"}
"""The parts of a head's readout, as they are called in a layer and in a model file."""


class Rung(StrEnum):
    """What a rung of the ladder may train in each program head."""

    SCALAR = "scalar"
    """One gain on the head's output."""
    DIAGONAL = "diagonal"
    """One gain for each channel of the residual that the head writes."""
    READOUT = "readout"
    """The value map with its bias, and the output map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a rung is trained. Nothing here depends on where or when it runs."""

    seed: int
    steps: PositiveInt
    batch: PositiveInt
    learning_rate: Positive
    aim: Aim
    target: Positive
    """How large what is aimed at should be on every prompt; more is not asked for."""


def calibrate(
    model: Transformer, behaviour: Behaviour, rung: Rung, plan: Calibration, text: TextTerm | None = None
) -> Transformer:
    """Return a copy of the model with its program heads calibrated; every other tensor is the same.

    With a text, what the model loses there counts too.
    """
    if not model.programs:
        raise DeclarationError("the model has no program heads, so there is nothing that may be calibrated")
    refuse_aimless(model.architecture, plan.aim)
    readouts, decider = _Readouts(model, rung), _RungDecider(model)
    optimizer = AdamW(readouts.parameters, lr=plan.learning_rate, weight_decay=0.0)
    with _frozen(model), freed_memory_kept(), deterministic(model.device):
        for step in range(plan.steps):
            loss = _loss(decider, readouts, behaviour, plan, _places(behaviour.task, plan, step))
            if text is not None:
                loss = loss + _text_loss(decider, readouts, text, step)
            if not bool(loss.isfinite()):
                raise NumericError(
                    f"calibration: the loss is {loss.item()} at step {step}; lower the learning rate"
                )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return replace_tensors(model, readouts.tensors())


class _RungDecider(nn.Module):
    """A model whose candidate logits and final residual are computed with some parameters replaced."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens: Tensor, circuits: Sequence[Circuit] | None, *, everywhere: bool = False
    ) -> Tensor:
        """Return the final residual at the last position, or the logits of the model everywhere."""
        return self.model(tokens) if everywhere else self.model.final_residual(tokens, circuits)


class _Readouts:
    """The trainable numbers of a rung, and what they make of the program heads' tensors."""

    def __init__(self, model: Transformer, rung: Rung) -> None:
        self._rung, self._stacks = rung, _stacks(model)
        self._parts = {
            head: {part: stack[head.index].clone() for part, stack in self._stacks[head.layer].items()}
            for head in model.programs
        }
        self._trained = self._parts  # the largest rung trains them all, in place
        if rung is not Rung.READOUT:
            outputs = {head: parts["output"] for head, parts in self._parts.items()}
            self._trained = {head: {"gain": _unit_gain(output, rung)} for head, output in outputs.items()}
        self.parameters = [one.requires_grad_() for parts in self._trained.values() for one in parts.values()]

    def tensors(self) -> Mapping[str, Tensor]:
        """Return the calibrated tensors by their names in a model file."""
        return {
            f"head.{head.layer}.{head.index}.{_KINDS[part]}": tensor
            for head in self._parts
            for part, tensor in self._calibrated(head).items()
        }

    def stacked(self) -> dict[str, Tensor]:
        """Return the same as replacements of the parameters, which hold all heads of a layer."""
        replaced: dict[str, Tensor] = {}
        for head in self._parts:
            for part, tensor in self._calibrated(head).items():
                name = f"model.attentions.{head.layer}.{part}"
                base = replaced.get(name, self._stacks[head.layer][part])
                replaced[name] = base.index_copy(
                    0, torch.tensor([head.index], device=base.device), tensor[None]
                )
        return replaced

    def _calibrated(self, head: Head) -> Mapping[str, Tensor]:
        if self._rung is Rung.READOUT:
            return self._trained[head]
        return {"output": self._parts[head]["output"] * self._trained[head]["gain"]}


def _unit_gain(output: Float[Tensor, "width head"], rung: Rung) -> Tensor:
    """Return gains that change nothing: one for the head, or one for each channel that it writes."""
    return output.new_ones(() if rung is Rung.SCALAR else (output.shape[0], 1))


def _stacks(model: Transformer) -> Mapping[int, Mapping[str, Tensor]]:
    """Return the value and output maps of all heads, layer by layer, where there is a program head."""
    layers = {head.layer: model.attentions[head.layer] for head in model.programs}
    return {
        number: {part: t.detach() for part in _KINDS if (t := getattr(layer, part)) is not None}
        for number, layer in layers.items()
    }


@contextmanager
def _frozen(model: Transformer) -> Generator[None, None, None]:
    """Let nothing in a model ask for a gradient, so that backward stops where the first readout enters."""
    before = [parameter.requires_grad for parameter in model.parameters()]
    model.requires_grad_(requires_grad=False)
    try:
        yield
    finally:
        for parameter, asked in zip(model.parameters(), before, strict=True):
            parameter.requires_grad_(asked)


def _loss(
    decider: _RungDecider, readouts: _Readouts, behaviour: Behaviour, plan: Calibration, places: Sequence[int]
) -> Float[Tensor, ""]:
    """Return cross-entropy of model and circuit on some prompts, and what the circuit lacks of the target."""
    task, model = behaviour.task, decider.model
    tokens = model.tokens_of([task.prompts[place] for place in places])
    answers = task.answers()
    wanted = torch.tensor([task.candidates.index(answers[place]) for place in places], device=model.device)
    total = torch.zeros((), device=model.device)
    for circuits in (None, [behaviour.circuit]):
        residual = functional_call(decider, readouts.stacked(), (tokens, circuits))
        logits = model.residual_logits(residual, task.candidates)
        total = total + nn.functional.cross_entropy(logits, wanted)
    reached = _aimed(model, task, _FinalStates(residual, logits, wanted), plan.aim)
    return total + (plan.target - reached).relu().mean() / plan.target


def _text_loss(decider: _RungDecider, readouts: _Readouts, text: TextTerm, step: int) -> Float[Tensor, ""]:
    batch = text.data.batch(step).on(decider.model.device)
    logits = functional_call(decider, readouts.stacked(), (batch.tokens, None), {"everywhere": True})
    return text.weight * next_token_loss(logits, batch.targets)


@dataclass(frozen=True, slots=True, eq=False)
class _FinalStates:
    """Where some prompts end: final residual, logits of the candidates, and which of these is wanted."""

    residual: Float[Tensor, "prompt width"]
    logits: Float[Tensor, "prompt candidate"]
    wanted: Int[Tensor, " prompt"]


def _aimed(model: Transformer, task: Task, ends: _FinalStates, aim: Aim) -> Float[Tensor, " prompt"]:
    """Return what is aimed at, to the first competitor on each prompt; negative where one leads."""
    wanted, leads = ends.wanted, ends.logits.gather(-1, ends.wanted[:, None]) - ends.logits
    is_other = torch.ones_like(leads, dtype=torch.bool).scatter(-1, wanted[:, None], value=False)
    match aim:
        case Aim.MARGIN:
            found = leads[is_other]
        case Aim.RADIUS | Aim.RELATIVE_RADIUS:
            directions = model.output_directions(task.candidates)
            speeds = (directions[wanted][:, None] - directions[None]).abs().sum(-1)
            found = leads[is_other] / speeds[is_other]
        case _:
            assert_never(aim)
    nearest = found.unflatten(0, (len(wanted), -1)).amin(-1)
    return nearest / ends.residual.abs().amax(-1) if aim is Aim.RELATIVE_RADIUS else nearest


def refuse_aimless(architecture: Architecture, aim: Aim) -> None:
    """Refuse to aim at a radius where logits are read through a final norm: decisions have none there."""
    if architecture.has_norm and aim is not Aim.MARGIN:
        raise DeclarationError(
            f"calibration aims at the {aim}, and the logits of a model with norms have none; "
            'give aim = "margin", or remove the norms'
        )


def least_aimed(model: Transformer, behaviour: Behaviour, aim: Aim) -> float:
    """Return the smallest of what is aimed at over all prompts of the circuit's decisions, in floats."""
    task, smallest = behaviour.task, float("inf")
    answers = task.decisions()
    with torch.no_grad():
        for places in by_length(task.prompts).values():
            tokens = model.tokens_of([task.prompts[place] for place in places])
            residual = model.final_residual(tokens, [behaviour.circuit])
            wanted = torch.tensor([answers[place] for place in places], device=model.device)
            logits = model.residual_logits(residual, task.candidates)
            reached = _aimed(model, task, _FinalStates(residual, logits, wanted), aim)
            smallest = min(smallest, float(reached.min()))
    return smallest


def _places(task: Task, plan: Calibration, step: int) -> list[int]:
    """Return prompts of one length, drawn so that each prompt is as likely as any other."""
    order = torch.randperm(task.size, generator=generator_of(plan.seed, step), device=CPU).tolist()
    length = len(task.prompts[order[0]])
    return [place for place in order if len(task.prompts[place]) == length][: plan.batch]
