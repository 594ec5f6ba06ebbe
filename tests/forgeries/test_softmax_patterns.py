"""False claims about softmax heads and rules, each near a true one that is accepted, held against reals.

What is true is found by listing every prompt of the pattern; the forward pass below is in floats, and no
decision counts whose lead is less than a thousand times what floats can be off.
"""

import math
import random
import struct
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, architecture, circuit_of, random_bundle
from circuitproof_check.main import Outcome, check

Prompt = tuple[int, ...]
Vector = list[float]
Evidence = dict[str, Any]
EDGES = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"]
SIZE = architecture(
    vocabulary=4, context=5, width=3, mlp_width=0, attention="softmax", biases=False, attention_scale="1"
)
ANY: dict[str, Any] = {"all but": []}
PATTERN: dict[str, Any] = {"shape": {"repeat": ANY, "least": 1, "most": 3}, "clauses": [], "longest": 3}
PROMPTS: list[Prompt] = [one for n in (1, 2, 3) for one in product(range(4), repeat=n)]
FIRST = {"kind": "first", "of": [0, 1, 2, 3]}
CLEAR = 1e-9
"""A lead that floats are sure of."""


def logits(bundle: Bundle, prompt: Prompt, edges: Sequence[str] = EDGES) -> Vector:
    """Return the logits of all tokens in floats: an embedding and a softmax head."""
    tables = {name: rows(*tensor) for name, tensor in bundle.tensors.items()}
    here = [add(tables["embed.token"][t], tables["embed.position"][i]) for i, t in enumerate(prompt)]
    read = here if EDGES[0] in edges else [[0.0] * 3] * len(prompt)
    head = [[image(tables[f"head.0.0.{role}.weight"], one) for one in read] for role in maker.PORTS]
    scores = [dot(head[0][-1], key) for key in head[1]]
    shares = [math.exp(score - max(scores)) for score in scores]
    columns = zip(*head[2], strict=True)
    mixed = [sum(s * v for s, v in zip(shares, column, strict=True)) / sum(shares) for column in columns]
    residual = here[-1] if EDGES[1] in edges else [0.0] * 3
    if EDGES[2] in edges:
        residual = add(residual, image(tables["head.0.0.output.weight"], mixed))
    return add(image(tables["logits.weight"], residual), tables["logits.bias"][0])


def rows(shape: tuple[int, ...], numbers: Vector) -> list[Vector]:
    """Return a tensor as rows; of a vector, one row."""
    width = shape[-1]
    return [numbers[start : start + width] for start in range(0, len(numbers), width)]


def dot(one: Vector, other: Vector) -> float:
    """Return a product."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def add(one: Vector, other: Vector) -> Vector:
    """Return a sum."""
    return [a + b for a, b in zip(one, other, strict=True)]


def image(table: list[Vector], point: Vector) -> Vector:
    """Return an image without bias."""
    return [dot(row, point) for row in table]


def decided(bundle: Bundle, prompt: Prompt, edges: Sequence[str] = EDGES) -> int:
    """Return the token that is decided, by a clear lead."""
    row = logits(bundle, prompt, edges)
    *_, second, first = sorted(row)
    assert first - second > CLEAR
    return row.index(first)


def random_model(seed: int) -> Bundle:
    """Return a model whose weights are FP32, and a claim without properties about all short prompts."""
    bundle = random_bundle(SIZE, EDGES, seed, prompts=1)
    draw = random.Random(seed)  # noqa: S311  # weights for a test
    for name, (shape, numbers) in bundle.tensors.items():
        bundle.tensors[name] = shape, [single(draw.uniform(-2, 2)) for _ in numbers]
    bundle.pins = {"domain", "tensors", "certificate"}
    task = {"candidates": [0, 1, 2, 3], "answer": FIRST, "relation": {"kind": "same answer"}, "names": {}}
    bundle.claim |= {"arithmetic": "enclosed", "circuit": circuit_of(SIZE, EDGES)}
    bundle.claim["task"] |= task
    bundle.domain = {"prompts": list(map(list, PROMPTS)), "strata": ["all"] * len(PROMPTS)}
    bundle.domain["pattern"] = PATTERN
    return bundle


def single(number: float) -> float:
    """Return the nearest FP32 number."""
    (found,) = struct.unpack("<f", struct.pack("<f", number))
    return found


def claiming(bundle: Bundle, claimed: Evidence, evidence: Any, remarks: Sequence[str] = ()) -> Bundle:
    """Return a copy that claims one property."""
    made = deepcopy(bundle)
    made.claim["properties"] = [claimed]
    answer = {"property": claimed, "verdict": "proved", "evidence": evidence, "remarks": list(remarks)}
    kind = maker.CERTIFICATE_FORMAT
    made.certificate = {"format": kind, "precision": 64, "folds": [], "answers": [answer]}
    return made


def outcome(bundle: Bundle, directory: Path) -> Outcome:
    """Return what the checker says; a bundle is written once more each time."""
    return check(bundle.write(directory / str(len(list(directory.iterdir())))))[0]


def shown(bundle: Bundle, prompts: Sequence[Prompt]) -> Evidence:
    """Return a leaf that shows prompts with what they decide."""
    return {"prompts": [{"prompt": PROMPTS.index(one), "decided": decided(bundle, one)} for one in prompts]}


def by_first(prompts: Sequence[Prompt], leaf: Callable[[list[Prompt]], Any]) -> Evidence:
    """Return a split by the first token."""
    parts = [(token, [one for one in prompts if one[0] == token]) for token in range(4)]
    children = [{"class": {"tokens": [token]}, "evidence": leaf(part)} for token, part in parts]
    return {"split": "token", "position": 0, "children": children}


def exactly(number: int) -> Evidence:
    """Return a claim of accuracy."""
    return {"kind": "accuracy", "exactly": str(number)}


def constant(bundle: Bundle, winner: int) -> list[str]:
    """Return the remarks on a claim that a circuit is right everywhere, where one token is always right."""
    _, numbers = bundle.tensors["logits.bias"]
    most = max(numbers)
    alone = numbers.count(most) == 1 and numbers[winner] == most
    assert numbers.count(most) == 1 or numbers[winner] < most
    return [f"no better than a constant: {len(PROMPTS)}", *["decided without edges"] * alone]


def right(bundle: Bundle) -> list[Prompt]:
    """Return the prompts whose first token is decided."""
    return [prompt for prompt in PROMPTS if decided(bundle, prompt) == prompt[0]]


def mixed_model() -> Bundle:
    """Return a model that is right on more prompts than a constant is, of several first tokens."""
    for seed in range(1000):
        bundle = random_model(seed)
        found = right(bundle)
        firsts = {prompt[0] for prompt in found}
        if len(firsts) > 2 and len(PROMPTS) // 4 < len(found) < len(PROMPTS) - 4:
            return bundle
    raise AssertionError("some model is right at times")


def lifted(seed: int, lead: float) -> tuple[Bundle, int]:
    """Return a model that decides one token always, by so much where it leads least."""
    bundle, winner = random_model(seed), seed % 4
    found = [logits(bundle, prompt) for prompt in PROMPTS]
    least = min(row[winner] - max(row[:winner] + row[winner + 1 :]) for row in found)
    shape, numbers = bundle.tensors["logits.bias"]
    numbers[winner] = single(numbers[winner] - least + lead)
    bundle.tensors["logits.bias"] = shape, numbers
    rule = {"kind": "automaton", "tokens": [[0]], "transitions": [[0]], "answers": [[0, winner]]}
    bundle.claim["task"]["answer"] = rule
    return bundle, winner


@pytest.mark.parametrize("seed", range(8))
def test_a_leaf_holds_just_where_the_least_lead_is_above_zero(seed, tmp_path):
    """A thousandth above zero is proved and a thousandth below is not, by one leaf about all prompts."""
    for lead, wanted in ((1e-3, Outcome.VALID), (-1e-3, Outcome.INVALID)):
        bundle, winner = lifted(seed, lead)
        wrong = sum(decided(bundle, prompt) != winner for prompt in PROMPTS)
        assert (wrong > 0) is (lead < 0)
        forged = claiming(bundle, exactly(84), {"decided": winner}, constant(bundle, winner))
        assert outcome(forged, tmp_path) is wanted


def test_a_tie_of_two_candidates_is_not_decided(tmp_path):
    """Two candidates with the same row and bias tie on every prompt, and neither is right."""
    bundle, winner = lifted(0, 1.0)
    other = (winner + 1) % 4
    remarks = constant(bundle, winner)
    assert outcome(claiming(bundle, exactly(84), {"decided": winner}, remarks), tmp_path) is Outcome.VALID
    for name, width in (("logits.weight", 3), ("logits.bias", 1)):
        _, numbers = bundle.tensors[name]
        numbers[other * width : (other + 1) * width] = numbers[winner * width : (winner + 1) * width]
    everything = {"prompts": [{"prompt": k, "decided": winner} for k in range(len(PROMPTS))]}
    for evidence in ({"decided": winner}, everything):
        assert outcome(claiming(bundle, exactly(84), evidence, remarks), tmp_path) is Outcome.INVALID


def test_a_count_takes_each_prompt_once_and_all_of_them(tmp_path):
    """Parts left out, parts that overlap and prompts shown twice would each make another count true."""
    bundle = mixed_model()
    count = len(right(bundle))
    honest = by_first(PROMPTS, lambda part: shown(bundle, part))
    assert outcome(claiming(bundle, exactly(count), honest), tmp_path) is Outcome.VALID
    gains = [sum(prompt[0] == token for prompt in right(bundle)) for token in range(4)]
    token = max(range(4), key=gains.__getitem__)

    def left_out(tree: Evidence) -> int:
        del tree["children"][token]
        return count - gains[token]

    def overlapping(tree: Evidence) -> int:
        other = (token + 1) % 4
        tree["children"][other]["class"] = {"tokens": sorted((token, other))}
        tree["children"][other]["evidence"]["prompts"] += tree["children"][token]["evidence"]["prompts"]
        return count + gains[token]

    def all_again(tree: Evidence) -> int:
        tree["children"].append({"class": ANY, "evidence": shown(bundle, right(bundle))})
        return 2 * count

    def shown_twice(tree: Evidence) -> int:
        entries = tree["children"][token]["evidence"]["prompts"]
        entries.append(next(one for one in entries if PROMPTS[one["prompt"]] in right(bundle)))
        return count + 1

    for forge in (left_out, overlapping, all_again, shown_twice):
        tree = deepcopy(honest)
        number = min(forge(tree), len(PROMPTS))
        assert number != count
        for claimed in (exactly(number), {"kind": "accuracy", "least": str(max(number, count + 1))}):
            assert outcome(claiming(bundle, claimed, tree), tmp_path) is Outcome.INVALID, forge.__name__


def test_a_later_position_is_no_question_to_short_prompts(tmp_path):
    """A split by the second token passes over prompts of one token, on which the circuit errs."""
    bundle = mixed_model()
    longer = [prompt for prompt in PROMPTS if len(prompt) > 1]
    parts = [[prompt for prompt in longer if prompt[1] == token] for token in range(4)]
    children = [{"class": {"tokens": [k]}, "evidence": shown(bundle, part)} for k, part in enumerate(parts)]
    count = sum(prompt in longer for prompt in right(bundle))
    assert count != len(right(bundle))
    tree = {"split": "token", "position": 1, "children": children}
    assert outcome(claiming(bundle, exactly(count), tree), tmp_path) is Outcome.INVALID


def test_no_prompt_is_left_out_of_an_equivalence(tmp_path):
    """All prompts but one have the right answer: neither is it left unshown, nor another shown for it."""
    bundle, winner = next(
        (made, winner)
        for made, winner in (lifted(seed, -1e-3) for seed in range(50))
        if sum(decided(made, prompt) != winner for prompt in PROMPTS) == 1
    )
    fine = [prompt for prompt in PROMPTS if decided(bundle, prompt) == winner]
    remarks = ["constant answer"]
    alone, twice = shown(bundle, fine), shown(bundle, [*fine, fine[0]])
    claimed = {"kind": "equivalence"}
    for evidence in (alone, twice, {"decided": winner}, by_first(fine, lambda part: shown(bundle, part))):
        assert outcome(claiming(bundle, claimed, evidence, remarks), tmp_path) is Outcome.INVALID
    bundle.domain["prompts"], bundle.domain["strata"] = [list(fine[0])], ["all"]
    assert outcome(claiming(bundle, claimed, {"decided": winner}, remarks), tmp_path) is Outcome.INVALID
    assert outcome(claiming(bundle, exactly(83), shown(bundle, PROMPTS[:1])), tmp_path) is Outcome.INVALID


def test_the_row_of_a_token_that_errs_is_in_the_bundle(tmp_path):
    """A bundle may leave out rows that nothing reads, but not that of the token on which a claim is false."""
    bundle, winner = lifted(1, -1e-3)
    wrong = next(prompt for prompt in PROMPTS if decided(bundle, prompt) != winner)
    forged = claiming(bundle, {"kind": "equivalence"}, {"decided": winner}, ["constant answer"])
    forged.claim["weights"] = maker.pinned(forged.tensors)
    kept = [token for token in range(4) if token != wrong[0]]
    forged.claim["weights"]["embed.token"]["rows"] = kept
    _, numbers = forged.tensors["embed.token"]
    part = [number for token in kept for number in numbers[3 * token : 3 * token + 3]]
    forged.tensors["embed.token"] = (3, 3), part
    forged.pins = {"domain", "certificate"}
    assert outcome(forged, tmp_path) is Outcome.INVALID


def test_an_edge_that_changes_no_decision_is_not_needed(tmp_path):
    """A circuit whose bias decides needs no edge, whatever a replay says that an edge changes."""
    bundle, winner = lifted(2, 1.0)
    shape, numbers = bundle.tensors["logits.bias"]
    numbers[winner] += 1000.0
    bundle.tensors["logits.bias"] = shape, numbers
    for edge in EDGES:
        rest = [one for one in EDGES if one != edge]
        assert {decided(bundle, prompt, rest) for prompt in PROMPTS} == {winner}
    for other in ((winner + 1) % 4, winner):
        replay = {"replay": [{"prompt": 20, "decided": winner, "lesion": other}]}
        tree = {"split": "edge", "children": [replay] * len(EDGES)}
        assert outcome(claiming(bundle, {"kind": "necessity"}, tree), tmp_path) is Outcome.INVALID


MISREAD: list[tuple[Evidence, Prompt, int, int]] = [
    ({"kind": "maximum", "of": [3, 1, 0]}, (3, 1, 0), 0, 3),
    ({"kind": "minimum", "of": [3, 1, 0]}, (3, 1, 0), 3, 0),
    ({"kind": "first", "of": [1, 2]}, (0, 2, 1), 2, 1),
    ({"kind": "last", "of": [1, 2]}, (2, 1, 3), 1, 2),
    ({"kind": "most frequent", "of": [2, 1]}, (1, 2), 2, 1),
    ({"kind": "most frequent", "of": [2, 1]}, (0, 0, 1), 1, 2),
    ({"kind": "count", "of": [0, 1], "answers": [2, 3]}, (0, 3, 1), 2, 3),
    ({"kind": "sum", "of": [2, 1], "answers": [0, 1, 3]}, (1, 1), 3, 1),
    ({"kind": "sum", "of": [2, 1], "answers": [0, 1]}, (2, 0, 2), 0, 1),
    ({"kind": "after previous", "of": [0, 1, 2, 3]}, (1, 0, 1, 2, 1), 2, 0),
    ({"kind": "after previous", "of": [0, 1, 2, 3]}, (3, 1, 3, 3), 3, 1),
    ({"kind": "after previous", "of": [0, 1, 2, 3]}, (2, 3, 2), 3, 2),
    ({"kind": "next above", "of": [3, 2, 1]}, (3, 2, 0), 3, 2),
    ({"kind": "next above", "of": [3, 2, 1]}, (1, 2, 3), 2, 1),
    (
        {
            "kind": "automaton",
            "tokens": [[1], [0]],
            "transitions": [[1, 0], [1, 0]],
            "answers": [[0, 2], [1, 3]],
        },
        (0, 1, 2),
        3,
        2,
    ),
]
"""A rule, a prompt, its answer, and what another reading of the rule would take for it."""


@pytest.mark.parametrize("case", MISREAD)
@pytest.mark.parametrize("is_pattern", [True, False])
def test_a_rule_has_the_answer_of_its_sentence_and_no_other(case, is_pattern, tmp_path):
    """A circuit that decides the answer is right on a prompt, and one that decides the misreading is not."""
    rule, prompt, answer, misread = case
    for said, wanted in ((answer, Outcome.VALID), (misread, Outcome.INVALID)):
        bundle = random_model(0)
        bundle.tensors["logits.bias"] = (4,), [1000.0 * (token == said) for token in range(4)]
        assert decided(bundle, prompt) == said
        bundle.claim["task"]["answer"] = rule
        bundle.domain = {"prompts": [list(prompt)], "strata": ["all"]}
        leaf: Evidence = {"decided": said}
        if is_pattern:
            shape = {"sequence": [{"tokens": [token]} for token in prompt]}
            bundle.domain["pattern"] = {"shape": shape, "clauses": [], "longest": len(prompt)}
        evidence = leaf if is_pattern else {"split": "prompt", "children": [leaf]}
        remarks = ["constant answer", "decided without edges"]
        assert outcome(claiming(bundle, {"kind": "equivalence"}, evidence, remarks), tmp_path) is wanted


def test_every_prompt_of_a_pattern_has_an_answer_though_none_without_is_shown(tmp_path):
    """The first of two tokens is no answer to prompts of others, which a leaf about all would pass over."""
    bundle, winner = lifted(3, 1.0)
    claimed = {"kind": "accuracy", "least": "1"}
    remarks = ["no better than a constant: 21", "decided without edges"]
    bundle.domain["prompts"], bundle.domain["strata"] = [[winner]], ["all"]
    bundle.claim["task"]["answer"] = FIRST
    assert outcome(claiming(bundle, claimed, {"decided": winner}, remarks), tmp_path) is Outcome.VALID
    bundle.claim["task"]["answer"] = {"kind": "first", "of": [winner]}
    assert outcome(claiming(bundle, claimed, {"decided": winner}, remarks), tmp_path) is Outcome.INVALID


def test_a_claim_that_holds_is_not_refuted(tmp_path):
    """Counts that are true, and one prompt called wrong that is right, refute nothing."""
    bundle = mixed_model()
    count, tree = len(right(bundle)), by_first(PROMPTS, lambda part: shown(bundle, part))
    prompt = PROMPTS.index(right(bundle)[0])
    first = PROMPTS[prompt][0]
    true, false = ({"replay": [{"prompt": prompt, "decided": one}]} for one in (first, (first + 1) % 4))
    wrong = [k for k, one in enumerate(PROMPTS) if one not in right(bundle)]
    for claimed, evidence in (
        (exactly(count), tree),
        ({"kind": "accuracy", "least": str(count)}, tree),
        ({"kind": "accuracy", "wrong": wrong}, true),
        ({"kind": "accuracy", "wrong": wrong}, false),
    ):
        forged = claiming(bundle, claimed, evidence)
        forged.certificate["answers"][0]["verdict"] = "refuted"
        assert outcome(forged, tmp_path) is Outcome.INVALID
    forged = claiming(bundle, exactly(count + 1), tree)
    forged.certificate["answers"][0]["verdict"] = "refuted"
    assert outcome(forged, tmp_path) is Outcome.REFUTED
