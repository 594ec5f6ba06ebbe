import pytest

from circuitproof.errors import InputError
from circuitproof.files.codec import to_json
from circuitproof_lab.pipeline.norm_recipe import load_norm_recipe
from circuitproof_lab.train.norm_schedule import NormReader
from norm_recipes import write_norm_recipe
from places import RECIPES


def test_a_recipe_says_everything(tmp_path):
    """What to start from, how to train, how norms fade, what the fold may cost."""
    recipe = load_norm_recipe(write_norm_recipe(tmp_path))
    assert (recipe.name, recipe.source.name) == ("tiny-norm-free", "tiny")
    assert (recipe.plan.seed, recipe.plan.steps, recipe.plan.checkpoint_every) == (6, 10, 2)
    assert recipe.schedule.order == (NormReader.MLP, NormReader.ATTENTION, NormReader.LOGITS)
    assert (recipe.schedule.begin, recipe.schedule.fade) == (2, 2)
    assert (recipe.schedule.interval, recipe.schedule.window) == (2, 3)
    assert to_json(recipe.limits) == {
        "largest_error": 1e-4,
        "relative_error": 1e-5,
        "agreement": 1.0,
        "loss_change": 1e-4,
    }


def test_the_digest_depends_on_the_recipe_and_on_its_source(tmp_path):
    """A run begun with one of them goes on with no other."""
    digests = {
        load_norm_recipe(write_norm_recipe(tmp_path / f"{place}", changes, source)).digest
        for place, (changes, source) in enumerate(
            [({}, {}), ({"schedule.fade": "1"}, {}), ({}, {"training.steps": "7"}), ({}, {})]
        )
    }
    assert len(digests) == 3


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*norm-free*.toml")), ids=lambda path: path.stem)
def test_a_shipped_recipe_is_whole(path):
    """It is read, and its schedule ends before its training does."""
    recipe = load_norm_recipe(path)
    assert recipe.name == path.stem
    recipe.schedule.refuse_too_short(recipe.source.architecture.layers, recipe.plan.steps)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": None}, "removal.toml.source is missing"),
        ({"source": '"nowhere.toml"'}, "cannot read .*nowhere.toml"),
        ({"seed": "4294967296"}, "removal.toml.seed is 4294967296, want at most"),
        ({"training.initial_deviation": "0.1"}, "training.initial_deviation is not a known key"),
        (
            {"schedule.order": '["mlp"]'},
            "removal.toml.schedule: order is mlp; want each of mlp, attention, l",
        ),
        (
            {"schedule.order": '["mlp", "final"]'},
            r"schedule.order\[1\] is 'final', want one of 'mlp', 'attention', 'logits'",
        ),
        ({"schedule.begin": "0"}, "removal.toml.schedule: begin is 0, want at least 1"),
        ({"schedule.stride": "1"}, "schedule.stride is not a known key"),
        ({"fold.agreement": "1.5"}, "removal.toml.fold.agreement is 1.5, want a share of at most 1"),
        ({"fold.largest_error": "0"}, "fold.largest_error is 0, want a finite number above 0"),
        ({"fold.relative_error": "nan"}, "fold.relative_error is nan, want a finite number above 0"),
        ({"fold.loss_change": None}, "removal.toml.fold.loss_change is missing"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path, changes, sentence):
    """Before anything is trained."""
    path = write_norm_recipe(tmp_path, changes)
    with pytest.raises(InputError, match=sentence):
        load_norm_recipe(path)
