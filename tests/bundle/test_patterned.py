"""Engine and checker, which share no code, on random patterns: the one confirms each answer of the other."""

import json
import re
from dataclasses import replace

import pytest

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.graph import Head
from circuitproof.errors import InputError
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from hand_models import circuit_of, freeze
from models import random_model
from pattern_claims import PROPERTIES, SIZES, random_claim, task_of, truths

SEEDS = (2, 3, 14, 19, 33, 35, 39, 102, 103, 110)
"""Claims whose evidence is of every kind."""
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


@pytest.mark.parametrize("prop", PROPERTIES, ids=lambda prop: prop.kind)
def test_the_checker_confirms_what_the_engine_answers(prop, tmp_path):
    """Proved is valid, refuted is a refutation that holds, undecided is incomplete; all of them occur."""
    verdicts = set()
    for seed in SEEDS:
        battery = prove(random_claim(seed, (prop,)), Effort(listed=(0, 64)[seed != 14]))
        write_bundle(tmp_path / str(seed), battery)
        outcome, sentence = check(tmp_path / str(seed))
        assert outcome is OUTCOMES[battery.verdict], sentence
        assert battery.verdict is not Verdict.REFUTED or " refuted (" in sentence
        assert "prompts of a pattern" in sentence
        verdicts.add(battery.verdict)
    assert {Verdict.PROVED, Verdict.REFUTED} <= verdicts


def test_every_kind_of_evidence_was_met():
    """So that the test above says something about each."""
    met = set()
    for seed in SEEDS:
        text = bundle_files(prove(random_claim(seed), Effort(listed=64)))["certificate.json"]
        met |= set(re.findall(r'"split":"([a-z]+)"', text.decode())) | set(re.findall(rb'"prompts":', text))
    assert met == {"label", "length", "token", "sum", "key", "edge", b'"prompts":'}


def test_a_bundle_holds_only_the_rows_that_the_evidence_speaks_of():
    """Tokens that have no weight in any row do not matter, so their embedding is not there."""
    battery = prove(random_claim(0))
    files = {name: json.loads(bundle_files(battery)[name]) for name in ("claim.json", "domain.json")}
    rows = set(files["claim.json"]["weights"]["embed.token"]["rows"])
    shown = {token for prompt in files["domain.json"]["prompts"] for token in prompt}
    assert battery.tokens | shown == rows


def test_nothing_is_overwritten(tmp_path):
    """A bundle appears whole, and once."""
    battery = prove(random_claim(0))
    write_bundle(tmp_path / "bundle", battery)
    with pytest.raises(InputError, match="already exists"):
        write_bundle(tmp_path / "bundle", battery)


MEMBER = "default 0\nadd 1 when key_token in {0, 1}\notherwise nowhere"
FIRST_MEMBER = "default 0\nadd 1 when key_token in {0, 1} and key_position == 0\notherwise nowhere"
NOWHERE = "default 0\notherwise nowhere"
ITSELF = "default 0\notherwise self"
DEEP = ("embed -> mlp 0", "mlp 0 -> head 1.0", "head 1.0 -> mlp 1", "mlp 1 -> logits")


@pytest.mark.parametrize(
    ("program", "edges"),
    [
        (MEMBER, ("embed -> mlp 0", "mlp 0 -> mlp 1", "mlp 1 -> logits")),
        (MEMBER, DEEP),
        (MEMBER, (*DEEP, "embed -> mlp 1")),
        (MEMBER, (*DEEP, "embed -> head 1.0", "head 1.0 -> logits", "embed -> logits")),
        (FIRST_MEMBER, DEEP),
        (NOWHERE, (*DEEP, "embed -> logits")),
        (ITSELF, (*DEEP, "embed -> logits")),
    ],
)
@pytest.mark.parametrize("biases", [True, False])
def test_bends_and_deep_circuits_are_followed_by_both(program, edges, biases, tmp_path):
    """Behind a row that chooses one key an MLP is a function of that key; prompts are not looked at."""
    sizes = replace(SIZES, biases=biases, logit_bias=biases)
    frozen = freeze(random_model(sizes, len(edges), {Head(1, 0): parse(program)}))
    circuit, task = circuit_of(edges, layers=2, heads=2), task_of("any{1..2} with exactly 1 of [0, 1]")
    wanted = truths(Claim(frozen, circuit, task, PROPERTIES), PROPERTIES)
    for prop, is_true in zip(PROPERTIES, wanted, strict=True):
        battery = prove(Claim(frozen, circuit, task, (prop,)), Effort(listed=0))
        assert (battery.verdict is Verdict.PROVED) == is_true
        write_bundle(tmp_path / prop.kind, battery)
        outcome, sentence = check(tmp_path / prop.kind)
        assert outcome is OUTCOMES[battery.verdict], sentence
