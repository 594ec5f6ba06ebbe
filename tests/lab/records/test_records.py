"""A record is one class: what it reads it writes again, to the last key."""

import json

import pytest

from circuitproof.errors import InputError
from circuitproof.files.codec import to_json
from circuitproof.files.records import read_record
from circuitproof_lab.records.audit import BaseQuality, ChosenRung, MeasuredState, read_states
from circuitproof_lab.records.blocks import BlockRegression
from circuitproof_lab.records.domain import DeclaredDomain
from circuitproof_lab.records.gate import load_outcome
from circuitproof_lab.records.healing import Healed
from circuitproof_lab.records.limits import NoLimits, PatternLimits
from circuitproof_lab.records.migration import RoundRecord
from circuitproof_lab.records.norms import Attenuation, NormFold
from circuitproof_lab.records.programs import Accepted, HeadSearch
from circuitproof_lab.records.surrogate import SurrogateReport
from circuitproof_lab.records.variants import VariantComparison
from circuitproof_lab.records.viability import Viability
from run_folders import FILES

KINDS = {
    "base.json": BaseQuality,
    "quotes/exact.json": MeasuredState,
    "quotes/chosen.json": ChosenRung,
    "quotes/viability.json": Viability,
    "quotes/program.0.0.json": HeadSearch,
    "quotes/accepted.json": Accepted,
    "quotes/healing/healed.json": Healed,
    "quotes/limits/limits.json": PatternLimits,
    "brackets/limits/no-limits.json": NoLimits,
    "quotes/declared.json": DeclaredDomain,
    "quotes/blocks.json": BlockRegression,
    "seed-0/healed/migration.json": RoundRecord,
    "attenuated/removal.json": Attenuation,
    "fold.json": NormFold,
    "explained/study.json": SurrogateReport,
    "comparison.json": VariantComparison,
}
GATE = "A/quotes/gate.result.json"


@pytest.fixture(params=KINDS)
def file(request, tmp_path):
    """A file of every kind of record, and what it holds."""
    path = tmp_path / "record.json"
    path.write_text(json.dumps(FILES[request.param]))
    return path, KINDS[request.param], FILES[request.param]


def test_a_record_is_written_as_it_is_read(file):
    """Whoever reads a run sees what the stage wrote and nothing else."""
    path, kind, content = file
    assert to_json(read_record(path, kind)) == content


def test_a_key_that_no_stage_writes_is_refused(file):
    """It may be from another version, in which the others mean something else."""
    path, kind, content = file
    path.write_text(json.dumps({**content, "surplus": 1}))
    with pytest.raises(InputError, match="surplus"):
        read_record(path, kind)


def test_a_gate_is_written_as_it_is_read(tmp_path):
    """The line of the ledger stands beside it: it is of the run, not of the trial."""
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(FILES[GATE]))
    outcome, head = load_outcome(path)
    said = {**outcome.to_json(), "ledger_head": str(head)}
    assert load_outcome_json(tmp_path, said) == (outcome, head)
    assert said.keys() == FILES[GATE].keys()
    assert (outcome.seen, outcome.trial.gate.agreed) == (16, 15)


def load_outcome_json(folder, content):
    """Write an outcome and read it."""
    (folder / "again.json").write_text(json.dumps(content))
    return load_outcome(folder / "again.json")


def test_states_come_in_the_order_of_the_ladder_and_others_last(tmp_path):
    """Files have another order, and a folder holds other files too."""
    for name in ("readout", "base", "another", "installed"):
        state = {**FILES["quotes/exact.json"], "name": name}
        (tmp_path / f"{name}.json").write_text(json.dumps(state))
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "chosen.json").write_text(json.dumps(FILES["quotes/chosen.json"]))
    assert [one.name for one in read_states(tmp_path)] == ["base", "installed", "readout", "another"]


def test_a_number_of_prompts_that_is_none_is_one_sentence(tmp_path):
    """The page would show it as a power of ten."""
    path = tmp_path / "limits.json"
    path.write_text(json.dumps({**FILES["quotes/limits/limits.json"], "prompts": "many"}))
    with pytest.raises(InputError, match=r"limits\.json.*'many', want a whole number"):
        read_record(path, PatternLimits)
