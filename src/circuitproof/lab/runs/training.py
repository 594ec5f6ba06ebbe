"""Training from a recipe: a run folder that can be interrupted and gone on with at any moment."""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.lab.model.checkpoint import StoredModel, load_model, save_model
from circuitproof.lab.runs.recipe import Recipe, TasksSource, TextSource
from circuitproof.lab.runs.run import Tell, begin_run, read_record, silent
from circuitproof.lab.train.data import Data, TaskData, TextData, read_text
from circuitproof.lab.train.loop import Evaluation, Watcher, train
from circuitproof.text.canonical import Digest, readable_json
from circuitproof.text.codec import to_json

MODEL = "model"
_HISTORY = "training.json"


@dataclass(frozen=True, slots=True)
class History:
    """How a training went, and which recipe asked for it."""

    recipe: str
    recipe_digest: Digest
    evaluations: tuple[Evaluation, ...]


def train_recipe(recipe: Recipe, out: Path, watcher: Watcher, tell: Tell = silent) -> StoredModel:
    """Train as the recipe says into `out`, and return the model now in `out/model`.

    A finished run is not repeated; an interrupted one goes on from its newest checkpoint and ends with the
    same weights, bit for bit.
    """
    run = begin_run(out, recipe.name, recipe.digest, tell)
    if (out / MODEL).exists():
        for evaluation in read_record(out / MODEL / _HISTORY, History).evaluations:
            watcher.on_evaluation(evaluation)
    model = run.stage(MODEL, lambda path: _train(recipe, path, watcher), f"training {recipe.name}")
    return load_model(model)


def _train(recipe: Recipe, path: Path, watcher: Watcher) -> None:
    data = data_of(recipe)
    trained = train(recipe.architecture, data, recipe.plan, path.parent / "checkpoints", watcher)
    history = History(recipe.name, recipe.digest, tuple(trained.evaluations))
    files = {_HISTORY: readable_json(to_json(history))}
    save_model(path, StoredModel(trained.model, data.alphabet), files)


def data_of(recipe: Recipe) -> Data:
    """Return the data that a recipe names, which fit its architecture."""
    match recipe.source:
        case TasksSource(tasks, batch):
            return TaskData(tasks, batch, recipe.plan.seed)
        case TextSource(path, batch, tokenizer):
            tokens = read_text(path, tokenizer)
            if int(tokens.max()) >= recipe.architecture.vocabulary:
                raise InputError(
                    f"{path} has token {int(tokens.max())}, "
                    f"the recipe's architecture.vocabulary is {recipe.architecture.vocabulary}"
                )
            return TextData(tokens, recipe.architecture.context, batch, recipe.plan.seed)
        case _:
            assert_never(recipe.source)
