"""What the prover writes stays the same, byte for byte, until someone says otherwise."""

import json

import pytest

from golden import FILE, SEEDS, golden

WRITTEN = json.loads(FILE.read_text())


@pytest.mark.parametrize("start", range(0, len(SEEDS), 34))
def test_bundles_are_the_golden_ones(start):
    """Every theme has ten asks: lists and patterns, each property, proofs, refutations and refusals."""
    seeds = SEEDS[start : start + 34]
    assert {seed: golden(seed) for seed in seeds} == {seed: WRITTEN[str(seed)] for seed in seeds}
