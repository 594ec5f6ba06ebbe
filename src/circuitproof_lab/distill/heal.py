"""Healing: training a model with programs further, under objectives that ask more and more of the programs.

Installing programs disturbs a model; training restores what it decides. Whether the programs then do any of
the work is another question, which each objective answers by what it adds to the loss:

- *plain*: the right answers of the model, and nothing else;
- *ablation-aware*: also the right answers of the declared circuit alone, and of the circuit with a few other
  edges, and no answer at all once a program of the circuit is silenced in the model;
- *core-aware*: no answer either once all programs are silenced together, and the same in the circuit.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite, log
from typing import Annotated, assert_never

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from circuitproof.circuits.circuit import Circuit, circuit_of, whole
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.files.codec import PositiveInt, Range
from circuitproof.files.devices import CPU
from circuitproof.nn.decisions import score_circuits
from circuitproof.nn.edge_masks import edge_masks_of
from circuitproof.nn.seeding import generator_of
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.domain import by_length
from circuitproof.tasks.task import Task
from circuitproof_lab.distill.lesion import Behaviour, silence
from circuitproof_lab.train.data import Data
from circuitproof_lab.train.windows import next_token_loss


class LossTerm(StrEnum):
    """What a loss is made of. The first three ask for answers, the others for none."""

    TASK = "task"
    """The right answers in the whole model."""
    CIRCUIT = "circuit"
    """The right answers in the declared circuit alone."""
    EXTRA_EDGES = "extra_edges"
    """The right answers in the declared circuit with each other edge kept by chance."""
    MODEL_EACH = "model_each"
    """Uniform candidates in the model without a program of the circuit, the mean over its programs."""
    MODEL_JOINT = "model_joint"
    """Uniform candidates in the model without any program."""
    CIRCUIT_EACH = "circuit_each"
    """Uniform candidates in the declared circuit without one of its programs, the mean over them."""
    CIRCUIT_JOINT = "circuit_joint"
    """Uniform candidates in the declared circuit without any program."""


ANSWERED = frozenset({LossTerm.TASK, LossTerm.CIRCUIT, LossTerm.EXTRA_EDGES})
"""The terms that ask for the right answers."""


class Treatment(StrEnum):
    """The objectives, each asking for more than the one before."""

    PLAIN = "plain"
    ABLATION_AWARE = "ablation_aware"
    CORE_AWARE = "core_aware"


TERMS: Mapping[Treatment, tuple[LossTerm, ...]] = {
    Treatment.PLAIN: (LossTerm.TASK,),
    Treatment.ABLATION_AWARE: (LossTerm.TASK, LossTerm.CIRCUIT, LossTerm.EXTRA_EDGES, LossTerm.MODEL_EACH),
    Treatment.CORE_AWARE: tuple(LossTerm),
}
"""The terms of each objective, none of which may be left out."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """An objective with the weight of each of its terms."""

    treatment: Treatment
    weights: Mapping[LossTerm, float]

    def __post_init__(self) -> None:
        terms = TERMS[self.treatment]
        if self.weights.keys() != set(terms):
            raise InputError(
                f"healing: weights are given for {_listed(self.weights)}, "
                f"the objective {self.treatment} consists of {_listed(terms)}"
            )
        for term, weight in self.weights.items():
            if not (isfinite(weight) and weight > 0):
                raise InputError(f"healing: {term} weighs {weight}, want a finite number above 0")


@dataclass(frozen=True, slots=True)
class Draw:
    """What is drawn at each step, a pure function of seed and step."""

    seed: int
    batch: PositiveInt
    """How many prompts of each task."""
    keep: Annotated[float, Range(above=0, below=1, what="a probability ")]
    """The probability with which an edge outside the circuit is kept."""


@dataclass(frozen=True, slots=True)
class TextTerm:
    """The loss of a language model on its own data, so that healing does not cost what else it can do."""

    data: Data
    weight: float


class Healing:
    """The goal of training under an objective: the weighted sum of its terms, the mean over behaviours."""

    def __init__(
        self,
        behaviours: Sequence[Behaviour],
        programs: Collection[Head],
        weighing: Weighing,
        draw: Draw,
        text: TextTerm | None = None,
    ) -> None:
        if not behaviours:
            raise InputError("healing: there is no behaviour to keep; give at least one task")
        self._weights, self._draw, self._programs, self._text = weighing.weights, draw, programs, text
        terms = TERMS[weighing.treatment]
        self._forwards = tuple(_HealingPass(behaviour, programs, terms) for behaviour in behaviours)

    def losses(self, model: Transformer, step: int) -> Iterator[Float[Tensor, ""]]:
        found = self.terms(model, step)
        losses = [self._weights[term] * value for terms in found for term, value in terms.items()]
        yield torch.stack(losses).sum() / len(self._forwards)
        if self._text is not None:
            batch = self._text.data.batch(step).on(model.device)
            yield self._text.weight * next_token_loss(model(batch.tokens), batch.targets)

    def terms(self, model: Transformer, step: int) -> tuple[Mapping[LossTerm, Float[Tensor, ""]], ...]:
        """Return the terms for each behaviour, before they are weighted."""
        return tuple(forward.terms(model, self._draw, step) for forward in self._forwards)

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return the accuracy on each task, of model, circuit and the model without programs; and on text."""
        measures = {} if self._text is None else dict(self._text.data.evaluate(model))
        everything = whole(model.graph)
        for forward in self._forwards:
            task = forward.behaviour.task
            circuits = (everything, forward.behaviour.circuit, silence(everything, self._programs))
            names = ("model", "circuit", "without programs")
            for name, score in zip(names, score_circuits(model, task, circuits), strict=True):
                measures[f"{task.name} {name}"] = score.accuracy
        return measures


class _HealingPass:
    """What is run at once for one behaviour; the circuit with extra edges is put behind at each step."""

    def __init__(self, behaviour: Behaviour, programs: Collection[Head], terms: Sequence[LossTerm]) -> None:
        ordered = sorted(terms, key=lambda term: term is LossTerm.EXTRA_EDGES)
        groups = {term: _circuits(term, behaviour, programs) for term in ordered}
        self.behaviour, self._sizes = behaviour, {term: len(group) for term, group in groups.items()}
        fixed = (group for term, group in groups.items() if term is not LossTerm.EXTRA_EDGES)
        self._masks = edge_masks_of([circuit for group in fixed for circuit in group])

    def terms(self, model: Transformer, draw: Draw, step: int) -> Mapping[LossTerm, Tensor]:
        task, masks = self.behaviour.task, self._masks
        if LossTerm.EXTRA_EDGES in self._sizes:
            extra = edge_masks_of([thinned(self.behaviour.circuit, draw, step)])
            masks = replace(masks, values=torch.cat([masks.values, extra.values]))
        vocabulary, batches = range(model.architecture.vocabulary), prompts_of(task, draw, step)
        found = [
            model.candidate_logits(batch.tokens.to(model.device), vocabulary, masks) for batch in batches
        ]
        answers = torch.cat([batch.answers for batch in batches]).to(model.device)
        groups = torch.cat(found, dim=1).split(list(self._sizes.values()))
        return {
            term: answer_loss(group, answers)
            if term in ANSWERED
            else bypass_penalty(group[..., list(task.candidates)])
            for term, group in zip(self._sizes, groups, strict=True)
        }


def answer_loss(
    logits: Float[Tensor, "circuit prompt token"], answers: Int[Tensor, " prompt"]
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of the right answers over the whole vocabulary."""
    return functional.cross_entropy(logits.flatten(0, 1), answers.repeat(len(logits)))


def bypass_penalty(logits: Float[Tensor, "circuit prompt candidate"]) -> Float[Tensor, ""]:
    """Return the mean of KL(uniform ‖ candidates): zero just where no candidate is preferred.

    It grows with the margin without end, so that a sure bypass is pushed as hard as a weak one.
    """
    return -logits.log_softmax(-1).mean() - log(logits.shape[-1])


@dataclass(frozen=True, slots=True, eq=False)
class PromptBatch:
    """Prompts of one length and the token wanted after each, in main memory."""

    tokens: Int[Tensor, "prompt position"]
    answers: Int[Tensor, " prompt"]


def prompts_of(task: Task, draw: Draw, step: int) -> list[PromptBatch]:
    """Return the prompts of a step, the next ones of the epoch's own shuffle, sorted by length."""
    size = min(draw.batch, task.size)
    epoch, place = divmod(step, task.size // size)
    order = torch.randperm(task.size, generator=generator_of(draw.seed, epoch), device=CPU)
    drawn, wanted = order[place * size : (place + 1) * size].tolist(), task.answers()
    prompts, answers = [task.prompts[index] for index in drawn], [wanted[index] for index in drawn]
    return [
        PromptBatch(*(torch.tensor([rows[k] for k in places], device=CPU) for rows in (prompts, answers)))
        for _, places in sorted(by_length(prompts).items())
    ]


def thinned(circuit: Circuit, draw: Draw, step: int) -> Circuit:
    """Return the circuit with each other edge of the graph kept with the drawn probability."""
    others = [edge for edge in circuit.graph.edges() if edge not in circuit]
    numbers = torch.rand(len(others), generator=generator_of(draw.seed, -1 - step), device=CPU)
    kept = [edge for edge, number in zip(others, numbers.tolist(), strict=True) if number < draw.keep]
    return circuit | circuit_of(circuit.graph, kept)


def _circuits(term: LossTerm, behaviour: Behaviour, programs: Collection[Head]) -> tuple[Circuit, ...]:
    """Return what a term runs; for the extra edges, which change at each step, the circuit stands in."""
    everything, declared = whole(behaviour.circuit.graph), behaviour.circuit
    match term:
        case LossTerm.TASK:
            return (everything,)
        case LossTerm.CIRCUIT | LossTerm.EXTRA_EDGES:
            return (declared,)
        case LossTerm.MODEL_EACH:
            return tuple(silence(everything, (head,)) for head in _core(behaviour, programs))
        case LossTerm.MODEL_JOINT:
            return (silence(everything, programs),)
        case LossTerm.CIRCUIT_EACH:
            return tuple(silence(declared, (head,)) for head in _core(behaviour, programs))
        case LossTerm.CIRCUIT_JOINT:
            return (silence(declared, programs),)
        case _:
            assert_never(term)


def _core(behaviour: Behaviour, programs: Collection[Head]) -> tuple[Head, ...]:
    core = behaviour.core(programs)
    if not core:
        raise InputError(
            f"healing: the circuit of task {behaviour.task.name!r} reads no program, so none can be made to "
            "matter; install a program at a head that it reads"
        )
    return core


def _listed(terms: Collection[LossTerm]) -> str:
    return ", ".join(term for term in LossTerm if term in terms) or "no term"
