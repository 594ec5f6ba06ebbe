import shutil
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.files.records import read_record, write_record
from circuitproof.models.operators import Attention, BandNorm, Gelu, LayerNorm, NoNorm
from circuitproof.nn.checkpoint import load_model
from circuitproof_lab.pipeline.stages.train import material_of
from circuitproof_lab.pipeline.variants import compare_variants
from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
from circuitproof_lab.records.variants import (
    AboveVariant,
    MeasuredModel,
    NormGate,
    SeedSpread,
    UnfinishedSeed,
    measures_file,
)
from circuitproof_lab.train.loop import NextToken, Watcher, fit
from circuitproof_lab.train.tried_norms import TriedNorm
from floats import agree
from places import RECIPES
from recipes import write_recipe
from variants import write_variants


def silent(_title: str, _steps: int) -> Watcher:
    """Watch nothing."""
    return Watcher()


def files(folder: Path) -> dict[Path, bytes]:
    """Return every file below a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def loss(run: MeasuredModel) -> float:
    """Return the measured loss."""
    return run.measures["loss"]


def measured(folder: Path, name: str, seed: int) -> MeasuredModel:
    """Return what a run keeps of a variant."""
    return read_record(folder / measures_file(name, seed), MeasuredModel)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a recipe, its folder and what comes of both of its seeds."""
    folder = tmp_path_factory.mktemp("variants")
    recipe = load_variants_recipe(write_variants(folder))
    return recipe, folder / "run", compare_variants(recipe, folder / "run", silent)


def test_every_variant_is_trained_with_its_own_operators(finished):
    """Nothing but what a variant names differs from the base."""
    recipe, out, found = finished
    assert [row.name for row in found.rows] == ["baseline", "plain", "band", "control", "norm-free"]
    models = {row.name: load_model(out / row.name / "seed-2" / "model").model for row in found.rows}
    base = recipe.base.architecture
    assert models["baseline"].architecture == base
    plain = models["plain"].architecture
    assert plain == replace(base, attention=Attention.SOFTMAX, activation=plain.activation)
    assert isinstance(plain.activation, Gelu)
    assert isinstance(models["band"].architecture.norm, BandNorm)
    assert isinstance(models["norm-free"].architecture.norm, NoNorm)
    assert models["norm-free"].architecture.attention is Attention.SOFTMAX
    assert models["control"].architecture == plain


def test_the_table_says_what_the_models_do_on_all_that_is_held_out(finished):
    """Each change is against the first variant of the same seed, and the paper's against its own."""
    recipe, out, found = finished
    data = material_of(recipe.base, out / "corpus").data
    for row in found.rows:
        for seed, run in zip((1, 2), row.runs, strict=True):
            measures = data.measure_whole(load_model(out / row.name / f"seed-{seed}" / "model").model)
            assert run.seed == seed
            assert list(run.measures) == ["loss", "perplexity"]
            assert all(agree(run.measures[kind], measures[kind]) for kind in measures)
    base, plain = found.rows[:2]
    changes = [loss(one) - loss(first) for one, first in zip(plain.runs, base.runs, strict=True)]
    assert plain.changes["loss"] == SeedSpread(sum(changes) / 2, min(changes), max(changes))
    assert plain.paper_changes == {"loss": 0.5, "perplexity": -2.0}
    assert base.changes["perplexity"] == SeedSpread(0.0, 0.0, 0.0)
    assert found.rows[2].paper_changes == {}


def test_the_gate_compares_with_the_source_its_control_and_another_variant(finished):
    """A removal must beat the norm that it replaces, with every seed; the control has had as many steps."""
    *_, found = finished
    _, plain, band, control, free = found.rows
    for beside, row in ((found.gate.source, plain), (found.gate.control, control), (found.gate.gate, band)):
        assert beside.name == row.name
        above = [loss(one) - loss(other) for one, other in zip(free.runs, row.runs, strict=True)]
        assert beside.loss == SeedSpread(sum(above) / 2, min(above), max(above))
    assert found.gate.passes == (found.gate.gate.loss.most < 0)
    level = AboveVariant("a", SeedSpread(-0.1, -0.2, 0.0))
    assert not NormGate("free", level, None, level).passes


def test_the_control_is_its_source_after_as_many_steps_on_the_same_batches(finished):
    """So what is left between it and the model without norms is what removing them costs."""
    recipe, out, _ = finished
    control = recipe.entries[-2]
    made, removal = recipe.control_of(control, 2), recipe.removal_of(recipe.removal, 2)
    assert made.plan == removal.plan
    source = load_model(out / "plain" / "seed-2" / "model").model
    wanted = fit(
        source, NextToken(material_of(made, out / "corpus").data), made.plan, out / "none", Watcher()
    )
    kept = load_model(out / "control" / "seed-2" / "model").model
    slices = wanted.model.named_slices()
    assert all(tensor.equal(slices[name]) for name, tensor in kept.named_slices().items())


def test_calls_add_up_and_nothing_is_trained_twice(tmp_path, finished):
    """The first table comes early; a kill between or within costs no finished run."""
    *_, found = finished
    recipe = load_variants_recipe(write_variants(tmp_path))
    begun: list[str] = []

    def killed(title: str, _steps: int) -> Watcher:
        def on_step(step: int, _loss: float) -> None:
            if step == 3 and title.startswith("norm-free"):
                raise KeyboardInterrupt

        return Watcher(on_step)

    def told(title: str, _steps: int) -> Watcher:
        return Watcher(lambda step, _: begun.append(title) if step == 1 else None)

    with pytest.raises(KeyboardInterrupt):
        compare_variants(recipe, tmp_path / "run", killed, seeds=[2])
    second = compare_variants(recipe, tmp_path / "run", silent, seeds=[2])
    assert [row.runs for row in second.rows] == [row.runs[1:] for row in found.rows]
    before = files(tmp_path / "run")
    assert compare_variants(recipe, tmp_path / "run", told) == found
    assert begun == [f"{name}, seed 1" for name in recipe.names]
    after = files(tmp_path / "run")
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {Path("comparison.json")}


def test_a_single_variant_is_measured_with_what_it_needs_and_its_seed_is_unfinished(tmp_path, finished):
    """Variants can be spread over machines; until all are there, nothing is compared."""
    *_, whole = finished
    recipe = load_variants_recipe(write_variants(tmp_path))
    found = compare_variants(recipe, tmp_path / "run", silent, seeds=[1], names=["control"])
    assert found.rows == ()
    assert found.gate is None
    assert found.unfinished == (UnfinishedSeed(1, ("baseline", "plain", "band", "norm-free")),)
    kept = [path.name for path in (tmp_path / "run" / "measured").iterdir()]
    assert kept == ["control"]
    assert measured(tmp_path / "run", "control", 1) == whole.rows[3].runs[0]


def test_measures_without_weights_are_enough_to_compare(tmp_path, finished):
    """They are small files that can be put together from several machines, and be committed."""
    recipe, out, found = finished
    shutil.copytree(out / "measured", tmp_path / "measured")
    shutil.copy(out / "run.json", tmp_path / "run.json")
    assert compare_variants(recipe, tmp_path, silent) == found
    assert sum(file.stat().st_size for file in (tmp_path / "measured").rglob("*.json")) < 10_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"corpus": digest_bytes(b"another")}, "holds measures on different corpora"),
        ({"measures": {"loss": 1.0}}, "holds measures of different kinds; compare those of one version"),
        ({"seed": 1}, r"plain/seed-2.json is about seed 1, want seed 2; put it in its place"),
    ],
    ids=["corpus", "kinds", "seed"],
)
def test_measures_that_do_not_belong_together_are_not_compared(tmp_path, finished, change, sentence):
    """The library of another Python is another corpus; a file may have been put in a wrong place."""
    recipe, out, _ = finished
    shutil.copytree(out / "measured", tmp_path / "measured")
    shutil.copy(out / "run.json", tmp_path / "run.json")
    one = measured(tmp_path, "plain", 2)
    write_record(tmp_path / measures_file("plain", 2), replace(one, **change))
    with pytest.raises(InputError, match=sentence):
        compare_variants(recipe, tmp_path, silent)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"seeds": [3]}, "seed 3 is not in the recipe, whose seeds are 1, 2; name one of them"),
        ({"names": ["plane"]}, "variant 'plane' is not in the recipe, whose variants are baseline, plain,"),
    ],
)
def test_what_a_recipe_does_not_have_is_refused_before_anything_is_trained(tmp_path, asked, sentence):
    """The sentence lists what there is."""
    recipe = load_variants_recipe(write_variants(tmp_path))
    with pytest.raises(InputError, match=sentence):
        compare_variants(recipe, tmp_path / "run", silent, **asked)
    assert not (tmp_path / "run").exists()


def test_the_shipped_variants_are_the_papers_rows():
    """Six models and a control; the removal starts from sparsemax, LeakyReLU and LayerNorm."""
    recipe = load_variants_recipe(RECIPES / "code-lm-variants.toml")
    assert recipe.removal is not None
    assert recipe.names[5:] == (f"LayerNorm + {recipe.removal.recipe.plan.steps} steps", "norm-free")
    sizes = recipe.recipe_of(recipe.variant(recipe.removal.source), 3).architecture
    assert sizes == recipe.removal.recipe.source.architecture
    assert isinstance(sizes.norm, LayerNorm)
    assert len({recipe.recipe_of(one, seed).digest for one in recipe.variants for seed in recipe.seeds}) == 15


MISTAKES = {
    "no seeds": (("[1, 2]", "[]"), "variants.toml.seeds is empty; name at least one"),
    "a seed twice": (("[1, 2]", "[1, 1]"), "variants.toml: seeds has an entry twice"),
    "a name twice": (('"band"\nnorm', '"plain"\nnorm'), "variants.toml: name has an entry twice"),
    "unknown source": (('source = "plain"', 'source = "none"'), "removal.source is 'none', want one of base"),
    "a control of a taken name": (('"control"', '"band"'), "variants.toml: name has an entry twice"),
    "unknown gate": (('gate = "band"', 'gate = "norm-free"'), "removal.gate is 'norm-free', want one of"),
    "unknown operator": (('"softmax"', '"hardmax"'), "attention is 'hardmax', want one of 'softmax'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence(tmp_path, mistake):
    """Before anything is trained."""
    change, sentence = MISTAKES[mistake]
    with pytest.raises(InputError) as caught:
        load_variants_recipe(write_variants(tmp_path, change))
    assert sentence in str(caught.value)


def test_variants_share_their_corpus(tmp_path):
    """A removal on other data could not be compared; tasks have no loss on text."""
    path = write_variants(tmp_path)
    source = tmp_path / "source.toml"
    source.write_text(source.read_text().replace("batch = 64", "batch = 9"))
    with pytest.raises(InputError, match=r"removal.recipe fades norms on other data than base"):
        load_variants_recipe(path)
    path.write_text(path.read_text().replace('"base.toml"', f'"{RECIPES / "toy.toml"}"'))
    with pytest.raises(InputError, match=r"removal is about the loss on a corpus, but base trains on tasks"):
        load_variants_recipe(path)
    path.write_text(path.read_text().partition("[removal]")[0])
    with pytest.raises(InputError, match=r"baseline: paper is about the loss on a corpus"):
        load_variants_recipe(path)


TASK_VARIANTS = """
name = "norms"
base = "base.toml"
seeds = [1]

[[variants]]
name = "layer"

[[variants]]
name = "clamp"
norm = { kind = "clamp", bound = "1" }
"""


def write_task_variants(folder: Path, changes: dict[str, str | None] | None = None) -> Path:
    """Write variants of a toy that is trained on tasks, with some keys of the toy changed."""
    write_recipe(folder / "base.toml", changes)
    (folder / "norms.toml").write_text(TASK_VARIANTS)
    return folder / "norms.toml"


def test_a_norm_that_was_given_up_is_trained_and_measured_and_leaves_no_model(tmp_path):
    """On tasks, models are compared by loss, accuracy, margin and how large the residual has grown."""
    recipe = load_variants_recipe(write_task_variants(tmp_path))
    found = compare_variants(recipe, tmp_path / "run", silent)
    layer, clamp = found.rows
    assert list(clamp.measures) == [
        "loss",
        "quotes accuracy",
        "quotes worst margin",
        "brackets accuracy",
        "brackets worst margin",
        "final residual",
    ]
    assert clamp.measures["loss"] != layer.measures["loss"]
    assert clamp.runs[0].corpus is None
    assert (tmp_path / "run" / "layer" / "seed-1" / "model").is_dir()
    assert not (tmp_path / "run" / "clamp" / "seed-1" / "model").exists()


def test_a_norm_that_was_given_up_needs_a_base_with_layer_norm(tmp_path):
    """It takes over that norm's scale and shift."""
    path = write_task_variants(tmp_path, {"architecture.norm": '{ kind = "none" }'})
    with pytest.raises(InputError, match="'clamp' puts a norm in the place of LayerNorm, which base has not"):
        load_variants_recipe(path)


def test_the_shipped_norms_are_the_four_of_the_appendix_and_those_that_were_kept():
    """Three that can be declared, and one of each kind that was given up."""
    recipe = load_variants_recipe(RECIPES / "toy-norms.toml")
    tried = [one.tried_norm for one in recipe.variants]
    assert tried[:3] == [None] * 3
    assert [one.tag for one in tried[3:]] == [one.tag for one in get_args(TriedNorm)]
