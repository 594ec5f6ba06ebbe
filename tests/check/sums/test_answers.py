"""What is claimed of all prompts of a pattern in enclosed arithmetic: verdicts, words and refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundle_maker import Bundle, circuit_of
from circuitproof_check.main import Beside, Outcome, Report, inspect
from softmax_pattern_claims import EVERY, SoftmaxPattern
from softmax_pattern_forgeries import by_label, errors, has_errors, is_uniform, of, suiting

FIRST = {"0.0": ["default 1", "otherwise self"]}


def judged(made: SoftmaxPattern, tmp_path: Path, change: Callable[[Bundle], None] = lambda _: None) -> Report:
    """Return what the checker says of a bundle, perhaps changed."""
    return inspect(made.sealed(change).write(tmp_path / "bundle"), Beside())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (lambda made: {"exactly": str(made.right())}, "right on exactly {right} of {all} prompts"),
        (lambda made: {"least": str(made.right() - 1)}, "right on at least {less} of {all} prompts"),
        (lambda made: {"wrong": errors(made)}, "right on exactly {right} of {all} prompts"),
    ],
    ids=["exactly", "least", "wrong"],
)
def test_accuracy_is_said_of_the_whole_pattern(said, words, tmp_path):
    """Not of the prompts that are listed; and the claim's own numbers are in the data."""
    made = suiting(has_errors)
    told = said(made)
    report = judged(made.accuracy(evidence=by_label(made, made.shown), **told), tmp_path)
    assert report.outcome is Outcome.VALID, report.reason
    right, every = made.right(), len(made.prompts)
    assert words.format(right=right, less=right - 1, all=every) in report.reason
    (entry,) = json.loads(report.to_json())["claim"]["properties"]
    assert told.items() <= entry.items()


@pytest.mark.parametrize(
    ("said", "is_refuted"),
    [
        (lambda made: {"exactly": str(made.right() + 1)}, True),
        (lambda made: {"exactly": str(made.right() - 1)}, True),
        (lambda made: {"exactly": str(made.right())}, False),
        (lambda made: {"least": str(made.right() + 1)}, True),
        (lambda made: {"least": str(made.right())}, False),
    ],
)
def test_accuracy_is_refuted_by_counting(said, is_refuted, tmp_path):
    """By one prompt more or less, and by none."""
    made = suiting(has_errors)
    report = judged(made.accuracy("refuted", evidence=by_label(made, made.shown), **said(made)), tmp_path)
    assert report.outcome is (Outcome.REFUTED if is_refuted else Outcome.INVALID), report.reason


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_list_of_errors_is_refuted_by_one_prompt(is_listed, tmp_path):
    """One that is right and listed, or wrong and not listed."""
    made = suiting(has_errors)
    prompt = next(one for one in made.prompts if made.is_right(one) == is_listed)
    wrong = [made.show(prompt)] if is_listed else []
    report = judged(made.accuracy("refuted", evidence=made.replay(prompt), wrong=wrong), tmp_path)
    assert report.outcome is Outcome.REFUTED, report.reason


def test_equivalence_and_invariance_are_refuted_by_prompts(tmp_path):
    """A wrong one, or two of a class with different decisions."""
    made = suiting(has_errors)
    wrong = next(one for one in made.prompts if not made.is_right(one))
    made.answer({"kind": "equivalence"}, "refuted", made.replay(wrong))
    opener = made.label(wrong)[1]
    other = next(one for one in of(made, opener) if made.decision(one) != made.decision(wrong))
    pair = [entry for one in (wrong, other) for entry in made.replay(one)["replay"]]
    made.answer({"kind": "invariance"}, "refuted", {"replay": pair})
    report = judged(made, tmp_path)
    assert report.outcome is Outcome.REFUTED, report.reason


def test_necessity_is_proved_by_a_prompt_for_each_edge(tmp_path):
    """As on lists; the sentence counts all prompts."""

    def witness(made: SoftmaxPattern, edge: str) -> Any:
        rest = [one for one in EVERY if one != edge]
        pairs = [(p, made.decision(p), made.decision(p, rest)) for p in made.prompts]
        found = [(p, a, b) for p, a, b in pairs if None not in (a, b) and a != b]
        return found[0] if found else None

    made = suiting(lambda one: all(witness(one, edge) for edge in EVERY))
    children = []
    for edge in EVERY:
        prompt, decided, lesion = witness(made, edge)
        children.append({"replay": [{"prompt": made.show(prompt), "decided": decided, "lesion": lesion}]})
    made.answer({"kind": "necessity"}, "proved", {"split": "edge", "children": children})
    report = judged(made, tmp_path)
    for remark in ("shared bias: head 0.0 -> logits", "perhaps shared bias: head 0.0 -> logits"):
        if (
            report.outcome is Outcome.INVALID
        ):  # on the prompts of this domain the edge may bring the bias alone
            made.answers[0]["remarks"] = [remark]
            report = judged(made, tmp_path / remark[:7])
    assert report.outcome is Outcome.VALID, report.reason
    assert f"all {len(made.prompts)} prompts of a pattern" in report.reason


def _with_programs(bundle: Bundle) -> None:
    bundle.claim["programs"] = FIRST
    for name in [name for name in bundle.tensors if ".query." in name or ".key." in name]:
        del bundle.tensors[name]


def _with_norm(bundle: Bundle) -> None:
    size = bundle.claim["architecture"]
    size["norm"] = {"kind": "layer", "epsilon": "1/100000"}
    for name in ("logits", "attention.0", "mlp.0"):
        ones = [1.0] * size["width"]
        bundle.tensors |= {f"{name}.norm.{part}": ((size["width"],), ones) for part in ("scale", "shift")}


def _port(bundle: Bundle) -> None:
    size = bundle.claim["architecture"]
    edges = ["embed -> head 0.0 value", "head 0.0 -> logits"]
    bundle.claim["circuit"] = circuit_of(size, edges, granularity="port")


def _kind(name: str, **further: Any) -> Callable[[Bundle], None]:
    def change(bundle: Bundle) -> None:
        claimed = {"kind": name, **further}
        bundle.claim["properties"] = [claimed]
        bundle.certificate["answers"][0]["property"] = claimed

    return change


def _pattern(**changes: Any) -> Callable[[Bundle], None]:
    def change(bundle: Bundle) -> None:
        bundle.domain["pattern"] = bundle.domain["pattern"] | changes

    return change


def _unmasked(bundle: Bundle) -> None:
    bundle.claim["architecture"]["mask"] = "none"


def _sparse(bundle: Bundle) -> None:
    bundle.claim["architecture"]["attention"] = "sparsemax"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (_with_programs, "leaves allow the programs"),
        (_with_norm, "leaves allow the norm"),
        (_sparse, "logits read local nodes and summed heads"),
        (_port, "patterns have whole heads"),
        (_unmasked, "patterns have a mask"),
        (_kind("faithfulness"), "patterns have these properties"),
        (_kind("subset minimality"), "patterns have these properties"),
        (
            _kind("robustness", epsilon="1/2", at="logits input", positions="last"),
            "patterns have these properties",
        ),
        (_kind("accuracy", least=1), "strings are strings"),
        (_kind("accuracy", least="1", exactly="1"), "keys are the named"),
        (
            _pattern(clauses=[{"of": {"tokens": [0, 7]}, "least": 1, "most": 1}]),
            "classes list tokens in order",
        ),
        (_pattern(longest=9), "integers are in range"),
        (_pattern(clauses=[]), "prompts of patterns have labels"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_the_prover_would_not_ask_is_refused(change, rule, tmp_path):
    """Each by the rule that says so."""
    made = suiting(is_uniform, loudness=8)
    made.answer({"kind": "equivalence"}, "proved", by_label(made, made.settled))
    report = judged(made, tmp_path, change)
    assert report.outcome is Outcome.INVALID
    assert rule in report.reason


def test_what_is_not_known_is_not_shown(tmp_path):
    """Of a tie no decision can be stated: whichever is, is refused."""
    made = suiting(has_errors)
    for name in ("logits.weight", "logits.bias"):
        shape, numbers = made.bundle.tensors[name]
        made.bundle.tensors[name] = shape, [0.0] * len(numbers)
    evidence = {"prompts": [{"prompt": 0, "decided": 0}]}
    report = judged(made.accuracy(evidence=evidence, least="1"), tmp_path)
    assert report.outcome is Outcome.INVALID
    assert "decided is what is known" in report.reason


def test_the_answer_may_be_a_rule_over_the_sequence(tmp_path):
    """The label is then what the rule says of each prompt."""
    made = SoftmaxPattern(3)
    of_rule = [1, 3, 4, 0, 2]
    made.claim["task"]["candidates"] = made.candidates = of_rule
    made.known.clear()
    made.twin.candidates = len(of_rule)
    every = made.prompts
    largest = {prompt: max(prompt, key=of_rule.index) for prompt in every}
    right = sum(of_rule[made.decision(prompt) or 0] == largest[prompt] for prompt in every)
    evidence = made.shown(every)
    made.accuracy(evidence=evidence, exactly=str(right))
    made.answers[0]["remarks"] = made.remarks(list(largest.values()), right)

    def change(bundle: Bundle) -> None:
        bundle.claim["task"]["answer"] = {"kind": "maximum", "of": of_rule}
        bundle.claim["task"]["relation"] = {"kind": "same answer"}

    report = judged(made, tmp_path, change)
    assert report.outcome is Outcome.VALID, report.reason
