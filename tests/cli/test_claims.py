"""Claims files on the command line: what each command prints, writes, and ends with."""

import json
import re
import shlex
import shutil

import pytest

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from claim_files import CLAIMS, write_claims
from hand_models import quote_model
from places import DOCS, ROOT

DOCUMENT = DOCS / "claims.md"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a claims file in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    return write_claims(tmp_path)


@pytest.fixture
def checkpoints(tmp_path):
    """Return two checkpoints: at the first the head writes nothing yet."""
    silent = {"head.0.0.output.weight": [[0, 0], [0, 0]]}
    for step, changes in ((10, silent), (20, {})):
        save_model(tmp_path / f"step-{step}", StoredModel(quote_model(changes), TOY))
    return tmp_path / "step-10", tmp_path / "step-20"


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
    assert run("claims", "prove", file, "--where", "toy=model")[0] == 0
    code, out, _ = run("claims", "check", file)
    assert (code, "not compared with the model: 'quotes', 'brackets'" in out) == (0, True)
    code, out, _ = run("claims", "check", file, "--where", "toy=model")
    assert (code, "not compared" in out) == (0, False)
    _, out, err = run("claims", "table", file)
    assert "not compared" in err
    assert "not compared" not in out


def test_another_model_is_proved_anew_and_what_changed_exits_with_1(run, file, checkpoints):
    """Nothing is kept of it unless that is asked for."""
    code, out, _ = run("claims", "check", file, "--model", checkpoints[0])
    assert code == 1
    assert "claim 'quotes': equivalence is refuted, not proved (the prover counts 0 of 128)" in out
    assert "3 of 4 verdicts changed on" in out
    assert not (file.parent / "build").exists()
    assert run("claims", "check", file, "--model", checkpoints[1], "--out", "kept")[0] == 0
    assert (file.parent / "kept" / "quotes" / "bundle").is_dir()
    assert run("claims", "prove", file, "--model", checkpoints[1])[0] == 0
    assert (file.parent / "build" / "toy-on-step-20" / "quotes").is_dir()


def test_checkpoints_are_given_as_a_shell_writes_them_out(run, file, checkpoints):
    """The table says from which step on each claim holds; JSON has every verdict."""
    code, out, _ = run("claims", "check", file, "--models", *checkpoints)
    assert code == 0
    words = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    assert ["quotes", "20", ""] in words
    assert ["10", "0 of 3", "1 of 1"] in words
    told = json.loads(run("claims", "check", file, "--models", *checkpoints, "--json")[1])
    assert told["first"] == {"quotes": 20, "brackets": 10}
    assert told["checkpoints"][0]["claims"][0]["verdicts"]["equivalence"] == "refuted"


@pytest.mark.parametrize(
    "case",
    [
        (("CKPT",), 2, "step-10 is one argument too many; checkpoints are given by --models"),
        (("--model", "CKPT", "--models", "CKPT"), 2, "--model does nothing here: --models names all of them"),
        (("--model", "CKPT", "--proofs", "p"), 2, "--proofs does nothing here: on other models claims are"),
        (("--model", "CKPT", "--no-models"), 2, "--no-models does nothing here: on other models claims are"),
        (("--out", "kept"), 2, "--out does nothing here: neither --model nor --models is given"),
        (("--instead-of", "toy"), 2, "--instead-of does nothing here: neither --model nor --models is given"),
        (("--model", "toy=CKPT"), 3, "cannot read"),
        (("--models", "model"), 3, "model has no number in its name, want the step"),
        (("--models", "CKPT", "CKPT"), 3, "are both of step 10; give each step once"),
        (("--model", "CKPT", "--instead-of", "toi"), 3, "--instead-of toi: claims.toml has no such model"),
        (("--model", "CKPT", "--where", "toy=model"), 3, "--where toy says where it is, but"),
    ],
)
def test_what_does_not_fit_together_is_refused_in_one_sentence(run, file, checkpoints, case):
    """Before anything is proved."""
    words, code, sentence = case
    spelled = [word.replace("CKPT", str(checkpoints[0])) for word in words]
    found, _, err = run("claims", "check", file, *spelled)
    assert (found, sentence in err) == (code, True), err
    assert not (file.parent / "kept").exists()


def test_the_workflow_of_the_examples_runs_as_it_stands(run, file, checkpoints):
    """Its last step, on a checkpoint that stands where it looks for one."""
    workflow = (ROOT / "examples" / "claims-workflow.yml").read_text()
    shutil.copytree(checkpoints[1], file.parent / "checkpoints" / "newest")
    (command,) = re.findall(r"^ +- run: circuitproof (.*)$", workflow, re.MULTILINE)
    assert len(workflow.splitlines()) == 10
    assert run(*shlex.split(command))[0] == 0


def test_a_claim_may_ask_whether_a_run_could_decide_it(run, tmp_path):
    """The table has a column for it then, for the claims that ask; the check says a line."""
    text = CLAIMS.replace('task = "brackets"', 'task = "brackets"\nmeasure_floats = true')
    file = write_claims(tmp_path, text)
    out = ("--out", tmp_path / "proofs")
    assert run("claims", "prove", file, *out)[0] == 0
    proofs = ("--proofs", tmp_path / "proofs")
    _, said, _ = run("claims", "table", file, *proofs)
    assert "could a run decide it?" in said.splitlines()[0]
    quotes, brackets = (line for line in said.splitlines() if line.startswith(("| quotes", "| brackets")))
    assert quotes.endswith("|  |")
    assert "FP64 and FP32 and FP16 decide all alike" in brackets
    found = json.loads(run("claims", "check", file, *proofs, "--json")[1])["claims"]
    assert [len(one["floats"]) for one in found] == [0, 3]
    assert "claim 'brackets': could a run decide it?" in run("claims", "check", file, *proofs)[1]


def test_a_claim_that_does_not_ask_has_no_such_column(run, file):
    """Tables of before stay as they are."""
    run("claims", "prove", file)
    assert "could a run" not in run("claims", "table", file)[1]
