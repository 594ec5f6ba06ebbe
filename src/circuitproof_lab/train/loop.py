"""The training loop: steps, evaluations and checkpoints, the same bits after a kill as without one."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import cos, pi
from pathlib import Path
from typing import Annotated, Protocol, TypeAlias, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim import AdamW

from circuitproof.errors import InputError, NumericError
from circuitproof.files.canonical import Json, readable_json
from circuitproof.files.codec import Codec, Positive, PositiveInt, Range, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import read_json, reading
from circuitproof.files.sealed import write_sealed
from circuitproof.models.architecture import Architecture
from circuitproof.nn.checkpoint import StoredModel, load_model, load_tensors, model_files, save_tensors
from circuitproof.nn.devices import deterministic
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof_lab.train.data import Data
from circuitproof_lab.train.measures import Evaluation
from circuitproof_lab.train.memory import freed_memory_kept
from circuitproof_lab.train.precision import Computation, Precision
from circuitproof_lab.train.windows import next_token_loss
from circuitproof_lab.train.workers import together

_OPTIMIZER = "optimizer.safetensors"
_BUFFERS = "buffers.safetensors"
_PROGRESS = "progress.json"
_SMALL = 1_000_000
"""A model with fewer parameters is trained by one thread."""
_NAME = re.compile(r"step-(\d{9})")

SEEDS = Range(most=2**32 - 1)
"""Torch seeds its generator with 32 bits; a larger seed would be another spelling of a smaller one."""
Seed: TypeAlias = Annotated[int, SEEDS]
Steps: TypeAlias = Annotated[int, Range(least=1, most=999_999_999)]
"""The name of a checkpoint has nine digits."""
Rate: TypeAlias = Annotated[float, Range(above=0, most=1)]
Decay: TypeAlias = Annotated[float, Range(least=0, below=1)]


@dataclass(frozen=True, slots=True)
class Betas:
    """How long AdamW remembers gradients and their squares."""

    gradient: Decay = 0.9
    square: Decay = 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """How to train. Nothing here depends on where or when it runs."""

    seed: Seed
    steps: Steps
    learning_rate: Rate
    warmup: int
    """Steps over which the learning rate rises from zero; afterwards it falls to a tenth along a cosine."""
    weight_decay: Annotated[float, Range(least=0)]
    gradient_limit: Positive
    """The gradient is shortened to this length when it is longer."""
    initial_deviation: Positive
    evaluate_every: PositiveInt
    checkpoint_every: PositiveInt
    betas: Betas = Betas()
    pieces: PositiveInt = 1
    """In how many pieces a batch is differentiated: more of them need less memory."""
    precision: Precision = Precision.FLOAT32
    compile: bool = False
    """Whether torch compiles the model before the first step."""

    @property
    def computation(self) -> Computation:
        return Computation(self.precision, self.compile)


@dataclass(frozen=True, slots=True)
class Watcher:
    """Whom the loop tells what it does."""

    on_step: Callable[[int, float], None] = lambda _step, _loss: None
    on_evaluation: Callable[[Evaluation], None] = lambda _evaluation: None
    on_model: Callable[[int, Transformer], None] = lambda _step, _model: None
    """Is shown the model after each step, which it must leave as it is."""


@runtime_checkable
class TrainingGoal(Protocol):
    """What training works toward. Both answers depend on nothing but the model, the step and fixed data."""

    def losses(self, model: Transformer, step: int) -> Iterator[Float[Tensor, ""]]:
        """Return the summands of what the step makes small; one is differentiated before the next is made."""
        ...

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return named measures of the model as it is now."""
        ...


@dataclass(frozen=True, slots=True)
class NextToken:
    """The goal of ordinary training: the wanted tokens of the batches of some data."""

    data: Data
    pieces: int = 1

    def losses(self, model: Transformer, step: int) -> Iterator[Float[Tensor, ""]]:
        """Return the loss on the batch of a step, the share of each piece."""
        batch = self.data.batch(step)
        for piece in together().share(batch.pieces(self.pieces)):
            there = piece.on(model.device)
            yield next_token_loss(model(there.tokens), there.targets) * (piece.asked / batch.asked)

    def evaluate(self, model: Transformer) -> Mapping[str, float]:
        """Return what the data measures."""
        return self.data.evaluate(model)


@dataclass(slots=True)
class _Training:
    """The whole state of a run; what a checkpoint holds."""

    model: Transformer
    optimizer: AdamW
    step: int = 0
    evaluations: list[Evaluation] = field(default_factory=list[Evaluation])


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model and how it came to be so."""

    model: Transformer
    evaluations: tuple[Evaluation, ...]


def train(  # noqa: PLR0913, PLR0917  # what is trained, how, and where
    architecture: Architecture,
    data: Data,
    plan: TrainingPlan,
    checkpoints: Path,
    watcher: Watcher,
    device: Device = CPU,
) -> Trained:
    """Train a model on a device, going on from the newest checkpoint if there is one."""
    model = Transformer(architecture)
    initialise(model, plan.seed, plan.initial_deviation)
    return fit(model.to(device), NextToken(data, plan.pieces), plan, checkpoints, watcher)


def fit(
    model: Transformer, goal: TrainingGoal, plan: TrainingPlan, checkpoints: Path, watcher: Watcher
) -> Trained:
    """Train every parameter of `model`, where it is, going on from the newest checkpoint if there is one.

    The model given is where the first step starts from, and it is changed in place; its buffers belong to
    its state like its parameters. Programs are no parameters and stay as they are.
    """
    if not model.architecture.is_causal:
        raise InputError("attention has no mask, want a causal one: shorter prompts are padded in training")
    if (outputs := model.architecture.outputs) is not None:
        raise InputError(f"architecture.outputs is {outputs}, want none: a logit for each token is trained")
    workers = together()
    workers.refuse_uneven(plan.pieces)
    plan.computation.refuse_unworkable(model.device)
    with _repeatable(model), freed_memory_kept(), plan.computation.ready(model):
        training = _resume(model, plan, checkpoints)
        for evaluation in training.evaluations:
            watcher.on_evaluation(evaluation)
        while training.step < plan.steps:
            loss = _take_step(training, goal, plan)
            watcher.on_step(training.step, loss)
            watcher.on_model(training.step, training.model)
            if training.step % plan.evaluate_every == 0 or training.step == plan.steps:
                training.evaluations.append(Evaluation(training.step, goal.evaluate(training.model)))
                watcher.on_evaluation(training.evaluations[-1])
            if training.step % plan.checkpoint_every == 0 and workers.is_first:
                _save_checkpoint(training, checkpoints)
    return Trained(training.model, tuple(training.evaluations))


def step_name(step: int) -> str:
    """Return what a model is called that was kept after a step; the names sort as the steps do."""
    return f"step-{step:09d}"


def learning_rate(plan: TrainingPlan, step: int) -> float:
    """Return the learning rate of a step: a linear rise, then a cosine down to a tenth."""
    if step < plan.warmup:
        return plan.learning_rate * (step + 1) / plan.warmup
    progress = (step - plan.warmup) / max(1, plan.steps - plan.warmup)
    return plan.learning_rate * (0.55 + 0.45 * cos(pi * progress))


def _take_step(training: _Training, goal: TrainingGoal, plan: TrainingPlan) -> float:
    training.optimizer.param_groups[0]["lr"] = learning_rate(plan, training.step)
    training.optimizer.zero_grad()
    total = 0.0
    losses = goal.losses(training.model, training.step)
    for loss in plan.precision.through(losses, training.model.device.type):
        if not loss.isfinite():
            raise NumericError(
                f"training: the loss is {loss.item()} at step {training.step}; lower the learning rate"
            )
        loss.backward()
        total += loss.item()
    together().add_gradients(training.model)
    torch.nn.utils.clip_grad_norm_(training.model.parameters(), plan.gradient_limit)
    training.optimizer.step()
    training.step += 1
    return together().total(torch.tensor(total, dtype=torch.float64, device=CPU)).item()


def _save_checkpoint(training: _Training, checkpoints: Path) -> None:
    path = checkpoints / step_name(training.step)
    if not path.exists():
        progress: Json = {"step": training.step, "evaluations": to_json(training.evaluations)}
        files = dict(model_files(StoredModel(training.model, None)))
        files[_OPTIMIZER] = save_tensors(_optimizer_state(training))
        if buffers := dict(training.model.named_buffers()):
            files[_BUFFERS] = save_tensors(buffers)
        files[_PROGRESS] = readable_json(progress)
        write_sealed(path, files)
    for older in _stored(checkpoints)[:-1]:
        shutil.rmtree(older)


def _resume(model: Transformer, plan: TrainingPlan, checkpoints: Path) -> _Training:
    """Return a run as its newest checkpoint has it, or as it begins if there is none."""
    betas = (plan.betas.gradient, plan.betas.square)
    rates = {"lr": plan.learning_rate, "betas": betas, "weight_decay": plan.weight_decay}
    training = _Training(model, AdamW(model.parameters(), **rates))
    if stored := _stored(checkpoints):
        _restore(training, stored[-1])
    return training


def _restore(training: _Training, path: Path) -> None:
    model = training.model
    found = load_model(path).model
    if found.architecture != model.architecture:
        raise InputError(
            f"{path} holds another architecture than the recipe; remove it or choose another place"
        )
    if found.programs != model.programs:
        raise InputError(
            f"{path} holds other programs than the model to train; remove it or choose another place"
        )
    _restore_model(model, found, path)
    shapes = {name: tuple(tensor.shape) for name, tensor in _optimizer_state(training).items()}
    tensors = load_tensors(path / _OPTIMIZER, shapes)
    for index, parameter in enumerate(model.parameters()):
        training.optimizer.state[parameter] = {
            name: tensors[f"{index}.{name}"].to(fresh.device) for name, fresh in _fresh(parameter).items()
        }
    with reading(read_json(path / _PROGRESS), str(path / _PROGRESS)) as fields:
        training.step = fields.integer("step")
        training.evaluations.extend(Codec().value(tuple[Evaluation, ...], fields, "evaluations"))


def _restore_model(model: Transformer, found: Transformer, path: Path) -> None:
    buffers = dict(model.named_buffers())
    shapes = {name: tuple(buffer.shape) for name, buffer in buffers.items()}
    tensors = {**found.named_slices(), **(load_tensors(path / _BUFFERS, shapes) if shapes else {})}
    with torch.no_grad():
        for name, view in {**model.named_slices(), **buffers}.items():
            view.copy_(tensors[name])


def _stored(checkpoints: Path) -> list[Path]:
    """Return the finished checkpoints, oldest first; what a kill left unfinished has another name."""
    return sorted(path for path in checkpoints.glob("step-*") if _NAME.fullmatch(path.name))


def _optimizer_state(training: _Training) -> Mapping[str, Tensor]:
    state = training.optimizer.state
    return {
        f"{index}.{name}": tensor
        for index, parameter in enumerate(training.model.parameters())
        for name, tensor in (state[parameter] or _fresh(parameter)).items()
    }


def _fresh(parameter: Tensor) -> dict[str, Tensor]:
    """Return what AdamW remembers of the gradients of a tensor that had none yet."""
    mean, square = torch.zeros_like(parameter), torch.zeros_like(parameter)
    return {"step": torch.tensor(0.0, device=CPU), "exp_avg": mean, "exp_avg_sq": square}


@contextmanager
def _repeatable(model: Transformer) -> Iterator[None]:
    """Let the same steps give the same bits; a small model is also not spread over cores.

    Sums split over threads depend on how many there are, and for small matrices the threads cost more than
    they bring.
    """
    threads = torch.get_num_threads()
    if sum(parameter.numel() for parameter in model.parameters()) < _SMALL:
        torch.set_num_threads(1)
    try:
        with deterministic(model.device):
            yield
    finally:
        torch.set_num_threads(threads)
