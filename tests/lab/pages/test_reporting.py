"""Pages of runs: what stands in their folders, wherever it stands, and hostile names as text."""

import json
from shutil import copytree, rmtree

import pytest
from typer.testing import CliRunner

import circuitproof as cp
import viewed
from circuitproof.cli.main import app
from circuitproof.errors import InputError
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.reports.data import page_data
from circuitproof.reports.plain import WIDTH
from circuitproof.reports.reporting import look_at
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import Beside, Outcome
from circuitproof_lab.pages.folder import read_run
from circuitproof_lab.pages.parts import RUN_PARTS
from circuitproof_lab.pages.reporting import report_of
from hand_models import quote_model
from page_reader import read
from random_claims import CYCLE
from run_folders import FILES, write_run


def run_command(*words):
    """Run a command."""
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def folder(tmp_path):
    """A run folder with a file of every kind, and a bundle."""
    return write_run(tmp_path / "run")


def test_a_run_has_every_part_that_its_files_are_for(folder):
    """Files are found by what they are, so that new kinds of runs need no new page."""
    run = read_run(folder)
    assert all(part(run) is not None for part in RUN_PARTS)
    reader = read(report_of(run).page())
    said = " ".join(reader.text)
    assert "15/16" in said
    assert "proof/bundle" in said
    assert "img" not in {tag for tag, _ in reader.tags}


def test_programs_found_show_their_tokens_where_a_model_of_the_run_names_them(folder):
    """A number alone tells nobody what a head looks for; what is no program is shown as it is."""
    (folder / "artifact").mkdir()
    save_model(folder / "artifact" / "first", StoredModel(quote_model(), None))
    save_model(folder / "artifact" / "model", StoredModel(quote_model(), TOY))
    lines = ["default 0", "add 1 when key_token in {9, 10}", "otherwise self"]
    file = folder / "quotes" / "program.0.0.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "program": lines}))
    text = " ".join(" ".join(read(cp.report(folder).html).text).split())
    assert "add 1 when key_token in {9, 10} # 9 ', 10 \"" in text
    (found,) = read_run(folder).study.programs
    assert [lines == one.program for one, lines in zip(found.searches, found.lines, strict=True)] == [
        False,
        True,
    ]
    told = json.loads(run_command("show", folder, "--json").output)
    assert told["study"]["programs"][0]["searches"][0]["program"] == lines


def test_page_terminal_json_and_api_say_what_a_study_wrote(folder):
    """Counts, rules, programs, perplexities, sets of errors and what lies beyond, wherever one looks."""
    page = cp.report(folder)
    said = run_command("show", folder)
    assert said.output == page.text
    html = " ".join(" ".join(read(page.html).text).split())
    for words in (
        *("11/12 decided right", "1/3 stay", "4 balanced, 3 are wanted: enough", "fewer than 3 prompts"),
        *("5/6 1 decision wrong", "2/2 all right, but not enough is left beside it"),
        *("1/2 have a program", "7/8 right, enclosed with 64 bits", "2 edges, extracted"),
        *("17/52", "none in bounds", "not read"),
        *("perplexity 4.482 on", "may have 7.389", "12.18, over 7.389", "yes, of record"),
        *("1/8 12.18", "4/8 9.488", "2/8", "5/8 1.014e+304", "3/8", "2/8 148.4", "2 7 1"),
        *(
            "9.999e4999",
            "783 cells in 0.8 s",
            "fails on 2 cells",
            "equivalence refuted",
            "relative radius",
            "Nothing was asked:",
        ),
    ):
        assert words in html, words
        assert set(words.split()) <= set(page.text.split()), words
    told = json.loads(run_command("show", folder, "--json").output)
    study = told["study"]
    assert study["viabilities"][0]["strata"] == FILES["quotes/viability.json"]["strata"]
    assert study["limits"][0]["verdicts"] == FILES["quotes/limits/limits.json"]["verdicts"]
    assert study["programs"][0]["accepted"] == FILES["quotes/accepted.json"]
    assert told["rungs"][0]["errors"] == {"wrong": 2, "uncovered": 7, "both": 1}
    (judged,) = read_run(folder).bundles
    assert told["bundles"][0]["reason"] == judged.report.reason
    assert max(map(len, page.text.splitlines())) <= WIDTH


def test_a_run_that_has_not_chosen_yet_has_no_rung_of_record(folder):
    """What was not written down is not guessed."""
    (folder / "quotes" / "chosen.json").unlink()
    assert "of record" not in " ".join(look_at(folder, Beside()).text().split())


def test_explanations_and_variants_are_told_with_what_refutes_and_how_far_they_are(folder):
    """As the stages wrote them: the word, the spread over seeds, the control beside the source."""
    said = " ".join(look_at(folder, Beside()).text().split())
    assert "12/12" in said
    assert "[2, 0, 2]" in said
    assert "0.5 (0.25 to 1)" in said
    assert "+0.5 (+0.25 to +1) against" in said
    assert "is failed" in said


@pytest.mark.parametrize("key", ["narrowing", "least"])
def test_a_record_without_one_of_its_keys_is_one_sentence(folder, key):
    """A page shows what a stage wrote, all of it or nothing."""
    left = {name: value for name, value in FILES["quotes/viability.json"].items() if name != key}
    (folder / "quotes" / "viability.json").write_text(json.dumps(left))
    with pytest.raises(InputError, match=rf"viability\.json.*{key}"):
        read_run(folder)


def test_the_page_of_a_run_has_the_parts_of_its_bundles(folder):
    """Closed until somebody opens them; names are unique, and each has the data of its own page."""
    (one,) = read_run(folder).bundles
    reader = read(report_of(read_run(folder)).page())
    names = [value["id"] for _, value in reader.tags if "id" in value]
    assert len(names) == len(set(names))
    assert {"proofs", "bundle-0-verdicts", "bundle-0-circuit", "bundle-0-prompts"} <= set(names)
    assert "open" not in next(value for tag, value in reader.tags if tag == "details")
    assert one.view is not None
    assert json.dumps(page_data(one.view), separators=(",", ":"))[:80] in reader.data


def test_an_empty_run_has_a_heading_and_nothing_else(tmp_path):
    """A part without data is not there."""
    (tmp_path / "run.json").write_text(json.dumps(FILES["run.json"]))
    assert [part for part in RUN_PARTS if part(read_run(tmp_path)) is not None] == [RUN_PARTS[0]]


@pytest.fixture
def bundles(tmp_path):
    """A run folder with a bundle of each outcome: proved, undecided, refuted."""
    for outcome in (Outcome.VALID, Outcome.INCOMPLETE, Outcome.REFUTED):
        seed = next(one for one in viewed.seeds() if viewed.view_of(one).judgement.outcome is outcome)
        copytree(viewed.bundle_of(seed), tmp_path / "run" / outcome.name.lower())
    (tmp_path / "run" / "run.json").write_text(json.dumps(FILES["run.json"]))
    return tmp_path / "run"


def test_a_run_ends_as_the_worst_of_its_bundles(bundles):
    """An invalid bundle is worse than a refuted one, that than an open one, and that than a proof."""
    said = [run_command("report", bundles, "--out", bundles / "0.html").exit_code]
    rmtree(bundles / "refuted")
    said.append(run_command("show", bundles).exit_code)
    rmtree(bundles / "incomplete")
    said.append(run_command("show", bundles).exit_code)
    (bundles / "valid" / "claim.json").write_text("{}")
    said.append(run_command("show", bundles).exit_code)
    assert said == [Outcome.REFUTED, Outcome.INCOMPLETE, Outcome.VALID, Outcome.INVALID]


@pytest.mark.parametrize("command", ["report", "show"])
def test_a_run_is_compared_with_what_it_must_be_about(bundles, command):
    """Each of its bundles is: with the right model as without one, with none that is there as a failure."""
    for name in ("incomplete", "refuted"):
        rmtree(bundles / name)
    seed = next(one for one in viewed.seeds() if viewed.view_of(one).judgement.outcome is Outcome.VALID)
    other = next(one for one in viewed.seeds() if one % len(CYCLE) != seed % len(CYCLE))

    def code(*options):
        more = ("--out", bundles.with_suffix(".html"), "--force") if command == "report" else ()
        return run_command(command, bundles, *more, *options).exit_code

    assert code("--against", viewed.bundle_of(seed).parent / "model") == Outcome.VALID
    assert code("--against", viewed.bundle_of(other).parent / "model") == Outcome.INVALID
    assert code("--against", bundles / "nowhere") == Outcome.FAILURE
    assert code("--task", bundles / "nowhere.json") == Outcome.FAILURE


def test_a_run_without_bundles_is_compared_with_nothing(tmp_path):
    """Silence would read as agreement."""
    (tmp_path / "run.json").write_text(json.dumps(FILES["run.json"]))
    with pytest.raises(InputError, match="no bundle to compare"):
        run_command("show", tmp_path, "--against", tmp_path)


def test_a_run_with_a_broken_bundle_is_invalid(folder):
    """A run is no better than its proofs."""
    assert look_at(folder, Beside()).outcome == Outcome.REFUTED
    (folder / "proof" / "bundle" / "claim.json").write_text("{}")
    assert look_at(folder, Beside()).outcome == Outcome.INVALID


def test_a_file_that_is_not_what_it_should_be_is_one_sentence(folder):
    """The sentence names the file and the key."""
    (folder / "A" / "quotes" / "gate.result.json").write_text(json.dumps({"points": 3}))
    with pytest.raises(InputError, match=r"gate.result.json.*points"):
        read_run(folder)


@pytest.mark.parametrize(
    ("part", "key", "each"),
    [("audit", "circuit_without_each", []), ("audit", "without_each", [4]), ("losses", "without_each", [])],
)
def test_what_is_told_of_some_program_heads_only_is_one_sentence(folder, part, key, each):
    """A page shows no head beside the counts of another."""
    state = FILES["quotes/exact.json"]
    broken = {**state, part: {**state[part], key: each}}
    (folder / "quotes" / "exact.json").write_text(json.dumps(broken))
    with pytest.raises(InputError, match=r"exact\.json.*program heads"):
        read_run(folder)


def test_the_page_of_a_run_begins_with_circuits_and_verdicts(folder):
    """Whoever opens it wants to know what was proved; the recipe's digest and the charts come later."""
    run = read_run(folder)
    html = report_of(run).page()
    (one,) = run.bundles
    assert one.view is not None
    marks = ('id="bundles"', 'class="badge', "<svg", 'id="frontier"', run.digest)
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places)
    text = " ".join(look_at(folder, Beside()).text().split())
    assert text.index("Circuits and verdicts") < text.index(str(one.view.bundle.answers[0].prop.kind))
    assert text.index(str(one.view.bundle.answers[0].prop.kind)) < text.index("The localisation frontier")
