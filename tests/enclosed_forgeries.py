"""Forgeries of claims of enclosed arithmetic, each of which only one rule stops."""

from collections.abc import Callable
from fractions import Fraction

import bundle_maker as maker
from bundle_maker import Bundle, architecture, fitting, proving
from enclosed_claims import GPT, PLAIN, answered, prompts, prover_of, remarked

FORGED: dict[str, Callable[[], Bundle]] = {}
"""The rule that each forgery breaks."""
REFUTING = {"eta_brings_another_known_decision"}
STOPPING = {"precision_is_enough_for_norms", "norm_has_enclosures"}
"""Rules without which a norm divides by zero, or is none that Python knows."""
BESIDE = ["embed -> mlp 0", "embed -> logits", "mlp 0 -> logits"]


def forged(rule: str) -> Callable[[Callable[[], Bundle]], Callable[[], Bundle]]:
    """Enter a function that makes a bundle that breaks a rule."""

    def enter(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
        FORGED[rule] = make
        return make

    return enter


def honest() -> Bundle:
    """Return a bundle of enclosed arithmetic that proves what it claims."""
    return remarked(answered(prover_of(GPT, 0), "equivalence", "invariance"))


forged("rotated_coordinates_are_pairs")(
    lambda: proving(fitting(architecture(rotary=3, head_width=3)), "equivalence")
)
forged("parallel_is_true_or_left_out")(
    lambda: proving(fitting(architecture(parallel=False), edges=BESIDE), "equivalence")
)


@forged("leaves_allow_the_arithmetic")
def _enclosure_of_a_fold() -> Bundle:
    bundle = proving(fitting(), "equivalence")
    leaves = bundle.certificate["answers"][0]["evidence"]["children"]
    leaves[0]["decided"] = leaves[0].pop("fold")
    return bundle


@forged("decided_is_what_is_known")
def _another_candidate() -> Bundle:
    prover = prover_of(GPT, 0)
    task = prover.claim["task"]
    stated = next(place for place in range(3) if place != prover.fold(0))
    task["answer"]["answers"][0] = task["candidates"][stated]
    answered(prover, "equivalence")
    prover.bundle.certificate["answers"][0]["evidence"]["children"][0]["decided"] = stated
    return remarked(prover)


@forged("precision_is_enough_for_norms")
def _swallowed() -> Bundle:
    prover = prover_of(GPT | {"norm": {"kind": "layer", "epsilon": "1/1000000000000"}}, 0)
    for name in ("embed.token", "embed.position"):
        shape, numbers = prover.bundle.tensors[name]
        prover.bundle.tensors[name] = shape, [0.0] * len(numbers)
    answered(prover, "equivalence")
    prover.bundle.certificate["precision"] = 16
    return remarked(prover)


@forged("norm_has_enclosures")
def _banded() -> Bundle:
    bundle = honest()
    bundle.claim["architecture"]["norm"] = {"kind": "band", "low": "1", "high": "2", "lift": "reference"}
    return bundle


def robust(epsilon: Fraction) -> dict[str, str]:
    """Return what robustness of the final residual claims."""
    return {"kind": "robustness", "epsilon": str(epsilon), **maker.FINAL_RESIDUAL}


@forged("leads_exceed_what_epsilon_moves")
def _too_far() -> Bundle:
    prover = prover_of(PLAIN, 1)
    leaves = prover.by_prompt(lambda p: {"decided": prover.fold(p)})
    prover.answer(robust(Fraction(1000)), "proved", leaves)
    return remarked(prover)


@forged("eta_brings_another_known_decision")
def _unmoved() -> Bundle:
    prover = prover_of(PLAIN, 1)
    width = prover.claim["architecture"]["width"]
    entry = {"prompt": prompts(prover)[0], "decided": prover.fold(0), "eta": ["0"] * width}
    prover.answer(robust(Fraction(1)), "refuted", {"replay": [entry]})
    return remarked(prover)
