"""Recipes of studies: what is refused before anything is trained."""

from dataclasses import replace

import pytest

from circuitproof.errors import InputError
from circuitproof_lab.pipeline.recipe import Recipe
from circuitproof_lab.pipeline.study_recipe import ListedTask, load_study
from places import RECIPES
from studies import ORDINARY, write_study


def test_the_shipped_study_has_the_papers_generations():
    """256 and 256, then 256, then 512: 1,280 prompts, and thresholds from 0.005 to 0.2."""
    study = load_study(RECIPES / "code-lm.toml")
    assert [(one.development, one.gate) for one in study.generations] == [(256, 256), (0, 256), (0, 512)]
    assert study.prompts == 1280
    assert (min(study.method.thresholds), max(study.method.thresholds)) == (0.005, 0.2)
    assert [task.name for task in study.tasks] == ["quotes", "brackets"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("budget = 50.0", "budget = 0.9", "budget is 0.9, want at least 1"),
        ("fillings = 12", "fillings = 0", "fillings is 0, want at least 1"),
        ('narrow = "strata"', 'narrow = "prompts"', "narrow is 'prompts', want"),
        ("circuit_joint = 0.5", "", "terms are .*, want .*circuit_joint"),
        ("development = 12", "development = 0", "development is 0; the first generation has nothing else"),
        ('name = "quotes"', 'name = "a quote"', "want some, with distinct plain names"),
        ("deadline = 10", "deadline = 0", "deadline is 0"),
        ("longest = 8", "longest = 8\nshortest = 1", "shortest"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, old, new, words):
    """Found, wanted, where: before the corpus is read."""
    with pytest.raises(InputError, match=words):
        load_study(write_study(tmp_path, (old, new)))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('base = "ordinary.toml"', "", "has neither removal nor base; want the recipe of a norm removal"),
        (
            'base = "ordinary.toml"',
            'base = "ordinary.toml"\nremoval = "removal.toml"',
            "both removal and base",
        ),
        (
            'aim = "margin"',
            'aim = "radius"',
            r'study.toml.calibration: .*aims at the radius.* aim = "margin"',
        ),
    ],
)
def test_an_ordinary_base_stays_as_it_is_and_has_no_radius(tmp_path, old, new, words):
    """One way to make a base, and an aim that it has: before anything is trained."""
    assert isinstance(load_study(write_study(tmp_path / "good", *ORDINARY)).base_recipe, Recipe)
    with pytest.raises(InputError, match=words):
        load_study(write_study(tmp_path / "bad", *ORDINARY, (old, new)))


def test_a_base_that_no_arithmetic_has_values_for_is_refused(tmp_path):
    """GELU is not exact, and BandNorm is not enclosed."""
    recipe = write_study(tmp_path, *ORDINARY)
    base = tmp_path / "ordinary.toml"
    norm = '{ kind = "band", low = "1", high = "2", lift = "reference" }'
    base.write_text(base.read_text().replace('{ kind = "layer", epsilon = "1/100000" }', norm))
    with pytest.raises(InputError, match="GELU has no exact value, its BandNorm no enclosed one"):
        load_study(recipe)


def test_the_study_of_the_softmax_model_differs_in_base_and_aim_alone():
    """Side by side with the paper's route: same tasks, gates, budget."""
    exact, ordinary = (load_study(RECIPES / f"{name}.toml") for name in ("code-lm", "code-lm-softmax"))
    ladder = replace(ordinary.ladder, calibration=exact.ladder.calibration)
    same = replace(
        ordinary, name=exact.name, base_recipe=exact.base_recipe, ladder=ladder, digest=exact.digest
    )
    assert same == exact


def test_a_task_may_list_its_prompts(tmp_path):
    """A frozen list of prompts stands beside templates."""
    listed = '[[tasks]]\ntask = "frozen.toml"\n\n[localisation]'
    recipe = write_study(tmp_path, ("[localisation]", listed))
    (tmp_path / "frozen.toml").write_text("")
    assert load_study(recipe).tasks[1] == ListedTask(tmp_path / "frozen.toml")
