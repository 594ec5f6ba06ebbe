import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import canonical_json
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.catalogue import TASK_NAMES, find_task
from circuitproof.tasks.loading import load_listed_task, load_task
from circuitproof.tasks.patterns import Pattern
from circuitproof.tasks.task import Task
from places import RECIPES

SHIPPED = (*sorted((RECIPES / "tasks").glob("*.toml")), *sorted(RECIPES.glob("toy-*-pattern.toml")))


@pytest.mark.parametrize("name", TASK_NAMES)
def test_a_shipped_name_is_a_task(name):
    """The same as ever."""
    assert load_task(name) == find_task(name)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_declaration_that_was_written_is_read_back_as_the_same_task(path, tmp_path):
    """The digest is identical, so a claim made from either file is the same claim."""
    task = load_task(str(path))
    (tmp_path / "task.json").write_bytes(canonical_json(task.to_json()))
    again = load_task(str(tmp_path / "task.json"))
    assert again.digest == task.digest
    assert again == task


def test_a_pattern_is_refused_where_prompts_are_wanted():
    """With the command that handles it."""
    path = str(RECIPES / "toy-quotes-pattern.toml")
    assert isinstance(load_task(path).domain, Pattern)
    with pytest.raises(InputError, match=r"task 'quotes' is about a pattern, .* circuitproof verify"):
        load_listed_task(path)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("task.toml", "name = 'x'", r"task\.toml has no prompts, want one of prompts, templates"),
        ("task.toml", "prompts = []\nvocabulary = 3", "has prompts and vocabulary, want one of"),
        ("task.toml", "prompts", "is not usable TOML"),
        ("task.json", "{}", "domain is missing"),
        ("task.yaml", "", r"there is no task '.*task\.yaml'; known tasks: quotes, brackets, or a task file"),
    ],
)
def test_a_file_that_says_nothing_is_refused(tmp_path, name, text, sentence):
    """One sentence says what to write."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=sentence):
        load_task(str(tmp_path / name))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    """With its path."""
    with pytest.raises(InputError, match=r"cannot read .*absent\.toml"):
        load_task(str(tmp_path / "absent.toml"))


def test_tables_have_no_meaning_on_a_pattern(tmp_path):
    """A table has an entry per prompt, and a pattern lists none."""
    declared = load_task(str(RECIPES / "toy-quotes-pattern.toml")).to_json()
    declared["answer"] = {"kind": "table", "answers": [9]}
    (tmp_path / "task.json").write_bytes(canonical_json(declared))
    with pytest.raises(InputError, match="has a table, but answers and classes on a pattern are rules"):
        load_task(str(tmp_path / "task.json"))


def test_a_pattern_does_not_replace_listed_prompts():
    """Whichever was meant, one of them is wrong."""
    path = str(RECIPES / "tasks" / "first-letter.toml")
    with pytest.raises(InputError, match=r"--pattern is given, but .* lists its prompts; leave one out"):
        load_task(path, pattern="any")


def test_names_can_be_the_models(tmp_path):
    """The declaration then holds the model's whole alphabet, and the task fits that model alone."""
    (tmp_path / "task.toml").write_text(
        'name = "x"\nalphabet = "model"\nprompts = ["A B", "B B"]\nanswers = ["A", "B"]\nclasses = [0, 1]'
    )
    task = load_task(str(tmp_path / "task.toml"), TOY)
    assert isinstance(task, Task)
    assert (task.alphabet, task.domain.prompts) == (TOY, ((5, 6), (6, 6)))
    with pytest.raises(InputError, match="there is no model here that names its tokens; list the names"):
        load_task(str(tmp_path / "task.toml"))


@pytest.mark.parametrize(
    ("key", "how"),
    [("position = 0", "at position 0"), ('outputs = ["A", "B"]', "by outputs that are no tokens")],
)
def test_what_is_trained_here_is_asked_for_a_token_at_the_end(tmp_path, key, how):
    """The laboratory reads nothing else, and would decide something else than the task says."""
    keys = f'name = "x"\n{key}\nalphabet = ["A", "B"]\nprompts = ["A B", "B B"]\n'
    (tmp_path / "task.toml").write_text(f'{keys}answers = ["A", "B"]\nclasses = [0, 1]')
    with pytest.raises(InputError, match=f"task 'x' is decided {how}, and here only a token at the end"):
        load_listed_task(str(tmp_path / "task.toml"))
    assert load_task(str(tmp_path / "task.toml")).size == 2
