"""Forgeries of robustness through a final layer norm: each is refused by its rule, and without it passes."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from bundle_maker import Bundle
from circuitproof_check.main import Outcome, check
from enclosed_claims import GPT, copied, halved, prompts, prover_of, remarked, robust
from enclosed_twin import EnclosedProver, leader
from rule_removal import without


@cache
def known() -> tuple[EnclosedProver, Fraction, Fraction]:
    """Return a prover whose decisions are known, an ε at which they are kept and one where that is open."""
    provers = (prover_of(GPT, seed) for seed in range(20))
    prover = next(one for one in provers if all(leader(one.row(p)) is not None for p in prompts(one)))
    return prover, *halved(prover)


def again(p: int = 64) -> EnclosedProver:
    """Return the prover with a bundle that nothing else changes."""
    prover = EnclosedProver(copied(known()[0].bundle), p)
    prover.found = known()[0].found if p == known()[0].p else {}
    return prover


def proof(epsilon: Fraction, p: int = 64, **changed: Any) -> Bundle:
    """Return a proof at an ε, with the decision of the first prompt as told."""
    prover = again(p)
    leaves = prover.by_prompt(lambda x: {"decided": known()[0].fold(x)})
    leaves["children"][0] |= changed
    return remarked(robust(prover, epsilon, "proved", leaves))


def replay(size: Fraction, epsilon: Fraction) -> Bundle:
    """Return a refutation by a perturbation of a size."""
    prover = again()
    width = prover.claim["architecture"]["width"]
    entry = {"prompt": 0, "decided": known()[0].fold(0), "eta": [str(size)] * width}
    return remarked(robust(prover, epsilon, "refuted", {"replay": [entry]}))


def tied() -> Bundle:
    """Return a proof about candidates whose rows and biases are the same, so that nothing leads."""
    prover = again()
    for name in ("logits.weight", "logits.bias"):
        shape, numbers = prover.bundle.tensors[name]
        prover.bundle.tensors[name] = shape, [1.0] * len(numbers)
    prover.found = {}
    leaves = prover.by_prompt(lambda _: {"decided": 0})
    return remarked(robust(prover, known()[1], "proved", leaves))


UNKNOWN = ("decided_is_what_is_known", "leads_exceed_what_epsilon_moves")
FORGED: dict[str, tuple[tuple[str, ...], Callable[[], Bundle], Outcome]] = {
    "an epsilon a little too large": (
        ("leads_exceed_what_epsilon_moves",),
        lambda: proof(known()[2]),
        Outcome.VALID,
    ),
    "another decision": (
        UNKNOWN,
        lambda: proof(known()[1], decided=(known()[0].fold(0) + 1) % 3),
        Outcome.VALID,
    ),
    "a precision that decides nothing": (
        (*UNKNOWN, "remarks_are_those_that_apply"),
        lambda: proof(known()[1], 16),
        Outcome.VALID,
    ),
    "a tie": ((*UNKNOWN, "remarks_are_those_that_apply"), tied, Outcome.VALID),
    "a perturbation that changes nothing": (
        ("eta_brings_another_known_decision",),
        lambda: replay(known()[1], known()[2]),
        Outcome.REFUTED,
    ),
    "a perturbation that is too large": (
        ("eta_is_within_epsilon", "eta_brings_another_known_decision"),
        lambda: replay(2 * known()[2], known()[2]),
        Outcome.REFUTED,
    ),
}
"""What is forged: the rules that it breaks, the first of which refuses it, and what it is taken for else."""


def test_what_is_forged_is_valid_as_it_was(tmp_path):
    """So that each refusal below is due to the forgery."""
    outcome, reason = check(proof(known()[1]).write(tmp_path / "bundle"))
    assert outcome is Outcome.VALID, reason


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused_by_its_rule_and_passes_without(name, tmp_path, monkeypatch):
    """So the rules are what refuses it, and nothing else would."""
    rules, make, otherwise = FORGED[name]
    directory = make().write(tmp_path / "bundle")
    outcome, sentence = check(directory)
    assert outcome is Outcome.INVALID
    assert f"breaks the rule that {rules[0].replace('_', ' ')}" in sentence
    without(rules, monkeypatch)
    assert check(directory)[0] is otherwise
