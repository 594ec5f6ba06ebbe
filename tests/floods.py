"""Small bundles that once took minutes or gigabytes: numbers that collide, and loops that nobody paid for."""

import itertools
import os
import sys
from collections.abc import Callable
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bundle_maker as maker
from bundle_maker import Bundle, architecture, circuit_of, random_bundle, shapes
from limited import Measured, measured

MODULUS = (1 << 61) - 1
"""Python hashes a number as its remainder by this prime: 2 to the power 61 has the hash of 1."""
ANY: dict[str, Any] = {"all but": []}
EDGES = ["embed -> head 0.0", "head 0.0 -> logits"]
NOWHERE = {"0.0": ["default 0", "otherwise nowhere"]}
"""A head that reads nothing, so that no token is looked at."""
CLOSER = 200
"""A token that closes brackets which others open."""
FLOODS: dict[str, Callable[[Path], Path]] = {}


def flood(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
    """Enter a bundle."""
    FLOODS[make.__name__.removeprefix("_")] = lambda folder: make().write(folder)
    return make


def decided(size: dict[str, Any], edges: list[str], programs: dict[str, list[str]] | None = None) -> Bundle:
    """Return a bundle of zero weights in which the bias of the logits decides for token 1."""
    bundle = random_bundle(size, edges, 0, programs, prompts=1)
    bundle.tensors = {
        name: (shape, [0.0] * prod(shape)) for name, shape in shapes(size, programs or ()).items()
    }
    bundle.tensors["logits.bias"][1][1] = 1.0
    bundle.claim["task"]["candidates"] = [1, 0]
    return bundle


def listed(bundle: Bundle, prompts: list[list[int]], fold: list[str]) -> Bundle:
    """Return a proof of equivalence in which all prompts have one fold."""
    bundle.domain = {"prompts": prompts, "strata": [""] * len(prompts)}
    task = bundle.claim["task"]
    task["answer"] = {"kind": "table", "answers": [1] * len(prompts)}
    task["relation"] = {"kind": "table", "classes": [0] * len(prompts)}
    evidence = {"split": "prompt", "children": [{"fold": 0}] * len(prompts)}
    return answered(bundle, evidence, [fold], ["constant answer", "decided without edges"])


def answered(
    bundle: Bundle, evidence: dict[str, Any], folds: list[list[str]], remarks: list[str] | None = None
) -> Bundle:
    """Return the bundle with a proof of equivalence."""
    bundle.claim["properties"] = [{"kind": "equivalence"}]
    answer = {"property": {"kind": "equivalence"}, "verdict": "proved", "evidence": evidence}
    certificate = {"format": maker.CERTIFICATE_FORMAT, "folds": folds}
    bundle.certificate = {**certificate, "answers": [answer | {"remarks": remarks or []}]}
    bundle.pins.discard("remarks")
    return bundle


def patterned(bundle: Bundle, pattern: dict[str, Any], evidence: dict[str, Any], openers: int = 1) -> Bundle:
    """Return a claim about a pattern whose openers are the first tokens, with answer 1."""
    bundle.domain = {"prompts": [[0]], "strata": [""], "pattern": pattern}
    task = bundle.claim["task"]
    task["answer"] = {"kind": "only opener", "answers": [[token, 1] for token in range(openers)]}
    task["relation"] = {"kind": "same opener", "openers": list(range(openers))}
    return answered(bundle, evidence, [], ["constant answer", "decided without edges"])


def sliced(size: dict[str, Any], programs: dict[str, list[str]]) -> Bundle:
    """Return a bundle of a large vocabulary or context, of which only the candidates' rows are there."""
    small = decided(architecture(**{**size, "vocabulary": 2, "context": 1}), list(EDGES), programs)
    small.claim["architecture"] = size
    table = maker.pinned(small.tensors)
    for name, full in shapes(size, programs).items():
        if list(full) != table[name]["shape"]:
            table[name] |= {
                "shape": list(full),
                "rows": list(range(len(small.tensors[name][1]) // prod(full[1:]))),
            }
    small.claim["weights"] = table
    small.pins.discard("tensors")
    return small


def exactly_one(shape: dict[str, Any], longest: int, openers: int = 1) -> dict[str, Any]:
    """Return a pattern of prompts with one opener, of those that are the first tokens."""
    clause = {"of": {"tokens": list(range(openers))}, "least": 1, "most": 1}
    return {"shape": shape, "clauses": [clause], "longest": longest}


MANY = {"repeat": ANY, "least": 0, "most": None}
LEAF = {"decision": 0, "margins": ["1"]}


@flood
def _rows_of_one_hash() -> Bundle:
    count, width = 9000, 9
    size = architecture(vocabulary=count, context=1, width=width, head_width=1, mlp_width=1)
    bundle = decided(size, ["embed -> logits"])
    rows = itertools.islice(itertools.product((1.0, 2.0**61, 2.0**122), repeat=width), count)
    bundle.tensors["embed.token"] = ((count, width), [number for row in rows for number in row])
    return listed(bundle, [[token] for token in range(count)], ["1", "0"])


def _sums(weights: list[str], longest: int) -> Bundle:
    """Return a split by the sum of a row in which each token has a weight of its own."""
    rules = [f"add {weight} when key_token == {token + 1}" for token, weight in enumerate(weights)]
    size = architecture(vocabulary=len(weights) + 1, context=longest)
    bundle = decided(size, list(EDGES), {"0.0": ["default 0", *rules, "otherwise self"]})
    evidence = {"split": "sum", "head": "0.0", "children": []}
    return patterned(bundle, exactly_one(MANY, longest), evidence)


@flood
def _sums_of_one_hash() -> Bundle:
    return _sums([str(MODULUS * 100**number) for number in range(6)], 16)


@flood
def _sums_with_long_denominators() -> Bundle:
    return _sums([f"1/{10**99 + 2 * number + 1}" for number in range(7)], 18)


def _shuffled(number: int) -> int:
    """Return what a member of some hash contributes to that of a frozenset."""
    number &= (1 << 64) - 1
    return ((number ^ 89869747 ^ (number << 16)) * 3644798167) & ((1 << 64) - 1)


def classes_of_one_hash(count: int, hashed: Callable[[int], int] = int) -> list[list[int]]:
    """Return sets of tokens with one hash: exchanging the token of a pair in some pairs cancels out.

    Members of the sets are tokens, or what is made of them and has the hashes given.
    """
    pairs = [(2 * place, 2 * place + 1) for place in range(64 + count.bit_length())]
    basis: list[tuple[int, int]] = []
    free: list[int] = []
    for place, (one, other) in enumerate(pairs):
        value, members = _shuffled(hashed(one)) ^ _shuffled(hashed(other)), 1 << place
        for reduced, used in basis:
            if value ^ reduced < value:
                value, members = value ^ reduced, members ^ used
        if value:
            basis = sorted([*basis, (value, members)], reverse=True)
        else:
            free.append(members)
    found: list[list[int]] = []
    for number in range(count):
        swapped = 0
        for bit, members in enumerate(free):
            swapped ^= members if number >> bit & 1 else 0
        found.append([pair[swapped >> place & 1] for place, pair in enumerate(pairs)])
    return found


@flood
def _classes_of_one_hash() -> Bundle:
    classes = classes_of_one_hash(1900)
    size = architecture(vocabulary=200, context=20)
    shape = {
        "repeat": {"choice": [{"sequence": [ANY, {"tokens": one}]} for one in classes]},
        "least": 0,
        "most": None,
    }
    bundle = patterned(decided(size, list(EDGES), NOWHERE), exactly_one(shape, 20), LEAF)
    bundle.domain["prompts"] = [[0, 2]]
    return bundle


@flood
def _openers_of_a_large_vocabulary() -> Bundle:
    size = architecture(vocabulary=1 << 20)
    return patterned(sliced(size, NOWHERE), exactly_one(MANY, 4, 9000), LEAF, openers=9000)


@flood
def _nested_shapes_that_may_be_empty() -> Bundle:
    never = [{"tokens": [5]}] * 1000
    shape: dict[str, Any] = {"choice": [*never, {"repeat": ANY, "least": 0, "most": 1}]}
    for _ in range(200):
        shape = {"repeat": shape, "least": 1, "most": 1}
    pattern = exactly_one({"repeat": shape, "least": 0, "most": None}, 2000)
    pattern["clauses"].append({"of": {"tokens": [5]}, "first": 1999, "last": 1999})
    return patterned(decided(architecture(context=2000), list(EDGES), NOWHERE), pattern, LEAF)


@flood
def _millions_of_nodes() -> Bundle:
    size = architecture()
    bundle = listed(decided(size, list(EDGES), NOWHERE), [[0]], ["1", "0"])
    bundle.claim["architecture"] |= {"layers": 4096, "heads": 700}
    bundle.claim["circuit"] |= {"layers": 4096, "heads": 700}
    return bundle


@flood
def _candidates_times_prompts() -> Bundle:
    count = 3000
    wide = architecture(vocabulary=count, context=2, width=1, head_width=1, mlp_width=1)
    size = wide | {"biases": False, "logit_bias": False}
    bundle = random_bundle(size, list(EDGES), 0, {"0.0": ["default 0", "otherwise self"]}, prompts=1)
    bundle.tensors = {name: (shape, [1.0] * prod(shape)) for name, (shape, _) in bundle.tensors.items()}
    bundle.tensors["embed.token"] = ((count, 1), [0.0] * count)
    bundle.tensors["logits.weight"] = ((count, 1), [float(token == 1) for token in range(count)])
    bundle.claim["task"]["candidates"] = [1, 0, *range(2, count)]
    prompts = [list(pair) for pair in itertools.product(range(90), repeat=2)]
    return listed(bundle, prompts, ["1", *["0"] * (count - 1)])


@flood
def _edges_times_prompts() -> Bundle:
    size = architecture(layers=3, heads=4000, context=2, vocabulary=90, width=1, head_width=1, mlp_width=1)
    bundle = decided(architecture(**{**size, "layers": 1, "heads": 1}), ["embed -> logits"])
    dead = [f"embed -> head {layer}.{head}" for layer in range(3) for head in range(4000)]
    bundle.claim["architecture"] = size
    bundle.claim["circuit"] = circuit_of(size, [*dead, "embed -> logits"])
    prompts = [list(pair) for pair in itertools.product(range(80), repeat=2)]
    return listed(bundle, prompts, ["1", "0"])


def _cut(heads: int, tokens: int) -> tuple[Bundle, list[list[int]]]:
    """Return a circuit of one edge in a model of many heads, and all prompts of two of some tokens."""
    sizes = {"vocabulary": 90, "context": 2, "width": 1, "head_width": 1, "mlp_width": 0, "biases": False}
    bundle = decided(architecture(heads=heads, **sizes), ["embed -> logits"])
    return bundle, [list(pair) for pair in itertools.product(range(tokens), repeat=2)]


@flood
def _means_of_many_heads_over_many_prompts() -> Bundle:
    bundle, prompts = _cut(300, 80)
    bundle.claim["circuit"]["ablation"] = {"kind": "mean", "over": "all", "prompts": prompts}
    return listed(bundle, prompts[:2], ["1", "0"])


@flood
def _means_at_the_positions_of_many_lengths() -> Bundle:
    bundle, prompts = _cut(1, 80)
    bundle.claim["architecture"] |= {"context": 1000}
    bundle.tensors["embed.position"] = ((1000, 1), [0.0] * 1000)
    lengths = [[0] * length for length in range(3, 400)]
    ablation = {"kind": "mean", "over": "position", "prompts": [*prompts, *lengths]}
    bundle.claim["circuit"]["ablation"] = ablation
    return listed(bundle, [*prompts, *lengths], ["1", "0"])


@flood
def _partners_in_a_model_of_many_heads() -> Bundle:
    bundle, prompts = _cut(300, 80)
    pairs = [[prompt, prompt[::-1]] for prompt in prompts]
    bundle.claim["circuit"]["ablation"] = {"kind": "counterfactual", "pairs": pairs}
    return listed(bundle, prompts, ["1", "0"])


def enclosed(bundle: Bundle, precision: int = 16) -> Bundle:
    """Return a claim of enclosed arithmetic with the same evidence."""
    bundle.claim["arithmetic"] = "enclosed"
    bundle.certificate |= {"precision": precision, "folds": []}
    evidence = bundle.certificate["answers"][0]["evidence"]
    evidence["children"] = [{"decided": 0}] * len(evidence["children"])
    return bundle


@flood
def _enclosed_candidates_times_prompts() -> Bundle:
    return enclosed(_candidates_times_prompts())


@flood
def _enclosed_means_of_many_heads_over_many_prompts() -> Bundle:
    return enclosed(_means_of_many_heads_over_many_prompts())


@flood
def _enclosed_means_at_the_positions_of_many_lengths() -> Bundle:
    return enclosed(_means_at_the_positions_of_many_lengths())


@flood
def _enclosed_partners_in_a_model_of_many_heads() -> Bundle:
    return enclosed(_partners_in_a_model_of_many_heads())


def _softly(**sizes: Any) -> Bundle:
    """Return a model of random weights with softmax, GELU and LayerNorm, all of whose edges are kept."""
    norm, activation = {"kind": "layer", "epsilon": "1/100000"}, {"kind": "gelu", "form": "exact"}
    size = architecture(norm=norm, attention="softmax", activation=activation, **sizes)
    return random_bundle(size, maker.every_edge(size), 0, prompts=1)


@flood
def _enclosed_keys_of_a_long_prompt() -> Bundle:
    bundle = _softly(layers=2, context=700, width=2, head_width=1, mlp_width=0)
    return enclosed(listed(bundle, [[place * place % 5 for place in range(700)]], ["0"]))


@flood
def _enclosed_numbers_of_4096_bits() -> Bundle:
    bundle = _softly(width=2, head_width=1, mlp_width=140)
    return enclosed(listed(bundle, [[0, 1, 2], [1, 2]], ["0"]), 4096)


@flood
def _enclosed_numbers_that_grow() -> Bundle:
    size = architecture(layers=2000, heads=1, width=2, head_width=1, mlp_width=2, biases=False)
    blocks = [f"mlp {layer}" for layer in range(2000)]
    edges = [f"{one} -> {other}" for one, other in itertools.pairwise(["embed", *blocks, "logits"])]
    bundle = random_bundle(size, edges, 0, prompts=1)
    for name, (shape, numbers) in bundle.tensors.items():
        bundle.tensors[name] = shape, [2.0**127] * len(numbers) if "mlp" in name else numbers
    bundle.tensors = {name: one for name, one in bundle.tensors.items() if not name.startswith("head")}
    return enclosed(listed(bundle, [[0, 1]], ["0"]))


def counted(bundle: Bundle, precision: int, *properties: dict[str, Any]) -> Bundle:
    """Return a claim of counts and measures with evidence that they hold, whether they do or not."""
    bundle.claim |= {"arithmetic": "enclosed", "properties": list(properties)}
    count = len(bundle.domain["prompts"])
    decided = {"split": "prompt", "children": [{"decided": 0}] * count}
    answers = [
        {
            "property": one,
            "verdict": "proved",
            "evidence": decided if one["kind"] == "accuracy" else {"evaluated": count},
            "remarks": [],
        }
        for one in properties
    ]
    bundle.certificate |= {"precision": precision, "folds": [], "answers": answers}
    bundle.pins.discard("remarks")
    return bundle


WIDE = [str(-(10**9)), str(10**9)]
SPANS = ("least", "mean", "greatest")
LOSS = {"kind": "loss", "mean": WIDE}
DIFFERENCE = {"kind": "logit difference", **dict.fromkeys(SPANS, WIDE)}
RECOVERED = {"kind": "recovered difference", "mean": WIDE, "without": []}


@flood
def _losses_of_many_prompts() -> Bundle:
    bundle, prompts = _cut(1, 90)
    bundle.tensors["logits.weight"] = ((90, 1), [token / 64 for token in range(90)])
    bundle.tensors["embed.token"] = ((90, 1), [token / 64 for token in range(90)])
    wrong = {"kind": "accuracy", "wrong": []}
    return counted(listed(bundle, prompts, ["1", "0"]), 16, LOSS, DIFFERENCE, RECOVERED, wrong)


@flood
def _losses_of_4096_bits() -> Bundle:
    bundle, prompts = _cut(1, 90)
    bundle.tensors["logits.weight"] = ((90, 1), [token / 64 for token in range(90)])
    bundle.tensors["embed.token"] = ((90, 1), [token / 64 for token in range(90)])
    bundle.claim["task"]["candidates"] = [1, 0, *range(2, 90)]
    return counted(listed(bundle, prompts[:15], ["1", "0"]), 4096, LOSS, DIFFERENCE)


@flood
def _losses_of_one_candidate_far_ahead() -> Bundle:
    """Return losses whose ln is of a number that is less than a unit below a multiple of a unit."""
    bundle, prompts = _cut(1, 90)
    bundle.tensors["logits.bias"][1][1] = 2.0**100
    return counted(listed(bundle, prompts[:240], ["1", "0"]), 4096, LOSS)


@flood
def _brackets_of_100000_digits() -> Bundle:
    low, high = (f"{sign}{'7' * 100_000}/1{'0' * 99_999}" for sign in ("-", ""))
    bundle = listed(decided(architecture(), ["embed -> logits"]), [[0], [1]], ["1", "0"])
    return counted(bundle, 64, LOSS | {"mean": [low, high]})


@flood
def _differences_that_grow() -> Bundle:
    bundle = _enclosed_numbers_that_grow()
    return counted(bundle, 16, LOSS, DIFFERENCE, RECOVERED)


@flood
def _right_prompts_of_a_long_list() -> Bundle:
    bundle, prompts = _cut(1, 90)
    bundle = counted(listed(bundle, prompts, ["1", "0"]), 16, {"kind": "accuracy", "least": len(prompts)})
    entries = [{"prompt": place, "decided": 0} for place in range(len(prompts))]
    bundle.certificate["answers"][0]["evidence"] = {"replay": entries}
    return bundle


@flood
def _leaves_of_a_long_pattern() -> Bundle:
    bundle = decided(architecture(context=2500), list(EDGES), NOWHERE)
    children = [{"answer": 1, "class": 0, "evidence": LEAF}] * 9000
    return patterned(bundle, exactly_one(MANY, 2500), {"split": "label", "children": children})


@flood
def _tokens_sought_in_a_large_class() -> Bundle:
    size = architecture(vocabulary=1 << 20)
    bundle = sliced(size, NOWHERE)
    evidence = {"prompts": [{"prompt": 0, "fold": 0}, *[{"prompt": 1, "fold": 0}] * 9000]}
    patterned(bundle, exactly_one(MANY, 2), evidence)
    bundle.domain |= {"prompts": [[0], [0, (1 << 20) - 1]], "strata": ["", ""]}
    bundle.certificate["folds"] = [["1", "0"]]
    return bundle


def pairs_of_one_hash(count: int) -> list[list[int]]:
    """Return pairs of numbers of up to 18 digits with one hash: the second makes up for the first."""
    add, multiply, start, bits = 14029467366897019727, 11400714785074694791, 2870177450012600261, 1 << 64

    def turned(number: int) -> int:
        return (number << 31 | number >> 33) % bits * multiply % bits

    found: list[list[int]] = []
    for first in itertools.count():
        second = -turned((start + first * add) % bits) * pow(add, -1, bits) % bits
        found += [[first, second]] if second < 10**18 else []
        if len(found) == count:
            return found
    raise AssertionError("numbers do not end")


@flood
def _prompts_of_one_hash() -> Bundle:
    return listed(decided(architecture(), list(EDGES), NOWHERE), pairs_of_one_hash(18_000), ["1", "0"])


@flood
def _labels_of_one_hash() -> Bundle:
    bundle = decided(architecture(), list(EDGES), NOWHERE)
    pairs = pairs_of_one_hash(12_000)
    children = [{"answer": answer, "class": group, "evidence": {}} for answer, group in pairs]
    return patterned(bundle, exactly_one(MANY, 4), {"split": "label", "children": children})


@flood
def _brackets_of_one_hash() -> Bundle:
    classes = classes_of_one_hash(1300, lambda token: hash((token, CLOSER)))
    pairs = [",".join(f"{token}:{CLOSER}" for token in one) for one in classes]
    rules = [f"add 1 when partner {{{one}}}" for one in pairs]
    size = architecture(vocabulary=CLOSER + 1, context=90)
    bundle = decided(size, list(EDGES), {"0.0": ["default 0", *rules, "otherwise self"]})
    return listed(bundle, [[CLOSER] * 90], ["1", "0"])


@flood
def _forms_of_one_hash() -> Bundle:
    """Return many hidden numbers that are one form, whose sign is known after many others of its hash."""
    hidden, levels, prompts = 2000, 400, [list(pair) for pair in itertools.product(range(6), repeat=2)]
    size = architecture(width=1, head_width=1, mlp_width=hidden)
    bundle = decided(size, ["embed -> mlp 0", "mlp 0 -> logits"])
    bundle.tensors["mlp.0.up.weight"] = ((hidden, 1), [2.0**61] * hidden)
    bundle.tensors["mlp.0.up.bias"] = ((hidden,), [1.0] * hidden)
    leaf = {"point": ["0"], "weights": [["0"] * (levels + 1)]}
    tree: dict[str, Any] = {"sign": ["1", str(2**61)], "children": {"<": leaf, ">=": leaf}}
    for number in range(levels):
        form = [str(2**200 * MODULUS + 1), str(2**61 + number * MODULUS)]
        tree = {"sign": form, "children": {">": tree}}
    claimed = {"kind": "robustness", "epsilon": "1", "at": "mlp 0 input", "positions": "last"}
    children = [
        {"fold": 0, "regions": {"as prompt": 0} if number else tree} for number in range(len(prompts))
    ]
    bundle = listed(bundle, prompts, ["1", "0"])
    bundle.claim["properties"] = [claimed]
    answer = {"property": claimed, "verdict": "proved", "evidence": {"split": "prompt", "children": children}}
    bundle.certificate["answers"] = [answer | {"remarks": ["constant decision", "decided without edges"]}]
    return bundle


@flood
def _last_tokens_asked_for_each_key() -> Bundle:
    """Return a program that tells all tokens apart by ten conditions, and asks for the last one in twenty."""
    bits, longest = 10, 6
    tokens = range(1 << bits)
    sets = [[token for token in tokens if token >> bit & 1] for bit in range(bits)]
    rules = [f"add 1 when key_token in {{{','.join(map(str, one))}}}" for one in sets]
    rules += [f"add 1 when query_token in {{{','.join(map(str, tokens))}}}"] * 20
    size = architecture(vocabulary=len(tokens), context=longest, width=1, head_width=1, mlp_width=1)
    bundle = decided(size, list(EDGES), {"0.0": ["default 0", *rules, "otherwise self"]})
    return patterned(bundle, exactly_one(MANY, longest), LEAF)


@flood
def _prompts_of_a_long_pattern_counted() -> Bundle:
    """Return a pattern whose number of prompts has 48,000 digits; a long name allows more work."""
    longest = 8_000
    bundle = sliced(architecture(vocabulary=1 << 20, context=longest), NOWHERE)
    bundle.claim["task"]["name"] = "n" * 900_000
    bundle = patterned(bundle, exactly_one(MANY, longest), {"open": "no time"})
    bundle.certificate["answers"][0] |= {"verdict": "undecided", "remarks": []}
    return bundle


def _sparse(name: str, size: int) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        listed(decided(architecture(), list(EDGES), NOWHERE), [[0]], ["1", "0"]).write(folder)
        os.truncate(folder / name, size)
        return folder

    return write


FLOODS["a_sparse_manifest"] = _sparse("manifest.json", 3 << 30)
FLOODS["a_sparse_certificate"] = _sparse("certificate.json", 3 << 30)
FLOODS["a_sparse_claim"] = _sparse("claim.json", 3 << 30)
FLOODS["sparse_weights"] = _sparse("weights.safetensors", 3 << 30)


def main(names: list[str]) -> None:
    """Print what the checker takes for each bundle, or for those that are named."""
    print(f"{'bundle':36} {'size':>7} {'seconds':>8} {'memory':>7}  outcome")  # noqa: T201  # a command prints
    taken: list[Measured] = []
    for name in names or FLOODS:
        with TemporaryDirectory() as folder:
            bundle = FLOODS[name](Path(folder) / "bundle")
            size = sum(file.stat().st_blocks * 512 for file in bundle.iterdir())
            taken.append(measured(bundle))
        one = taken[-1]
        spent = f"{size >> 10:4} KB {one.seconds:6.1f} s {one.megabytes:4.0f} MB"
        print(f"{name:36} {spent}  {one.said.partition(':')[0]}", flush=True)  # noqa: T201
    longest, largest = max(one.seconds for one in taken), max(one.megabytes for one in taken)
    print(f"{'most':36} {'':7} {longest:6.1f} s {largest:4.0f} MB")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
