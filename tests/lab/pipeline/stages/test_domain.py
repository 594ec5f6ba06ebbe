"""The declared domain of a study: balanced, each prompt once, without what the model itself misses."""

from collections import Counter
from dataclasses import replace

from circuitproof.files.run import Run
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.generator import Generator, NamedTokens, Pool, PromptTemplate, Slot
from circuitproof_lab.pipeline.ledger import Ledger, Retired
from circuitproof_lab.pipeline.localisation import declared_run
from circuitproof_lab.pipeline.protocol import load_protocol
from circuitproof_lab.pipeline.splits import deal_rounds
from circuitproof_lab.pipeline.stages import domain
from circuitproof_lab.pipeline.stages.domain import by_type, declare_prompts, narrowed, spare_rows
from protocols import write_protocol


def declared(folder, monkeypatch, missed):
    """Return the record and the task of a domain whose gates have some prompts that the model misses."""
    protocol = load_protocol(write_protocol(folder))
    rounds = deal_rounds(protocol, protocol.generators[0])
    job = declared_run(protocol, [rounds], Run(folder / "run"), Ledger(folder / "ledger.jsonl"))
    monkeypatch.setattr(domain, "places_right", lambda _, task: set(range(task.size)) - set(missed))
    found, task = declare_prompts(Run(folder / "task"), job, rounds, None, {"six"})
    return found, task, rounds, job


def test_a_prompt_that_the_model_misses_is_replaced_by_one_of_its_opener(tmp_path, monkeypatch):
    """The domain keeps its size and its balance; what takes the place is in no gate."""
    found, task, rounds, _ = declared(tmp_path, monkeypatch, {0, 2, 5})
    rows = [row for gate in rounds.gates for row in gate.split.rows]
    assert (found.prompts, found.development, found.gates, found.apart, found.filled) == (
        56,
        8,
        48,
        (0, 2, 5),
        3,
    )
    assert len(set(task.prompts)) == task.size == 56
    assert set(Counter(task.answers()).values()) == {28}
    assert not {rows[place].prompt for place in found.apart} & set(task.prompts)
    others = set(task.prompts) - {row.prompt for row in rows} - {row.prompt for row in rounds.fresh[0].rows}
    assert others <= {row.prompt for row in spare_rows(rounds)}
    assert len(others) == 3


def test_gates_that_were_never_opened_enter_the_ledger(tmp_path, monkeypatch):
    """Before the model is asked for them."""
    _, _, rounds, job = declared(tmp_path, monkeypatch, ())
    events = [entry.event for entry in job.ledger.entries()]
    assert [one.split for one in events if isinstance(one, Retired)] == [
        one.split.digest for one in rounds.gates
    ]


def test_a_type_has_all_openers_of_its_answer():
    """Four opener tokens are two types; what holds of types holds of tokens."""
    generator = Generator(
        task="pairs",
        salt="one",
        encoder=NamedTokens(TOY),
        answers=(("'", "A"), ('"', "A"), ("[", "B"), ("{", "B")),
        templates=(PromptTemplate("two", "{opener} {x}"),),
        slots=(Slot("x", ("C", "D")),),
    )
    task = generator.make_task(generator.order())
    typed = by_type(task)
    assert (len(task.classes()), len(typed.classes())) == (4, 2)
    for small in task.classes():
        assert any(set(small) <= set(large) for large in typed.classes())


def test_development_data_of_some_strata_is_balanced_whatever_went(tmp_path):
    """Gates and strata take prompts of each opener unevenly; what is left is dealt in turn."""
    protocol = load_protocol(write_protocol(tmp_path))
    rounds = deal_rounds(protocol, replace(protocol.generators[0], pool=Pool(64, ("x",))))
    kept = {"six / B", "six / D"}
    fresh, other = narrowed(rounds, kept).fresh
    assert other is None
    assert Counter(row.opener for row in fresh.rows) == {"'": 4, '"': 4}
    assert {row.stratum for row in fresh.rows} <= kept
    assert not {row.prompt for row in fresh.rows} & {r.prompt for one in rounds.gates for r in one.split.rows}
    left = [row for row in spare_rows(rounds) if row.stratum in kept]
    assert Counter(row.opener for row in left[:8]) != {"'": 4, '"': 4}
