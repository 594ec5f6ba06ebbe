import json

import pytest

from circuitproof.files.canonical import canonical_json, digest_file
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.quotes import toy_quotes
from faults import IDS_TASK
from hand_models import quote_model

PATTERN = """
name = "marks"
vocabulary = 32
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "any{1..6} with exactly 1 of [9, 10]"
names = {9 = "'"}
"""


def test_a_shipped_task_is_told_in_a_few_lines(run):
    """What is asked, and the digest that every claim about it carries."""
    code, out, err = run("task", "quotes")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"quotes: 128 prompts, digest {toy_quotes().digest}",
        "candidates: 9 ('), 10 (\")",
        "right answers: 9 ('), 10 (\")",
        "classes: 2",
    ]


def test_a_task_file_is_told_with_its_pattern(run, tmp_path):
    """The prompts are counted, not listed; a token without a name is its number."""
    (tmp_path / "task.toml").write_text(PATTERN)
    code, out, _ = run("task", tmp_path / "task.toml")
    digest = load_task(str(tmp_path / "task.toml")).digest
    assert code == 0
    assert out.splitlines() == [
        f"marks: 299921522 prompts, digest {digest}",
        "pattern: any{1..6} with exactly 1 of [9, 10] (9 ')",
        "candidates: 9 ('), 10",
        "right answers: 9 ('), 10",
        "classes: 2",
    ]


def test_the_declaration_is_written_for_the_checker(run, tmp_path):
    """The file's digest is the task's, so that anyone can compare it with a claim."""
    out = tmp_path / "quotes.json"
    code, told, _ = run("task", "quotes", "--out", out)
    assert (code, f"{out} holds the declaration" in told) == (0, True)
    assert json.loads(out.read_bytes()) == toy_quotes().to_json()
    assert digest_file(out) == toy_quotes().digest
    code, _, err = run("task", "quotes", "--out", out)
    assert (code, "already exists" in err) == (3, True)


def test_the_json_is_for_programs(run, tmp_path):
    """Large numbers are text, as everywhere."""
    (tmp_path / "task.toml").write_text(PATTERN)
    _, out, _ = run("task", tmp_path / "task.toml", "--json")
    assert json.loads(out) == {
        "name": "marks",
        "prompts": "299921522",
        "pattern": "any{1..6} with exactly 1 of [9, 10]",
        "candidates": [9, 10],
        "answers": [9, 10],
        "classes": 2,
        "digest": str(load_task(str(tmp_path / "task.toml")).digest),
    }


def test_an_unknown_task_is_refused_with_those_that_are_known(run):
    """Exit code 2, and what to write instead."""
    code, _, err = run("task", "commas")
    assert code == 2
    assert (
        "there is no task 'commas'; known tasks: quotes, brackets, or a task file that ends in .toml" in err
    )


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "--model", "MODEL", "--epsilon", "1/3"],
        ["minimal", "--model", "MODEL"],
        ["radius", "--model", "MODEL"],
        ["evaluate", "--model", "MODEL"],
        ["extract", "--model", "MODEL", "--objective", "program", "--out", "OUT"],
        ["synthesise", "--model", "MODEL", "--head", "0.0", "--rules", "1", "--out", "OUT"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_takes_a_task_by_its_file(run, tmp_path, command):
    """And answers as it does to the task's name."""
    programs = {} if command[0] == "synthesise" else None  # a program is looked for where there is none
    save_model(tmp_path / "model", StoredModel(quote_model(programs=programs), TOY))
    (tmp_path / "declared.json").write_bytes(canonical_json(toy_quotes().to_json()))

    def answered(spec: object, out: str) -> tuple[int, object]:
        words = {"MODEL": tmp_path / "model", "OUT": tmp_path / out}
        code, told, _ = run(*(words.get(word, word) for word in command), "--task", spec, "--json")
        content = json.loads(told)
        return code, content | {"seconds": 0} if isinstance(content, dict) else content

    assert answered(tmp_path / "declared.json", "one.json") == answered("quotes", "other.json")


WRITTEN = """
name = "first"
alphabet = ["a", "b"]
prompts = ["a b", "b b"]
answers = ["a", "b"]
classes = [0, 1]
"""


def test_a_written_task_and_its_declaration_are_one_task(run, tmp_path):
    """Whatever form a file has, the digest that claims carry is that of what it says."""
    written, declared = tmp_path / "first.toml", tmp_path / "first.json"
    written.write_text(WRITTEN)
    code, out, _ = run("task", written, "--out", declared)
    told, *lines = out.splitlines()
    assert code == 0
    assert lines[:3] == ["candidates: 0 (a), 1 (b)", "right answers: 0 (a), 1 (b)", "classes: 2"]
    assert told == f"first: 2 prompts, digest {digest_file(declared)}"
    assert run("task", declared)[1].splitlines()[0] == told


@pytest.mark.parametrize(("alphabet", "named"), [(TOY, "'"), (None, "<9>")])
def test_a_list_of_numbers_needs_no_alphabet(run, tmp_path, alphabet, named):
    """The model's is the default; where its tokens have no names, they are its vocabulary's numbers."""
    (tmp_path / "task.toml").write_bytes(IDS_TASK)
    save_model(tmp_path / "model", StoredModel(quote_model(), alphabet))
    code, out, _ = run("task", tmp_path / "task.toml", "--model", tmp_path / "model")
    assert code == 0
    assert f"9 ({named})" in out
    code, out, err = run("verify", "--model", tmp_path / "model", "--task", tmp_path / "task.toml")
    assert code in {0, 1}, err


def test_a_file_that_leaves_names_to_the_model_is_told_with_the_model(run, tmp_path):
    """Without one there is nobody to ask."""
    text = 'name = "first"\nalphabet = "model"\nprompts = ["A B", "B B"]\n'
    (tmp_path / "first.toml").write_text(text + 'answers = ["A", "B"]\nclasses = [0, 1]')
    code, _, err = run("task", tmp_path / "first.toml")
    assert (code, "there is no model here that names its tokens" in err) == (3, True)
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    code, out, _ = run("task", tmp_path / "first.toml", "--model", tmp_path / "model")
    assert (code, "candidates: 5 (A), 6 (B)" in out) == (0, True)
