"""Accuracy: the errors are just the listed prompts, or enough prompts are right; both arithmetics."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, Prover, fitting
from circuitproof_check.main import Beside, Outcome, check, inspect
from enclosed_claims import GPT, prover_of, remarked
from enclosed_twin import EnclosedProver
from measures_oracle import counting, errors, replaying

WRONG = (1, 3)
ARITHMETICS: dict[str, Callable[[], Any]] = {"exact": fitting, "enclosed": lambda: prover_of(GPT, 0)}


@pytest.fixture(params=ARITHMETICS)
def prover(request) -> Any:
    """Return a prover whose circuit is wrong on two prompts."""
    found = ARITHMETICS[request.param]()
    mislead(found, *WRONG)
    assert errors(found) == list(WRONG)
    return found


def mislead(prover: Any, *prompts: int) -> None:
    """Make other answers the right ones."""
    task = prover.claim["task"]
    for prompt in prompts:
        own = task["answer"]["answers"][prompt]
        task["answer"]["answers"][prompt] = next(one for one in task["candidates"] if one != own)


def written(prover: Any) -> Bundle:
    """Return the bundle with its remarks, which the exact ones get when they are written."""
    return remarked(prover) if isinstance(prover, EnclosedProver) else prover.bundle


def judged(prover: Any, path: Any) -> tuple[Outcome, str]:
    """Return the checker's answer."""
    return check(written(prover).write(path / "bundle"))


def test_the_errors_are_counted(prover, tmp_path):
    """The line says how many prompts are right, the data which are not."""
    counting(prover)
    count = len(prover.prompts)
    report = inspect(written(prover).write(tmp_path / "bundle"), Beside())
    assert report.outcome is Outcome.VALID, report.reason
    assert f"accuracy [right on exactly {count - 2} of {count} prompts" in report.reason
    (stated,) = report.claim["properties"]  # type: ignore[misc]
    assert (stated["wrong"], "least" in stated) == ([1, 3], False)


@pytest.mark.parametrize("wrong", [[], [1], [3], [0, 1, 3], [1, 2], [0], [1, 2, 3]])
def test_errors_that_are_none_and_errors_that_are_missing_are_refused(wrong, prover, tmp_path):
    """One more, one fewer and another in its place."""
    outcome, reason = judged(counting(prover, wrong), tmp_path)
    assert (outcome, "listed prompts are the wrong ones" in reason) == (Outcome.INVALID, True), reason


@pytest.mark.parametrize(("prompt", "is_error"), [(0, False), (1, True)])
@pytest.mark.parametrize("is_listed", [False, True])
def test_a_list_is_refuted_by_one_prompt_that_it_is_wrong_of(prompt, is_error, is_listed, prover, tmp_path):
    """Right and listed, or wrong and not."""
    wrong = sorted({2} | ({prompt} if is_listed else set()))
    evidence = {"replay": [{"prompt": prompt, "fold": prover.fold(prompt)}]}
    prover.answer({"kind": "accuracy", "wrong": wrong}, "refuted", evidence)
    outcome, reason = judged(prover, tmp_path)
    assert outcome is (Outcome.INVALID if is_error == is_listed else Outcome.REFUTED), reason


def test_some_prompts_are_enough(prover, tmp_path):
    """The others need not be shown."""
    right = [p for p in range(len(prover.prompts)) if p not in WRONG]
    outcome, reason = judged(replaying(prover, 2, right[:2]), tmp_path)
    assert outcome is Outcome.VALID, reason
    assert f"accuracy [right on at least 2 of {len(prover.prompts)} prompts" in reason


@pytest.mark.parametrize("prompts", [[0], [0, 1], [1, 3], [0, 0], [2, 0], []])
def test_too_few_prompts_wrong_ones_and_repeated_ones_are_not_enough(prompts, prover, tmp_path):
    """Each counts once, and only if it is right."""
    assert judged(replaying(prover, 2, prompts), tmp_path)[0] is Outcome.INVALID


@pytest.mark.parametrize(
    ("fewer", "prompts", "outcome"),
    [
        (1, [1, 3], Outcome.REFUTED),
        (0, [1], Outcome.REFUTED),
        (1, [1], Outcome.INVALID),
        (2, [1, 3], Outcome.INVALID),
        (1, [0, 1], Outcome.INVALID),
        (1, [1, 1], Outcome.INVALID),
    ],
)
def test_an_accuracy_is_refuted_by_more_errors_than_it_leaves(fewer, prompts, outcome, prover, tmp_path):
    """With two errors it is at most two less than all; each is shown once."""
    replaying(prover, len(prover.prompts) - fewer, prompts, "refuted")
    assert judged(prover, tmp_path)[0] is outcome


BROKEN: list[dict[str, Any]] = [
    {"least": 0},
    {"least": -1},
    {"least": 99},
    {"least": "3"},
    {"least": True},
    {"least": 1.0},
    {"least": None},
    {"least": 1, "wrong": []},
    {},
    {"wrong": None},
    {"wrong": [0, 0]},
    {"wrong": [3, 1]},
    {"wrong": [1, 99]},
    {"wrong": [-1]},
    {"wrong": ["1"]},
    {"right": [0]},
]


@pytest.mark.parametrize("place", range(len(BROKEN)))
@pytest.mark.parametrize("verdict", ["proved", "undecided"])
def test_what_cannot_be_claimed_is_refused_whatever_is_answered(place, verdict, tmp_path):
    """A count is from 1 to all prompts, a list of prompts increases, and only one of them stands."""
    prover = fitting()
    tree = prover.by_prompt(lambda p: {"fold": prover.fold(p)})
    evidence = tree if verdict == "proved" else {"open": "no time"}
    prover.answer({"kind": "accuracy"} | BROKEN[place], verdict, evidence)
    assert judged(prover, tmp_path)[0] is Outcome.INVALID


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_tie_is_never_right(is_listed, tmp_path):
    """Also where the right answer is one of the largest: exact arithmetic knows it to be an error."""
    prover = fitting()
    for name in ("logits.weight", "logits.bias"):
        shape, numbers = prover.bundle.tensors[name]
        prover.bundle.tensors[name] = shape, [0.0] * len(numbers)
    tied = Prover(prover.bundle)
    listed = list(range(8)) if is_listed else []
    counting(tied, listed[:-1])
    assert judged(tied, tmp_path)[0] is Outcome.INVALID
    replaying(again := Prover(fresh(tied)), 1, list(range(8)), "refuted")
    assert check(again.bundle.write(tmp_path / "again"))[0] is Outcome.REFUTED


def fresh(prover: Prover) -> Bundle:
    """Return the same bundle, with nothing claimed."""
    bundle = prover.bundle
    bundle.claim["properties"], bundle.certificate = [], {}
    return bundle


def test_a_decision_that_is_not_known_is_neither_right_nor_wrong(tmp_path):
    """With few bits nothing is counted, whatever the list says."""
    for place, wrong in enumerate(([], [0], [0, 1, 2])):
        prover = prover_of(GPT, 0, p=16)
        counting(prover, wrong)
        outcome, reason = check(remarked(prover).write(tmp_path / str(place)))
        assert (outcome, "decided is what is known" in reason) == (Outcome.INVALID, True), reason


def test_an_accuracy_that_one_answer_reaches_is_remarked_on(tmp_path):
    """A circuit that always decides for it would do as well; the remark stands just then."""
    for least in range(1, 9):
        prover = fitting()
        answers = prover.claim["task"]["answer"]["answers"]
        most = max(map(answers.count, answers))
        bundle = replaying(prover, least, list(range(8))).bundle
        bundle.write(tmp_path / str(least))
        stated = bundle.certificate["answers"][0]["remarks"]
        bare = prover.decision(0, [])
        is_bare = least <= sum({answer} == bare for answer in answers)
        said = [f"no better than a constant: {most}"] * (least <= most) + ["decided without edges"] * is_bare
        assert stated == said
        assert check(tmp_path / str(least))[0] is Outcome.VALID
        bundle.pins.discard("remarks")
        for place, remarks in enumerate(([], [f"no better than a constant: {most + 1}"], [*stated, *stated])):
            bundle.certificate["answers"][0]["remarks"] = remarks
            outcome, reason = check(bundle.write(tmp_path / f"{least} {place}"))
            is_same = remarks == stated
            assert outcome is (Outcome.VALID if is_same else Outcome.INVALID), reason


def stated_remarks(bundle: Bundle, folder: Path) -> list[str]:
    """Return the remarks on the first answer that the checker demands."""
    bundle.pins.discard("remarks")
    bundle.certificate["answers"][0]["remarks"] = ["none of these"]
    assert "remarks are those that apply" in check(bundle.write(folder / "lie"))[1]
    maker.remark(bundle)
    assert check(bundle.write(folder / "honest"))[0] is Outcome.VALID
    return bundle.certificate["answers"][0]["remarks"]


def test_an_accuracy_that_no_edge_is_needed_for_is_remarked_on(tmp_path):
    """A list without errors is an equivalence, and a partner decides as well: it tells as little."""
    prover = fitting()
    prompts = prover.bundle.domain["prompts"]
    prover.claim["circuit"]["ablation"] = {"kind": "counterfactual", "pairs": [[one, one] for one in prompts]}
    prover.known.clear()
    decided = [min(prover.decision(place, [])) for place in range(len(prompts))]
    assert len(set(decided)) > 1
    prover.claim["task"]["answer"]["answers"] = decided
    bundle = counting(prover).bundle
    assert bundle.claim["properties"][0]["wrong"] == []
    assert "decided without edges" in stated_remarks(bundle, tmp_path)


def test_an_accuracy_of_every_prompt_is_an_equivalence_under_another_name(tmp_path):
    """What follows from it beside it is said to, whichever way it is claimed."""
    for place, least in enumerate((None, 8, 7)):
        prover = fitting()
        prover.answer({"kind": "invariance"}, "proved", prover.proof("invariance"))
        counting(prover) if least is None else replaying(prover, least, list(range(8)))
        said = stated_remarks(prover.bundle, tmp_path / str(place))
        assert ("implied by equivalence" in said) is (least != 7)
