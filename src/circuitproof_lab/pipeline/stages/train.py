"""Training from a recipe: a run folder that can be interrupted and gone on with at any moment."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_json, readable_json
from circuitproof.files.codec import to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.records import read_record
from circuitproof.files.run import Run, Tell, begin_run, silent
from circuitproof.files.sealed import read_manifest
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.tasks.alphabet import BYTES, Alphabet
from circuitproof_lab.pipeline.recipe import Recipe, TasksSource
from circuitproof_lab.pipeline.sizes import training_size
from circuitproof_lab.train.corpus import DocumentUse
from circuitproof_lab.train.data import CorpusData, Data, TaskData
from circuitproof_lab.train.loop import NextToken, Trained, Watcher, fit, step_name, train
from circuitproof_lab.train.measures import Evaluation
from circuitproof_lab.train.ruled import RuleData, RuleSource
from circuitproof_lab.train.tokenised import CorpusSource, TokenisedCorpus, open_corpus
from circuitproof_lab.train.tried_norms import TriedNorm, try_norm
from circuitproof_lab.train.workers import together

MODEL = "model"
CORPUS = "corpus"
"""Where the tokens of a run's corpus are."""
_HISTORY = "training.json"
KEPT = "kept"
"""Where models are that a recipe keeps on the way, each a model directory named by its step."""
_CHECKPOINTS = "checkpoints"


@dataclass(frozen=True, slots=True)
class History:
    """How a training went, and which recipe asked for it."""

    recipe: str
    recipe_digest: Digest
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """The data of a recipe, and the files about them that belong beside a model."""

    data: Data
    files: Mapping[str, bytes]


def train_recipe(  # noqa: PLR0913, PLR0917  # what is trained, and what its run works with
    recipe: Recipe,
    out: Path,
    watcher: Watcher,
    tell: Tell = silent,
    corpus: Path | None = None,
    device: Device = CPU,
) -> StoredModel:
    """Train as the recipe says into `out`, and return the model now in `out/model`.

    A finished run is not repeated; an interrupted one goes on from its newest checkpoint and ends with the
    same weights, bit for bit. Tokens of a corpus are kept in `out/corpus`, or where several runs share them.
    """
    kept = sum(map(recipe.keeps, range(1, recipe.plan.steps + 1)))
    place, size = corpus or out / CORPUS, training_size(recipe.architecture, kept)
    if not together().is_first:
        return _follow(recipe, out, watcher, place, device)
    with begin_run(out, recipe.name, recipe.digest, size, tell, device) as run:
        material = material_of(recipe, place)
        together().wait()
        if (out / MODEL).exists():
            for evaluation in read_record(out / MODEL / _HISTORY, History).evaluations:
                watcher.on_evaluation(evaluation)
        return load_model(train_model(run, recipe, material, watcher, f"training {recipe.name}"), device)


def _follow(recipe: Recipe, out: Path, watcher: Watcher, corpus: Path, device: Device) -> StoredModel:
    """Train along with the first process, which holds the run, from the moment when it has begun."""
    together().wait()
    if not (out / MODEL).exists():
        data, checkpoints = material_of(recipe, corpus).data, out / _CHECKPOINTS
        train(recipe.architecture, data, recipe.plan, checkpoints, watcher, device)
        together().wait()
    return load_model(out / MODEL, device)


def train_model(
    run: Run, recipe: Recipe, material: Material, watcher: Watcher, telling: str | None = None
) -> Path:
    """Train as the recipe says, and return where the model is; its folder holds how the training went."""

    def make(path: Path) -> None:
        kept, checkpoints = (
            _keeping(recipe, material, path.parent / KEPT, watcher),
            path.parent / _CHECKPOINTS,
        )
        trained = train(recipe.architecture, material.data, recipe.plan, checkpoints, kept, run.device)
        _keep(path, recipe, material, trained)
        together().wait()

    return run.stage(MODEL, make, telling)


def _keeping(recipe: Recipe, material: Material, folder: Path, watcher: Watcher) -> Watcher:
    """Return a watcher that also keeps models by their steps; a step that is done again finds its own."""

    def keep(step: int, model: Transformer) -> None:
        place = folder / step_name(step)
        if recipe.keeps(step) and not place.exists():
            save_model(place, StoredModel(model, material.data.alphabet), material.files)

    return replace(watcher, on_model=keep)


def train_on(  # noqa: PLR0913, PLR0917  # what is trained on what, and what its run works with
    recipe: Recipe, source: Path, out: Path, watcher: Watcher, corpus: Path, device: Device = CPU
) -> StoredModel:
    """Train a stored model on as the recipe's plan says, and return the model now in `out/model`."""
    digest = digest_json([str(recipe.digest), to_json(read_manifest(source))])
    with begin_run(out, recipe.name, digest, training_size(recipe.architecture), device=device) as run:
        material = material_of(recipe, corpus)

        def make(path: Path) -> None:
            goal, model = NextToken(material.data, recipe.plan.pieces), load_model(source, device).model
            _keep(path, recipe, material, fit(model, goal, recipe.plan, out / _CHECKPOINTS, watcher))

        return load_model(run.stage(MODEL, make), device)


def train_tried(  # noqa: PLR0913, PLR0917  # what is trained, and what its run works with
    recipe: Recipe, tried: TriedNorm, out: Path, watcher: Watcher, corpus: Path, device: Device = CPU
) -> Transformer:
    """Train as the recipe says, with another norm in the place of LayerNorm, and return the model.

    Only checkpoints are kept: no architecture has such a norm, so there is no model directory of it.
    """
    with begin_run(out, recipe.name, recipe.digest, training_size(recipe.architecture), device=device):
        model, plan = Transformer(recipe.architecture), recipe.plan
        initialise(model, plan.seed, plan.initial_deviation)
        try_norm(model, tried)
        goal = NextToken(material_of(recipe, corpus).data, plan.pieces)
        return fit(model.to(device), goal, plan, out / _CHECKPOINTS, watcher).model


def _keep(path: Path, recipe: Recipe, material: Material, trained: Trained) -> None:
    history = History(recipe.name, recipe.digest, trained.evaluations)
    files = {_HISTORY: readable_json(to_json(history)), **material.files}
    save_model(path, StoredModel(trained.model, material.data.alphabet), files)


def declared_by(recipe: Recipe) -> Declaration:
    """Return what a model that a recipe trains will say of itself."""
    tasks = recipe.source.tasks if isinstance(recipe.source, TasksSource) else ()
    return Declaration(recipe.architecture, NO_PROGRAMS, tasks[0].tokens if tasks else None)


def material_of(recipe: Recipe, corpus: Path) -> Material:
    """Return the data of a recipe, which fit its architecture; a corpus is tokenised into a folder."""
    match recipe.source:
        case TasksSource(tasks, batch):
            return Material(TaskData(tasks, batch, recipe.plan.seed), {})
        case RuleSource():
            return Material(RuleData(recipe.source, recipe.plan.seed), {})
        case CorpusSource():
            tokenised = open_corpus(recipe.source, corpus)
            return Material(_corpus_data(recipe, recipe.source.batch, tokenised), tokenised.files)
        case _:
            assert_never(recipe.source)


def _corpus_data(recipe: Recipe, batch: int, tokenised: TokenisedCorpus) -> CorpusData:
    parts, sizes = {part: tokenised.part(part) for part in DocumentUse}, recipe.architecture
    largest = max(int(tokens.max()) for tokens in parts.values())
    if largest >= sizes.vocabulary:
        raise InputError(
            f"the corpus has token {largest}, the recipe's architecture.vocabulary is {sizes.vocabulary}"
        )
    tokenizer = tokenised.tokenizer
    alphabet = Alphabet(BYTES.names[: sizes.vocabulary]) if tokenizer is None else tokenizer.alphabet
    return CorpusData(parts, sizes.context, batch, recipe.plan.seed, alphabet)
