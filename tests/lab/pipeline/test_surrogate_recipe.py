import pytest

from circuitproof.errors import InputError
from circuitproof_lab.pipeline.surrogate_recipe import TableTeacher, TrainedTeacher, load_surrogate_recipe
from places import RECIPES
from surrogate_twin import automaton_teacher, table_json, write_table_recipe

TABLE = table_json(automaton_teacher([(1, 0), (0, 1)], [0, 1]))
TEACHER = 'teacher = { kind = "table", path = "teacher.json" }'
MODEL = 'teacher = { kind = "model", path = "m", rendering = { before = [], after = [], '


def load(folder, changes=None):
    """Load the recipe of a table with some of its text replaced."""
    return load_surrogate_recipe(write_table_recipe(folder, TABLE, changes))


def test_the_shipped_recipe_is_read():
    """Two studies, each with a teacher of its own training."""
    recipe = load_surrogate_recipe(RECIPES / "surrogate.toml")
    assert [study.question.name for study in recipe.studies] == ["quotes", "brackets"]
    assert all(isinstance(study.teacher, TrainedTeacher) for study in recipe.studies)


def test_paths_are_relative_to_the_recipe(tmp_path):
    """And what they name is part of the digest."""
    recipe = load(tmp_path)
    assert recipe.studies[0].teacher == TableTeacher(tmp_path / "teacher.json")
    (tmp_path / "teacher.json").write_text("{}")
    assert load_surrogate_recipe(tmp_path / "recipe.toml").digest != recipe.digest


def test_the_family_can_be_named(tmp_path):
    """Smallest first, whatever the order in the recipe."""
    recipe = load(tmp_path, {"shortest = 1": 'shortest = 1\ntemplates = ["machine 4", "toggle"]\nbudget = 9'})
    plan = recipe.studies[0].plan
    assert [template.name for template in plan.templates] == ["toggle", "machine 4"]
    assert plan.budget == 9


def test_an_explanation_can_be_proposed(tmp_path):
    """As a program over the study's tokens and answers."""
    proposed = 'hypothesis = { template = "constant", choices = { always = "yes" } }'
    recipe = load(tmp_path, {"shortest = 1": f"shortest = 1\n{proposed}"})
    assert recipe.studies[0].plan.hypothesis.lines == ("answer yes always",)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({'"cvc5"': '"cvc6"'}, r"recipe.toml.solvers\[1\] is 'cvc6', want one of 'z3', 'cvc5'"),
        (
            {'name = "machine"': 'name = "../machine"'},
            r"studies\[0\].name is '../machine', want at most 100 signs, no slash or first dot",
        ),
        ({"shortest = 1": "shortest = 5"}, r"studies\[0\]: words: lengths from 5 to 4 leave an empty domain"),
        ({"\nlongest = 4": "\nlongest = 40"}, "can be listed; lower the longest length"),
        ({'["a", "b"]': '["a", "a"]'}, r"studies\[0\]: alphabet: the name 'a' stands for two tokens"),
        ({"shortest = 1": "shortest = 1\ntemplates = []"}, r"templates is \[\], want one or more, each once"),
        ({"shortest = 1": 'shortest = 1\ntemplates = ["stack"]'}, "there is no template 'stack'"),
        ({"learning_rate = 0.02": "learning_rate = 2"}, r"surrogate.learning_rate is 2.0, want at most 1"),
        ({"seconds = 20": "seconds = 0"}, "seconds is 0, want a finite number above 0"),
        ({"seed = 3": "seed = 3\nnote = 1"}, "note is not a known key"),
        (
            {TEACHER: MODEL + "tokens = [[0]], answers = [0, 1] } }"},
            "tokens has 1 entries, the study has 2 tokens",
        ),
        (
            {TEACHER: MODEL + "tokens = [[0], [1]], answers = [0] } }"},
            "answers has 1 entries, the study has 2",
        ),
        ({TEACHER: MODEL + "tokens = [[0], []], answers = [0, 1] } }"}, "stands for none of the model's"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(tmp_path, changes, sentence):
    """Before anything is run."""
    with pytest.raises(InputError, match=sentence):
        load(tmp_path, changes)


def test_studies_have_different_names_and_there_is_one(tmp_path):
    """Each gets a folder."""
    path = write_table_recipe(tmp_path, TABLE)
    text = path.read_text()
    path.write_text(text + text[text.index("[[studies]]") :])
    with pytest.raises(InputError, match="want one or more of different names"):
        load_surrogate_recipe(path)
    path.write_text(text[: text.index("[[studies]]")] + "studies = []")
    with pytest.raises(InputError, match="want one or more of different names"):
        load_surrogate_recipe(path)


@pytest.mark.parametrize(
    ("old", "new"), [("context = 5", "context = 4"), ("vocabulary = 4", "vocabulary = 3")]
)
def test_a_model_too_small_for_its_words_is_refused(tmp_path, old, new):
    """Before it is trained."""
    text = (RECIPES / "surrogate.toml").read_text()
    assert old in text
    (tmp_path / "small.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError, match="the study needs 5 and"):
        load_surrogate_recipe(tmp_path / "small.toml")
