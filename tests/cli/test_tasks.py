import json

from circuitproof.canonical import digest_file
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.quotes import toy_quotes

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
        "pattern: any{1..6} with exactly 1 of [9, 10]",
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
    """Exit code 3, and what to write instead."""
    code, _, err = run("task", "commas")
    assert code == 3
    assert (
        "there is no task 'commas'; known tasks: quotes, brackets, or a task file that ends in .toml" in err
    )
