"""The page on GPT-2, typed as it stands, on random weights of a small size in the same files."""

import json
import os
import re
import shlex

import pytest

from circuitproof.models.tokenizer import FileTokenizer
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_lab.train.tokenizer import train_byte_pairs
from gpt2_files import CONFIG, gpt2_tensors, write_gpt2
from places import DOCS, REFERENCE

PAGE = (DOCS / "howto-gpt2.md").read_text()
TASK, PARTNERS = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("toml", "json"))
PUBLISHED = REFERENCE / "circuits" / "mib-gpt2-ioi-eap-ig.json"
NAMES, PLACES = ["Mary", "John", "Tom", "James", "Daniel"], ["store", "park", "school", "garden", "office"]
FEW = TASK.replace(', " Tom", " James", " Daniel"', "").replace(
    ', " park", " school", " garden", " office"', ""
)


@pytest.fixture
def given(tmp_path, monkeypatch):
    """GPT-2 small's graph at width 24, its files and a tokenizer, and the page's task."""
    said = "When {0} and {0} went to the {1}, {0} gave a drink to"
    texts = [said.format(name, place) for name in NAMES for place in PLACES]
    tokenizer = train_byte_pairs(texts * 20, 420)
    (tmp_path / "t.json").write_bytes(tokenizer)
    sizes = {"n_layer": 12, "n_head": 12, "n_embd": 24, "n_ctx": 24, "n_positions": 24}
    config = {**CONFIG, **sizes, "vocab_size": len(FileTokenizer(tmp_path / "t.json").alphabet)}
    tensors = {name: one * (1 if "ln_" in name else 0.3) for name, one in gpt2_tensors(config).items()}
    write_gpt2(tmp_path / "weights", config, tensors, json.loads(tokenizer))
    (tmp_path / "ioi.toml").write_text(TASK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(word):
    """Return the commands of the page that begin so, in words."""
    found = [line.split("    #")[0].strip() for line in PAGE.splitlines() if line.startswith(f"    {word}")]
    return [shlex.split(one)[1:] for one in found]


@pytest.mark.usefixtures("given")
def test_the_task_of_the_page_has_200_prompts_of_five_answers(run):
    """Read by the tokenizer of a model in GPT-2's files."""
    assert run("import-hf", "weights", "--out", "gpt2")[0] == 0
    code, out, err = run("task", "ioi.toml", "--model", "gpt2", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["prompts"], len(found["candidates"]), len(found["answers"])) == ("200", 5, 5)


@pytest.mark.skipif("CIRCUITPROOF_GALLERY" not in os.environ, reason="takes a minute; make nightly runs it")
@pytest.mark.skipif(not PUBLISHED.is_file(), reason=f"the published circuit is not at {PUBLISHED}")
def test_the_lines_of_the_page_prove_what_is_checked(run, given):
    """On a few of its prompts; the circuit is the published one, with its 756 edges into ports."""
    (given / "ioi.toml").write_text(FEW)
    (given / PUBLISHED.name).write_bytes(PUBLISHED.read_bytes())
    assert run("import-hf", "weights", "--out", "gpt2")[0] == 0
    for words in lines("circuitproof evaluate"):
        assert run(*words)[0] == 0
    ((_, *words),) = lines("circuitproof verify")
    code, out, err = run("verify", *words, "--json")
    assert code in {0, 1}, err
    found = json.loads(out)
    assert (found["edges"], found["granularity"]) == (756, "port")
    assert {answer["verdict"] for answer in found["answers"]} <= {"proved", "refuted"}
    report = inspect(given / "proof", Beside(given / "gpt2", operations=10**12))
    assert report.outcome is Outcome.VALID, report.reason


def test_the_partners_of_the_page_are_read_as_text(run, given):
    """Where one has another number of tokens, or a prompt has none, that is said."""
    (given / "partners.json").write_text(PARTNERS)
    assert run("import-hf", "weights", "--out", "gpt2")[0] == 0
    code, _, err = run("verify", "--model", "gpt2", "--task", "ioi.toml", "--ablation", "partners.json")
    assert code != 0
    assert "partner" in err
    assert "Traceback" not in err
