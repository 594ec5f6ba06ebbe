"""Models and circuits from Python: training, extraction, releases."""

import pytest

import circuitproof as cp
from circuitproof.api import finding
from circuitproof_lab.api import train
from circuitproof_lab.pipeline.recipe import load_recipe
from gpt2_files import CONFIG, gpt2_tensors, write_gpt2
from places import COMPILED, RECIPES
from releases import release_files, write_release


def test_from_a_task_of_ones_own_to_a_circuit(tmp_path):
    """The training of a recipe on another task: the sizes follow, and progress is told."""
    short = (RECIPES / "own-closing-tags.toml").read_text()
    steps = load_recipe(RECIPES / "own-closing-tags.toml").plan.steps
    (tmp_path / "recipe.toml").write_text(
        short.replace(f"steps = {steps}", "steps = 20").replace("tasks/", f"{RECIPES}/tasks/")
    )
    task, heard = cp.load_task(RECIPES / "tasks" / "first-letter.toml"), []
    model = train(
        tmp_path / "recipe.toml", tmp_path / "run", tasks=[task], progress=lambda *one: heard.append(one)
    )
    assert (model.architecture.vocabulary, model.architecture.context) == (4, 3)
    assert heard[-1] == ("steps", 20, 20)
    found = cp.extract(model, task, objective="model", out=tmp_path / "circuit.json")
    assert cp.load_circuit(tmp_path / "circuit.json") == found.circuit
    assert "faithful to the model" in repr(found)
    assert "badge" not in found._repr_html_().replace(".badge", "")


def test_choices_are_words_and_others_are_refused(model):
    """The sentence lists what there is."""
    with pytest.raises(cp.InputError, match=r"the call\.order is 'random', want one of"):
        cp.extract(model, "quotes", order="random")


def test_another_run_is_not_gone_on_with(tmp_path):
    """A corpus has no tasks to replace, and a pattern lists no prompts."""
    with pytest.raises(cp.InputError, match="does not train on tasks"):
        train(RECIPES / "text.toml", tmp_path / "run", tasks=[cp.load_task("quotes")])
    pattern = cp.load_task(RECIPES / "toy-quotes-pattern.toml")
    with pytest.raises(cp.InputError, match="is about a pattern"):
        train(RECIPES / "toy.toml", tmp_path / "run", tasks=[pattern])


def test_what_others_have_released_comes_in(tmp_path):
    """A directory of Hugging Face's, and one of the paper's release."""
    write_gpt2(tmp_path / "gpt2", CONFIG, gpt2_tensors())
    write_release(tmp_path / "release", release_files())
    assert cp.import_hf(tmp_path / "gpt2", tmp_path / "from-hf").path == tmp_path / "from-hf"
    assert cp.import_release(tmp_path / "release", tmp_path / "released").architecture.layers


def test_a_program_that_tracr_compiled_comes_in_with_its_task(tmp_path):
    """Both are what the command writes: the model decides the task on every input."""
    model = cp.import_tracr(COMPILED / "length.safetensors", tmp_path / "length")
    found = cp.verify(model, tmp_path / "length" / "task.json", properties=["equivalence"])
    assert (found.verdict, found.answers[0].met) == (cp.Verdict.PROVED, 120)
    with pytest.raises(cp.InputError, match="neither a file nor one of the programs known here: length"):
        cp.import_tracr("lenght", tmp_path / "other")


def test_an_extra_that_is_missing_is_named():
    """One sentence that says what to install, as on the command line."""

    @finding.needing_extras("extract")
    def work():
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    with pytest.raises(cp.InputError, match=r"extract needs torch, which is not installed: pip install"):
        work()


def test_a_recipe_is_a_file():
    """Another type is one sentence, as in every call."""
    with pytest.raises(cp.InputError, match="recipe is the int 3, want a recipe file"):
        train(3, "x")
