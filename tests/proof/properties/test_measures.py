"""Counts and measures, compared with a twin that reads nothing but the page and the files of a bundle."""

import json
import os
from collections import Counter

import pytest

from circuitproof.bundle.files import bundle_files
from circuitproof.proof.battery import prove
from circuitproof.proof.brackets import KnownRange
from circuitproof.proof.verdict import Verdict
from measured_claims import FOUND, measured_claim
from measures_twin import Reading

SEEDS = int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30")) // 2
"""Dozens, and nightly thousands."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_verdict_and_remark_is_the_twins(seed):
    """Of what was found as of what was bounded, at the precision that the certificate names."""
    files = bundle_files(prove(measured_claim(seed)))
    twin = Reading(files)
    answers = json.loads(files["certificate.json"])["answers"]
    assert [one["verdict"] for one in answers] == [twin.verdict(one["property"]) for one in answers]
    proved = [one for one in answers if one["verdict"] == "proved"]
    assert [one["remarks"] for one in proved] == [twin.remarks(one["property"]) for one in proved]
    assert [one["property"] for one in answers] == twin.claim["properties"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_is_found_is_what_the_twin_finds(seed):
    """All errors and no others, or at least the right ones; brackets just around the twin's bounds."""
    claim = measured_claim(seed)
    if claim.properties != FOUND:
        return
    battery = prove(claim)
    twin = Reading(bundle_files(battery))
    accuracy, *measures = (answer.prop.to_json() for answer in battery.answers)
    right = [twin.is_right(x) for x in range(claim.task.size)]
    if None not in right and True in right:
        assert accuracy == {"kind": "accuracy", "wrong": [x for x, one in enumerate(right) if one is False]}
    else:
        assert accuracy == {"kind": "accuracy", "least": max(1, right.count(True))}
    for entry in measures:
        found = twin.ends(entry)
        for key in ("least", "mean", "greatest"):
            if (ends := found.get(key)) is not None and entry.get(key) is not None:
                assert entry[key] == KnownRange(*ends).outward().to_json()
    shares = [twin.share(x) for x in range(claim.task.size)]
    unknown = [x for x, one in enumerate(shares) if one is None]
    assert measures[-1]["without"] == (unknown if len(unknown) < len(shares) else [])


def test_all_verdicts_and_forms_are_met():
    """Otherwise the agreement above would say less."""
    batteries = [prove(measured_claim(seed)) for seed in range(30)]
    met = Counter((answer.prop.kind, answer.verdict) for one in batteries for answer in one.answers)
    kinds = {prop.kind for prop in FOUND}
    assert set(met) >= {(kind, verdict) for kind in kinds for verdict in (Verdict.PROVED, Verdict.REFUTED)}
    remarks = {str(r).partition(":")[0] for one in batteries for a in one.answers for r in a.remarks}
    assert remarks >= {"no better than a constant", "whole model", "prompts left out"}
