"""Random changes to a valid bundle of enclosed arithmetic, digests sealed anew: what is accepted is true.

`CIRCUITPROOF_CHANGES=100000 pytest tests/forgeries/test_enclosed_mutations.py` is the nightly size.
"""

import os
import random
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import measure_forgeries
import measures_oracle
from bundle_maker import Bundle
from circuitproof_check.main import Outcome, check
from enclosed_claims import (
    GPT,
    NEOX,
    PLAIN,
    answered,
    halved,
    is_kept,
    prover_of,
    remarked,
    robust,
    true_verdicts,
)
from enclosed_twin import EnclosedProver
from json_changes import change_json, change_tensor

CHANGES = int(os.environ.get("CIRCUITPROOF_CHANGES", "200"))
PORTIONS = 4
PARTS = ("claim", "domain", "certificate", "certificate", "tensors")
SEED = 24
"""With these weights each edge of the circuit is known to be needed."""
DECIDED = ("equivalence", "invariance")
LISTED = [[token] * count for token in (1, 2) for count in range(1, 5)]
MEAN = {"kind": "mean", "over": "position", "prompts": LISTED}


@cache
def plain() -> Bundle:
    """Return a small bundle that proves four properties of a model without norms."""
    return robust_at_half(answered(prover_of(PLAIN, SEED), *DECIDED, "necessity"))


@cache
def normed() -> Bundle:
    """Return one about a model like GPT-2, robust through its final norm."""
    return robust_at_half(answered(decided(GPT), *DECIDED))


@cache
def carried() -> Bundle:
    """Return one about a model like GPT-NeoX whose cut edges carry means, robust through its final norm."""
    return robust_at_half(answered(decided(NEOX, ablation=MEAN), *DECIDED))


@cache
def counted_bundle() -> Bundle:
    """Return a small bundle that proves a count and all measures."""
    return measure_forgeries.honest()


BUNDLES = (plain, normed, carried, counted_bundle)


def decided(size: dict[str, Any], **circuit: Any) -> EnclosedProver:
    """Return a prover whose decisions are all known."""
    provers = (prover_of(size, seed, **circuit) for seed in range(50))
    return next(one for one in provers if true_verdicts(one)["equivalence"])


def robust_at_half(prover: EnclosedProver) -> Bundle:
    """Claim robustness at half of what is known."""
    leaves = prover.by_prompt(lambda p: {"decided": prover.fold(p)})
    return remarked(robust(prover, halved(prover, 8)[0] / 2, "proved", leaves))


@pytest.mark.parametrize("make", BUNDLES)
def test_the_bundle_that_is_changed_is_valid(make, tmp_path):
    """So that each refusal below is due to a change."""
    outcome, reason = check(make().write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


def holds(prover: EnclosedProver, claimed: dict[str, str]) -> bool:
    """Say whether the twin knows that a property of the changed claim is true."""
    known, task = true_verdicts(prover), prover.claim["task"]
    decided = [prover.decision(p) for p in range(len(prover.prompts))]
    answers, classes = task["answer"]["answers"], task["relation"]["classes"]
    match claimed["kind"]:
        case "equivalence":
            return known["equivalence"] and decided == [{answer} for answer in answers]
        case "invariance":
            kinds = {(group, *one) for group, one in zip(classes, decided, strict=True)}
            return known["invariance"] and len(kinds) == len(set(classes))
        case "accuracy" | "loss" | "logit difference" | "recovered difference":
            return measures_oracle.holds(prover, claimed)
        case "robustness":
            return known["equivalence"] and is_kept(prover, Fraction(claimed["epsilon"]))
        case kind:
            return known[kind]


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_no_random_change_makes_the_checker_accept_what_is_false(portion, tmp_path):
    """Sealed digests prove nothing, and no change is a fault of the checker."""
    draw = random.Random(portion)  # noqa: S311  # changes, not secrets
    outcomes: Counter[Outcome] = Counter()
    for number in range(CHANGES // PORTIONS):
        bundle = deepcopy(BUNDLES[number % len(BUNDLES)]())
        part = draw.choice(PARTS)
        for _ in range(draw.choice((1, 1, 2))):
            if part == "tensors":
                change_tensor(bundle.tensors, draw)
            else:
                change_json(getattr(bundle, part), draw)
        outcome, reason = check(bundle.write(tmp_path / str(number)))
        assert outcome is not Outcome.FAILURE, (part, reason)
        outcomes[outcome] += 1
        if outcome is Outcome.VALID:
            changed = EnclosedProver(bundle, bundle.certificate["precision"])
            assert all(holds(changed, claimed) for claimed in bundle.claim["properties"]), (part, reason)
    assert outcomes[Outcome.INVALID] > outcomes.total() / 3
