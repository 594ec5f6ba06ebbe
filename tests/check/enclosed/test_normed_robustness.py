"""Robustness through a final layer norm: what the page's bound says is true, and the checker says no more."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import pytest

from circuitproof_check.main import Beside, Outcome, check, inspect
from enclosed_claims import GPT, NEOX, UNBIASED, copied, halved, prompts, prover_of, remarked, robust
from enclosed_twin import EnclosedNaive, EnclosedProver, leader, times

SIZES = {
    "like GPT-2": GPT,
    "like GPT-NeoX": NEOX,
    "without biases": UNBIASED | {"logit_bias": False},
    "tied": GPT | {"tied": True, "attention": "sparsemax"},
}
MEAN = {"kind": "mean", "over": "all", "prompts": [[1], [2, 1], [3, 3, 0]]}


def proving(size: dict[str, Any], seed: int, p: int = 64, **circuit: Any) -> EnclosedProver:
    """Return a prover all of whose decisions are known."""
    seeds = (seed + 100 * step for step in range(20))
    found = (prover_of(size, one, p, **circuit) for one in seeds)
    return next(one for one in found if all(leader(one.row(place)) is not None for place in prompts(one)))


def claimed(prover: EnclosedProver, epsilon: Fraction, path: Path) -> tuple[Outcome, str]:
    """Return what the checker says of a proof."""
    again = EnclosedProver(copied(prover.bundle), prover.p)
    again.found = prover.found
    leaves = again.by_prompt(lambda p: {"decided": prover.fold(p)})
    return check(remarked(robust(again, epsilon, "proved", leaves)).write(path))


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("circuit", [{}, {"ablation": MEAN}], ids=["zero", "mean"])
def test_robustness_is_proved_up_to_the_bound_of_the_page(name, seed, circuit, tmp_path):
    """The twin says where the bound ends; the checker agrees on both sides of it."""
    prover = proving(SIZES[name], seed, **circuit)
    low, high = halved(prover)
    assert claimed(prover, low, tmp_path / "low")[0] is Outcome.VALID
    outcome, reason = claimed(prover, high, tmp_path / "high")
    assert (outcome, "leads exceed what epsilon moves" in reason) == (Outcome.INVALID, True)


def real_logits(naive: EnclosedNaive, eta: list[Fraction]) -> list[Any]:
    """Return the logits of the middle of the final residual with something added, in real numbers."""
    numbers, d = naive.residual()[0], naive.size["width"]
    x = [Fraction(one, 2**naive.p) + move for one, move in zip(numbers, eta, strict=True)]
    centred = [one - sum(x, Fraction(0)) / d for one in x]
    variance = sum(one * one for one in centred) / d + Fraction(naive.size["norm"]["epsilon"])
    sigma = mpmath.sqrt(mpmath.mpmathify(variance))
    scale, shift = naive.bias("logits.norm.scale", 0), naive.bias("logits.norm.shift", 0)
    normed = [
        mpmath.mpmathify(a * c) / sigma + mpmath.mpmathify(b)
        for a, c, b in zip(scale, centred, shift, strict=True)
    ]
    pairs = zip(naive.output_rows(), naive.logit_biases(), strict=True)
    return [mpmath.fdot(map(mpmath.mpmathify, row), normed) + mpmath.mpmathify(one) for row, one in pairs]


def perturbations(epsilon: Fraction, width: int, chance: random.Random) -> Iterator[list[Fraction]]:
    """Return every corner of the ball, and random points of it."""
    for signs in product((-1, 1), repeat=width):
        yield [epsilon * sign for sign in signs]
    for _ in range(16):
        yield [epsilon * Fraction(chance.randint(-16, 16), 16) for _ in range(width)]


@pytest.mark.parametrize("seed", range(12))
def test_no_perturbation_changes_what_the_bound_proves(seed):
    """Corners and random points of the ball, at the largest proved ε, in fifty digits."""
    size, chance = list(SIZES.values())[seed % len(SIZES)], random.Random(seed)  # noqa: S311  # no secret
    prover = proving(size, seed)
    low, _ = halved(prover)
    with mpmath.workdps(50):
        for prompt in prompts(prover):
            naive, best = prover.naive(prompt), prover.fold(prompt)
            for eta in perturbations(low, naive.size["width"], chance):
                logits = real_logits(naive, eta)
                assert max(range(len(logits)), key=logits.__getitem__) == best


@pytest.mark.parametrize("seed", range(4))
def test_without_an_offset_the_bound_ends_where_a_corner_flips(seed, tmp_path):
    """Where c is zero nothing is lost but the radius, which 64 bits make small."""
    bundle = proving(UNBIASED | {"logit_bias": False}, seed).bundle
    shape, numbers = bundle.tensors["logits.norm.shift"]
    bundle.tensors["logits.norm.shift"] = shape, [0.0] * len(numbers)
    prover = EnclosedProver(bundle)
    low, high = halved(prover, 30)
    assert claimed(prover, low, tmp_path / "low")[0] is Outcome.VALID
    found = [flipping(prover, p, high * Fraction(1001, 1000)) for p in prompts(prover)]
    prompt, eta = next((p, eta) for p, eta in enumerate(found) if eta is not None)
    assert replayed(prover, prompt, eta, max(map(abs, eta)), tmp_path / "high")[0] is Outcome.REFUTED


def flipping(prover: EnclosedProver, prompt: int, epsilon: Fraction) -> list[Fraction] | None:
    """Return a corner against a candidate that brings another known decision, if the twin finds one."""
    naive, best = prover.naive(prompt), prover.fold(prompt)
    rows, scale = naive.output_rows(), naive.bias("logits.norm.scale", 0)
    for row in rows:
        u = [a - b for a, b in zip(rows[best], row, strict=True)]
        mean = sum(map(times, scale, u), Fraction(0)) / len(u)
        w = [a * one - mean for a, one in zip(scale, u, strict=True)]
        eta = [-epsilon * ((one > 0) - (one < 0)) for one in w]
        if leader(naive.perturbed(eta)) not in (None, best):
            return eta
    return None


def replayed(
    prover: EnclosedProver, prompt: int, eta: list[Fraction], epsilon: Fraction, path: Path
) -> tuple[Outcome, str]:
    """Return what the checker says of a refutation."""
    again = EnclosedProver(copied(prover.bundle), prover.p)
    again.found = prover.found
    entry = {"prompt": prompt, "decided": prover.fold(prompt), "eta": [str(one) for one in eta]}
    return check(remarked(robust(again, epsilon, "refuted", {"replay": [entry]})).write(path))


@pytest.mark.parametrize("name", SIZES)
def test_a_replay_refutes_just_where_the_twin_knows_another_decision(name, tmp_path):
    """And not with a larger perturbation than ε, nor one after which nothing is known."""
    provers = (proving(SIZES[name], seed) for seed in range(7, 20))
    prover, prompt, eta = next(found for prover in provers for found in flipped(prover))
    epsilon = max(map(abs, eta))
    assert replayed(prover, prompt, eta, epsilon, tmp_path / "flips")[0] is Outcome.REFUTED
    outcome, reason = replayed(prover, prompt, eta, epsilon * Fraction(999, 1000), tmp_path / "far")
    assert (outcome, "eta is within epsilon" in reason) == (Outcome.INVALID, True)
    for place, part in enumerate((Fraction(0), between(prover, prompt, eta))):
        some = [part * one for one in eta]
        outcome, reason = replayed(prover, prompt, some, epsilon, tmp_path / str(place))
        assert (outcome, "another known decision" in reason) == (Outcome.INVALID, True), reason


def flipped(prover: EnclosedProver) -> Iterator[tuple[EnclosedProver, int, list[Fraction]]]:
    """Return prompts with perturbations that bring another known decision; an offset may allow none."""
    least = halved(prover, 4)[1]
    for step in range(6):
        for prompt in prompts(prover):
            if (eta := flipping(prover, prompt, least * 2**step)) is not None:
                yield prover, prompt, eta


def between(prover: EnclosedProver, prompt: int, eta: list[Fraction]) -> Fraction:
    """Return a part of a perturbation after which the decision is not known: two logits are too near."""
    naive, best = prover.naive(prompt), prover.fold(prompt)
    low, high = Fraction(0), Fraction(1)
    for _ in range(90):
        middle = (low + high) / 2
        after = leader(naive.perturbed([middle * one for one in eta]))
        if after is None:
            return middle
        low, high = (middle, high) if after == best else (low, middle)
    raise AssertionError("every part is decided")


def test_a_precision_that_decides_nothing_proves_nothing(tmp_path):
    """With 16 bits the radius is larger than the leads, with a residual of zeros the deviation is zero."""
    prover = proving(GPT, 0)
    low, _ = halved(prover)
    coarse = EnclosedProver(copied(prover.bundle), 16)
    leaves = coarse.by_prompt(lambda p: {"decided": prover.fold(p)})
    assert check(robust(coarse, low, "proved", leaves).bundle.write(tmp_path / "a"))[0] is Outcome.INVALID


def test_the_work_of_leads_is_foreseen(tmp_path):
    """The number of operations that the sentence names is enough."""
    prover = proving(GPT, 1)
    low, _ = halved(prover, 4)
    leaves = prover.by_prompt(lambda p: {"decided": prover.fold(p)})
    bundle = remarked(robust(prover, low, "proved", leaves)).write(tmp_path / "bundle")
    few = inspect(bundle, Beside(operations=40_000))
    assert few.outcome is Outcome.INCOMPLETE
    named = int(few.reason.rpartition("--operations ")[2])
    assert inspect(bundle, Beside(operations=named)).outcome is Outcome.VALID
