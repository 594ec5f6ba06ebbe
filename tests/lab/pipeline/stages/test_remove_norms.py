import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError, NumericError
from circuitproof.files import canonical
from circuitproof.files.codec import to_json
from circuitproof.files.sealed import read_manifest
from circuitproof.find.extraction import ExtractionMethod, extract
from circuitproof.models.operators import NoNorm
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY, Alphabet
from circuitproof.verbs.verification import Request, verify
from circuitproof_lab.pipeline.norm_recipe import NormRecipe, load_norm_recipe
from circuitproof_lab.pipeline.stages import remove_norms as stage
from circuitproof_lab.pipeline.stages.remove_norms import NormRemoval, Watchers, remove_norms
from circuitproof_lab.train.fold_norm import fold
from circuitproof_lab.train.loop import Watcher
from corpora import corpus_changes, write_corpus
from models import random_model
from norm_recipes import write_norm_recipe
from places import RECIPES

EPSILONS = (Fraction(1, 1000), Fraction(1, 400), Fraction(1, 200), Fraction(1, 100))


class Killed(Exception):  # noqa: N818  # not an error of the program under test
    """Stands in for a kill."""


def recipe_in(folder: Path, changes=None, source_changes=None) -> NormRecipe:
    """Return a changed recipe that runs in a moment."""
    return load_norm_recipe(write_norm_recipe(folder, changes, source_changes))


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[NormRecipe, Path, NormRemoval]:
    """Return a recipe, the folder of its finished run, and the result."""
    folder = tmp_path_factory.mktemp("finished")
    recipe = recipe_in(folder)
    return recipe, folder / "run", remove_norms(recipe, None, folder / "run", Watchers())


def content(out: Path) -> dict[str, bytes]:
    """Return the files of the model that a run ended with."""
    return {path.name: path.read_bytes() for path in (out / "model").iterdir()}


def stored_model(path: Path, recipe: NormRecipe, programs=None, alphabet: Alphabet | None = TOY) -> Path:
    """Write a random model of the recipe's architecture and return its place."""
    model = random_model(recipe.source.architecture, 1, programs or {})
    save_model(path, StoredModel(model, alphabet))
    return path


def killing(step: int) -> Watcher:
    """Return a watcher that stops a run after a step."""

    def on_step(found: int, _loss: float) -> None:
        if found == step:
            raise Killed

    return Watcher(on_step)


def test_a_removal_ends_in_an_ordinary_model_without_norms(finished):
    """It is loaded like any other; what it was made from is beside it."""
    recipe, out, found = finished
    stored = load_model(out / "model")
    assert stored.alphabet == TOY
    assert stored.model.architecture.norm == NoNorm()
    assert found.model == out / "model"
    assert set(read_manifest(found.model)) == {
        "model.json",
        "weights.safetensors",
        "fold.json",
        "removal.json",
    }
    source = load_model(out / "source" / "model").model.architecture
    assert source == recipe.source.architecture


def test_the_run_folder_holds_schedule_deviations_and_fold(finished):
    """Each is a file of its own that people can read, and the result says the same."""
    recipe, out, found = finished
    removal = json.loads((out / "attenuated" / "removal.json").read_text())
    assert removal["schedule"] == to_json(recipe.schedule)
    assert [norm["norm"] for norm in removal["norms"]] == ["attention.0.norm", "mlp.0.norm", "logits.norm"]
    assert [(norm["first"], norm["last"]) for norm in removal["norms"]] == [(4, 5), (2, 3), (6, 7)]
    assert all(norm["deviation"] > 0 for norm in removal["norms"])
    assert to_json(found.attenuation.norms) == removal["norms"]
    assert [evaluation.step for evaluation in found.attenuation.evaluations] == [5, 10]
    report = json.loads((out / "fold.json").read_text())
    assert report == to_json(found.fold)
    assert report["limits"] == to_json(recipe.limits)
    assert found.to_json()["fold"] == {key: report[key] for key in report if key != "limits"}
    assert found.fold.error.positions == 256 * 6
    assert found.fold.folded.measures.keys() == found.fold.source.measures.keys()
    assert found.prompts == {"quotes accuracy": 128, "brackets accuracy": 128}
    assert (found.fold.unties, found.fold.adds_biases, found.fold.adds_logit_bias) == (False, False, True)
    assert found.to_json()["norms"] == removal["norms"]


def test_what_fading_left_is_no_model_directory(finished):
    """Its weights mean nothing without the deviations; nobody must take them for a model with LayerNorm."""
    with pytest.raises(InputError, match=r"does not list model.json"):
        load_model(finished[1] / "attenuated")


def test_a_finished_run_is_not_repeated(finished):
    """The same command again costs nothing, changes nothing and says the same."""
    recipe, out, found = finished
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    watcher = Watcher(lambda *_: pytest.fail("a step was taken"))
    assert remove_norms(recipe, None, out, Watchers(watcher, watcher)) == found
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


@pytest.mark.parametrize("watchers", [Watchers(killing(3)), Watchers(removal=killing(7))], ids=["src", "rem"])
def test_a_run_killed_in_training_ends_with_the_same_bits(finished, tmp_path, watchers):
    """Whether it was learning with norms or losing them."""
    recipe, out, _ = finished
    with pytest.raises(Killed):
        remove_norms(recipe, None, tmp_path / "run", watchers)
    remove_norms(recipe, None, tmp_path / "run", Watchers())
    assert content(tmp_path / "run") == content(out)


@pytest.mark.parametrize("lost", [("model",), ("model", "fold.json"), ("model", "fold.json", "attenuated")])
def test_a_run_killed_between_stages_ends_with_the_same_bits(finished, tmp_path, lost):
    """Each stage is made again from what the one before it wrote."""
    recipe, out, found = finished
    shutil.copytree(out, tmp_path / "run")
    for name in lost:
        path = tmp_path / "run" / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    again = remove_norms(recipe, None, tmp_path / "run", Watchers())
    assert content(tmp_path / "run") == content(out)
    assert again.fold == found.fold


@pytest.mark.parametrize("moment", range(1, 23, 3))
def test_a_run_killed_while_it_writes_ends_with_the_same_bits(finished, tmp_path, monkeypatch, moment):
    """After the training is done: at every third flush of the last stages."""
    recipe, out, _ = finished
    shutil.copytree(out, tmp_path / "run")
    for name in ("model", "attenuated"):
        shutil.rmtree(tmp_path / "run" / name)
    (tmp_path / "run" / "fold.json").unlink()
    flushes = iter(range(1, 1000))

    def flush(_: int) -> None:
        if next(flushes) == moment:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(canonical, "_flush", flush)
        with pytest.raises(Killed):
            remove_norms(recipe, None, tmp_path / "run", Watchers())
    remove_norms(recipe, None, tmp_path / "run", Watchers())
    assert content(tmp_path / "run") == content(out)


def test_a_changed_recipe_does_not_go_on(finished, tmp_path):
    """Neither with another schedule nor with another source."""
    other = recipe_in(tmp_path, {"schedule.window": "2"})
    with pytest.raises(InputError, match="was begun with recipe 'tiny-norm-free' of another content"):
        remove_norms(other, None, finished[1], Watchers())


def test_a_given_model_is_used_instead_of_training(tmp_path):
    """With programs in its heads, which stay; the run belongs to this model."""
    recipe = recipe_in(tmp_path)
    program = parse("default 0\nadd 1 when key_token in {9, 10}\notherwise self")
    model = stored_model(tmp_path / "model", recipe, {Head(0, 1): program})
    found = remove_norms(recipe, model, tmp_path / "run", Watchers(killing(1)))
    assert load_model(found.model).model.programs == {Head(0, 1): program}
    assert not (tmp_path / "run" / "source").exists()
    other = stored_model(tmp_path / "other", recipe)
    with pytest.raises(InputError, match="was begun with recipe"):
        remove_norms(recipe, other, tmp_path / "run", Watchers())


def test_a_tied_softmax_model_without_biases_is_folded_too(tmp_path):
    """The output embedding becomes its own and biases appear; the report says so."""
    changes = {
        "architecture.attention": '"softmax"',
        "architecture.activation": '{ kind = "gelu", form = "tanh" }',
        "architecture.tied": "true",
        "architecture.biases": "false",
    }
    found = remove_norms(recipe_in(tmp_path, {}, changes), None, tmp_path / "run", Watchers())
    assert (found.fold.unties, found.fold.adds_biases, found.fold.adds_logit_bias) == (True, True, True)
    sizes = load_model(found.model).model.architecture
    assert (sizes.tied, sizes.biases, sizes.logit_bias) == (False, True, True)


def test_norms_are_faded_on_a_text_by_the_same_code(tmp_path):
    """Only the data differ."""
    write_corpus(tmp_path)
    found = remove_norms(recipe_in(tmp_path, {}, corpus_changes()), None, tmp_path / "run", Watchers())
    assert (found.model / "tokenizer.json").exists()
    measured = {f"{part} {what}" for part in ("development", "second") for what in ("loss", "perplexity")}
    assert [set(evaluation.measures) for evaluation in found.attenuation.evaluations] == [
        measured | {"norms left"}
    ] * 2
    assert found.prompts == {}


@pytest.mark.parametrize("norm", ["none", "band"])
def test_a_source_without_layer_norm_is_refused_before_it_is_trained(tmp_path, norm):
    """There is nothing to remove."""
    kinds = {"none": '{ kind = "none" }', "band": '{ kind = "band", low = 1, high = 2, lift = "reference" }'}
    recipe = recipe_in(tmp_path, {}, {"architecture.norm": kinds[norm]})
    with pytest.raises(InputError, match=r"tiny-norm-free: the model's norm is \w+, want LayerNorm"):
        remove_norms(recipe, None, tmp_path / "run", Watchers(killing(1)))
    assert not (tmp_path / "run").exists()


def test_a_run_too_short_for_the_model_is_refused_before_it_begins(tmp_path):
    """A given model may have more layers than the recipe's own."""
    recipe = recipe_in(tmp_path, {"training.steps": "8"}, {"architecture.layers": "2"})
    with pytest.raises(InputError, match=r"the last norm is gone at step 11, but there are only 8 steps"):
        remove_norms(recipe, None, tmp_path / "run", Watchers())
    assert not (tmp_path / "run").exists()


def test_a_model_of_another_alphabet_is_refused(tmp_path):
    """Its tokens mean something else than the tasks think."""
    recipe = recipe_in(tmp_path)
    model = stored_model(tmp_path / "model", recipe, alphabet=Alphabet((*TOY.names[:-1], "other")))
    with pytest.raises(InputError, match="the model's alphabet is not that of task 'quotes'"):
        remove_norms(recipe, model, tmp_path / "run", Watchers())


def test_a_fold_beyond_the_limits_leaves_no_model(tmp_path):
    """It is refused again when asked again; the report stays to be looked at."""
    recipe = recipe_in(tmp_path, {"fold.largest_error": "1e-30"})
    for _ in range(2):
        with pytest.raises(
            NumericError, match=r"fold refused: the largest error of a logit is .* at most 1e-3"
        ):
            remove_norms(recipe, None, tmp_path / "run", Watchers())
    assert not (tmp_path / "run" / "model").exists()
    assert json.loads((tmp_path / "run" / "fold.json").read_text())["limits"]["largest_error"] == 1e-30


def test_a_fold_with_a_wrong_deviation_is_refused(tmp_path, monkeypatch):
    """As if the fold were mistaken: what it makes is compared with what was trained."""

    def mistaken(model: Transformer, deviations) -> Transformer:
        return fold(model, {site: value * 1.1 for site, value in deviations.items()})

    monkeypatch.setattr(stage, "fold", mistaken)
    with pytest.raises(NumericError, match="fold refused: the largest error of a logit"):
        remove_norms(recipe_in(tmp_path), None, tmp_path / "run", Watchers())
    assert not (tmp_path / "run" / "model").exists()


def test_a_fold_that_is_no_number_is_refused(tmp_path, monkeypatch):
    """NaN is not within any limit."""

    def spoiled(model: Transformer, deviations) -> Transformer:
        folded = fold(model, deviations)
        with torch.no_grad():
            folded.unembed[0, 0] = torch.nan
        return folded

    monkeypatch.setattr(stage, "fold", spoiled)
    with pytest.raises(NumericError, match="fold: a logit is NaN or infinite"):
        remove_norms(recipe_in(tmp_path), None, tmp_path / "run", Watchers())
    assert not (tmp_path / "run" / "model").exists()


def test_changed_files_of_a_stage_are_refused(finished, tmp_path):
    """The deviations are sealed with the weights that they belong to."""
    recipe, out, _ = finished
    shutil.copytree(out, tmp_path / "run")
    path = tmp_path / "run" / "attenuated" / "removal.json"
    path.write_text(path.read_text().replace('"deviation": 0.', '"deviation": 1.'))
    with pytest.raises(InputError, match=r"removal.json has digest"):
        remove_norms(recipe, None, tmp_path / "run", Watchers())


@pytest.mark.slow
def test_the_toy_model_loses_its_norms_and_its_circuits_prove_everything(tmp_path):
    """As shipped: both tasks right throughout, then four properties at four sizes of disturbance."""
    recipe = load_norm_recipe(RECIPES / "toy-norm-free.toml")
    found = remove_norms(recipe, None, tmp_path / "run", Watchers())
    for evaluation in (found.fold.source, *found.attenuation.evaluations, found.fold.folded):
        for task in ("quotes", "brackets"):
            assert evaluation.measures[f"{task} accuracy"] >= 1
    deviations = {norm.name: norm.deviation for norm in found.attenuation.norms}
    assert deviations["attention.0.norm"] < deviations["attention.1.norm"] < deviations["logits.norm"]
    for task in ("quotes", "brackets"):
        circuit = tmp_path / f"{task}.json"
        extract(found.model, task, ExtractionMethod(), circuit)
        radius = min(_proved_radii(found.model, task, circuit, epsilon) for epsilon in EPSILONS)
        assert radius > EPSILONS[-1]
        beyond = Request(model=found.model, circuit=circuit, task=task, properties=(Robustness(radius),))
        assert verify(beyond, None).verdict is Verdict.REFUTED


def _proved_radii(model: Path, task: str, circuit: Path, epsilon: Fraction) -> Fraction:
    """Prove all four properties and return the smallest exact radius."""
    properties = (Equivalence(), Invariance(), Necessity(), Robustness(epsilon))
    result = verify(Request(model=model, circuit=circuit, task=task, properties=properties), None)
    assert [answer.verdict for answer in result.battery.answers] == [Verdict.PROVED] * 4
    radii = result.battery.answers[-1].findings.radii
    assert len(radii) == 128
    return min(radius.value for radius in radii)
