"""Whole bundles: honest answers of every kind, and statements that cannot be made."""

import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
import circuitproof_check
from bundle_maker import FINAL_RESIDUAL, Bundle, Prover, architecture, fitting, proving
from circuitproof_check.main import Outcome, check, main


def judged(bundle: Bundle, folder: Path) -> tuple[Outcome, str]:
    """Return the checker's answer."""
    return check(bundle.write(folder / "bundle"))


def refuted(prover: Prover, kind: str, evidence: dict[str, Any], **entry: str) -> Bundle:
    """Return a bundle with a refutation."""
    prover.answer({"kind": kind, **entry}, "refuted", evidence)
    return prover.bundle


def tie(bundle: Bundle) -> None:
    """Give every candidate the same logit."""
    weight, bias = bundle.tensors["logits.weight"][1], bundle.tensors["logits.bias"][1]
    for token in (3, 4):
        weight[4 * token : 4 * token + 4] = weight[4:8]
        bias[token] = bias[1]


@pytest.mark.parametrize("kinds", [maker.KINDS, *((kind,) for kind in maker.KINDS)], ids=str)
def test_a_proof_is_valid(kinds, tmp_path):
    """Each property by itself, and all together."""
    outcome, sentence = judged(proving(fitting(), *kinds), tmp_path)
    assert outcome is Outcome.VALID
    assert re.sub(r" at [0-9/]+| \[[^]]*\]", "", sentence) == (
        "model not checked, task without a declaration; 4 edges, zero ablation, 8 prompts, 3 candidates: "
        f'{", ".join(kinds)} proved (task "tiny")'
    )


def test_a_valid_bundle_is_valid_on_a_bare_interpreter(tmp_path):
    """Isolated, without site-packages."""
    bundle = proving(fitting(), *maker.KINDS).write(tmp_path / "bundle")
    package = Path(circuitproof_check.__file__).parent
    command = [sys.executable, "-I", "-S", str(package), str(bundle)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # our own command
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("valid: ")


def _wrong_answer() -> Bundle:
    prover = fitting()
    answers = prover.claim["task"]["answer"]["answers"]
    answers[2] = 1 if answers[2] == 3 else 3
    return refuted(prover, "equivalence", {"replay": [{"prompt": 2, "fold": prover.fold(2)}]})


def _tied_answer() -> Bundle:
    prover = fitting(change=tie)
    return refuted(prover, "invariance", {"replay": [{"prompt": 1, "fold": prover.fold(1)}]})


def _two_of_a_class() -> Bundle:
    prover = fitting()
    answers = prover.claim["task"]["answer"]["answers"]
    pair = [0, next(p for p in range(8) if answers[p] != answers[0])]
    prover.claim["task"]["relation"]["classes"] = [0] * 8
    entries = [{"prompt": p, "fold": prover.fold(p)} for p in pair]
    return refuted(prover, "invariance", {"replay": entries})


def _idle_edge() -> Bundle:
    edges = ["embed -> head 0.0", "embed -> logits"]
    prover = fitting(edges=edges)
    tree = prover.by_prompt(lambda p: {"fold": prover.fold(p), "lesion": prover.fold(p, edges[1:])})
    return refuted(prover, "necessity", {"edge": 0, "evidence": tree})


def _perturbed(prover: Prover, eta: list[Fraction], epsilon: Fraction) -> Bundle:
    entry = {"prompt": 0, "fold": prover.fold(0), "eta": list(map(str, eta))}
    return refuted(prover, "robustness", {"replay": [entry]}, epsilon=str(epsilon), **FINAL_RESIDUAL)


def _epsilon_is_the_radius() -> Bundle:
    prover = fitting()
    radius = prover.radius(0)
    assert radius is not None
    rows = maker.Naive(prover.bundle, [], [0]).matrix("logits.weight")
    (best,) = prover.decision(0)
    logits = dict(zip((1, 3, 4), prover.logits(0, prover.edges), strict=True))

    def ratio(other: int) -> Fraction:
        apart = sum(abs(a - b) for a, b in zip(rows[best], rows[other], strict=True))
        return (logits[best] - logits[other]) / apart

    nearest = min((token for token in logits if token != best), key=ratio)
    eta = [radius * ((a < b) - (a > b)) for a, b in zip(rows[best], rows[nearest], strict=True)]
    return _perturbed(prover, eta, radius)


def _tie_without_eta() -> Bundle:
    return _perturbed(fitting(change=tie), [Fraction(0)] * 4, Fraction(1))


def _unfaithful() -> Bundle:
    prover = fitting(edges=["embed -> logits"])
    every = maker.every_edge(prover.claim["architecture"])
    prompt = next(p for p in range(8) if prover.decision(p) != prover.decision(p, every))
    entry = {"prompt": prompt, "fold": prover.fold(prompt), "model": prover.fold(prompt, every)}
    return refuted(prover, "faithfulness", {"replay": [entry]})


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (_wrong_answer, "equivalence"),
        (_tied_answer, "invariance"),
        (_two_of_a_class, "invariance"),
        (_idle_edge, "necessity"),
        (_epsilon_is_the_radius, "robustness"),
        (_tie_without_eta, "robustness"),
        (_unfaithful, "faithfulness"),
    ],
)
def test_a_refutation_that_holds_is_refuted_and_not_invalid(make, kind, tmp_path):
    """What is claimed is not so; a broken rule has another word and another code."""
    outcome, sentence = judged(make(), tmp_path)
    assert outcome is Outcome.REFUTED
    assert f": {kind}" in sentence
    assert " refuted (" in sentence


def test_a_tie_is_not_refuted_by_a_perturbation(tmp_path):
    """Only the perturbation of nothing shows that there was nothing to keep."""
    bundle = _perturbed(fitting(change=tie), [Fraction(1)] * 4, Fraction(1))
    assert "a tie needs no eta" in judged(bundle, tmp_path)[1]


def test_an_undecided_property_is_incomplete(tmp_path):
    """Nothing is broken and not everything is proved."""
    prover = fitting()
    bundle = proving(prover, "equivalence")
    prover.answer({"kind": "necessity"}, "undecided", {"open": "no time"})
    assert judged(bundle, tmp_path)[0] is Outcome.INCOMPLETE


def test_a_refutation_outweighs_an_undecided_property(tmp_path):
    """The claim is already known not to hold."""
    bundle = _wrong_answer()
    Prover.answer(prover := Prover(bundle), {"kind": "necessity"}, "undecided", {"open": "no time"})
    bundle.certificate["folds"] = [[str(x) for x in prover.logits(2, prover.edges)]]
    outcome, sentence = judged(bundle, tmp_path)
    assert outcome is Outcome.REFUTED
    assert ": equivalence refuted; necessity undecided (" in sentence


def test_the_radius_is_infinite_where_output_rows_are_equal(tmp_path):
    """Then no perturbation changes the margin."""

    def equal_rows(bundle: Bundle) -> None:
        weight = bundle.tensors["logits.weight"][1]
        for token in (3, 4):
            weight[4 * token : 4 * token + 4] = weight[4:8]

    prover = fitting(change=equal_rows)
    assert prover.radius(0) is None
    prover.answer(
        {"kind": "robustness", "epsilon": "1000", **FINAL_RESIDUAL}, "proved", prover.proof("robustness")
    )
    assert judged(prover.bundle, tmp_path)[0] is Outcome.VALID


def test_rules_about_openers_give_answers_and_classes(tmp_path):
    """The token 5 is in each prompt once, and decides."""

    def choose(bundle: Bundle) -> None:
        bundle.domain.update(prompts=[[5], [5, 0]], strata=["a", "b"])
        bundle.tensors["logits.bias"][1][3] = 1000.0

    prover = fitting(change=choose)
    prover.claim["task"]["answer"] = {"kind": "only opener", "answers": [[5, 3]]}
    prover.claim["task"]["relation"] = {"kind": "same opener", "openers": [5]}
    assert judged(proving(prover, "equivalence", "invariance"), tmp_path)[0] is Outcome.VALID


def test_kept_rows_of_a_tensor_are_enough(tmp_path):
    """The rows that nothing reads stay in the model."""
    prover = fitting()
    bundle = proving(prover, "equivalence")
    used = sorted({token for prompt in prover.prompts for token in prompt})
    for name, rows in {"embed.token": used, "logits.weight": [1, 3, 4], "logits.bias": [1, 3, 4]}.items():
        shape, numbers = bundle.tensors[name]
        size = len(numbers) // shape[0]
        kept = [number for row in rows for number in numbers[size * row : size * (row + 1)]]
        bundle.tensors[name] = ((len(rows), *shape[1:]), kept)
        bundle.claim["weights"][name]["rows"] = rows
    bundle.pins.remove("tensors")
    assert judged(bundle, tmp_path)[0] is Outcome.VALID


def _set(*path: Any, to: Any) -> Callable[[Bundle], None]:
    def change(bundle: Bundle) -> None:
        *start, last = path
        place: Any = bundle
        for step in start:
            place = getattr(place, step) if place is bundle else place[step]
        place[last] = to

    return change


def _refutation(evidence: dict[str, Any]) -> dict[str, Any]:
    return {"property": {"kind": "equivalence"}, "verdict": "refuted", "evidence": evidence}


ANSWER = ("certificate", "answers", 0)
STATEMENTS: dict[str, Callable[[Bundle], None]] = {
    "size": _set("claim", "architecture", "width", to=0),
    "boolean": _set("claim", "architecture", "tied", to=1),
    "attention": _set("claim", "architecture", "attention", to="hardmax"),
    "norm": _set("claim", "architecture", "norm", to={"kind": "batch"}),
    "lift": _set("claim", "architecture", "norm", to={"kind": "band", "low": "1", "high": "2", "lift": "up"}),
    "activation": _set("claim", "architecture", "activation", to={"kind": "swish"}),
    "node": _set("claim", "circuit", "edges", 0, to="embed -> head 0"),
    "absent head": _set("claim", "circuit", "edges", 0, to="embed -> head 0.1"),
    "absent layer": _set("claim", "circuit", "edges", 0, to="embed -> mlp 1"),
    "arrow": _set("claim", "circuit", "edges", 0, to="embed"),
    "program key": _set("claim", "programs", to={"00.0": ["default 1", "otherwise self"]}),
    "token name": _set("claim", "task", "names", to={"x": "y"}),
    "answer kind": _set("claim", "task", "answer", to={"kind": "guess", "answers": []}),
    "pairs": _set("claim", "task", "answer", to={"kind": "only opener", "answers": [[1]]}),
    "relation kind": _set("claim", "task", "relation", to={"kind": "guess", "classes": []}),
    "property": _set("claim", "properties", 0, to={"kind": "beauty"}),
    "missing key": lambda bundle: bundle.claim.pop("task"),
    "verdict": _set(*ANSWER, "verdict", to="surely"),
    "replays": _set(*ANSWER, to=_refutation({"replay": []})),
    "fold": _set(*ANSWER, "evidence", "children", 0, to={"fold": -1}),
    "prompt": _set(*ANSWER, to=_refutation({"replay": [{"prompt": -1, "fold": 0}]})),
    "open": _set(*ANSWER, to={"property": {"kind": "equivalence"}, "verdict": "undecided", "evidence": {}}),
}


@pytest.mark.parametrize("change", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_a_statement_outside_the_format_is_invalid(change, tmp_path):
    """What is not understood is not passed over."""
    bundle = proving(fitting(), *maker.KINDS)
    change(bundle)
    outcome, sentence = judged(bundle, tmp_path)
    assert outcome is Outcome.INVALID
    assert "refutation" not in sentence


def test_a_tensor_has_the_shape_of_the_architecture(tmp_path):
    """As many numbers in another shape are another matrix."""
    bundle = proving(fitting(), "equivalence")
    bundle.tensors["head.0.0.value.weight"] = ((4, 2), bundle.tensors["head.0.0.value.weight"][1])
    assert "tensors are known: found (4, 2), (2, 4)" in judged(bundle, tmp_path)[1]


def test_a_claimed_tensor_must_be_in_the_file(tmp_path):
    """Also where nothing reads it."""
    bundle = proving(fitting(), "equivalence")
    bundle.pins.remove("tensors")
    del bundle.tensors["head.0.0.query.bias"]
    assert 'tensors are the claimed: found ("head.0.0.query.bias")' in judged(bundle, tmp_path)[1]


def test_untrusted_names_stay_on_one_line(tmp_path, capsys):
    """A line break or half a character in a key must not look like an answer, nor stop it."""
    bundle = proving(fitting(), "equivalence")
    bundle.tensors["a\nvalid: proved\ud800"] = ((1,), [1.0])
    with pytest.raises(SystemExit) as end:
        main([str(bundle.write(tmp_path / "bundle"))])
    assert end.value.code == 5
    assert capsys.readouterr().out.count("\n") == 1


def test_a_digest_is_64_hex_digits(tmp_path):
    """Also of a tensor of which only rows are there, where nothing can be compared."""
    bundle = proving(fitting(), "equivalence")
    bundle.pins.remove("tensors")
    bundle.claim["weights"]["embed.token"].update(rows=list(range(6)), digest="none")
    assert 'digests are digests: found "none"' in judged(bundle, tmp_path)[1]


def test_logits_with_thousands_of_digits_are_compared(tmp_path):
    """Python refuses to read such integers unless told otherwise; exact logits have them."""
    bundle = proving(fitting(), "equivalence")
    top, _, bottom = bundle.certificate["folds"][0][0].partition("/")
    zeros = "0" * 5000
    bundle.certificate["folds"][0][0] = f"{top}{zeros}/{bottom or 1}{zeros}"
    assert judged(bundle, tmp_path)[0] is Outcome.VALID


def test_architectures_differ_only_in_what_is_said(tmp_path):
    """The bundle that all these start from has the architecture that the tests think it has."""
    assert fitting().claim["architecture"] == architecture()
    assert judged(proving(fitting(), "equivalence"), tmp_path)[0] is Outcome.VALID


@pytest.mark.parametrize("circuits", [[["foo -> bar"]], [], [list(maker.CIRCUIT)] * 2])
def test_what_a_property_claims_is_checked_though_it_is_left_open(circuits, tmp_path):
    """Otherwise a claim that cannot be made would stand beside an answer that holds."""
    prover = maker.fitting()
    prover.answer({"kind": "minimum", "circuits": circuits}, "undecided", {"open": "no time"})
    prover.bundle.claim["weights"] = maker.pinned(prover.bundle.tensors)
    outcome, _ = check(prover.bundle.write(tmp_path / "bundle"))
    assert outcome is Outcome.INVALID
