"""Small bundles that would never end or eat the machine: each is answered at once, and by no verdict."""

import itertools
from collections.abc import Callable
from math import prod
from typing import Any

import pytest

import bundle_maker as maker
import pattern_forgeries
from bundle_maker import Bundle, architecture, every_edge, fitting, proving, random_bundle
from circuitproof_check.main import Beside, Outcome, inspect
from deep_claims import necessary_edges
from limited import judged

BROKEN = ("mlps_that_all_read_each_other", "a_long_line")
"""These took long once; now little work comes to a rule that they break."""
ANY = {"all but": []}
HUGE: dict[str, Callable[[], Bundle]] = {}


def huge(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
    """Enter a bundle that exceeds a bound."""
    HUGE[make.__name__.removeprefix("_")] = make
    return make


def sized(**sizes: int) -> Bundle:
    """Return a bundle that says other sizes than it has."""
    bundle = proving(fitting(), "equivalence")
    bundle.claim["architecture"].update(sizes)
    bundle.claim["circuit"].update({key: size for key, size in sizes.items() if key in ("layers", "heads")})
    return bundle


for _name in ("layers", "heads", "width", "mlp_width", "context", "vocabulary"):
    HUGE[f"{_name} of 10**9"] = lambda name=_name: sized(**{name: 10**9})
HUGE["layers of 10**12"] = lambda: sized(layers=10**12)


def patterned(
    pattern: dict[str, Any], programs: dict[str, list[str]] | None = None, context: int = 600
) -> Bundle:
    """Return a claim about a pattern, with evidence that says nothing yet."""
    edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    size = architecture(context=context)
    bundle = random_bundle(size, edges, 0, programs or pattern_forgeries.MEMBER, prompts=1)
    bundle.domain = {"prompts": [[0]], "strata": ["all"], "pattern": pattern}
    task = bundle.claim["task"]
    task["answer"] = {"kind": "only opener", "answers": [[0, 1], [2, 3]]}
    task["relation"] = {"kind": "same opener", "openers": [0, 2]}
    bundle.claim["properties"] = [{"kind": "equivalence"}]
    leaf = {"decision": 0, "margins": ["1", "1"]}
    answer = {"property": {"kind": "equivalence"}, "verdict": "proved", "evidence": leaf, "remarks": []}
    bundle.certificate = {"format": maker.CERTIFICATE_FORMAT, "folds": [], "answers": [answer]}
    return bundle


def exactly_one(
    shape: dict[str, Any], longest: int, clauses: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Return a pattern of prompts with one opener."""
    opener = {"of": {"tokens": [0, 2]}, "least": 1, "most": 1}
    return {"shape": shape, "clauses": [opener, *(clauses or [])], "longest": longest}


def many(least: int = 0) -> dict[str, Any]:
    """Return any number of any tokens."""
    return {"repeat": ANY, "least": least, "most": None}


@huge
def _counted_to_the_end() -> Bundle:
    counted = "add 1 when query_count {1} up to 1000000000 == 0"
    more = "add 1 when query_count {3} up to 1000000000 == 0"
    program = {"0.0": ["default 0", counted, more, "otherwise self"]}
    return patterned(exactly_one(many(), 600), program)


@huge
def _twenty_nine_counters() -> Bundle:
    classes = [[token for token in range(6) if number >> token & 1] for number in range(1, 30)]
    clauses = [{"of": {"tokens": tokens}, "least": 0, "most": 500} for tokens in classes]
    return patterned(exactly_one(many(), 600, clauses))


@huge
def _nested_repeats() -> Bundle:
    shape: dict[str, Any] = ANY
    for _ in range(6):
        shape = {"repeat": {"choice": [shape, {"sequence": [shape, shape]}]}, "least": 0, "most": 9}
    return patterned(exactly_one(shape, 600))


@huge
def _long_prompts() -> Bundle:
    scans = [
        f"add 1 when nearest key_token == {token} or last key_token == {token}" for token in (1, 3, 4, 5)
    ]
    return patterned(exactly_one(many(), 600), {"0.0": ["default 0", *scans, "otherwise self"]})


@huge
def _seven_edges_of_a_large_graph() -> Bundle:
    size = architecture(layers=4, heads=4)
    edges = ["embed -> head 0.0", "embed -> head 0.1", "embed -> head 0.2", "embed -> logits"]
    edges += ["head 0.0 -> logits", "head 0.1 -> logits", "head 0.2 -> logits"]
    prover = fitting(size, edges)
    entry = {"kind": "minimum", "circuits": [edges]}
    prover.answer(entry, "refuted", {"circuit": edges, "evidence": {"replay": []}})
    return prover.bundle


@huge
def _chain_of_narrow_heads() -> Bundle:
    size = architecture(layers=10, width=1, head_width=1, mlp_width=1, context=4)
    nodes = ["embed", *(f"head {layer}.0" for layer in range(10)), "logits"]
    edges = [f"{a} -> {b}" for a, b in itertools.pairwise(nodes)]
    bundle = random_bundle(size, edges, 3, prompts=2)
    bundle.domain["prompts"] = [[1, 2, 3, 4], [4, 3, 2, 1]]
    chance = iter(range(10**6))
    bundle.tensors = {
        name: (shape, [1 / (3 + next(chance) % 7) for _ in range(prod(shape))])
        for name, (shape, _) in bundle.tensors.items()
    }
    prover = maker.Prover(bundle)
    prover.folds.append(["1", "2", "3"])
    prover.answer({"kind": "equivalence"}, "proved", prover.by_prompt(lambda _: {"fold": 0}))
    return bundle


@huge
def _two_million_digits() -> Bundle:
    bundle = proving(fitting(), "robustness")
    bundle.claim["properties"][0]["epsilon"] = f"1/{'9' * 900_000}"
    return bundle


@huge
def _deep_json() -> Bundle:
    bundle = proving(fitting(), "equivalence")
    bundle.tamper = lambda files: files.update({"certificate.json": b"[" * 500_000})
    return bundle


@huge
def _a_million_edges() -> Bundle:
    size = architecture(layers=800, heads=4)
    bundle = proving(fitting(), "faithfulness")
    bundle.claim["architecture"] = size
    bundle.claim["circuit"] |= {"layers": 800, "heads": 4}
    bundle.claim["circuit"]["edges"] = [*every_edge(architecture())[:1], "head 0.0 -> logits"]
    return bundle


def bare(size: dict[str, Any], edges: list[str], claimed: dict[str, Any], evidence: dict[str, Any]) -> Bundle:
    """Return a bundle of one prompt with one answer, which need not be about the tensors that it has."""
    bundle = random_bundle(architecture(), ["embed -> logits"], 1, prompts=1)
    bundle.claim["architecture"] = size
    bundle.claim["circuit"] = maker.circuit_of(size, edges)
    bundle.claim["properties"] = [claimed]
    verdict = "undecided" if "open" in evidence else "refuted" if "circuit" in evidence else "proved"
    answer = {"property": claimed, "verdict": verdict, "evidence": evidence, "remarks": []}
    bundle.certificate = {"format": maker.CERTIFICATE_FORMAT, "folds": [], "answers": [answer]}
    bundle.tensors = {}
    return bundle


@huge
def _what_is_read_of_a_long_prompt() -> Bundle:
    edges = ["embed -> head 0.0", "head 0.0 -> head 1.0", "head 1.0 -> logits"]
    claimed = {"kind": "robustness", "epsilon": "1", "at": "embed output", "positions": "last"}
    bundle = bare(architecture(layers=2, context=20_000), edges, claimed, {"open": "no time"})
    bundle.domain["prompts"] = [[0] * 20_000]
    return bundle


@huge
def _mlps_that_all_read_each_other() -> Bundle:
    bundle = patterned(exactly_one(many(), 2))
    size = architecture(layers=40, context=600)
    edges = [edge for edge in every_edge(size) if "head" not in edge]
    bundle.claim |= {"architecture": size, "programs": {}}
    bundle.claim["circuit"] |= {"layers": 40, "edges": edges}
    bundle.tensors = {name: one for name, one in bundle.tensors.items() if name[:5] in ("embed", "logit")}
    return bundle


@huge
def _weights_without_a_common_denominator() -> Bundle:
    rules = [f"add 1/{10**99 + 2 * number + 1}" for number in range(4000)]
    bundle = proving(fitting(programs={"0.0": ["default 1", "otherwise self"]}), "equivalence")
    bundle.claim["programs"]["0.0"][1:1] = rules
    return bundle


@huge
def _a_long_line() -> Bundle:
    line = f"add 1 when key_token in {{{','.join(map(str, range(100_000)))}}}"
    bundle = proving(fitting(programs={"0.0": ["default 1", "otherwise self"]}), "equivalence")
    bundle.claim["programs"]["0.0"][1:1] = [line]
    bundle.claim["architecture"]["vocabulary"] = 100_000
    return bundle


@huge
def _eight_thousand_clauses() -> Bundle:
    clauses = [{"of": {"tokens": [3]}, "least": 0, "most": 99 + number} for number in range(8000)]
    return patterned(exactly_one(many(), 40, clauses))


@huge
def _nested_token_splits() -> Bundle:
    bundle = patterned({"shape": ANY, "clauses": [], "longest": 1})
    bundle.claim["architecture"]["vocabulary"] = 200
    bundle.claim["task"]["answer"]["answers"] = [[token, 1] for token in range(200)]
    bundle.claim["task"]["relation"]["openers"] = list(range(200))
    tree = bundle.certificate["answers"][0]["evidence"]
    for _ in range(150):
        tree = {"split": "token", "position": 0, "children": [{"class": ANY, "evidence": tree}]}
    bundle.certificate["answers"][0]["evidence"] = tree
    shapes = {"embed.token": (200, 4), "logits.weight": (200, 4), "logits.bias": (200,)}
    bundle.tensors |= {name: (shape, [0.5] * prod(shape)) for name, shape in shapes.items()}
    return bundle


@huge
def _edges_into_the_logits() -> Bundle:
    edges = ["embed -> logits", *(f"head 0.{number} -> logits" for number in range(2200))]
    claimed = {"kind": "subset minimality"}
    return bare(architecture(heads=2200), edges, claimed, {"circuit": [], "evidence": {}})


@huge
def _brackets_on_a_long_prompt() -> Bundle:
    size = architecture(context=5000)
    bundle = random_bundle(size, ["embed -> head 0.0", "head 0.0 -> logits"], 1, {"0.0": []}, prompts=1)
    bundle.domain["prompts"] = [[0] * 2500 + [1] * 2500]
    bundle.claim["programs"]["0.0"] = ["default 0", *["add 1 when partner {0:1}"] * 100, "otherwise self"]
    bundle.claim["properties"] = [{"kind": "equivalence"}]
    evidence = {"split": "prompt", "children": [{"fold": 0}]}
    answer = {"property": {"kind": "equivalence"}, "verdict": "proved", "evidence": evidence, "remarks": []}
    bundle.certificate = {"format": maker.CERTIFICATE_FORMAT, "folds": [["0"] * 3], "answers": [answer]}
    return bundle


@huge
def _nested_repeats_of_a_long_choice() -> Bundle:
    tail = [{"sequence": [ANY, {"repeat": ANY, "least": 0, "most": number + 1}]} for number in range(300)]
    shape: dict[str, Any] = {"choice": tail}
    for _ in range(100):
        shape = {"repeat": shape, "least": 0, "most": None}
    return patterned(exactly_one(shape, 6))


@pytest.mark.parametrize("name", HUGE)
def test_a_small_bundle_that_is_too_much_gets_no_verdict_in_ten_seconds_and_500_megabytes(name, tmp_path):
    """The work is bounded before it is done; no verdict depends on the bound."""
    made = HUGE[name]()
    made.pins.discard("remarks")  # the slow twin would have to compute what is too much
    bundle = made.write(tmp_path / "bundle")
    assert sum(file.stat().st_size for file in bundle.iterdir()) < 1_000_000
    code, said, complaint = judged(bundle)
    wanted = Outcome.INVALID if name in BROKEN else Outcome.INCOMPLETE
    assert (code, complaint) == (wanted, ""), said


def test_a_minimum_is_enumerated_no_further_than_it_has_children(tmp_path):
    """That one more circuit exists is enough to refuse it."""
    bundle = _seven_edges_of_a_large_graph()
    children = {"split": "circuit", "children": [{"replay": []}] * 100}
    bundle.certificate["answers"][0] |= {"verdict": "proved", "evidence": children}
    report = inspect(bundle.write(tmp_path / "bundle"), Beside())
    assert report.outcome is Outcome.INVALID
    assert "children exhaust the split: found 100, 101" in report.reason


def test_operations_are_counted_and_can_be_allowed(tmp_path):
    """What a bound stops, a larger one lets through; the count does not depend on the machine."""
    bundle = proving(fitting(), *maker.KINDS).write(tmp_path / "bundle")
    assert inspect(bundle, Beside(operations=1000)).outcome is Outcome.INCOMPLETE
    assert "more than 1000 operations" in inspect(bundle, Beside(operations=1000)).reason
    assert inspect(bundle, Beside(operations=10**7)).outcome is Outcome.VALID


def test_a_hundred_necessary_edges_on_a_hundred_prompts_are_within_the_bound(tmp_path):
    """Whether an edge only brings a bias is asked of every prompt; what the other edges bring is known."""
    bundle = necessary_edges(50)
    assert (len(bundle.claim["circuit"]["edges"]), len(bundle.domain["prompts"])) == (100, 100)
    report = inspect(bundle.write(tmp_path / "bundle"), Beside())
    assert report.outcome is Outcome.VALID, report.reason
