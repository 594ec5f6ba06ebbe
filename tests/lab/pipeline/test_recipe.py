from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof.models.architecture import inverse_root
from circuitproof.models.operators import Attention, BandNorm, Gelu, GeluForm, LayerNorm, LeakyRelu, Lift
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.pipeline.recipe import TasksSource, load_recipe
from circuitproof_lab.train.corpus import Files, PythonManual, StandardLibrary
from circuitproof_lab.train.loop import TrainingPlan
from circuitproof_lab.train.tokenised import BytePairs, CorpusSource
from corpora import corpus_changes
from places import RECIPES
from recipes import recipe_text, write_recipe

SHIPPED = RECIPES


def test_a_recipe_says_what_it_says(tmp_path):
    """Every key arrives where it belongs, and what is left out follows from the rest."""
    recipe = load_recipe(write_recipe(tmp_path / "tiny.toml"))
    assert recipe.name == "tiny"
    assert recipe.source == TasksSource((toy_quotes(), toy_brackets()), 32)
    assert recipe.plan == TrainingPlan(
        seed=5,
        steps=6,
        learning_rate=0.01,
        warmup=2,
        weight_decay=0.01,
        gradient_limit=1.0,
        initial_deviation=0.1,
        evaluate_every=4,
        checkpoint_every=2,
    )
    architecture = recipe.architecture
    assert (architecture.width, architecture.head_width, architecture.attention_scale) == (
        4,
        2,
        inverse_root(2),
    )
    assert architecture.norm == LayerNorm(Fraction(1, 100000))
    assert architecture.activation == LeakyRelu(Fraction(1, 100))


def test_the_digest_covers_the_recipe_and_the_files_it_names(tmp_path):
    """Even a comment makes another recipe, and so does another tokenizer: only the same bytes are one."""
    tokenizer = tmp_path / "t.json"
    changes = corpus_changes(tokenizer='{ kind = "file", path = "t.json" }')
    path = write_recipe(tmp_path / "tiny.toml", changes)
    tokenizer.write_text("{}")
    digests = {load_recipe(path).digest}
    tokenizer.write_text("{ }")
    digests.add(load_recipe(path).digest)
    path.write_text(path.read_text() + "# a comment")
    digests.add(load_recipe(path).digest)
    assert len(digests) == 3


def test_paths_are_relative_to_the_recipe(tmp_path, monkeypatch):
    """A recipe works from any folder."""
    monkeypatch.chdir("/")
    source = load_recipe(write_recipe(tmp_path / "tiny.toml", corpus_changes())).source
    assert source == CorpusSource(
        tokenizer=BytePairs(300),
        batch=64,
        text=Files(tmp_path / "code", ("*.txt",)),
        second=Files(tmp_path / "prose", ("*.txt",)),
    )


def test_the_corpus_of_a_recipe_is_pythons_own_unless_it_names_another(tmp_path):
    """Every machine has it."""
    changes = corpus_changes()
    del changes["data.text"], changes["data.second"]
    source = load_recipe(write_recipe(tmp_path / "tiny.toml", changes)).source
    assert source == CorpusSource(
        tokenizer=BytePairs(300), batch=64, text=StandardLibrary(), second=PythonManual()
    )


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SHIPPED.glob("*.toml")) if "[architecture]" in path.read_text()],
    ids=lambda path: path.stem,
)
def test_every_shipped_recipe_of_a_training_loads(path):
    """A newcomer's first command uses one of them; its name says which run folder is its own."""
    assert load_recipe(path).name == path.stem


def test_the_three_toy_recipes_differ_only_where_they_should():
    """LayerNorm source, BandNorm, and the ordinary control, on the same tasks and sizes."""
    source, band, control = (
        load_recipe(SHIPPED / f"{name}.toml") for name in ("toy", "toy-band", "toy-control")
    )
    assert source.source == band.source == control.source
    assert band.architecture == replace(
        source.architecture, norm=BandNorm(Fraction(22, 5), Fraction(42, 5), Lift.REFERENCE)
    )
    assert control.architecture == replace(
        source.architecture, attention=Attention.SOFTMAX, activation=Gelu(GeluForm.EXACT)
    )


MISTAKES = {
    "unknown key": (
        {"colour": "3"},
        "bad.toml.colour is not a known key; known here: architecture, data, keep_every",
    ),
    "unknown key in a section": ({"training.step": "3"}, "bad.toml.training.step is not a known key"),
    "unknown key in a table": (
        {"architecture.norm": '{ kind = "layer", epsilon = "1/100000", low = "1" }'},
        "bad.toml.architecture.norm.low is not a known key",
    ),
    "unknown section": ({"model.width": "3"}, "bad.toml.model is not a known key"),
    "tokenizer for tasks": ({"data.tokenizer": '"t"'}, "bad.toml.data.tokenizer is not a known key"),
    "missing key": ({"training.warmup": None}, "bad.toml.training.warmup is missing"),
    "missing name": ({"name": None}, "bad.toml.name is missing"),
    "missing seed": ({"seed": None}, "bad.toml.seed is missing"),
    "word for a number": (
        {"training.steps": '"many"'},
        "bad.toml.training.steps is the string 'many', want a whole number",
    ),
    "fraction of a step": (
        {"training.steps": "2.5"},
        "training.steps is the number 2.5, want a whole number",
    ),
    "truth for a number": ({"seed": "true"}, "bad.toml.seed is true, want a whole number"),
    "date for a number": (
        {"seed": "1979-05-27"},
        "bad.toml.seed is the date 1979-05-27, want a whole number",
    ),
    "number for a truth": (
        {"architecture.tied": "1"},
        "architecture.tied is the number 1, want true or false",
    ),
    "number for a name": ({"name": "3"}, "bad.toml.name is the number 3, want a string"),
    "float for a rational": (
        {"architecture.norm": '{ kind = "layer", epsilon = 1e-5 }'},
        "bad.toml.architecture.norm.epsilon is the number 1e-05, want a rational in a string",
    ),
    "word for a learning rate": (
        {"training.learning_rate": '"low"'},
        "learning_rate is the string 'low', want",
    ),
    "no learning rate": ({"training.learning_rate": "0"}, "learning_rate is 0, want a finite number above 0"),
    "absurd learning rate": ({"training.learning_rate": "1e38"}, "learning_rate is 1e[+]38, want at most 1"),
    "endless training": ({"training.steps": str(10**26)}, "steps is 1000.*, want at most 999999999"),
    "NaN": (
        {"training.gradient_limit": "nan"},
        "training.gradient_limit is nan, want a finite number above 0",
    ),
    "infinite": (
        {"training.initial_deviation": "inf"},
        "initial_deviation is inf, want a finite number above 0",
    ),
    "negative decay": ({"training.weight_decay": "-1e-10"}, "weight_decay is -1e-10, want at least 0"),
    "no steps": ({"training.steps": "0"}, "bad.toml.training.steps is 0, want at least 1"),
    "no evaluations": ({"training.evaluate_every": "0"}, "training.evaluate_every is 0, want at least 1"),
    "no checkpoints": ({"training.checkpoint_every": "0"}, "training.checkpoint_every is 0, want at least 1"),
    "empty batch": ({"data.batch": "0"}, "bad.toml.data.batch is 0, want at least 1"),
    "negative warmup": ({"training.warmup": "-1"}, "bad.toml.training.warmup is -1, want at least 0"),
    "negative seed": ({"seed": "-1"}, "bad.toml.seed is -1, want at least 0"),
    "seed beyond the generator": (
        {"seed": str(2**32)},
        "bad.toml.seed is 4294967296, want at most 4294967295",
    ),
    "zero layers": ({"architecture.layers": "0"}, "bad.toml.architecture.layers is 0, want at least 1"),
    "width of unequal heads": (
        {"architecture.width": "5"},
        "bad.toml.architecture: width is 5, which 2 heads do not divide; choose a multiple of 2",
    ),
    "small vocabulary": (
        {"architecture.vocabulary": "31"},
        "bad.toml.architecture.vocabulary is 31, task 'quotes' needs at least 32",
    ),
    "short context": (
        {"architecture.context": "5"},
        "bad.toml.architecture.context is 5, task 'quotes' needs at least 6",
    ),
    "impossible epsilon": (
        {"architecture.norm": '{ kind = "layer", epsilon = "0" }'},
        "bad.toml.architecture.norm: norm.epsilon is 0, want a positive rational",
    ),
    "impossible scale": (
        {"architecture.attention_scale": '"1/3"'},
        (
            "bad.toml.architecture: architecture.attention_scale is 1/3, want a positive FP32 value; "
            'the nearest is "11184811/33554432"'
        ),
    ),
    "unknown norm": (
        {"architecture.norm": '{ kind = "rms" }'},
        "architecture.norm.kind is 'rms', want one of 'none', 'layer', 'band'",
    ),
    "unknown attention": (
        {"architecture.attention": '"linear"'},
        "architecture.attention is 'linear', want one of 'softmax', 'sparsemax'",
    ),
    "norm as a word": (
        {"architecture.norm": '"layer"'},
        "architecture.norm is the string 'layer', want an obj",
    ),
    "unknown task": (
        {"data.tasks": '["quotes", "bracket"]'},
        "bad.toml.data.tasks: there is no task 'bracket'; known tasks: quotes, brackets",
    ),
    "no tasks": ({"data.tasks": "[]"}, "bad.toml.data.tasks is empty; name at least one task"),
    "a task twice": ({"data.tasks": '["quotes", "quotes"]'}, "data.tasks names a task twice; name each once"),
    "number for a task": ({"data.tasks": "[3]"}, r"bad.toml.data.tasks\[0\] is the number 3, want a string"),
    "word for the tasks": (
        {"data.tasks": '"quotes"'},
        "bad.toml.data.tasks is the string 'quotes', want a list",
    ),
    "vocabulary smaller than the tokenizer's": (
        corpus_changes(tokenizer='{ kind = "byte pairs", vocabulary = 301 }'),
        "bad.toml.architecture.vocabulary is 300, the tokenizer needs at least 301",
    ),
    "betas": ({"training.betas": "{ square = 1.0 }"}, "training.betas.square is 1.0, want below 1"),
    "unknown kind of data": ({"data.kind": '"web"'}, "data.kind is 'web', want one of 'tasks', 'corpus'"),
}


@pytest.mark.parametrize(("changes", "sentence"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_sentence_with_the_path_of_the_key(tmp_path, changes, sentence):
    """The user looks at one line of one file and knows what to write instead."""
    with pytest.raises(InputError, match=sentence) as refusal:
        load_recipe(write_recipe(tmp_path / "bad.toml", changes))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("section", ["architecture", "data", "training"])
def test_a_missing_section_is_named(tmp_path, section):
    """As a missing key is."""
    text = recipe_text()
    start = text.index(f"[{section}]")
    end = text.find("\n[", start + 1)
    (tmp_path / "bad.toml").write_text(text[:start] + (text[end + 1 :] if end > 0 else ""))
    with pytest.raises(InputError, match=f"bad.toml.{section} is missing"):
        load_recipe(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"name = ", "bad.toml is not usable TOML: Invalid value"),
        (b"seed = 1\nseed = 2", "bad.toml is not usable TOML: Cannot overwrite a value"),
        (b"name = '\xff'", "bad.toml is not usable TOML: 'utf-8' codec"),
        (b"", "bad.toml.architecture is missing"),
    ],
)
def test_what_is_not_a_recipe_at_all_is_refused(tmp_path, content, sentence):
    """The TOML reader's own words are passed on, with the file."""
    (tmp_path / "bad.toml").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        load_recipe(tmp_path / "bad.toml")


def test_a_recipe_that_is_not_there_is_refused(tmp_path):
    """A mistyped name gets a sentence."""
    with pytest.raises(InputError, match=r"cannot read .*absent.toml: No such file"):
        load_recipe(tmp_path / "absent.toml")


OWN_TASK = """
name = "letters"
alphabet = ["a", "b"]
prompts = ["a b", "b b"]
answers = ["a", "b"]
classes = [0, 1]
"""


def test_a_task_file_is_read_beside_the_recipe_and_pinned_with_it(tmp_path):
    """A run goes on only with the task that began it; a name and a file may stand side by side."""
    path = write_recipe(tmp_path / "recipe.toml", {"data.tasks": '["own/letters.toml"]'})
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "letters.toml").write_text(OWN_TASK)
    before = load_recipe(path)
    assert [task.name for task in before.source.tasks] == ["letters"]
    (tmp_path / "own" / "letters.toml").write_text(OWN_TASK.replace("b b", "b a"))
    assert load_recipe(path).digest != before.digest
    (tmp_path / "own" / "letters.toml").write_text(OWN_TASK.replace('"b b"', '"b c"'))
    with pytest.raises(
        InputError, match=r"recipe\.toml\.data\.tasks: .*prompts\[1\]\[1\] is 'c', want a token's"
    ):
        load_recipe(path)
