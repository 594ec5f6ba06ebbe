from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof_lab.distill.heal import TERMS, LossTerm, Treatment
from circuitproof_lab.distill.synthesis import Scope
from circuitproof_lab.pipeline.distillation_recipe import load_distillation_recipe
from corpora import corpus_changes
from distill_recipes import write_distillation
from places import RECIPES

SHIPPED = RECIPES / "toy-programs.toml"


def test_the_shipped_recipe_is_about_five_models_without_norms():
    """What the documentation reports is what this file says."""
    recipe = load_distillation_recipe(SHIPPED)
    assert len(recipe.seeds) == 5
    assert not recipe.source.architecture.has_norm
    assert [task.name for task in recipe.tasks] == ["quotes", "brackets"]
    assert recipe.epsilon == Fraction(1, 100)
    assert recipe.healing.draw.keep == 0.25


def test_everything_in_a_recipe_is_read(tmp_path):
    """A number that is written down and not used would be a promise broken."""
    changes = {
        "seeds": "[7, 3]",
        "extraction.thresholds": "[0.5]",
        "extraction.rule": '"margin"',
        "synthesis.rules": "1",
        "synthesis.members": "3",
        "synthesis.scope": '"both"',
        "synthesis.budget": "77",
        "healing.steps": "9",
        "healing.batch": "11",
        "healing.keep": "0.5",
        "healing.core_aware.circuit_joint": "0.125",
        "gates.lesion_kl": "0.3",
        "gates.lesion_right": '"5/8"',
        "gates.epsilon": '"1/7"',
    }
    recipe = load_distillation_recipe(write_distillation(tmp_path, changes))
    assert (recipe.name, recipe.seeds, recipe.method.thresholds) == ("small", (7, 3), (0.5,))
    assert recipe.method.rule == "margin"
    assert (recipe.bounds.grammar.rules, recipe.bounds.grammar.members) == (1, 3)
    assert (recipe.bounds.scope, recipe.bounds.budget) == (Scope.BOTH, 77)
    healing = recipe.healing.seeded(4)
    assert (healing.plan.steps, healing.plan.seed) == (9, 4)
    assert (healing.draw.seed, healing.draw.batch, healing.draw.keep) == (4, 11, 0.5)
    assert recipe.healing.weighings[Treatment.CORE_AWARE].weights[LossTerm.CIRCUIT_JOINT] == 0.125
    assert all(recipe.healing.weighings[one].weights.keys() == set(TERMS[one]) for one in Treatment)
    assert (recipe.gates.kl, recipe.gates.right, recipe.epsilon) == (0.3, Fraction(5, 8), Fraction(1, 7))


def test_each_seed_has_a_source_of_its_own(tmp_path):
    """The same training but for the seed, and another digest, so that folders cannot be mixed up."""
    recipe = load_distillation_recipe(write_distillation(tmp_path))
    one, other = recipe.source_of(1), recipe.source_of(2)
    assert (one.plan.seed, other.plan.seed) == (1, 2)
    assert one.digest != other.digest
    assert one.architecture == other.architecture == recipe.source.architecture


def test_other_seeds_are_another_run(tmp_path):
    """The folder of one cannot be gone on with as the other."""
    recipe = load_distillation_recipe(write_distillation(tmp_path))
    other = recipe.with_seeds([21, 22])
    assert (recipe.seeds, other.seeds) == ((5,), (21, 22))
    assert other.digest not in (recipe.digest, recipe.with_seeds([22, 21]).digest)
    with pytest.raises(InputError, match=r"seeds are \[1, 1\], want at least one, each once"):
        recipe.with_seeds([1, 1])


def test_gates_and_weights_are_part_of_the_digest(tmp_path):
    """They are fixed before the run: a run begun with other ones cannot be gone on with."""
    changes = ({}, {"gates.lesion_kl": "0.2"}, {"healing.plain.task": "2.0"})
    digests = {
        load_distillation_recipe(write_distillation(tmp_path / f"{place}", change)).digest
        for place, change in enumerate(changes)
    }
    other_source = write_distillation(tmp_path / "source", source={"training.steps": "151"})
    digests.add(load_distillation_recipe(other_source).digest)
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seeds": "[]"}, r"small.toml.seeds are \[\], want at least one, each once"),
        ({"seeds": "[3, 3]"}, r"small.toml.seeds are \[3, 3\], want at least one, each once"),
        ({"seeds": "[-1]"}, r"small.toml.seeds\[0\] is -1, want at least 0"),
        (
            {"extraction.objective": '"program"'},
            "extraction.objective is program, want model: migration asks",
        ),
        ({"healing.keep": "1.0"}, "healing.keep is 1.0, want a probability below 1"),
        ({"healing.core_aware.model_joint": None}, "healing.core_aware.model_joint is missing"),
        ({"healing.plain.circuit": "1.0"}, "healing.plain.circuit is not a known key; known here: task"),
        ({"healing.plain.task": "0.0"}, "healing.plain.task is 0.0, want a finite number above 0"),
        ({"healing.initial_deviation": "0.1"}, "healing.initial_deviation is not a known key"),
        ({"gates.lesion_right": '"1"'}, "a share 1 may survive a lesion, want from 0 to below 1"),
        ({"gates.lesion_kl": "0.0"}, "gates.lesion_kl is 0.0, want a finite number above 0"),
        ({"gates.epsilon": '"0"'}, "gates.epsilon is 0, want a positive rational such as 1/100"),
        ({"gates.lesion_kl": None}, "gates.lesion_kl is missing"),
        ({"synthesis.rules": "0"}, "synthesis.rules is 0, want at least 1"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, changes, sentence):
    """A gate that is missing, empty or always open is found before anything is trained."""
    with pytest.raises(InputError, match=sentence):
        load_distillation_recipe(write_distillation(tmp_path, changes))


def test_a_source_that_trains_on_text_is_refused(tmp_path):
    """There would be no task whose behaviour could be kept."""
    source = corpus_changes()
    with pytest.raises(
        InputError, match=r"source is 'tiny', which trains on a text; want one that trains on"
    ):
        load_distillation_recipe(write_distillation(tmp_path, source=source))
