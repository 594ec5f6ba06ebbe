"""Removing the norms of a model: train it, fade the norms out, fold them away, and measure what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from circuitproof.errors import InputError
from circuitproof.files.canonical import Json, digest_json, readable_json
from circuitproof.files.codec import record_to_json, to_json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import about, read_bytes
from circuitproof.files.records import read_record
from circuitproof.files.run import Run, begin_run
from circuitproof.files.sealed import check_seal, read_manifest, write_sealed
from circuitproof.forward.frozen import open_model
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import WEIGHTS
from circuitproof.models.operators import LayerNorm
from circuitproof.nn.checkpoint import (
    StoredModel,
    build_model,
    load_model,
    load_tensors,
    model_files,
    save_model,
)
from circuitproof.nn.transformer import Transformer
from circuitproof_lab.pipeline.norm_recipe import NormRecipe
from circuitproof_lab.pipeline.recipe import TasksSource
from circuitproof_lab.pipeline.sizes import model_size, training_size
from circuitproof_lab.pipeline.stages.train import (
    CORPUS,
    MODEL,
    Material,
    declared_by,
    material_of,
    train_recipe,
)
from circuitproof_lab.records.norms import FOLD, REMOVAL, Attenuation, FadedNorm, NormFold
from circuitproof_lab.train.fold_norm import compare, fold
from circuitproof_lab.train.loop import Watcher, fit
from circuitproof_lab.train.measures import Evaluation
from circuitproof_lab.train.norm_schedule import all_sites
from circuitproof_lab.train.remove_norm import Deviations, Fading, deviations_of, fix_norms, make_fading

SOURCE = "source"
ATTENUATED = "attenuated"


@dataclass(frozen=True, slots=True)
class Watchers:
    """Whom the two training runs of a removal tell what they do while they do it."""

    source: Watcher = field(default_factory=Watcher)
    removal: Watcher = field(default_factory=Watcher)


@dataclass(frozen=True, slots=True)
class NormRemoval:
    """A finished removal and the model that came of it."""

    model: Path
    attenuation: Attenuation
    fold: NormFold
    prompts: Mapping[str, int]
    """The number of prompts behind each accuracy that is measured."""

    def to_json(self) -> Json:
        fold = record_to_json(self.fold)
        del fold["limits"]
        return {
            "model": str(self.model),
            "norms": to_json(self.attenuation.norms),
            "evaluations": to_json(self.attenuation.evaluations),
            "fold": fold,
        }


@dataclass(frozen=True, slots=True)
class _Job:
    recipe: NormRecipe
    source: StoredModel
    material: Material
    run: Run


def remove_norms(  # noqa: PLR0913, PLR0917  # what loses its norms, and what the run works with
    recipe: NormRecipe,
    model: Path | None,
    out: Path,
    watchers: Watchers,
    corpus: Path | None = None,
    device: Device = CPU,
) -> NormRemoval:
    """Remove the norms of `model`, or of one trained as the recipe says, in the run folder `out`.

    The model without norms stands in `out/model` afterwards; when folding costs more than the recipe allows,
    there is none. A finished run is not repeated; an interrupted one goes on from its newest checkpoint and
    ends with the same weights, bit for bit. Tokens of a corpus are in `out/corpus` unless runs share them.
    """
    declared = declared_by(recipe.source) if model is None else open_model(model).declaration
    tasks = recipe.source.source.tasks if isinstance(recipe.source.source, TasksSource) else ()
    for task in tasks:
        declared.refuse_unfit(task)
    _refuse_misfit(recipe, declared.architecture)
    sizes, tokens = declared.architecture, corpus or out / CORPUS
    size = 2 * training_size(sizes) + 2 * model_size(sizes)
    digest = digest_json([str(recipe.digest), to_json(None if model is None else read_manifest(model))])
    with begin_run(out, recipe.name, digest, size, device=device) as run:
        if model is None:
            source = train_recipe(recipe.source, out / SOURCE, watchers.source, corpus=tokens, device=device)
        else:
            source = load_model(model, device)
        job = _Job(recipe, source, _material(recipe, source, tokens), run)
        path = run.stage(ATTENUATED, lambda path: _attenuate(job, path, watchers.removal))
        attenuation, attenuated = _read_attenuated(path, source.model)
        prompts = {f"{task.name} accuracy": task.size for task in tasks}
        return NormRemoval(out / MODEL, attenuation, _folded(job, attenuated), prompts)


def _attenuate(job: _Job, path: Path, watcher: Watcher) -> None:
    """Fade the norms out in training and write the weights with the deviations.

    This is no model directory: without the deviations, the weights belong to no architecture.
    """
    recipe, source = job.recipe, job.source.model
    model = build_model(source.architecture, source.programs, source.named_slices())
    make_fading(model.to(job.run.device))
    goal = Fading(job.material.data, recipe.schedule, recipe.plan.pieces)
    trained = fit(model, goal, recipe.plan, job.run.folder / "checkpoints", watcher)
    attenuation = Attenuation(
        recipe=recipe.name,
        recipe_digest=recipe.digest,
        schedule=recipe.schedule,
        norms=_faded(recipe, model, deviations_of(model)),
        evaluations=tuple(trained.evaluations),
    )
    weights = model_files(StoredModel(model, None))[WEIGHTS]
    write_sealed(path, {WEIGHTS: weights, REMOVAL: readable_json(to_json(attenuation))})


def _faded(recipe: NormRecipe, model: Transformer, deviations: Deviations) -> tuple[FadedNorm, ...]:
    spans = recipe.schedule.spans(model.architecture.layers)
    return tuple(
        FadedNorm(str(site), spans[site].first, spans[site].last, deviations[site])
        for site in all_sites(model.architecture.layers)
    )


def _read_attenuated(path: Path, source: Transformer) -> tuple[Attenuation, Transformer]:
    """Read what `_attenuate` wrote: the report, and the model with its norms fixed."""
    check_seal(path, frozenset({WEIGHTS, REMOVAL}))
    attenuation = read_record(path / REMOVAL, Attenuation)
    shapes = {name: tuple(view.shape) for name, view in source.named_slices().items()}
    model = build_model(source.architecture, source.programs, load_tensors(path / WEIGHTS, shapes))
    model.to(source.device)
    found = {norm.name: norm.deviation for norm in attenuation.norms}
    sites = all_sites(source.architecture.layers)
    fix_norms(model, {site: found[str(site)] for site in sites if str(site) in found})
    return attenuation, model


def _folded(job: _Job, attenuated: Transformer) -> NormFold:
    """Fold the norms, report what it cost, and write the model if that is within the recipe's limits."""
    folded = fold(attenuated, deviations_of(attenuated)).float().to(job.run.device)
    found = job.run.record(FOLD, NormFold, lambda: _compared(job, attenuated, folded))
    job.recipe.limits.refuse_breach(found.error)
    removal = read_bytes(job.run.folder / ATTENUATED / REMOVAL)
    extra = {FOLD: read_bytes(job.run.folder / FOLD), REMOVAL: removal, **job.material.files}
    job.run.stage(MODEL, lambda path: save_model(path, StoredModel(folded, job.source.alphabet), extra))
    return found


def _compared(job: _Job, attenuated: Transformer, folded: Transformer) -> NormFold:
    before, after, data = attenuated.architecture, folded.architecture, job.material.data
    return NormFold(
        limits=job.recipe.limits,
        error=compare(attenuated, folded, data.fixed_batch()),
        unties=before.tied,
        adds_biases=after.biases and not before.biases,
        adds_logit_bias=after.logit_bias and not before.logit_bias,
        source=Evaluation(0, data.evaluate(job.source.model)),
        folded=Evaluation(job.recipe.plan.steps, data.evaluate(folded)),
    )


def _refuse_misfit(recipe: NormRecipe, sizes: Architecture) -> None:
    """Refuse before any training what could only fail after it."""
    if not isinstance(sizes.norm, LayerNorm):
        raise InputError(
            f"{recipe.name}: the model's norm is {type(sizes.norm).__name__}, want LayerNorm; "
            "start from a model that has norms to remove"
        )
    with about(recipe.name):
        recipe.schedule.refuse_too_short(sizes.layers, recipe.plan.steps)


def _material(recipe: NormRecipe, source: StoredModel, corpus: Path) -> Material:
    """Return the recipe's data for this model, in an order of its own."""
    fitted = replace(recipe.source, architecture=source.model.architecture, plan=recipe.plan)
    return material_of(fitted, corpus)
