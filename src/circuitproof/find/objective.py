"""What extraction must keep, and how far a circuit is from keeping it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import assert_never

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.circuits.graph import Edge
from circuitproof.errors import DeclarationError, InputError, NumericError, OverdueError
from circuitproof.files.devices import CPU
from circuitproof.find.choices import Objective
from circuitproof.find.measure import Measure
from circuitproof.nn.below import Levels
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.tasks.task import Task

OVERDUE = "the work was ended before a circuit was found: give more time"
_FEW_TOKENS = 1 << 10
"""Up to so many, calling torch costs more than what it computes, and circuits run together."""
_TOKENS_AT_ONCE = 1 << 14
"""More than these fill the machine."""
_NOISE = 1e-6
"""A rise of the divergence below this is FP32 rounding, which depends on what else is in the batch."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a removal may cost."""

    threshold: float
    """The largest rise of the divergence, in nats."""
    agreement: float = 1.0
    """The smallest share of prompts decided as wanted."""

    def __post_init__(self) -> None:
        if not (isfinite(self.threshold) and self.threshold >= 0):
            raise InputError(f"threshold is {self.threshold}, want a number of nats, not negative")
        refuse_bad_agreement(self.agreement)

    def allows(self, before: Measure, after: Measure) -> bool:
        """Say whether a circuit measured `before` may be replaced by one measured `after`."""
        return after.agreement >= self.agreement and after.kl - before.kl <= self.threshold + _NOISE


@dataclass(frozen=True, slots=True, eq=False)
class KeptDecisions:
    """What is to be kept on each prompt, in main memory as the logits that it is compared with."""

    probabilities: Float[Tensor, "prompt candidate"]
    decisions: Bool[Tensor, "prompt candidate"]
    """The maximal candidates: one where the decision is clear, several where it is a tie."""

    def divergence(
        self, logits: Float[Tensor, "circuit prompt candidate"]
    ) -> Float[Tensor, "circuit prompt"]:
        """Return KL(target ‖ circuit) on each prompt; against a single answer it is the cross-entropy."""
        wanted = self.probabilities
        return (torch.xlogy(wanted, wanted) - wanted * logits.double().log_softmax(-1)).sum(-1)

    def agrees(self, logits: Float[Tensor, "circuit prompt candidate"]) -> Bool[Tensor, "circuit prompt"]:
        """Say on which prompts the maximal candidates are the wanted ones."""
        return (_maximal(logits) == self.decisions).all(-1)

    def margins(self, logits: Float[Tensor, "circuit prompt candidate"]) -> Float[Tensor, "circuit prompt"]:
        """Return by how much the wanted decision leads; positive just where a clear one is kept.

        A tie has no lead: its margin is 0 when it is kept and otherwise negative.
        """
        lowest = logits.masked_fill(~self.decisions, torch.inf).amin(-1)
        highest = logits.masked_fill(~self.decisions, -torch.inf).amax(-1)
        lead = lowest - logits.masked_fill(self.decisions, -torch.inf).amax(-1)
        return torch.where(self.decisions.sum(-1) == 1, lead, torch.minimum(lead, lowest - highest))


class Meter:
    """Measures circuits of one model against one target, many at a time and each only once.

    Circuits that differ in dead edges are one circuit here.
    """

    def __init__(
        self,
        model: Transformer,
        task: Task,
        objective: Objective,
        pace: Pace = UNHURRIED,
        every: Circuit | None = None,
    ) -> None:
        self.model, self.task, self.objective, self.pace = model, task, objective, pace
        self.every = whole(model.graph) if every is None else every
        """The circuit of all edges, told apart as those are that are measured; cut ones carry the same."""
        self.target = target_of(model, task, objective)
        self.batches = 0
        """How many batches of circuits were run."""
        self._known: dict[frozenset[Edge], Measure] = {}
        self.tokens = sum(map(len, task.prompts))
        """How many tokens one circuit is run on."""
        sizes = model.architecture
        remembers = self.tokens > _FEW_TOKENS and Levels.fit(model.graph, sizes.width, self.tokens)
        self._levels = Levels(sizes.layers) if remembers else None

    @property
    def at_once(self) -> int:
        """Return how many circuits are worth a batch; one alone may go on from those before it."""
        return 1 if self._levels is not None else max(1, _TOKENS_AT_ONCE // self.tokens)

    @property
    def circuits(self) -> int:
        """Return how many different circuits were run."""
        return len(self._known)

    def measure(self, circuits: Sequence[Circuit]) -> tuple[Measure, ...]:
        """Return the measure of each circuit; those not yet known are run as one batch."""
        live = [circuit.live() for circuit in circuits]
        unknown = {circuit.edges: circuit for circuit in live if circuit.edges not in self._known}
        if unknown and self.pace.is_over:
            raise OverdueError(OVERDUE)
        if unknown:
            self.batches += 1
            found = measures_of(self.target, self._logits([*unknown.values()]))
            self._known.update(zip(unknown, found, strict=True))
        return tuple(self._known[circuit.edges] for circuit in live)

    def alone(self, circuit: Circuit) -> Measure:
        """Return the measure of a circuit that is run by itself: no bit depends on what was run before."""
        return measures_of(self.target, task_logits(self.model, self.task, [circuit.live()]))[0]

    def _logits(self, circuits: Sequence[Circuit]) -> Float[Tensor, "circuit prompt candidate"]:
        """Run circuits; one alone goes on from what it shares with those before it."""
        if len(circuits) > 1 or self._levels is None or self.model.below is not None:
            return task_logits(self.model, self.task, circuits)
        self.model.below = self._levels
        try:
            return task_logits(self.model, self.task, circuits)
        finally:
            self.model.below = None

    def lost(self, circuits: Sequence[Circuit]) -> tuple[tuple[int, ...], ...]:
        """Return for each circuit the prompts that it does not decide as wanted."""
        agrees = self.target.agrees(task_logits(self.model, self.task, [*circuits]))
        return tuple(tuple(torch.nonzero(~row).flatten().tolist()) for row in agrees)


def target_of(model: Transformer, task: Task, objective: Objective) -> KeptDecisions:
    """Return what the objective wants on each prompt of a task."""
    match objective:
        case Objective.MODEL:
            return target_from(task_logits(model, task)[0])
        case Objective.PROGRAM:
            places = torch.tensor(task.decisions(), device=CPU)
            answers = torch.nn.functional.one_hot(places, len(task.candidates))
            return KeptDecisions(answers.double(), answers.bool())
        case _:
            assert_never(objective)


def target_from(logits: Float[Tensor, "prompt candidate"]) -> KeptDecisions:
    """Return the target of keeping what these logits say."""
    _refuse_wild(logits)
    return KeptDecisions(logits.double().softmax(-1), _maximal(logits))


def measures_of(
    target: KeptDecisions, logits: Float[Tensor, "circuit prompt candidate"]
) -> tuple[Measure, ...]:
    """Return how far each circuit is from a target, by its candidates' logits."""
    _refuse_wild(logits)
    rows = zip(target.divergence(logits), target.agrees(logits), target.margins(logits), strict=True)
    return tuple(
        Measure(float(kl.mean()), int(agrees.sum()), len(agrees), float(margins.min()))
        for kl, agrees, margins in rows
    )


def refuse_bad_agreement(agreement: float) -> None:
    """Refuse a share that is not one, and zero, which would ask for nothing."""
    if not 0 < agreement <= 1:
        raise DeclarationError(
            f"agreement is {agreement}, want a share of the prompts, above 0 and at most 1"
        )


def _maximal(logits: Float[Tensor, "*any candidate"]) -> Bool[Tensor, "*any candidate"]:
    return logits == logits.amax(-1, keepdim=True)


def _refuse_wild(logits: Tensor) -> None:
    if not bool(logits.isfinite().all()):
        raise NumericError("a candidate's logit is NaN or infinite; the weights are too large")
