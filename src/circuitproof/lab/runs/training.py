"""Training from a recipe: a run folder that can be interrupted and gone on with at any moment."""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from circuitproof.declare.tasks.alphabet import BYTES, Alphabet
from circuitproof.errors import InputError
from circuitproof.forward.declaration import NO_PROGRAMS, Declaration
from circuitproof.lab.model.checkpoint import StoredModel, load_model, save_model
from circuitproof.lab.runs.recipe import Recipe, TasksSource, TextSource
from circuitproof.lab.runs.run import Tell, begin_run, read_record, silent
from circuitproof.lab.runs.sizes import training_size
from circuitproof.lab.train.data import Data, TaskData, TextData, read_text
from circuitproof.lab.train.loop import Evaluation, Watcher, train
from circuitproof.lab.train.tokenizer import FileTokenizer
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
    if (out / MODEL).exists():
        for evaluation in read_record(out / MODEL / _HISTORY, History).evaluations:
            watcher.on_evaluation(evaluation)
    data = None if (out / MODEL).exists() else data_of(recipe)
    size = training_size(recipe.architecture)

    def make(path: Path) -> None:
        _train(recipe, data or data_of(recipe), path, watcher)

    with begin_run(out, recipe.name, recipe.digest, size, tell) as run:
        model = run.stage(MODEL, make, f"training {recipe.name}")
        return load_model(model)


def _train(recipe: Recipe, data: Data, path: Path, watcher: Watcher) -> None:
    trained = train(recipe.architecture, data, recipe.plan, path.parent / "checkpoints", watcher)
    history = History(recipe.name, recipe.digest, tuple(trained.evaluations))
    files = {_HISTORY: readable_json(to_json(history))}
    save_model(path, StoredModel(trained.model, data.alphabet), files)


def declared_by(recipe: Recipe) -> Declaration:
    """Return what a model that a recipe trains will say of itself."""
    tasks = recipe.source.tasks if isinstance(recipe.source, TasksSource) else ()
    return Declaration(recipe.architecture, NO_PROGRAMS, tasks[0].tokens if tasks else None)


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
            names = BYTES.names[: recipe.architecture.vocabulary]
            alphabet = Alphabet(names) if tokenizer is None else FileTokenizer(tokenizer).alphabet
            return TextData(tokens, recipe.architecture.context, batch, recipe.plan.seed, alphabet)
        case _:
            assert_never(recipe.source)
