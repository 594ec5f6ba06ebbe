import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from circuitproof.errors import DeclarationError, InputError, InvalidError
from circuitproof.files.canonical import digest_bytes, digest_json
from circuitproof.files.locked import locked
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.generator import Generator, NamedTokens, PromptTemplate, Slot, deal
from circuitproof_lab.pipeline.ledger import Burned, Declared, Ledger, Measured, Retired, Viewed
from circuitproof_lab.pipeline.splits import Development, Gate, Split

GENERATOR = Generator(
    task="quotes",
    salt="one",
    encoder=NamedTokens(TOY),
    answers=(("'", "'"), ('"', '"')),
    templates=(PromptTemplate("six", "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}"),),
    slots=tuple(Slot(name, ("A", "B", "C", "D")) for name in "xyz"),
)
RECIPE, CIRCUIT, WEIGHTS = (digest_bytes(name) for name in (b"recipe", b"circuit", b"weights"))
TRIAL = {"recipe": RECIPE, "circuit": CIRCUIT, "weights": WEIGHTS}
FIRST, SECOND, THIRD = (
    Split(name, GENERATOR, rows)
    for name, rows in zip(("first", "second", "third"), deal(GENERATOR.order(), [8, 8, 8], 2), strict=True)
)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    """Return a ledger in which a recipe is declared and one split was looked at."""
    opened = Ledger(tmp_path / "ledger.jsonl")
    opened.declare("test", RECIPE)
    opened.view(RECIPE, Development((FIRST,)))
    return opened


def events(ledger):
    """Return the kinds of the events, in order."""
    return [type(entry.event) for entry in ledger.entries()]


def test_a_gate_is_burned_before_its_task_is_handed_out(ledger):
    """And the result follows the burning."""
    task = ledger.burn(Gate(SECOND), **TRIAL)
    assert task.domain.prompts == tuple(row.prompt for row in SECOND.rows)
    assert events(ledger) == [Declared, Viewed, Burned]
    ledger.record(Gate(SECOND), 7)
    assert events(ledger) == [Declared, Viewed, Burned, Measured]
    assert ledger.entries()[-1].event == Measured(SECOND.digest, 7, 8, 0)


def test_a_gate_has_no_task_of_its_own():
    """There is no way to its prompts but through a ledger."""
    assert not hasattr(Gate(SECOND), "task")


@pytest.mark.parametrize("trial", [{**TRIAL, key: digest_bytes(b"other")} for key in ("circuit", "weights")])
def test_a_burned_gate_is_refused_to_another_trial(ledger, trial):
    """Neither another circuit nor another model may look at it as if nobody had."""
    ledger.burn(Gate(SECOND), **TRIAL)
    with pytest.raises(InputError, match="gate 'second' is not fresh: 8 of its 8 prompts were burned as"):
        ledger.burn(Gate(SECOND), **trial)


def test_a_burned_gate_under_another_name_is_refused(ledger):
    """What counts are the prompts: one of them is enough."""
    ledger.burn(Gate(SECOND), **TRIAL)
    renamed = Split("fresh", GENERATOR, (SECOND.rows[0], *THIRD.rows[1:]))
    with pytest.raises(InputError, match="gate 'fresh' is not fresh: 1 of its 8 prompts were burned as"):
        ledger.burn(Gate(renamed), **TRIAL)


def test_development_data_is_refused_as_a_gate(ledger):
    """It was looked at, if not as a gate."""
    with pytest.raises(InputError, match="8 of its 8 prompts were used as development data before"):
        ledger.burn(Gate(FIRST), **TRIAL)


def test_the_same_prompts_in_another_vocabulary_are_fresh(ledger):
    """Token numbers mean something else there."""
    renamed = replace(TOY, names=(*TOY.names[:-1], "<31 renamed>"))
    other = replace(GENERATOR, encoder=NamedTokens(renamed))
    ledger.burn(Gate(Split("other", other, FIRST.rows)), **TRIAL)


def test_an_interrupted_trial_may_be_finished(ledger):
    """A kill between burning and measuring does not lose the gate: the same trial gets the same task."""
    before = ledger.burn(Gate(SECOND), **TRIAL)
    again = Ledger(ledger.path)
    assert again.burn(Gate(SECOND), **TRIAL) == before
    again.record(Gate(SECOND), 8)
    again.record(Gate(SECOND), 8)
    assert events(again) == [Declared, Viewed, Burned, Measured]


def test_a_gate_has_one_result(ledger):
    """A second measurement that says otherwise is refused."""
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.record(Gate(SECOND), 7)
    with pytest.raises(InputError, match="was measured before with 7 of 8 right, now 8; a gate has one"):
        ledger.record(Gate(SECOND), 8)


def test_nothing_is_measured_on_a_gate_that_was_not_burned(ledger):
    """The order of the lines is the order of events."""
    with pytest.raises(DeclarationError, match="gate 'second' was not burned"):
        ledger.record(Gate(SECOND), 8)


def test_nothing_is_looked_at_before_the_recipe_is_declared(tmp_path):
    """Neither development data nor a gate."""
    empty = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(DeclarationError, match="is not in the ledger; declare it before looking at anything"):
        empty.view(RECIPE, Development((FIRST,)))
    with pytest.raises(DeclarationError, match="is not in the ledger"):
        empty.burn(Gate(SECOND), **TRIAL)
    with pytest.raises(InputError, match="has no lines"):
        _ = empty.last


def test_burned_gates_are_development_data_without_a_new_line(ledger):
    """They were looked at already; fresh development data gets its line."""
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.view(RECIPE, Development((FIRST, SECOND)))
    ledger.declare("test", RECIPE)
    assert events(ledger) == [Declared, Viewed, Burned]
    ledger.view(RECIPE, Development((FIRST, SECOND, THIRD)))
    assert events(ledger) == [Declared, Viewed, Burned, Viewed]


def changed(line: str, **changes) -> str:
    """Return a line of the ledger with parts of its event replaced."""
    content = json.loads(line)
    content["event"].update(changes)
    return json.dumps(content)


TAMPERINGS = {
    "a changed result": lambda lines: [*lines[:3], changed(lines[3], right=8)],
    "a changed recipe": lambda lines: [changed(lines[0], name="other"), *lines[1:]],
    "a line taken out": lambda lines: [lines[0], *lines[2:]],
    "the first line taken out": lambda lines: lines[1:],
    "lines in another order": lambda lines: [lines[0], lines[2], lines[1], lines[3]],
    "a line repeated": lambda lines: [*lines, lines[-1]],
    "a digest of another line": lambda lines: [
        *lines[:3],
        json.dumps(json.loads(lines[3]) | {"digest": json.loads(lines[0])["digest"]}),
    ],
    "an unknown key": lambda lines: [*lines[:3], json.dumps(json.loads(lines[3]) | {"note": "fine"})],
    "no digest at all": lambda lines: [*lines[:3], json.dumps(json.loads(lines[3]) | {"digest": "none"})],
    "half a line": lambda lines: [*lines[:3], lines[3][:40]],
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_tampered_ledger_is_refused(ledger, tampering):
    """Whatever is changed, the chain tells, and nothing goes on from there."""
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.record(Gate(SECOND), 7)
    lines = ledger.path.read_text().splitlines()
    ledger.path.write_text("\n".join(TAMPERINGS[tampering](lines)) + "\n")
    with pytest.raises(InvalidError, match=r"ledger\.jsonl line \d"):
        Ledger(ledger.path)
    with pytest.raises(InvalidError, match=r"ledger\.jsonl line \d"):
        ledger.burn(Gate(THIRD), **TRIAL)


def test_lines_taken_off_the_end_are_missed_by_whoever_remembers_one(ledger):
    """A chain cannot know what came after it; a result that names its line can."""
    ledger.burn(Gate(SECOND), **TRIAL)
    last = ledger.last
    ledger.require(last)
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(lines[:-1]))
    with pytest.raises(InvalidError, match=f"has no line {last}: lines were taken off its end"):
        Ledger(ledger.path).require(last)


def test_a_line_cut_short_is_refused(ledger):
    """The end of the file is where an interrupted write would be."""
    ledger.path.write_bytes(ledger.path.read_bytes()[:-1])
    with pytest.raises(InvalidError, match="line 2 is cut short: its writing was interrupted; remove that"):
        Ledger(ledger.path)


def test_two_runs_write_in_turn(ledger):
    """Whoever comes second waits for the first, and a killed run leaves nothing to wait for."""
    with ThreadPoolExecutor() as pool:
        with locked(ledger.path):
            burning = pool.submit(ledger.burn, Gate(SECOND), **TRIAL)
            time.sleep(0.05)
            assert events(ledger) == [Declared, Viewed]
        burning.result()
    assert events(ledger) == [Declared, Viewed, Burned]


def test_gates_that_were_looked_at_are_refused_before_a_run(ledger):
    """But for those that the same recipe has burned: its run is gone on with."""
    ledger.refuse_stale(RECIPE, [Gate(SECOND), Gate(THIRD)])
    with pytest.raises(InputError, match="gate 'first' is not fresh"):
        ledger.refuse_stale(RECIPE, [Gate(FIRST)])
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.refuse_stale(RECIPE, [Gate(SECOND)])
    with pytest.raises(InputError, match="gate 'second' is not fresh: 8 of its 8 prompts were burned"):
        ledger.refuse_stale(digest_bytes(b"other"), [Gate(SECOND)])


def test_every_event_has_words(ledger):
    """They are what the command line prints."""
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.record(Gate(SECOND), 7)
    words = [entry.event.words() for entry in ledger.entries()]
    assert words == [
        f"recipe 'test' declared: {RECIPE}",
        f"8 prompts looked at: {FIRST.digest}",
        f"gate of 8 prompts burned: {SECOND.digest}",
        f"gate measured, 7 of 8 right: {SECOND.digest}",
    ]


def test_a_manifest_says_how_it_covers_its_domain():
    """Strata, templates, positions and lengths are counted, not claimed."""
    manifest = FIRST.to_json()
    assert manifest["strata"] == {"'": 4, '"': 4}
    assert manifest["templates"] == {"six": 8}
    assert manifest["opener_positions"] == [3]
    assert manifest["lengths"] == [6, 6]
    assert manifest["vocabulary"] == str(GENERATOR.vocabulary_digest)
    assert manifest["tokenizer"] == str(GENERATOR.tokenizer_digest)
    assert manifest["aligned"] == len(manifest["prompts"]) == 8
    first, row = manifest["prompts"][0], FIRST.rows[0]
    assert first == {
        "tokens": list(row.prompt),
        "text": row.text,
        "template": "six",
        "stratum": "six",
        "opener": row.opener,
        "position": 3,
        "aligned": True,
    }


def test_the_digest_of_a_prompt_set_is_that_of_its_tokens():
    """Whoever has the list can compute it; another order is another list."""
    manifest = FIRST.to_json()
    assert manifest["prompt_set"] == str(digest_json([one["tokens"] for one in manifest["prompts"]]))
    turned = Split("first", GENERATOR, FIRST.rows[::-1])
    assert turned.to_json()["prompt_set"] != manifest["prompt_set"]


def test_what_the_model_itself_misses_is_told_apart(ledger):
    """A circuit is judged on the rest of the gate."""
    ledger.burn(Gate(SECOND), **TRIAL)
    ledger.record(Gate(SECOND), 5, apart=2)
    event = ledger.entries()[-1].event
    assert event == Measured(SECOND.digest, 5, 6, 2)
    assert event.words().startswith("gate measured, 5 of 6 right, 2 more that the model itself misses: ")


def test_other_programs_are_another_trial(ledger):
    """A gate is opened for a circuit with its programs."""
    ledger.burn(Gate(SECOND), **TRIAL, programs=digest_bytes(b"programs"))
    with pytest.raises(InputError, match="is not fresh"):
        ledger.burn(Gate(SECOND), **TRIAL)


def test_a_gate_that_was_never_opened_is_retired_and_cannot_be_opened_any_more(ledger):
    """Prompts of generations that were not opened enter the ledger when the domain is declared."""
    ledger.burn(Gate(THIRD), **TRIAL)
    for gate in (SECOND, THIRD, SECOND):
        ledger.retire(Gate(gate), RECIPE)
    assert events(ledger) == [Declared, Viewed, Burned, Retired]
    assert "never opened, declared as domain" in ledger.entries()[-1].event.words()
    ledger.refuse_stale(RECIPE, [Gate(SECOND)])
    with pytest.raises(InputError, match="is not fresh"):
        ledger.refuse_stale(digest_bytes(b"other"), [Gate(SECOND)])
    with pytest.raises(InputError, match="is not fresh"):
        ledger.burn(Gate(SECOND), **TRIAL)
