import json
from dataclasses import replace

import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.find import extraction
from circuitproof.find.attribute import arrange
from circuitproof.find.choices import Order
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import main as check
from circuitproof_lab.pipeline import localisation
from circuitproof_lab.pipeline.ledger import Burned, Declared, Ledger, Measured, Viewed
from circuitproof_lab.pipeline.localisation import LEDGER, localise
from circuitproof_lab.pipeline.protocol import load_protocol
from circuitproof_lab.pipeline.splits import deal_rounds
from circuitproof_lab.pipeline.stages import gate
from hand_models import QUOTE_EDGES, circuit_of
from protocols import write_own_protocol, write_protocol
from recipes import write_recipe


@pytest.fixture
def protocol(tmp_path):
    """Return a protocol of two generations on a model that closes quotes along one path."""
    return load_protocol(write_protocol(tmp_path))


def test_a_protocol_runs_to_proofs_that_the_checker_accepts(protocol, tmp_path, capsys):
    """Extraction, two gates, and the four properties of the final circuit on all 56 prompts looked at."""
    found = localise(protocol, tmp_path / "run")
    assert found.verdict is Verdict.PROVED
    assert [(one.generation, one.is_exact) for one in found.outcomes] == [("A", True), ("B", True)]
    (proof,) = found.proofs
    assert len(proof.battery.claim.task.domain) == 8 + 16 + 32
    assert proof.battery.claim.circuit == circuit_of(QUOTE_EDGES)
    with pytest.raises(SystemExit) as end:
        check([str(proof.bundle), "--against", str(tmp_path / "model")])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("valid: model compared")


def test_the_ledger_says_in_order_what_was_done(protocol, tmp_path):
    """The recipe comes before everything, each gate is burned before it is measured."""
    localise(protocol, tmp_path / "run")
    events = [entry.event for entry in Ledger(tmp_path / "run" / LEDGER).entries()]
    assert [type(event) for event in events] == [Declared, Viewed, Burned, Measured, Burned, Measured]
    assert events[0] == Declared("small", protocol.digest)


def test_each_development_set_is_everything_burned_so_far(protocol):
    """Generation B selects on A's development data and A's gate, and on nothing else."""
    (generator,) = protocol.generators
    rounds = deal_rounds(protocol, generator)
    first, second = (set(rounds.development(place).task().domain.prompts) for place in (0, 1))
    gates = [{row.prompt for row in gate.split.rows} for gate in rounds.gates]
    assert (len(first), len(second)) == (8, 24)
    assert second == first | gates[0]
    assert not gates[1] & second
    assert set(rounds.everything(1).domain.prompts) == second | gates[1]


def test_selection_never_reads_gate_rows(protocol, tmp_path, monkeypatch):
    """Gates of other prompts, here poisoned ones, leave candidates and selection what they were."""

    def poisoned(declared, generator):
        honest = deal_rounds(declared, generator)
        row = honest.gates[1].split.rows[0]
        rows = tuple(replace(one, prompt=(*row.prompt[:2], 31, *one.prompt[3:])) for one in _unlike(honest))
        split = replace(honest.gates[0].split, rows=rows)
        return replace(honest, gates=(replace(honest.gates[0], split=split), honest.gates[1]))

    def _unlike(honest):
        tails = {one.prompt[3:]: one for one in honest.gates[1].split.rows}
        return tuple(tails.values())[:16]

    localise(protocol, tmp_path / "honest")
    monkeypatch.setattr(localisation, "deal_rounds", poisoned)
    localise(protocol, tmp_path / "poisoned")
    for name in ("circuit.json", "circuit.report.json", "development.json"):
        honest, other = (tmp_path / run / "A" / "quotes" / name for run in ("honest", "poisoned"))
        assert honest.read_bytes() == other.read_bytes()
    gates = [(tmp_path / run / "A" / "quotes" / "gate.json").read_bytes() for run in ("honest", "poisoned")]
    assert gates[0] != gates[1]


def test_a_finished_run_is_not_repeated(protocol, tmp_path):
    """Nothing is extracted, opened or written again, and the answer is the same."""
    first = localise(protocol, tmp_path / "run")
    told: list[str] = []
    second = localise(protocol, tmp_path / "run", None, told.append)
    assert told == ["proving quotes"]
    assert second.to_json() == first.to_json()


@pytest.mark.parametrize("stage", ["extracting", "opening", "trimming", "proving"])
def test_an_interrupted_run_goes_on_to_the_same_end(protocol, tmp_path, stage):
    """Whatever stage it was killed in, also between burning a gate and writing down the result."""

    def kill(told):
        if stage in told:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        localise(protocol, tmp_path / "run", None, kill)
    again, whole = localise(protocol, tmp_path / "run"), localise(protocol, tmp_path / "whole")
    assert [one.to_json() for one in again.outcomes] == [one.to_json() for one in whole.outcomes]
    assert again.ledger_head == whole.ledger_head


def test_a_kill_behind_the_burning_leaves_the_gate_to_the_same_trial(protocol, tmp_path, monkeypatch):
    """The trial that burned it may finish; its result is entered once."""
    real = Ledger.record

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        localise(protocol, tmp_path / "run")
    monkeypatch.setattr(Ledger, "record", real)
    localise(protocol, tmp_path / "run")
    events = [type(entry.event) for entry in Ledger(tmp_path / "run" / LEDGER).entries()]
    assert events == [Declared, Viewed, Burned, Measured, Burned, Measured]


def test_a_second_run_cannot_use_a_burned_gate_as_fresh(protocol, tmp_path):
    """Two recipes that differ only in the rule would look at the same gate twice."""
    shared = tmp_path / "shared.jsonl"
    localise(protocol, tmp_path / "first", shared)
    other = load_protocol(write_protocol(tmp_path, {'rule = "sparsity"': 'rule = "margin"'}))
    with pytest.raises(InputError, match="gate 'quotes A gate' is not fresh: 16 of its 16 prompts were bu"):
        localise(other, tmp_path / "second", shared)
    salted = load_protocol(write_protocol(tmp_path, {'salt = "one"': 'salt = "two"'}))
    with pytest.raises(InputError, match="is not fresh"):
        localise(salted, tmp_path / "third", shared)


def test_a_ledger_that_lost_its_end_is_refused(protocol, tmp_path):
    """The results in the run's folder remember their lines."""
    localise(protocol, tmp_path / "run")
    path = tmp_path / "run" / LEDGER
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    with pytest.raises(InputError, match="lines were taken off its end"):
        localise(protocol, tmp_path / "run")


def test_a_run_can_stop_at_the_first_exact_generation(tmp_path):
    """Then later gates stay unburned."""
    changed = write_protocol(tmp_path, {"stop_when_exact = false": "stop_when_exact = true"})
    found = localise(load_protocol(changed), tmp_path / "run")
    assert [one.generation for one in found.outcomes] == ["A"]
    assert len(found.proofs[0].battery.claim.task.domain) == 8 + 16


def test_a_model_is_trained_first_where_the_protocol_says_how(tmp_path):
    """A model that learned nothing in six steps has no circuit that gives the right answers: a sentence."""
    write_recipe(tmp_path / "train.toml", {"architecture.norm": '{ kind = "none" }'})
    changes = {'directory = "model"': 'recipe = "train.toml"'}
    protocol = load_protocol(write_protocol(tmp_path, changes))
    with pytest.raises(InputError, match="no candidate is decided as wanted on a share 1 of the prompts"):
        localise(protocol, tmp_path / "run")
    assert (tmp_path / "run" / "training" / "model").is_dir()


def test_what_could_only_fail_at_the_end_burns_nothing(tmp_path):
    """A model that has no exact value, or gates that another run has seen: the folder is not even claimed."""
    write_recipe(tmp_path / "train.toml")
    changes = {'directory = "model"': 'recipe = "train.toml"'}
    with pytest.raises(
        InputError, match="a localisation ends in proofs, and the model's LayerNorm has no exact"
    ):
        localise(load_protocol(write_protocol(tmp_path, changes)), tmp_path / "run")
    protocol, shared = load_protocol(write_protocol(tmp_path)), tmp_path / "shared.jsonl"
    localise(protocol, tmp_path / "first", shared)
    before = shared.read_bytes()
    with pytest.raises(InputError, match="is not fresh"):
        localise(replace(protocol, digest=digest_bytes(b"other")), tmp_path / "run", shared)
    assert shared.read_bytes() == before
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("order", "times"), [("attribution", 1), ("topological", 2)])
def test_attribution_is_computed_once_if_extraction_went_by_it(tmp_path, monkeypatch, order, times):
    """The gate's nested circuits follow the order that the report holds; another order is not theirs."""
    seen: list[Order] = []

    def watched(*arguments):
        seen.append(arguments[-1])
        return arrange(*arguments)

    for module in (extraction, gate):
        monkeypatch.setattr(module, "arrange", watched)
    changes = {'order = "attribution"': f'order = "{order}"'}
    outcomes = localise(load_protocol(write_protocol(tmp_path, changes)), tmp_path / "run").outcomes
    assert len(seen) == times * len(outcomes)


def test_what_the_model_itself_misses_on_a_gate_is_counted_apart(protocol, tmp_path, monkeypatch):
    """No circuit is asked there, the ledger counts them, and nothing is selected on them later."""
    real = gate.places_right
    monkeypatch.setattr(
        gate,
        "places_right",
        lambda model, task: tuple(set(real(model, task)) - {0, 3} if task.size == 16 else real(model, task)),
    )
    first, second = localise(protocol, tmp_path / "run").outcomes
    assert (first.apart, first.trial.gate.prompts, first.is_exact) == ((0, 3), 14, True)
    assert second.seen == 8 + 14
    measured = [e.event for e in Ledger(tmp_path / "run" / LEDGER).entries() if isinstance(e.event, Measured)]
    assert [(event.right, event.prompts, event.apart) for event in measured] == [(14, 14, 2), (32, 32, 0)]
    dealt = json.loads((tmp_path / "run" / "B" / "quotes" / "development.json").read_text())
    assert dealt[1]["name"] == "quotes A gate, as far as the model decides it right"


def test_a_gate_of_which_the_model_does_nothing_is_refused(protocol, tmp_path, monkeypatch):
    """An empty gate would be exact."""
    monkeypatch.setattr(gate, "places_right", lambda _model, _task: ())
    with pytest.raises(InputError, match="the model itself decides none of the 16 prompts of a gate right"):
        localise(protocol, tmp_path / "run")


def test_nested_circuits_show_what_sparsity_alone_gives(protocol, tmp_path):
    """From the most important edge to all of them, measured on development data and on the gate."""
    outcome = localise(protocol, tmp_path / "run").outcomes[0]
    sizes = [len(point.circuit) for point in outcome.nested]
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert sizes[-1] == len(circuit_of(QUOTE_EDGES).graph.edges())
    assert outcome.nested[-1].gate.agreed == 16
    stored = json.loads((tmp_path / "run" / "A" / "quotes" / "gate.result.json").read_text())
    assert stored["generation"] == "A"


def test_a_task_of_ones_own_is_localised_from_its_file(tmp_path):
    """Its prompts are dealt out to development data and gates, and what is proved is about them."""
    found = localise(load_protocol(write_own_protocol(tmp_path)), tmp_path / "run")
    assert found.verdict is Verdict.PROVED
    assert [outcome.task for outcome in found.outcomes] == ["own-quotes"] * 2
    (proof,) = found.proofs
    assert len(proof.battery.claim.task.domain) == 8 + 16 + 32
    manifest = json.loads((tmp_path / "run" / "A" / "own-quotes" / "gate.json").read_text())
    assert manifest["strata"] == {'"': 8, "'": 8}
    assert manifest["opener_positions"] == []
