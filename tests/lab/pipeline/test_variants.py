from dataclasses import replace
from pathlib import Path

import pytest

from circuitproof.errors import InputError
from circuitproof.models.operators import Attention, BandNorm, Gelu, LayerNorm, NoNorm
from circuitproof.nn.checkpoint import load_model
from circuitproof_lab.pipeline.stages.train import material_of
from circuitproof_lab.pipeline.variants import NormGate, SeedSpread, compare_variants
from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
from circuitproof_lab.train.loop import Watcher
from floats import agree
from places import RECIPES
from variants import write_variants


def silent(_title: str, _steps: int) -> Watcher:
    """Watch nothing."""
    return Watcher()


def files(folder: Path) -> dict[Path, bytes]:
    """Return every file below a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a recipe, its folder and what comes of both of its seeds."""
    folder = tmp_path_factory.mktemp("variants")
    recipe = load_variants_recipe(write_variants(folder))
    return recipe, folder / "run", compare_variants(recipe, folder / "run", silent)


def test_every_variant_is_trained_with_its_own_operators(finished):
    """Nothing but what a variant names differs from the base."""
    recipe, out, found = finished
    assert [row.name for row in found.rows] == ["baseline", "plain", "band", "norm-free"]
    models = {row.name: load_model(out / row.name / "seed-2" / "model").model for row in found.rows}
    base = recipe.base.architecture
    assert models["baseline"].architecture == base
    plain = models["plain"].architecture
    assert plain == replace(base, attention=Attention.SOFTMAX, activation=plain.activation)
    assert isinstance(plain.activation, Gelu)
    assert isinstance(models["band"].architecture.norm, BandNorm)
    assert isinstance(models["norm-free"].architecture.norm, NoNorm)
    assert models["norm-free"].architecture.attention is Attention.SOFTMAX


def test_the_table_says_what_the_models_do_on_all_that_is_held_out(finished):
    """Each change is against the first variant of the same seed, and the paper's against its own."""
    recipe, out, found = finished
    data = material_of(recipe.base, out / "corpus").data
    for row in found.rows:
        for seed, run in zip((1, 2), row.runs, strict=True):
            measures = data.measure_whole(load_model(out / row.name / f"seed-{seed}" / "model").model)
            assert agree(run.loss, measures["held-out loss"])
            assert agree(run.perplexity, measures["second perplexity"])
    base, plain = found.rows[:2]
    changes = [one.loss - first.loss for one, first in zip(plain.runs, base.runs, strict=True)]
    assert plain.loss_change == SeedSpread(sum(changes) / 2, min(changes), max(changes))
    assert plain.paper_change == (0.5, -2.0)
    assert base.perplexity_change == SeedSpread(0.0, 0.0, 0.0)
    assert found.rows[2].paper_change is None


def test_the_gate_compares_with_the_source_and_with_another_variant(finished):
    """A removal must beat the norm that it replaces, with every seed."""
    *_, found = finished
    _, plain, band, free = found.rows
    assert (found.gate.source, found.gate.against) == ("plain", "band")
    assert agree(found.gate.above_source.mean, free.loss.mean - plain.loss.mean)
    worst = max(one.loss - other.loss for one, other in zip(free.runs, band.runs, strict=True))
    assert found.gate.passes == (worst < 0)
    assert not NormGate("a", "b", SeedSpread(0, 0, 0), "c", SeedSpread(-0.1, -0.2, 0.0)).passes


def test_seeds_can_be_added_later_and_nothing_is_trained_twice(tmp_path, finished):
    """The first table comes early; a kill between or within costs no finished run."""
    *_, found = finished
    recipe = load_variants_recipe(write_variants(tmp_path))

    def killed(title: str, _steps: int) -> Watcher:
        def on_step(step: int, _loss: float) -> None:
            if step == 3 and title.startswith("norm-free"):
                raise KeyboardInterrupt

        return Watcher(on_step)

    with pytest.raises(KeyboardInterrupt):
        compare_variants(recipe, tmp_path / "run", killed, seeds=1)
    first = compare_variants(recipe, tmp_path / "run", silent, seeds=1)
    assert [row.runs for row in first.rows] == [row.runs[:1] for row in found.rows]
    before = files(tmp_path / "run")
    assert compare_variants(recipe, tmp_path / "run", silent) == found
    after = files(tmp_path / "run")
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {Path("comparison.json")}


def test_the_shipped_variants_are_the_papers_rows():
    """Six models; the removal starts from the one with sparsemax, LeakyReLU and LayerNorm."""
    recipe = load_variants_recipe(RECIPES / "code-lm-variants.toml")
    assert len(recipe.names) == 6
    assert recipe.removal is not None
    (source,) = (one for one in recipe.variants if one.name == recipe.removal.source)
    sizes = recipe.recipe_of(source, 3).architecture
    assert sizes == recipe.removal.recipe.source.architecture
    assert isinstance(sizes.norm, LayerNorm)
    assert len({recipe.recipe_of(one, seed).digest for one in recipe.variants for seed in recipe.seeds}) == 15


MISTAKES = {
    "no seeds": (("[1, 2]", "[]"), "variants.toml.seeds is empty; name at least one"),
    "a seed twice": (("[1, 2]", "[1, 1]"), "variants.toml: seeds has an entry twice"),
    "a name twice": (('"band"\nnorm', '"plain"\nnorm'), "variants.toml: name has an entry twice"),
    "unknown source": (('source = "plain"', 'source = "none"'), "removal.source is 'none', want one of base"),
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
    with pytest.raises(InputError, match=r"variants.toml.base trains on tasks, want a corpus"):
        load_variants_recipe(path)
