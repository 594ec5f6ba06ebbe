"""Engine and checker, which share no code, on random patterns: the one confirms each answer of the other."""

import json

import pytest

from circuitproof.certificate.symbolic import symbolic_bundle_files, write_symbolic_bundle
from circuitproof.errors import InputError
from circuitproof.verify.symbolic.battery import prove_pattern
from circuitproof.verify.symbolic.cover import Budget
from circuitproof.verify.verdict import Verdict
from circuitproof_check.main import Outcome, check
from symbolic_claims import PROPERTIES, random_claim

OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.INVALID,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda prop: prop.kind)
def test_the_checker_confirms_what_the_engine_answers(prop, tmp_path):
    """Proved is valid, refuted is a refutation that holds, undecided is incomplete; all of them occur."""
    verdicts = set()
    for seed in range(100, 114):
        battery = prove_pattern(random_claim(seed, (prop,)), Budget(listed=(0, 64)[seed % 2]))
        write_symbolic_bundle(tmp_path / str(seed), battery)
        outcome, sentence = check(tmp_path / str(seed))
        assert outcome is OUTCOMES[battery.verdict], sentence
        assert battery.verdict is not Verdict.REFUTED or sentence.startswith("the refutation of")
        assert "prompts of a pattern" in sentence
        verdicts.add(battery.verdict)
    assert {Verdict.PROVED, Verdict.REFUTED} <= verdicts


def test_a_bundle_holds_only_the_rows_that_the_evidence_speaks_of():
    """Tokens that have no weight in any row do not matter, so their embedding is not there."""
    battery = prove_pattern(random_claim(0))
    files = {name: json.loads(symbolic_bundle_files(battery)[name]) for name in ("claim.json", "domain.json")}
    rows = set(files["claim.json"]["weights"]["embed.token"]["rows"])
    shown = {token for prompt in files["domain.json"]["prompts"] for token in prompt}
    assert battery.tokens | shown == rows


def test_nothing_is_overwritten(tmp_path):
    """A bundle appears whole, and once."""
    battery = prove_pattern(random_claim(0))
    write_symbolic_bundle(tmp_path / "bundle", battery)
    with pytest.raises(InputError, match="already exists"):
        write_symbolic_bundle(tmp_path / "bundle", battery)
