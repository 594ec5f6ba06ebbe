"""Claims that are likely to be true for a trivial reason: prover, checker and oracle say the same of them."""

import pytest

from bundle_twin import falsehoods, read_bundle
from circuitproof_check.main import Outcome, check
from empty_claims import emptiness, empty_ask
from random_claims import told

LOOKED_FOR = ("implied by equivalence", "constant source", "whole model")
SEEDS = range(90)


def proved_remarks(bundle):
    """Return the remarks on each proved property."""
    answers = read_bundle(bundle)[2]["answers"]
    return {one["property"]["kind"]: one["remarks"] for one in answers if one["verdict"] == "proved"}


@pytest.mark.parametrize("seed", SEEDS)
def test_remarks_on_a_trivial_claim_are_its_own(seed, tmp_path):
    """Three ways to find them agree, and what is remarked is so on every prompt that there is."""
    asked = empty_ask(seed)
    made = told(asked, tmp_path)
    assert made.bundle is not None
    assert check(made.bundle, made.model, made.base)[0] in (Outcome.VALID, Outcome.REFUTED)
    assert falsehoods(made.bundle, made.model, made.base) == []
    remarks = proved_remarks(made.bundle)
    for kind, found in emptiness(asked, list(remarks)).items():
        said = [one for one in remarks[kind] if one.startswith(LOOKED_FOR)]
        assert kind in ("equivalence", "minimum", "lesion identity") or set(said) <= set(found)


def test_each_of_these_remarks_is_found_somewhere(tmp_path):
    """So the test above is about all of them."""
    found = set()
    for seed in SEEDS:
        made = told(empty_ask(seed), tmp_path / str(seed))
        found |= {one.split(":")[0] for said in proved_remarks(made.bundle).values() for one in said}
    wanted = {"one edge", "no program head", "no program head in the circuit", "program of the base"}
    assert {"implied by equivalence", "whole model", "constant answer"} | wanted <= found
