import json

import pytest
from hypothesis import HealthCheck, given, settings

from circuitproof.errors import InputError
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.verdict import Verdict, worst
from circuitproof_lab.pipeline.stages import explain
from circuitproof_lab.pipeline.surrogate import run_surrogate
from circuitproof_lab.pipeline.surrogate_recipe import load_surrogate_recipe
from circuitproof_lab.records.surrogate import Basis, Disproof
from circuitproof_lab.surrogate.machines import find_template
from circuitproof_lab.surrogate.relation import load_relation
from circuitproof_lab.surrogate.template import FilledTemplate
from hand_models import ADDER, build
from places import RECIPES
from surrogate_twin import (
    SMALL,
    automaton_teacher,
    random_teachers,
    table_json,
    twin_meanings,
    write_table_recipe,
)

PARITY = automaton_teacher([(1, 0), (0, 1)], [0, 1])


def run(folder, table=None, changes=None, on_stage=lambda _: None):
    """Run the recipe of a table in a folder."""
    recipe = write_table_recipe(folder, table or table_json(PARITY), changes)
    return run_surrogate(load_surrogate_recipe(recipe), folder / "run", on_stage)


def test_a_table_that_others_made_is_explained(tmp_path):
    """Parity of a: the teacher is a file, and all we know of it is its answers."""
    (report,) = run(tmp_path)
    assert (report.verdict, report.basis) == (Verdict.PROVED, Basis.LISTED)
    final = report.repair or report.explanation
    assert final.template == "toggle"
    assert dict(final.replies) == dict.fromkeys(("enumeration", "z3", "cvc5"), "proved")
    assert (report.surrogate_agreed, report.words) == (30, 30)


def test_a_table_cannot_vouch_for_itself(tmp_path):
    """It may call its answers exact and itself what it likes; the report says what we know."""
    (report,) = run(tmp_path, {**table_json(PARITY), "name": "theirs", "basis": "exact"})
    assert (report.name, report.basis) == ("machine", Basis.LISTED)


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(relation=random_teachers(most_states=4))
def test_random_machines_as_tables_are_explained_or_proved_to_have_no_explanation(tmp_path_factory, relation):
    """From the file to the verdict; the twin knows which it is."""
    (report,) = run(tmp_path_factory.mktemp("random"), table_json(relation))
    names = [closed.template for closed in report.closed]
    found = {name for name in names if relation.decided in twin_meanings(name, 2, 2, list(SMALL))}
    assert not found
    if report.verdict is Verdict.PROVED:
        final = report.repair or report.explanation
        assert relation.decided in twin_meanings(final.template, 2, 2, list(SMALL))
    else:
        assert (report.verdict, len(names)) == (Verdict.REFUTED, 12)


def test_a_finished_run_is_read_and_not_repeated(tmp_path, monkeypatch):
    """Each stage is skipped where its result is."""
    first = run(tmp_path)
    monkeypatch.setattr(explain, "fit_network", None)
    monkeypatch.setattr(explain, "run_study", None)
    assert run(tmp_path) == first


def test_an_interrupted_run_goes_on_with_the_next_stage(tmp_path, monkeypatch):
    """The surrogate was there when the study was cut off; the end is the same."""
    whole = run(tmp_path)
    content = (tmp_path / "run" / "machine" / "study.json").read_bytes()
    (tmp_path / "run" / "machine" / "study.json").unlink()
    monkeypatch.setattr(explain, "fit_network", None)
    assert run(tmp_path) == whole
    assert (tmp_path / "run" / "machine" / "study.json").read_bytes() == content


def test_the_stages_are_told(tmp_path):
    """In their order, with the name of the study."""
    told = []
    run(tmp_path, on_stage=told.append)
    assert told == ["machine: teacher", "machine: surrogate", "machine: explanation"]


def test_a_folder_of_another_recipe_is_refused(tmp_path):
    """The table is part of the recipe."""
    run(tmp_path)
    with pytest.raises(InputError, match="was begun with recipe 'tables' of another content"):
        run(tmp_path, table_json(automaton_teacher([(0, 0)], [1])))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda table: table["rows"].append({"input": ["a"], "answer": "no"}),
            "gives input 'a' two answers, 'yes' and 'no'",
        ),
        (lambda table: table["rows"].pop(), "lacks 1 of 30 inputs"),
        (lambda table: table.update(shortest=9), "empty domain"),
    ],
)
def test_a_bad_teacher_is_one_sentence_and_leaves_no_verdict(tmp_path, change, sentence):
    """Two answers for one input, a gap, an empty domain."""
    table = table_json(PARITY)
    change(table)
    with pytest.raises(InputError, match=sentence):
        run(tmp_path, table)
    assert not list((tmp_path / "run").rglob("study.json"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {'["a", "b"]': '["a", "c"]'},
            r"has tokens \['a', 'b'\] .* its study another alphabet: \['a', 'c'\]",
        ),
        ({'["no", "yes"]': '["yes", "no"]'}, "its study another alphabet"),
        ({"\nlongest = 4": "\nlongest = 5"}, "has words of 1 to 4 tokens, its study of 1 to 5"),
        (
            {"hidden = [12], steps = 2000": "hidden = [1], steps = 20"},
            r"hidden layers \[1\] agrees with teacher 'machine' on \d+ of 30 words",
        ),
    ],
)
def test_a_study_that_does_not_fit_its_teacher_leaves_no_verdict(tmp_path, changes, sentence):
    """An alphabet mismatch, other lengths, a surrogate that does not reach every word."""
    with pytest.raises(InputError, match=sentence):
        run(tmp_path, changes=changes)
    assert not list((tmp_path / "run").rglob("study.json"))


def test_a_study_of_another_surrogate_is_refused(tmp_path):
    """Somebody exchanged what it is about."""
    run(tmp_path)
    study = tmp_path / "run" / "machine" / "study.json"
    content = json.loads(study.read_text())
    study.write_text(json.dumps({**content, "surrogate_digest": "0" * 64}))
    with pytest.raises(InputError, match="is about another teacher or surrogate"):
        run(tmp_path)


def test_changed_certificates_are_refused(tmp_path):
    """They are checked again, and must be those that the study names."""
    run(tmp_path)
    file = tmp_path / "run" / "machine" / "refutations.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({"refutations": content["refutations"][1:]}))
    with pytest.raises(InputError, match="refutes other templates than"):
        run(tmp_path)
    content["refutations"][0]["tree"] = {"input": [0]}
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match="is not a refutation"):
        run(tmp_path)


def test_a_stored_circuit_is_a_teacher(tmp_path):
    """The hand-made adder looks at the last token; the explanation says so."""
    save_model(tmp_path / "adder", StoredModel(build(ADDER), None))
    teacher = (
        'teacher = { kind = "model", path = "adder", rendering = '
        "{ before = [], tokens = [[1, 3], [0, 2]], after = [], answers = [0, 1] } }"
    )
    changes = {
        'teacher = { kind = "table", path = "teacher.json" }': teacher,
        "\nlongest = 4": "\nlongest = 3",
    }
    (report,) = run(tmp_path, changes=changes)
    assert (report.basis, report.verdict) == (Basis.EXACT, Verdict.PROVED)
    assert report.explanation.template == "last"
    assert report.explanation.lines == ("answer no if the last token is one of {a}", "answer yes if not")


def test_the_two_studies_of_the_recipe_on_shorter_words(tmp_path):
    """Quotes: agrees with all its data, refuted by a word, repaired and proved. Brackets: proved.

    A circuit teaches quotes; here the whole model teaches brackets.
    """
    text = (RECIPES / "surrogate.toml").read_text()
    for old, new in (
        ("longest = 5", "longest = 3"),
        ("batch = 363", "batch = 39"),
        ("\nsteps = 500", "\nsteps = 150"),
    ):
        assert old in text
        text = text.replace(old, new)
    before, _, after = text.replace("\nsteps = 300", "\nsteps = 150").rpartition("threshold = 0.1\n")
    (tmp_path / "short.toml").write_text(before + after)
    reports = run_surrogate(load_surrogate_recipe(tmp_path / "short.toml"), tmp_path / "run")
    quotes, brackets = reports
    assert quotes.explanation.agreed == quotes.data
    assert (quotes.explanation.template, quotes.explanation.verdict) == ("latest", Verdict.REFUTED)
    assert (quotes.explanation.disproof.tokens, quotes.explanation.disproof.text) == ((0, 0), '" "')
    assert (quotes.repair.template, quotes.repair.verdict) == ("memory", Verdict.PROVED)
    assert (brackets.explanation.template, brackets.explanation.verdict) == ("counter 2", Verdict.PROVED)
    assert worst([report.verdict for report in reports]) is Verdict.PROVED
    assert {report.basis for report in reports} == {Basis.EXACT}


def latest_mark(names):
    """Return the latest mark that is not between two exclamation marks; ' where there is none."""
    enclosed = {place for place in range(1, len(names) - 1) if names[place - 1] == names[place + 1] == "!"}
    marks = [name for place, name in enumerate(names) if name != "!" and place not in enclosed]
    return marks[-1] if marks else "'"


def open_brackets(names):
    """Return what closes the brackets that are open, of which more than two are two."""
    count = 0
    for name in names:
        count = max(0, count + {"[": 1, "]": -1, "x": 0}[name])
    return ("x", "]", "]]")[min(count, 2)]


@pytest.mark.parametrize(("name", "rule"), [("quotes", latest_mark), ("brackets", open_brackets)])
def test_the_shipped_tables_say_what_their_rules_say(name, rule):
    """The rules are what the documentation calls our reading."""
    relation = load_relation(RECIPES / "tables" / f"{name}.json")
    for word in relation.words:
        names = [relation.words.tokens.names[token] for token in word]
        assert relation.answers.names[relation.answer(word)] == rule(names)


def test_the_papers_counterexample_refutes_the_restricted_template_and_no_other_word_does(tmp_path):
    """Section 8: on ! " ! teacher and surrogate choose a single quote, the program a double one."""
    recipe = load_surrogate_recipe(RECIPES / "surrogate-tables.toml")
    quotes, brackets = run_surrogate(recipe, tmp_path / "run")
    explanation = quotes.explanation
    assert (explanation.template, explanation.agreed, quotes.data) == ("latest", 12, 12)
    assert (quotes.surrogate_agreed, quotes.words) == (39, 39)
    assert set(explanation.replies.values()) == {"refuted by [2, 0, 2]"}
    assert explanation.disproof == Disproof((2, 0, 2), '! " !', '"', ("'",), "'")
    relation = load_relation(RECIPES / "tables" / "quotes.json")
    program = FilledTemplate(find_template("latest", ""), relation.signature, explanation.choices)
    assert [word for word in relation.words if program.automaton.answer(word) != relation.answer(word)] == [
        (2, 0, 2)
    ]
    assert [closed.template for closed in quotes.closed] == ["latest", "memory", "machine 3"]
    assert (quotes.repair.template, quotes.repair.verdict) == ("machine 4", Verdict.PROVED)
    assert (brackets.explanation.template, brackets.explanation.verdict) == ("counter 2", Verdict.PROVED)
    assert (brackets.data, brackets.words) == (39, 120)
