import json

import pytest

from circuitproof.cli.main import main
from surrogate_twin import NO_YES, SMALL, automaton_teacher, relation_of, table_json, write_table_recipe

PARITY = table_json(automaton_teacher([(1, 0), (0, 1)], [0, 1]))
FIRST_IS_LAST = table_json(relation_of("machine", SMALL, NO_YES, lambda word: int(word[0] == word[-1])))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command on a table and gives its exit code, output and notes."""

    def run_command(table, *options, changes=None):
        recipe = write_table_recipe(tmp_path, table, changes)
        arguments = ["surrogate", str(recipe), "--out", str(tmp_path / "run"), *options]
        monkeypatch.setenv("COLUMNS", "300")
        monkeypatch.setattr("sys.argv", ["circuitproof", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, *capsys.readouterr()

    return run_command


def test_the_table_has_the_four_columns_of_the_report(run):
    """Agreement on data, agreement everywhere, the verdict, the outcome; below it the program."""
    code, out, notes = run(PARITY)
    assert code == 0
    header = next(line for line in out.splitlines() if "teacher" in line)
    for column in ("data agreement", "surrogate-teacher agreement", "program equivalence", "outcome"):
        assert column in header
    assert "6/6" in out
    assert "30/30" in out
    assert "bit, even at first; on a: flip" in out
    assert "cvc5: proved" in out
    assert "constant: all 2 programs (2 meanings) refuted at 2 leaves" in out
    assert "machine: surrogate" in notes


def test_a_refuted_explanation_comes_with_its_counterexample(run):
    """As tokens and as text, with what everybody says to it; exit code 1 where nothing repairs it."""
    changes = {
        "shortest = 1": 'shortest = 1\ntemplates = ["constant", "toggle"]',
        '{ kind = "short", longest = 2 }': '{ kind = "short", longest = 1 }',
    }
    code, out, _ = run(FIRST_IS_LAST, changes=changes)
    assert code == 1
    assert "refuted for constant" in out
    assert "counterexample returned; no program of the family repairs it" in out
    assert "counterexample [0, 1], that is: a b | program yes, surrogate no, teacher no" in out


def test_a_family_that_cannot_even_explain_the_data_is_refuted(run):
    """There is no program to show."""
    code, out, _ = run(PARITY, changes={"shortest = 1": 'shortest = 1\ntemplates = ["constant"]'})
    assert code == 1
    assert "no program in the family" in out


def test_a_search_that_stops_early_is_undecided(run):
    """Exit code 4, and the open template is named."""
    code, out, _ = run(
        PARITY, changes={"shortest = 1": 'shortest = 1\ntemplates = ["machine 3"]\nbudget = 2'}
    )
    assert code == 4
    assert "machine 3: open, the search reached its budget" in out


def test_json_holds_the_same(run):
    """For programs."""
    code, out, _ = run(PARITY, "--json")
    assert code == 0
    (report,) = json.loads(out)
    assert (report["verdict"], report["surrogate_agreed"], report["words"]) == ("proved", 30, 30)
    assert (report["repair"] or report["explanation"])["template"] == "toggle"


def test_a_repair_is_printed_below_what_it_repairs(run):
    """Fitted to two words only, the first explanation is wrong."""
    changes = {'{ kind = "short", longest = 2 }': '{ kind = "listed", words = ["b", "a"] }'}
    code, out, _ = run(PARITY, changes=changes)
    assert code == 0
    assert "repaired by toggle and proved" in out
    assert out.index("explanation, template last") < out.index("repair, template toggle of 4 choices: proved")


def test_bad_input_is_exit_code_3_and_one_sentence(run):
    """Nothing is decided."""
    code, out, notes = run({**PARITY, "rows": PARITY["rows"][1:]})
    assert (code, out) == (3, "")
    assert notes.splitlines()[-1].startswith("circuitproof: ")
    assert "lacks 1 of 30 inputs, first 'a'; list every input" in notes
