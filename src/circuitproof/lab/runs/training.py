"""Training from a recipe: a run folder that can be interrupted and gone on with at any moment."""

from pathlib import Path
from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.lab.model.checkpoint import StoredModel, load_model, save_model
from circuitproof.lab.runs.recipe import Recipe, TasksSource, TextSource
from circuitproof.lab.runs.stages import claim_folder
from circuitproof.lab.train.data import Data, TaskData, TextData, read_text
from circuitproof.lab.train.loop import Evaluation, Watcher, read_evaluation, train
from circuitproof.text.canonical import readable_json
from circuitproof.text.reading import read_json, reading

MODEL = "model"
_HISTORY = "training.json"


def train_recipe(recipe: Recipe, out: Path, watcher: Watcher) -> StoredModel:
    """Train as the recipe says into `out`, and return the model now in `out/model`.

    A finished run is not repeated; an interrupted one goes on from its newest checkpoint and ends with the
    same weights, bit for bit.
    """
    claim_folder(out, recipe.name, recipe.digest)
    if not (out / MODEL).exists():
        data = data_of(recipe)
        trained = train(recipe.architecture, data, recipe.plan, out / "checkpoints", watcher)
        history = readable_json(
            {
                "recipe": recipe.name,
                "recipe_digest": str(recipe.digest),
                "evaluations": [evaluation.to_json() for evaluation in trained.evaluations],
            }
        )
        save_model(out / MODEL, StoredModel(trained.model, data.alphabet), {_HISTORY: history})
    else:
        for evaluation in _read_history(out / MODEL / _HISTORY):
            watcher.on_evaluation(evaluation)
    return load_model(out / MODEL)


def _read_history(path: Path) -> tuple[Evaluation, ...]:
    with reading(read_json(path), str(path)) as fields:
        for key in ("recipe", "recipe_digest"):
            fields.text(key)
        return fields.each("evaluations", read_evaluation)


def data_of(recipe: Recipe) -> Data:
    """Return the data that a recipe names, which fit its architecture."""
    match recipe.source:
        case TasksSource(tasks, batch):
            return TaskData(tasks, batch, recipe.plan.seed)
        case TextSource(path, tokenizer, batch):
            tokens = read_text(path, tokenizer)
            if int(tokens.max()) >= recipe.architecture.vocabulary:
                raise InputError(
                    f"{path} has token {int(tokens.max())}, "
                    f"the recipe's architecture.vocabulary is {recipe.architecture.vocabulary}"
                )
            return TextData(tokens, recipe.architecture.context, batch, recipe.plan.seed)
        case _:
            assert_never(recipe.source)
