"""Measures: brackets that hold all that a number can be are met, others are not, to the last unit."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest

import pattern_forgeries
from bundle_maker import Naive, every_edge
from checker_reading import checker_forward
from circuitproof_check import measures
from circuitproof_check.enclosed.forward import Enclosures
from circuitproof_check.main import Beside, Outcome, check, inspect
from enclosed_claims import GPT, NEOX, PLAIN, copied, prompts, prover_of, remarked, settled
from enclosed_twin import EnclosedProver
from measures_oracle import (
    MEASURES,
    SPANS,
    bracket,
    difference,
    ends_of,
    evaluated,
    less,
    loss,
    measured,
    place_of,
    share,
)

SIZES = {"like GPT-2": GPT, "like GPT-NeoX": NEOX, "without norms": PLAIN}
LISTED = [[token] * count for token in (1, 2) for count in range(1, 5)]
EXACT = {"attention": "sparsemax"}
"""Operators whose logits are rational, and known by another way."""


def carrying(kind: str, listed: list[list[int]]) -> Any:
    """Return what cut edges carry."""
    return {
        "zero": "zero",
        "mean": {"kind": "mean", "over": "position", "prompts": LISTED},
        "pooled": {"kind": "mean", "over": "all", "prompts": LISTED[:3]},
        "partners": {
            "kind": "counterfactual",
            "pairs": [[one, [(token + 1) % 6 for token in one]] for one in listed],
        },
    }[kind]


def asked(size: dict[str, Any], seed: int, ablation: str = "zero", p: int = 64) -> EnclosedProver:
    """Return a prover whose circuit is wrong on its first prompt."""
    prover = prover_of(size, seed, p)
    prover.claim["circuit"]["ablation"] = carrying(ablation, prover.prompts)
    prover.found = {}
    settled(prover)
    answers, candidates = prover.claim["task"]["answer"]["answers"], prover.claim["task"]["candidates"]
    answers[0] = next(one for one in candidates if one != answers[0])
    return prover


def again(prover: EnclosedProver, p: int | None = None) -> EnclosedProver:
    """Return a prover about the same model, that has claimed nothing."""
    found = EnclosedProver(copied(prover.bundle), prover.p if p is None else p)
    found.claim["properties"] = []
    found.found = prover.found if p is None else {}
    return found


def judged(prover: EnclosedProver, entry: dict[str, Any], path: Path, verdict: str = "proved") -> Outcome:
    """Return what the checker says of a measure."""
    return check(remarked(evaluated(again(prover), entry, verdict)).write(path))[0]


@pytest.mark.parametrize("ablation", ["zero", "mean", "pooled", "partners"])
@pytest.mark.parametrize("name", SIZES)
def test_the_tightest_brackets_are_met_and_those_a_unit_tighter_are_not(name, ablation, tmp_path):
    """The checker and the twin agree on both ends of every number to the last unit."""
    prover = asked(SIZES[name], 3, ablation)
    for kind in MEASURES:
        honest = measured(prover, kind)
        assert judged(prover, honest, tmp_path / kind) is Outcome.VALID
        for span, ends in ends_of(prover, kind).items():
            for inward in ((1, 0), (0, 1)):
                tight = honest | {span: bracket(ends, prover.p, inward)}
                path = tmp_path / f"{kind} {span} {inward[0]}"
                assert judged(prover, tight, path) is Outcome.INVALID


@pytest.mark.parametrize("kind", MEASURES)
def test_a_measure_is_refuted_just_beyond_its_ends(kind, tmp_path):
    """A bracket that touches what the number can be is not missed; one that does not is."""
    prover = asked(GPT, 1)
    alone = dict.fromkeys(SPANS) if kind == "logit difference" else {}
    for span, ends in ends_of(prover, kind).items():
        low, high = bracket(ends, prover.p)
        below, above = bracket(ends, prover.p, (-1, -1))
        without = {"without": []} if kind == "recovered difference" else {}
        cases = [
            ([None, low], Outcome.INVALID),
            ([None, below], Outcome.REFUTED),
            ([high, None], Outcome.INVALID),
            ([above, None], Outcome.REFUTED),
        ]
        for place, (stated, outcome) in enumerate(cases):
            entry = {"kind": kind, **alone, span: stated, **without}
            path = tmp_path / f"{kind} {span} {place}"
            assert judged(prover, entry, path, "refuted") is outcome, stated


@pytest.mark.parametrize("seed", range(6))
def test_the_true_numbers_lie_between_the_ends(seed):
    """Rational logits, found by exact fractions under every ablation, have a true loss and true shares."""
    prover = asked(EXACT, seed, ["zero", "mean", "pooled", "partners"][seed % 4])
    every, sums = every_edge(prover.claim["architecture"]), dict.fromkeys(MEASURES, mpmath.mpf(0))
    with mpmath.workdps(60):
        for p in prompts(prover):
            own, model, bare = (
                list(map(mpmath.mpmathify, Naive(prover.bundle, edges, prover.prompts[p]).logits()))
                for edges in (prover.edges, every, [])
            )
            a = place_of(prover, p)
            m, whole, none = (row[a] - max(row[:a] + row[a + 1 :]) for row in (own, model, bare))
            sums["loss"] += mpmath.log(mpmath.fsum(mpmath.exp(one - own[a]) for one in own))
            sums["logit difference"] += m
            sums["recovered difference"] += (m - none) / (whole - none)
        for kind in MEASURES:
            ends = ends_of(prover, kind)["mean"]
            assert ends is not None
            assert ends[0] <= mpmath.ldexp(sums[kind], prover.p) <= ends[1], kind


@pytest.mark.parametrize("seed", range(8))
def test_the_checker_computes_what_the_table_says(seed):
    """Row by row, of random models with few and with many bits."""
    p = (16, 40, 64, 300)[seed % 4]
    prover = asked(list(SIZES.values())[seed % 3], seed, p=p)
    forward = checker_forward(prover.bundle)
    enclosures = Enclosures(forward, p)
    for prompt in prompts(prover):
        row, place = prover.row(prompt), place_of(prover, prompt)
        own = enclosures.logits(forward.claim.edges, tuple(prover.prompts[prompt]))
        assert (list(own.midpoints), own.radius) == row
        for other in range(len(row[0])):
            found = measures.loss(own, other, p)
            assert (found.low, found.high) == loss(row, other, p)
            lead = measures.difference(own, other)
            assert (lead.low, lead.high) == difference(row, other)
        bare = difference(prover.row(prompt, []), place)
        for one in (difference(row, place), (-5, 7), (3, 4), (-4, -3), (0, 0)):
            for below in (less(one, bare), (1, 2), (-9, -1), (0, 5), (-5, 0)):
                wanted = share(one, below, p)
                got = measures.share(measures.Ends(*one), measures.Ends(*below), p)
                assert (got and (got.low, got.high)) == wanted


def test_a_low_precision_decides_nothing(tmp_path):
    """Whoever writes the certificate chooses the precision: wide enclosures are open, and never a proof."""
    prover = asked(PLAIN, 1)
    coarse = again(prover, 16)
    for kind in MEASURES:
        honest = measured(prover, kind)
        for verdict in ("proved", "refuted"):
            claimed = remarked(evaluated(again(coarse, 16), honest, verdict))
            assert check(claimed.write(tmp_path / f"{kind} {verdict}"))[0] is Outcome.INVALID
        claimed = again(coarse, 16)
        claimed.answer(honest, "undecided", {"open": "radius 1"})
        assert check(remarked(claimed).write(tmp_path / kind))[0] is Outcome.INCOMPLETE


def without_logits() -> EnclosedProver:
    """Return a model whose logits are the same for all candidates, so that nothing can be recovered."""
    prover = asked(GPT, 0)
    for name in ("logits.weight", "logits.bias"):
        shape, numbers = prover.bundle.tensors[name]
        prover.bundle.tensors[name] = shape, [0.0] * len(numbers)
    prover.found = {}
    return prover


@pytest.mark.parametrize("mean", [["-1000000", "1000000"], ["5", None], [None, "5"]])
@pytest.mark.parametrize("verdict", ["proved", "refuted"])
def test_nothing_is_known_of_a_share_whose_denominator_may_be_zero(mean, verdict, tmp_path):
    """Neither a proof nor a refutation, however wide the bracket is."""
    prover = without_logits()
    assert ends_of(prover, "recovered difference") == {"mean": None}
    entry = {"kind": "recovered difference", "mean": mean, "without": [0, 2]}
    assert judged(prover, entry, tmp_path / "bundle", verdict) is Outcome.INVALID


def test_a_prompt_without_a_share_may_be_left_out(tmp_path):
    """It is remarked on; a mean over the others says nothing of it."""
    prover = asked(GPT, 2)
    entry = measured(prover, "recovered difference", without=[0, 3])
    bundle = remarked(evaluated(again(prover), entry))
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    assert (outcome, "; prompts left out: 2] proved" in reason) == (Outcome.VALID, True), reason
    assert entry["mean"] != measured(prover, "recovered difference")["mean"]


BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "a number that is none": ("loss", {"mean": ["NaN", "1"]}),
    "a number without end": ("loss", {"mean": ["0", "Infinity"]}),
    "a decimal": ("loss", {"mean": ["0", "1.5"]}),
    "an exponent": ("loss", {"mean": ["0", "1e9"]}),
    "a number over zero": ("loss", {"mean": ["0", "1/0"]}),
    "a number that is no string": ("loss", {"mean": [0, 1]}),
    "a number with a blank": ("loss", {"mean": ["0", " 1"]}),
    "one end": ("loss", {"mean": ["1"]}),
    "no bracket": ("loss", {"mean": None}),
    "an object": ("loss", {"mean": {"low": "0", "high": "1"}}),
    "a span that there is not": ("loss", {"least": ["0", "9"]}),
    "a span that is left out": ("logit difference", {"greatest": ...}),
    "a list that is left out": ("recovered difference", {"without": ...}),
    "a prompt that there is not": ("recovered difference", {"without": [4]}),
    "a prompt below zero": ("recovered difference", {"without": [-1]}),
    "a prompt twice": ("recovered difference", {"without": [1, 1]}),
    "prompts in disorder": ("recovered difference", {"without": [2, 1]}),
    "a prompt that is no number": ("recovered difference", {"without": [True]}),
    "every prompt": ("recovered difference", {"without": [0, 1, 2, 3]}),
}


@pytest.mark.parametrize("verdict", ["proved", "refuted", "undecided"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_claimed_is_refused_whatever_is_answered(name, verdict, tmp_path):
    """Each has one spelling, which is read strictly."""
    kind, change = BROKEN[name]
    prover = asked(GPT, 0)
    entry = {key: one for key, one in (measured(prover, kind) | change).items() if one is not ...}
    claimed = again(prover)
    evidence = {"open": "no time"} if verdict == "undecided" else {"evaluated": 4}
    claimed.answer(entry, verdict, evidence)
    outcome, reason = check(claimed.bundle.write(tmp_path / "bundle"))
    assert (outcome, "breaks the rule" in reason) == (Outcome.INVALID, True), reason


OTHERS: list[dict[str, Any]] = [*({"evaluated": one} for one in (0, 3, 5, "4", 4.0, True, None, [4]))]
OTHERS += [
    {},
    {"evaluated": 4, "mean": "1"},
    {"decided": 0},
    {"fold": 0},
    {"split": "prompt", "children": []},
]


@pytest.mark.parametrize("evidence", OTHERS)
def test_an_evaluation_counts_the_prompts_and_says_no_more(evidence, tmp_path):
    """No number of a measure comes from the certificate."""
    prover = asked(GPT, 0)
    claimed = again(prover)
    claimed.answer(measured(prover, "loss"), "proved", evidence)
    assert check(claimed.bundle.write(tmp_path / "bundle"))[0] is Outcome.INVALID


def test_the_answer_is_to_the_bracket_of_the_claim(tmp_path):
    """A wider bracket in the answer proves nothing of the claim's; another spelling is the same."""
    prover = asked(GPT, 0)
    bundle = remarked(evaluated(again(prover), measured(prover, "loss")))
    stated = bundle.certificate["answers"][0]["property"]
    low, high = map(Fraction, stated["mean"])
    stated["mean"] = [str(low), f"{2 * high.numerator}/{2 * high.denominator}"]
    assert check(bundle.write(tmp_path / "same"))[0] is Outcome.VALID
    stated["mean"] = [str(low), str(high + 1)]
    outcome, reason = check(bundle.write(tmp_path / "wider"))
    assert (outcome, "answers are to the property" in reason) == (Outcome.INVALID, True)


@pytest.mark.parametrize("kind", ["accuracy", "loss"])
def test_nothing_is_counted_over_a_pattern(kind, tmp_path):
    """Prompts of a pattern are not all listed, so that there is nothing to count."""
    bundle = pattern_forgeries.honest()
    entry = {"kind": kind} | ({"wrong": []} if kind == "accuracy" else {"mean": ["0", "1"]})
    bundle.claim["properties"] = [entry]
    answer = {"property": entry, "verdict": "undecided", "evidence": {"open": "no time"}, "remarks": []}
    bundle.certificate |= {"answers": [answer], "folds": []}
    outcome, reason = check(bundle.write(tmp_path / "bundle"))
    rule = "patterns have these properties" if kind == "accuracy" else "measures are enclosed"
    assert (outcome, rule in reason) == (Outcome.INVALID, True), reason


def test_a_band_norm_has_no_measure(tmp_path):
    """Enclosed arithmetic has no value of it."""
    prover = asked(GPT, 0)
    claimed = remarked(evaluated(again(prover), measured(prover, "loss")))
    claimed.claim["architecture"]["norm"] = {"kind": "band", "low": "1", "high": "2", "lift": "reference"}
    outcome, reason = check(claimed.write(tmp_path / "bundle"))
    assert (outcome, "norm has enclosures" in reason) == (Outcome.INVALID, True), reason


def test_measures_of_exact_operators_are_enclosed(tmp_path):
    """Whatever the operators: ln has no exact value."""
    prover = asked(EXACT, 1)
    for kind in MEASURES:
        assert judged(prover, measured(prover, kind), tmp_path / kind) is Outcome.VALID


def test_the_line_and_the_data_say_what_is_claimed(tmp_path):
    """Decimals are rounded outward where they are proved."""
    prover = asked(GPT, 0)
    spans = {"least": None, "mean": ["-10/3", None], "greatest": [None, "100000000/3"]}
    claimed = evaluated(again(prover), {"kind": "loss", "mean": ["1/2", "4/3"]})
    evaluated(claimed, {"kind": "logit difference", **spans})
    report = inspect(remarked(claimed).write(tmp_path / "proved"), Beside())
    said = "loss [mean from 0.5 to 1.333334], logit difference [mean at least -3.333334; greatest at most "
    assert f"{said}33333340] proved" in report.reason
    assert report.claim["properties"] == [
        {"kind": "loss", "verdict": "proved", "remarks": [], "mean": ["1/2", "4/3"]},
        {"kind": "logit difference", "verdict": "proved", "remarks": [], **spans},
    ]
    refuted = evaluated(again(prover), {"kind": "loss", "mean": ["7/3", None]}, "refuted")
    report = inspect(remarked(refuted).write(tmp_path / "refuted"), Beside())
    assert "loss [mean at least about 2.333333] refuted" in report.reason


def kept(prover: EnclosedProver) -> EnclosedProver:
    """Keep every edge."""
    prover.claim["circuit"]["edges"] = every_edge(prover.claim["architecture"])
    return settled(EnclosedProver(prover.bundle, prover.p))


def silent(prover: EnclosedProver) -> EnclosedProver:
    """Cut the edges of a head that puts out zero, and no others."""
    for name in ("head.0.1.output.weight", "attention.0.output.bias"):
        shape, numbers = prover.bundle.tensors[name]
        prover.bundle.tensors[name] = shape, [0.0] * len(numbers)
    every = every_edge(prover.claim["architecture"])
    prover.claim["circuit"]["edges"] = [edge for edge in every if "head 0.1" not in edge]
    return settled(EnclosedProver(prover.bundle, prover.p))


def on_one(prover: EnclosedProver) -> EnclosedProver:
    """Take means over one prompt."""
    prover.claim["circuit"]["ablation"] = {"kind": "mean", "over": "all", "prompts": [[1, 2]]}
    return settled(EnclosedProver(prover.bundle, prover.p))


def paired(prover: EnclosedProver) -> EnclosedProver:
    """Pair each prompt with itself, so that nothing is cut."""
    pairs = [[one, one] for one in prover.prompts]
    prover.claim["circuit"]["ablation"] = {"kind": "counterfactual", "pairs": pairs}
    return settled(EnclosedProver(prover.bundle, prover.p))


REMARKED = [
    ("loss", lambda one: one, []),
    ("loss", on_one, ["means of one prompt: 4"]),
    ("loss", paired, ["own partners: 4", "perhaps logits of the whole model"]),
    ("loss", lambda one: on_one(kept(one)), ["perhaps logits of the whole model"]),
    ("logit difference", kept, []),
    ("logit difference", on_one, ["means of one prompt: 4"]),
    ("recovered difference", lambda one: one, ["prompts left out: 1"]),
    ("recovered difference", kept, ["whole model", "prompts left out: 1"]),
    ("recovered difference", silent, ["whole model", "prompts left out: 1"]),
    ("recovered difference", on_one, ["means of one prompt: 4", "prompts left out: 1"]),
    (
        "recovered difference",
        lambda one: on_one(kept(one)),
        ["whole model", "means of one prompt: 4", "prompts left out: 1", "perhaps logits of the whole model"],
    ),
]


@pytest.mark.parametrize("place", range(len(REMARKED)))
def test_just_the_remarks_that_apply_stand_in_their_order(place, tmp_path):
    """One missing, one more, or two in another order make a bundle invalid."""
    kind, change, wanted = REMARKED[place]
    prover = change(prover_of(GPT, 0))
    entry = measured(prover, kind, [2] if kind.startswith("recovered") else [])
    bundle = evaluated(prover, entry).bundle
    lists = [
        wanted,
        wanted[1:],
        [*wanted, "whole model"],
        [*wanted, *wanted],
        wanted[::-1],
        ["constant answer"],
    ]
    for number, stated in enumerate(lists):
        bundle.certificate["answers"][0]["remarks"] = stated
        outcome, reason = check(bundle.write(tmp_path / str(number)))
        assert outcome is (Outcome.VALID if stated == wanted else Outcome.INVALID), (stated, reason)


def test_a_refuted_measure_has_no_remarks(tmp_path):
    """They warn of proofs."""
    prover = kept(prover_of(GPT, 0))
    entry = {"kind": "recovered difference", "mean": ["2", None], "without": [1]}
    bundle = evaluated(prover, entry, "refuted").bundle
    assert check(bundle.write(tmp_path / "none"))[0] is Outcome.REFUTED
    bundle.certificate["answers"][0]["remarks"] = ["whole model"]
    assert check(bundle.write(tmp_path / "one"))[0] is Outcome.INVALID


@pytest.mark.parametrize("edges", [[], ["embed -> head 0.0"]])
def test_a_share_that_is_zero_by_definition_is_remarked_on(edges, tmp_path):
    """Without an edge to the logits the circuit is what its share is measured from."""
    drawn = prover_of(GPT, 0)
    size = drawn.claim["architecture"]["vocabulary"]
    pairs = [[one, [(token + 1) % size for token in one]] for one in drawn.prompts]
    prover = prover_of(GPT, 0, edges=edges, ablation={"kind": "counterfactual", "pairs": pairs})
    entry = {"kind": "recovered difference", "mean": ["-1", "1"], "without": []}
    bundle = remarked(evaluated(prover, entry))
    said = bundle.certificate["answers"][0]["remarks"]
    assert "no edges" in said
    outcome, reason = check(bundle.write(tmp_path / "honest"))
    assert outcome is Outcome.VALID, reason
    said.remove("no edges")
    assert "remarks are those that apply" in check(bundle.write(tmp_path / "silent"))[1]
