"""Claims files on the command line: what each command prints, writes, and ends with."""

import json
import re
import shlex

import pytest

from claim_files import CLAIMS, write_claims
from places import DOCS

DOCUMENT = DOCS / "claims.md"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a claims file in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    return write_claims(tmp_path)


def test_the_example_of_the_document_runs_as_it_stands(run, tmp_path, monkeypatch):
    """Its file, with the digest of a model that is there, and its commands, one after another."""
    monkeypatch.chdir(tmp_path)
    text = DOCUMENT.read_text()
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]
    write_claims(tmp_path, example.replace("SHA-256 of model/weights.safetensors", "DIGEST"))
    commands = re.findall(r"^    circuitproof (.*)$", text, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        code, out, err = run(*shlex.split(command, comments=True))
        assert code == 0, (command, out, err)
    assert (tmp_path / "claims.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "claims.tar.gz").is_file()


def test_proofs_stand_under_the_name_of_the_file(run, file):
    """Without --out, in build."""
    code, out, _ = run("claims", "prove", file)
    assert code == 0
    assert "quotes: equivalence proved, necessity proved, robustness proved (in " in out
    assert "(before)" in run("claims", "prove", file)[1]
    code, out, _ = run("claims", "check", file)
    assert code == 0
    assert "every verdict is as expected" in out


def test_a_changed_verdict_exits_with_1_and_names_the_claim(run, file):
    """Whichever command finds it."""
    run("claims", "prove", file)
    write_claims(file.parent, CLAIMS.replace('"refuted"', '"proved"'))
    for command in ("prove", "check", "table"):
        code, out, err = run("claims", command, file)
        assert code == 1
        assert "claim 'brackets': equivalence is refuted, not proved" in out + err


def test_json_holds_the_same(run, file):
    """For programs: every number of the table."""
    assert json.loads(run("claims", "prove", file, "--json")[1])[0]["claim"] == "quotes"
    found = json.loads(run("claims", "check", file, "--json")[1])
    assert found["exit"] == 0
    first = found["claims"][0]
    assert (
        first["verdicts"]
        == first["expected"]
        == dict.fromkeys(("equivalence", "necessity", "robustness"), "proved")
    )
    assert (first["edges"], first["prompts"], first["cells"]) == (2, "128 prompts", 2)
    size = sum(path.stat().st_size for path in (file.parent / "build/toy/quotes/bundle").iterdir())
    assert first["bytes"] == size


def test_only_some_claims_are_proved(run, file):
    """The others are missing, which is no answer yet: 4."""
    assert run("claims", "prove", file, "--only", "brackets")[0] == 0
    code, out, _ = run("claims", "check", file)
    assert code == 4
    assert "claim 'quotes'" in out
    code, out, _ = run("claims", "table", file)
    assert "| quotes | equivalence | not proved yet | proved |" in out


def test_what_is_there_is_replaced_by_force_alone(run, file):
    """The page and the archive."""
    run("claims", "prove", file)
    for command, flag, name in (("table", "--page", "p.html"), ("archive", "--out", "a.tar.gz")):
        (file.parent / name).write_text("mine")
        code, _, err = run("claims", command, file, flag, name)
        assert (code, "already exists" in err) == (3, True)
        assert (file.parent / name).read_text() == "mine"
        assert run("claims", command, file, flag, name, "--force")[0] == 0
        assert (file.parent / name).read_bytes() != b"mine"


def test_the_page_shows_all_claims_and_every_bundle(run, file):
    """The table first, then what the page of each bundle shows."""
    run("claims", "prove", file)
    assert run("claims", "table", file, "--page", "page.html")[0] == 0
    page = (file.parent / "page.html").read_text()
    assert "Every verdict is as expected." in page
    assert page.count('class="badge refuted"') >= 2
    assert page.count("<details data-page") == 2


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(("part", "flag"), [("prove", "--out"), ("table", "--page"), ("archive", "--out")])
def test_no_part_writes_into_a_sealed_folder(run, file, part, flag, force):
    """Not by force either: the bundle of a claim stays as it was judged."""
    run("claims", "prove", file)
    bundle = file.parent / "build/toy/quotes/bundle"
    before = {path: path.read_bytes() for path in bundle.iterdir()}
    for place in (bundle / "new", bundle / "claim.json", bundle):
        assert run("claims", part, file, flag, place, *force)[0] == 3
    assert {path: path.read_bytes() for path in bundle.iterdir()} == before


def test_a_model_may_be_given_where_it_is(run, tmp_path, monkeypatch):
    """In the place of one that the file does not have; without it, what was not compared is said."""
    monkeypatch.chdir(tmp_path)
    file = write_claims(tmp_path, CLAIMS.replace('path = "model"\n', ""))
    assert run("claims", "prove", file, "--model", "toy=model")[0] == 0
    code, out, _ = run("claims", "check", file)
    assert (code, "not compared with the model: 'quotes', 'brackets'" in out) == (0, True)
    code, out, _ = run("claims", "check", file, "--model", "toy=model")
    assert (code, "not compared" in out) == (0, False)
    _, out, err = run("claims", "table", file)
    assert "not compared" in err
    assert "not compared" not in out
