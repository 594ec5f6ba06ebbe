"""Forgeries of counts and measures, each of which only one rule stops."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bundle_maker import Bundle, Prover, fitting
from enclosed_claims import GPT, prover_of, remarked
from enclosed_twin import EnclosedProver
from measures_oracle import counting, ends_of, evaluated, measured, replaying

FORGED: dict[str, Callable[[], Bundle]] = {}
"""The rule that each forgery breaks."""
REFUTING = {
    "list_is_wrong_of_the_prompt",
    "too_many_prompts_are_wrong",
    "ends_of_brackets_are_in_order",
    "some_bracket_is_missed",
}
STOPPING = {"brackets_have_two_ends"}
"""A rule without which there are no two numbers to compare."""


def forged(rule: str) -> Callable[[Callable[[], Bundle]], Callable[[], Bundle]]:
    """Enter a function that makes a bundle that breaks a rule."""

    def enter(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
        FORGED[rule] = make
        return make

    return enter


def mistaken(count: int) -> Prover:
    """Return a prover of exact arithmetic about a circuit that is wrong on the first prompts."""
    prover = fitting()
    task = prover.claim["task"]
    for prompt in range(count):
        own = task["answer"]["answers"][prompt]
        task["answer"]["answers"][prompt] = next(one for one in task["candidates"] if one != own)
    return prover


def stating(kind: str, verdict: str = "proved", **changes: Any) -> Bundle:
    """Return a measure that is changed before it is answered."""
    prover = prover_of(GPT, 0)
    return remarked(evaluated(prover, measured(prover, kind) | changes, verdict))


def honest() -> Bundle:
    """Return a bundle that proves a count and all measures."""
    prover = counting(prover_of(GPT, 0))
    for kind in ("loss", "logit difference"):
        evaluated(prover, measured(prover, kind))
    return remarked(evaluated(prover, measured(prover, "recovered difference", without=[1])))


forged("listed_prompts_are_the_wrong_ones")(lambda: counting(mistaken(2), wrong=[0]).bundle)
forged("listed_prompts_increase_in_the_domain")(lambda: counting(mistaken(2), wrong=[1, 0]).bundle)
forged("some_prompt_is_not_listed")(lambda: counting(mistaken(8)).bundle)
forged("enough_prompts_are_right")(lambda: replaying(mistaken(0), 3, [4, 5]).bundle)
forged("too_many_prompts_are_wrong")(lambda: replaying(mistaken(2), 6, [0, 1], "refuted").bundle)
forged("replayed_prompts_increase")(lambda: replaying(mistaken(6), 3, [6, 7, 7]).bundle)
forged("replayed_prompts_are_as_said")(lambda: replaying(mistaken(1), 8, list(range(8))).bundle)


@forged("list_is_wrong_of_the_prompt")
def _as_listed() -> Bundle:
    prover = mistaken(2)
    evidence = {"replay": [{"prompt": 0, "fold": prover.fold(0)}]}
    prover.answer({"kind": "accuracy", "wrong": [0, 1]}, "refuted", evidence)
    return prover.bundle


@forged("measures_are_enclosed")
def _exact_measure() -> Bundle:
    prover = fitting()
    prover.answer({"kind": "loss", "mean": ["0", "1"]}, "undecided", {"open": "no time"})
    return prover.bundle


@forged("evaluations_count_the_prompts")
def _fewer_prompts() -> Bundle:
    prover = prover_of(GPT, 0)
    return remarked(evaluated(prover, measured(prover, "loss"), count=3))


forged("losses_are_bounded_by_more_than_zero")(lambda: stating("loss", mean=["0", None]))
forged("some_bracket_is_claimed")(lambda: stating("logit difference", least=None, mean=None, greatest=None))
forged("brackets_bound_something")(lambda: stating("recovered difference", mean=[None, None]))
forged("brackets_have_two_ends")(lambda: stating("recovered difference", mean=["-9", "9", None]))
forged("ends_of_brackets_are_in_order")(
    lambda: stating("recovered difference", "refuted", mean=["1000", "-1000"])
)


def tightened(prover: EnclosedProver, end: int) -> dict[str, Any]:
    """Return the loss with one end of its bracket a unit too far inside."""
    entry, times = measured(prover, "loss"), len(prover.prompts)
    moved = Fraction(entry["mean"][end]) + Fraction(1 - 2 * end, times << prover.p)
    entry["mean"][end] = str(moved)
    return entry


@forged("every_bracket_is_met")
def _a_unit_too_tight() -> Bundle:
    prover = prover_of(GPT, 0)
    return remarked(evaluated(prover, tightened(prover, 0)))


@forged("some_bracket_is_missed")
def _touched() -> Bundle:
    prover = prover_of(GPT, 0)
    low, _, times = ends_of(prover, "loss")["mean"] or (0, 0, 1)
    entry = {"kind": "loss", "mean": [None, str(Fraction(low, times << prover.p))]}
    return remarked(evaluated(prover, entry, "refuted"))
