"""Hundreds of random changes to a valid bundle, digests sealed anew: what is still accepted is still true.

`CIRCUITPROOF_CHANGES=100000 pytest tests/forgeries/test_mutations.py` is the nightly size.
"""

import os
import random
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from functools import cache

import pytest

from bundle_maker import KINDS, Bundle, Prover, every_edge, fitting, proving
from circuitproof_check.main import Outcome, check
from json_changes import change_json, change_tensor

CHANGES = int(os.environ.get("CIRCUITPROOF_CHANGES", "400"))
PORTIONS = 4
PARTS = ("claim", "domain", "certificate", "tensors")


@cache
def valid_bundle() -> Bundle:
    """Return a small bundle that proves all five properties."""
    return proving(fitting(), *KINDS)


def holds(prover, claimed):
    """Say, from the naive forward pass, whether a property of the (changed) claim is true."""
    prompts = range(len(prover.prompts))
    task = prover.claim["task"]
    is_clear = all(len(prover.decision(p)) == 1 for p in prompts)
    match claimed["kind"]:
        case "equivalence":
            return all(prover.decision(p) == {task["answer"]["answers"][p]} for p in prompts)
        case "invariance":
            classes = task["relation"]["classes"]
            decided = {(classes[p], *sorted(prover.decision(p))) for p in prompts}
            return is_clear and len(decided) == len(set(classes))
        case "necessity":
            lesions = [prover.lesion(edge) for edge in range(len(prover.edges))]
            return all(any(prover.is_needed(p, lesion) for p in prompts) for lesion in lesions)
        case "robustness":
            radii = [prover.radius(p) for p in prompts]
            return is_clear and all(r is None or r > Fraction(claimed["epsilon"]) for r in radii)
        case _:
            every = every_edge(prover.claim["architecture"])
            return all(prover.decision(p) == prover.decision(p, every) for p in prompts)


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_no_random_change_makes_the_checker_accept_what_is_false(portion, tmp_path):
    """Sealed digests prove nothing: the checker must compute, and say why it refuses."""
    draw = random.Random(portion)  # noqa: S311  # changes, not secrets
    outcomes = Counter()
    for number in range(CHANGES // PORTIONS):
        bundle = deepcopy(valid_bundle())
        part = draw.choice(PARTS)
        for _ in range(draw.choice((1, 1, 2))):
            if part == "tensors":
                change_tensor(bundle.tensors, draw)
            else:
                change_json(getattr(bundle, part), draw)
        outcome, reason = check(bundle.write(tmp_path / str(number)))
        assert reason
        outcomes[outcome] += 1
        if outcome is Outcome.VALID:
            prover = Prover(bundle)
            assert all(holds(prover, claimed) for claimed in bundle.claim["properties"]), (part, reason)
    assert outcomes[Outcome.INVALID] > outcomes.total() / 3
