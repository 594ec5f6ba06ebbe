"""Recipes list stages; the engine takes work through them, and an early end is a result."""

import pytest

from circuitproof.errors import DeclarationError, InputError
from circuitproof_lab.pipeline import construction, distillation, study, surrogate, variants
from circuitproof_lab.pipeline.engine import RunStage, StageName, Stopped, follow, written
from circuitproof_lab.pipeline.localisation import stages_of
from circuitproof_lab.pipeline.protocol import load_protocol
from circuitproof_lab.pipeline.study_recipe import load_study
from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
from places import DOCS
from protocols import write_protocol
from studies import ORDINARY, write_study
from variants import write_variants


def adding(word: str) -> RunStage[str]:
    """Return a stage that adds a word to its work."""
    return RunStage(StageName.TRAIN, lambda work: f"{work} {word}")


def stopping(error: Exception) -> RunStage[str]:
    """Return a stage that cannot go on."""

    def act(_: str) -> str:
        raise error

    return RunStage(StageName.GATE, act)


def test_stages_are_taken_in_the_order_of_their_list():
    """Each gets what the one before it returned."""
    assert follow([adding("b"), adding("c")], "a") == ("a b c", None)


def test_a_stage_that_stops_leaves_what_was_found_and_the_reason():
    """Later stages are not begun."""
    stages = [adding("b"), stopping(Stopped("no program in bounds")), adding("c")]
    assert follow(stages, "a") == ("a b", "no program in bounds")


def test_an_error_is_no_result():
    """Only what a recipe names ends it as a result; everything else is raised."""
    with pytest.raises(InputError, match="bad"):
        follow([stopping(InputError("bad"))], "a")
    assert follow([stopping(InputError("bad"))], "a", (Stopped, InputError)) == ("a", "bad")


def test_a_list_in_another_order_is_refused():
    """A stage that reads what nobody has made says what is missing."""
    with pytest.raises(DeclarationError, match="no stage has made the circuit yet"):
        written(None, "circuit")


def test_the_documents_list_the_stages_of_each_recipe_in_order(tmp_path):
    """What a reader sees on one screen is what runs."""
    page, ordinary = (DOCS / "extending.md").read_text(), write_study(tmp_path / "ordinary", *ORDINARY)
    compared = load_variants_recipe(write_variants(tmp_path / "variants"))
    recipes = {
        "`localise`": stages_of(load_protocol(write_protocol(tmp_path))),
        "`distill`": distillation.STAGES,
        "`construct`": construction.STAGES,
        "`run`": (*study.stages_of(load_study(write_study(tmp_path / "study"))), *study.OF_EACH_TASK),
        "`run`, with `base`": (*study.stages_of(load_study(ordinary)), *study.OF_EACH_TASK),
        "`surrogate`": surrogate.STAGES,
        "`variants`": variants.stages_of(compared, seeds=[1], names=["norm-free"]),
    }
    for name, stages in recipes.items():
        listed = ", ".join(stage.name for stage in stages)
        assert f"| {name} | {listed} |" in page
