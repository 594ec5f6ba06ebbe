"""Random whole bundles against the checker: honest, lied, and changed afterwards with digests sealed anew.

`python tests/attack.py --seeds 0:100000 --out build/attack` makes a bundle for each seed, judges it, and asks
the oracle about those that are accepted. Killed and started again it goes on. Accepted falsehoods make the
exit code 1.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import bundle_maker as maker
from bundle_twin import read_bundle
from mutant_hunt import ACCEPTED, insist, judged, oracle, scratch
from mutants import Mutant, all_mutants, is_swappable
from random_claims import CYCLE, ProverAnswer, ask, measure, ordinary, unmask

KINDS = (
    "equivalence",
    "invariance",
    "necessity",
    "robustness",
    "faithfulness",
    "agreement",
    "subset minimality",
    "minimum",
    "lesion identity",
)
LEAVES = {
    ("fold",): "fold",
    ("fold", "lesion"): "lesion fold",
    ("fold", "model"): "model fold",
    ("fold", "other"): "other fold",
    ("fold", "radius"): "radius",
    ("fold", "regions"): "regions",
    ("decision", "margins"): "margins",
    ("decision", "lesion", "margins"): "lesion margins",
    ("decision", "margins", "other"): "other margins",
    ("fold", "prompt"): "replay",
    ("fold", "lesion", "prompt"): "lesion replay",
    ("fold", "model", "prompt"): "model replay",
    ("fold", "other", "prompt"): "other replay",
    ("eta", "fold", "prompt"): "perturbed replay",
    ("same",): "same digest",
    ("tensor",): "other digest",
    ("evaluated",): "evaluation",
}
ENCLOSURES = {
    ("decided",): "enclosure",
    ("decided", "lesion"): "lesion enclosure",
    ("decided", "model"): "model enclosure",
    ("decided", "other"): "other enclosure",
    ("decided", "prompt"): "enclosure replay",
    ("decided", "lesion", "prompt"): "lesion enclosure replay",
    ("decided", "model", "prompt"): "model enclosure replay",
    ("decided", "other", "prompt"): "other enclosure replay",
    ("decided", "eta", "prompt"): "perturbed enclosure replay",
}
PROMPTS = {"robustness": "robust prompts", "necessity": "lesion prompts", "agreement": "other prompts"}
WANTED = (*LEAVES.values(), "prompts", *PROMPTS.values(), "edge split", "circuit split")
CUT = ("ablation: mean", "ablation: counterfactual", "granularity: port")
Bundle = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""Claim, domain and certificate."""


def leaves(kind: str, evidence: Any) -> Iterator[str]:
    """Return the kinds of leaves and splits in the evidence about a property."""
    if "split" in evidence:
        yield f"{evidence['split']} split"
        for child in evidence["children"]:
            yield from leaves(kind, child)
    elif "evidence" in evidence:
        yield from leaves(kind, evidence["evidence"])
    elif "replay" in evidence:
        for entry in evidence["replay"]:
            yield from leaves(kind, entry)
    elif "prompts" in evidence:
        yield PROMPTS.get(kind, "prompts")
    else:
        yield (LEAVES | ENCLOSURES).get(tuple(sorted(evidence)), "other")


def drawn_mutant(draw: Random) -> tuple[Mutant, ...]:
    """Return no mutant, or one of them all."""
    if draw.random() < 0.5:
        return ()
    mutant = draw.choice(all_mutants())
    return (mutant,) if is_swappable(mutant) else ()


def resealed(bundle: Path, parts: Bundle) -> None:
    """Write a changed bundle with digests that fit."""
    claim, domain, certificate = parts
    files = {"domain.json": maker.as_bytes(domain)}
    claim["domain"] = {"digest": maker.digest(files["domain.json"]), "prompts": len(domain["prompts"])}
    files["claim.json"] = maker.as_bytes(claim)
    certificate["claim"] = maker.digest(files["claim.json"])
    files["certificate.json"] = maker.as_bytes(certificate)
    if (held := bundle / "weights.safetensors").exists():
        files[held.name] = held.read_bytes()
    maker.seal(bundle, files)


def detach(bundle: Path) -> None:
    """Take the weights out of a bundle, and say so."""
    parts = read_bundle(bundle)
    parts[0]["detached"] = True
    (bundle / "weights.safetensors").unlink()
    resealed(bundle, parts)


def shorten(draw: Random, bundle: Path) -> None:
    """Let digests stand for rows of logits: for all, or for some and sometimes for the wrong ones."""
    parts = read_bundle(bundle)
    rows = parts[2]["folds"]
    digests = list(map(maker.row_digest, rows))
    if rows and draw.random() < 0.2:
        digests[draw.randrange(len(rows))] = draw.choice([*digests, digests[0].upper(), "0" * 64])
    is_all = draw.random() < 0.5
    parts[2]["folds"] = [
        digest if is_all or draw.random() < 0.5 else row for digest, row in zip(digests, rows, strict=True)
    ]
    resealed(bundle, parts)


def change(draw: Random, bundle: Path) -> str:
    """Change a bundle at will, and say how."""
    parts = read_bundle(bundle)
    is_shaken = any(prop["kind"] == "robustness" for prop in parts[0]["properties"])
    often = ("listed position",) * 6 if is_shaken and "pattern" in parts[1] else ()
    name = draw.choice((*sorted(CHANGES), *often))
    CHANGES[name](draw, *parts)
    for prop, answer in zip(parts[0]["properties"], parts[2]["answers"], strict=False):
        answer["property"] = prop
    resealed(bundle, parts)
    if name in OF_MODELS:
        redeclared(bundle.parent / "model", parts[0])
    return name


OF_MODELS = ("lift", "line", "otherwise", "size")
"""Changes after which the model is changed in the same way, so that the claim is about it."""


def redeclared(model: Path, claim: dict[str, Any]) -> None:
    """Let a model declare itself as a claim has it."""
    declared = {"architecture": claim["architecture"], "programs": claim["programs"], "alphabet": None}
    weights = (model / "weights.safetensors").read_bytes()
    maker.seal(model, {"model.json": maker.as_bytes(declared), "weights.safetensors": weights})


def _robust(field: str, *values: Any):
    """Change how robustness perturbs, or make the first property robustness."""

    def changed(draw: Random, claim: Any, _: Any, __: Any) -> None:
        for prop in claim["properties"]:
            if prop["kind"] == "robustness":
                prop[field] = draw.choice(values)

    return changed


def _listed_position(_: Random, claim: Any, domain: Any, __: Any) -> None:
    """Say the last position by its number: that is the same for prompts of one length only."""
    for prop in claim["properties"]:
        if prop["kind"] == "robustness":
            prop["positions"] = [len(domain["prompts"][0]) - 1]


def _epsilon(draw: Random, claim: Any, _: Any, __: Any) -> None:
    for prop in claim["properties"]:
        if prop["kind"] == "robustness":
            prop["epsilon"] = str(Fraction(prop["epsilon"]) * draw.choice((2, 8, Fraction(1, 2), -1, 0)))


def _candidates(draw: Random, claim: Any, _: Any, __: Any) -> None:
    listed = claim["task"]["candidates"]
    size = claim["architecture"]["vocabulary"]
    draw.choice((listed.reverse, lambda: listed.append(draw.randrange(size + 1)), listed.pop))()


def _line(draw: Random, claim: Any, _: Any, __: Any) -> None:
    if claim["programs"]:
        lines = claim["programs"][draw.choice(sorted(claim["programs"]))]
        token = draw.randrange(claim["architecture"]["vocabulary"])
        rule = draw.choice(
            (
                f"add 1 when key_token > {token}",
                f"add 1 when not query_token < {token}",
                f"add 1 when key_token == {token}",
                f"add 1 when key_token=={token}or token_match",
                f"add 1 when key_token in {{{token}, 0{token}}}",
                f"add 1 when (((key_token != 0{token})))",
                "add 1 when token_match",
                "add 1 when not token_match != true",
                "add 0/7",
                "add 1 when first not (last token_match and key_position < 2)",
            )
        )
        lines[1:-1] = draw.choice(([], [rule], [*lines[1:-1], rule]))


def _otherwise(_: Random, claim: Any, __: Any, ___: Any) -> None:
    for lines in claim["programs"].values():
        lines[-1] = "otherwise self" if lines[-1] == "otherwise nowhere" else "otherwise nowhere"


def _pattern(draw: Random, claim: Any, domain: Any, __: Any) -> None:
    if "pattern" in domain:
        pattern = domain["pattern"]
        context = claim["architecture"]["context"]
        pattern |= draw.choice(
            (
                {"longest": pattern["longest"] + 1},
                {"longest": context},
                {"clauses": pattern["clauses"][1:]},
                {"clauses": pattern["clauses"][:1]},
                {"shape": {"repeat": {"all but": []}, "least": 1, "most": None}},
                {"shape": {"choice": [pattern["shape"], {"tokens": [0]}]}},
                {"shape": {"choice": [pattern["shape"]]}},
                {"shape": {"choice": [pattern["shape"], {"tokens": []}]}},
                {"shape": {"sequence": [pattern["shape"], {"sequence": []}]}},
                {"shape": {"choice": []}},
                {"clauses": [*pattern["clauses"], {"of": {"all but": []}, "first": -1, "last": context}]},
            )
        )


def _no_pattern(_: Random, __: Any, domain: Any, ___: Any) -> None:
    domain.pop("pattern", None)


def _fewer_prompts(_: Random, __: Any, domain: Any, ___: Any) -> None:
    del domain["prompts"][1:], domain["strata"][1:]


def _openers(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Name openers that no prompt has: outside the vocabulary, or others."""
    task, size = claim["task"], claim["architecture"]["vocabulary"]
    token = draw.choice((size, size + 3, draw.randrange(size)))
    if task["answer"]["kind"] == "only opener":
        task["answer"]["answers"].append([token, task["candidates"][0]])
    if task["relation"]["kind"] == "same opener" and draw.random() < 0.7:
        task["relation"]["openers"].append(token)


def _edges(draw: Random, claim: Any, _: Any, __: Any) -> None:
    edges = claim["circuit"]["edges"]
    every = maker.edges_of(claim)
    other = {*edges} ^ {draw.choice(every)}
    claim["circuit"]["edges"] = [edge for edge in every if edge in other]


def _granularity(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Tell ports apart that were joined, or the other way round; sometimes only say so."""
    circuit, programs = claim["circuit"], claim["programs"]
    is_split = circuit["granularity"] == "port"
    circuit["granularity"] = "head" if is_split else "port"
    pairs = [edge.split(" -> ") for edge in circuit["edges"]]
    if is_split:
        kept = {f"{source} -> {maker.reader(target)}" for source, target in pairs}
    else:
        kept = {f"{one} -> {port}" for one, target in pairs for port in maker.ports(target, programs)}
    if draw.random() < 0.9:
        circuit["edges"] = [edge for edge in maker.edges_of(claim) if edge in kept]


def _ablation(draw: Random, claim: Any, domain: Any, __: Any) -> None:
    """Let cut edges carry something else."""
    prompts, vocabulary = domain["prompts"], claim["architecture"]["vocabulary"]
    other = {tuple(token + 1 for token in one) for one in prompts}
    swapped = [[one, [vocabulary - 1 - token for token in one]] for one in prompts]
    claim["circuit"]["ablation"] = draw.choice(
        (
            "zero",
            {"kind": "mean", "over": draw.choice(("position", "all")), "prompts": prompts[:2]},
            {"kind": "mean", "over": "position", "prompts": prompts},
            {"kind": "mean", "over": "all", "prompts": list(map(list, other))},
            {"kind": "counterfactual", "pairs": [[one, one] for one in prompts]},
            {"kind": "counterfactual", "pairs": swapped},
            {"kind": "counterfactual", "pairs": [*swapped, [[0], [0, 0]]]},
        )
    )


def _carried(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Change a token of a prompt on which the whole model is read, or how means are taken."""
    ablation = claim["circuit"]["ablation"]
    if ablation == "zero":
        return
    if ablation["kind"] == "mean" and draw.random() < 0.4:
        ablation["over"] = "all" if ablation["over"] == "position" else "position"
        return
    chosen = draw.choice(ablation.get("prompts", ablation.get("pairs")))
    prompt = chosen[1] if ablation["kind"] == "counterfactual" else chosen
    prompt[draw.randrange(len(prompt))] = draw.randrange(claim["architecture"]["vocabulary"])


def _size(draw: Random, claim: Any, _: Any, __: Any) -> None:
    size = claim["architecture"]
    size |= draw.choice(
        (
            {"attention": "softmax"},
            {"attention": "sparsemax"},
            {"activation": {"kind": "relu"}},
            {"norm": {"kind": "none"}},
            {"attention_scale": "8"},
            {"vocabulary": size["vocabulary"] + 1},
            {"context": size["context"] + 1},
            {"tied": not size["tied"]},
            {"logit_bias": not size["logit_bias"]},
        )
    )


def _lift(_: Random, claim: Any, __: Any, ___: Any) -> None:
    norm = claim["architecture"]["norm"]
    if "lift" in norm:
        norm["lift"] = "continuous" if norm["lift"] == "reference" else "reference"


def _answers(draw: Random, claim: Any, _: Any, __: Any) -> None:
    rule, candidates = claim["task"]["answer"], claim["task"]["candidates"]
    place = draw.randrange(len(rule["answers"]))
    if rule["kind"] == "table":
        rule["answers"][place] = draw.choice(candidates)
    else:
        rule["answers"][place][1] = draw.choice(candidates)


def _classes(draw: Random, claim: Any, _: Any, __: Any) -> None:
    rule = claim["task"]["relation"]
    if rule["kind"] == "table":
        rule["classes"] = [draw.choice((0, 0, 1)) for _ in rule["classes"]]
    else:
        rule["openers"].pop()


def _verdict(draw: Random, _: Any, __: Any, certificate: Any) -> None:
    answer = draw.choice(certificate["answers"])
    answer["verdict"] = {"proved": "refuted", "refuted": "proved"}.get(answer["verdict"], "proved")


def _kind(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Let evidence be about another property."""
    prop = draw.choice(claim["properties"])
    kept = prop.copy()
    prop.clear()
    kind = draw.choice(("equivalence", "invariance", "necessity", "faithfulness", "subset minimality"))
    prop |= {"kind": kind} if kept["kind"] != kind else kept


def _base(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Change a table of digests."""
    for prop in claim["properties"]:
        if prop["kind"] == "lesion identity":
            table = prop[draw.choice(("base", "artifact"))]
            table = table.get("tensors", table)
            table[draw.choice(sorted(table))] = draw.choice(sorted(table.values()))


def _other(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Let agreement be with another circuit, or be claimed of what says something else."""
    for prop in claim["properties"]:
        if prop["kind"] == "agreement":
            own = claim["circuit"]["edges"]
            prop["edges"] = draw.choice((own, prop["edges"][:-1], prop["edges"][::-1]))
            prop["granularity"] = draw.choice(("head", "head", "port"))


def _evidence(draw: Random, _: Any, __: Any, certificate: Any) -> None:
    """Point a leaf somewhere else."""
    answer = draw.choice(certificate["answers"])
    spelled = json.dumps(answer["evidence"])
    for key in ("fold", "prompt", "lesion", "other", "edge", "decision", "first", "last", "length"):
        if f'"{key}": 1' in spelled and draw.random() < 0.5:
            spelled = spelled.replace(f'"{key}": 1', f'"{key}": 0', 1)
            break
    answer["evidence"] = json.loads(spelled)


def _arithmetic(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Name an arithmetic in which a decision may be unknown, or none."""
    claim["arithmetic"] = draw.choice(
        ("widened", "enclosure", "Exact", "", None, ["exact"], {"kind": "exact"})
    )


def _detached(draw: Random, claim: Any, _: Any, __: Any) -> None:
    """Say that weights are not here, or that they are; sometimes of tensors with other digests."""
    if not claim.pop("detached", None):
        claim["detached"] = draw.choice((True, True, False, 1))
    elif draw.random() < 0.5:
        claim["detached"] = True
        entry = claim["weights"][draw.choice(sorted(claim["weights"]))]
        entry |= draw.choice(({"digest": "0" * 64}, {"rows": [0]}, {"rows": None}))


def _precision(draw: Random, claim: Any, _: Any, certificate: Any) -> None:
    """Let numbers be enclosed more widely, or let exact ones be enclosed."""
    if "precision" in certificate:
        certificate["precision"] = draw.choice((15, 16, 20, 24, 32, 128))
    else:
        claim["arithmetic"] = "enclosed"
        certificate["precision"] = 64


CHANGES: dict[str, Callable[..., None]] = {
    "ablation": _ablation,
    "answers": _answers,
    "arithmetic": _arithmetic,
    "base": _base,
    "candidates": _candidates,
    "carried": _carried,
    "classes": _classes,
    "detached": _detached,
    "edges": _edges,
    "epsilon": _epsilon,
    "evidence": _evidence,
    "fewer prompts": _fewer_prompts,
    "granularity": _granularity,
    "kind": _kind,
    "lift": _lift,
    "line": _line,
    "no pattern": _no_pattern,
    "openers": _openers,
    "other": _other,
    "otherwise": _otherwise,
    "pattern": _pattern,
    "listed position": _listed_position,
    "place": _robust("at", "logits input", "embed output", "mlp 0 output", "mlp 0 input", "head 0.0 output"),
    "positions": _robust("positions", "last", "all", [0], [0, 1]),
    "precision": _precision,
    "size": _size,
    "verdict": _verdict,
}


def trial(seed: int) -> dict[str, Any]:
    """Make, judge and weigh the bundle of a seed."""
    draw = Random(f"attack {seed}")  # noqa: S311  # attacks, not secrets
    asked = ask(seed)
    if seed % 3 == 2:  # a third of them
        ordinary(Random(f"ordinary {seed}"), asked)  # noqa: S311  # the same
    if (drawn := Random(f"further {seed}")).random() < 0.15:  # noqa: S311  # the same
        unmask(drawn, asked)
    if drawn.random() < 0.25:
        measure(drawn, asked)
    record: dict[str, Any] = {"seed": seed, "theme": asked.theme, "flaw": asked.flaw}
    record["is blurred"] = asked.radius is not None
    record["is enclosed"] = asked.is_enclosed
    mutants = drawn_mutant(draw)
    peeled = draw.choice((0, 4)) if mutants else 0
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        found, chosen = insist(asked, Path(folder), mutants, peeled)
        record["mutants"] = [mutant.name for mutant in chosen]
        if found.bundle is None:
            return record | {"word": "no bundle"}
        if draw.random() < 0.1:
            detach(found.bundle)
        if (apart := Random(f"digests {seed}")).random() < 0.2:  # noqa: S311  # as above
            shorten(apart, found.bundle)
        if draw.random() < 0.4:
            try:
                record["change"] = change(draw, found.bundle)
            except Exception as error:  # noqa: BLE001  # a mutant's bundle may not have what is changed
                record["change"] = repr(error)
        return record | weighed(draw, found)


def weighed(draw: Random, found: ProverAnswer) -> dict[str, Any]:
    """Judge a bundle, with the model beside it mostly; ask the oracle if it is accepted."""
    claim, domain, certificate = read_bundle(found.bundle)
    has_base = any(prop["kind"] == "lesion identity" for prop in claim["properties"])
    model = found.model if draw.random() < 0.9 or has_base or "pattern" in domain else None
    base = found.base if has_base else None
    word, sentence = judged(found.bundle, model, base)
    record = {"word": word, "sentence": sentence[:200]}
    if word not in ACCEPTED:
        return record
    kinds = [answer["property"]["kind"] for answer in certificate["answers"]]
    shown = {leaf for answer in certificate["answers"] for leaf in _leaves_of(answer)}
    lies = oracle(ProverAnswer(found.bundle, model, base), has_base=has_base)
    circuit = claim["circuit"]
    ablation = circuit["ablation"] if circuit["ablation"] == "zero" else circuit["ablation"]["kind"]
    cut = [f"ablation: {ablation}", f"granularity: {circuit['granularity']}"]
    drawn = [
        f"arithmetic: {claim['arithmetic']}",
        *(key for key in ("rotary", "parallel", "mask") if key in claim["architecture"]),
    ]
    drawn += ["detached"] if claim.get("detached") else []
    drawn += ["digests"] if any(isinstance(row, str) for row in certificate["folds"]) else []
    return record | {"kinds": sorted(set(kinds)), "leaves": sorted(shown), "cut": cut + drawn, "lies": lies}


def _leaves_of(answer: dict[str, Any]) -> Iterator[str]:
    if answer["verdict"] != "undecided":
        yield from leaves(answer["property"]["kind"], answer["evidence"])


def tally(records: Iterable[dict[str, Any]]) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Return the counts and the records of accepted falsehoods."""
    counts: Counter[str] = Counter()
    lies: list[dict[str, Any]] = []
    for record in records:
        counts["seeds"] += 1
        counts["bundles"] += record["word"] != "no bundle"
        counts[f"outcome: {record['word']}"] += 1
        counts["blurred bundles"] += record["is blurred"] and record["word"] != "no bundle"
        counts["accepted"] += record["word"] in ACCEPTED
        counts.update(f"property: {kind}" for kind in record.get("kinds", ()))
        counts.update(f"leaf: {leaf}" for leaf in record.get("leaves", ()))
        counts.update(record.get("cut", ()))
        if record.get("lies"):
            counts["accepted falsehoods"] += 1
            lies.append(record)
    return counts, lies


def shortfalls(counts: Counter[str]) -> list[str]:
    """Return what is too rare among the bundles for the attack to say much."""
    wanted = (
        {"accepted": 10, "blurred bundles": 0.5}
        | {f"property: {kind}": 0.5 for kind in KINDS}
        | {f"leaf: {one}": 0.5 for one in WANTED}
        | dict.fromkeys(CUT, 0.5)
    )
    every = counts["bundles"]
    return [
        f"{name}: {counts[name]} of {every}"
        for name, percent in wanted.items()
        if 100 * counts[name] < percent * every
    ]


def table(counts: Counter[str]) -> str:
    """Return the counts as lines, with their share of the bundles."""
    share = 100 / max(1, counts["bundles"])
    return "\n".join(f"{count:9} {count * share:6.2f}% {name}" for name, count in sorted(counts.items()))


def attack(seeds: Sequence[int], progress: Path, workers: int = 1) -> list[dict[str, Any]]:
    """Try the seeds that the progress file does not have yet, and return the records of all."""
    lines = progress.read_text().splitlines() if progress.exists() else []
    done = {record["seed"]: record for record in map(json.loads, filter(_is_whole, lines))}
    left = [seed for seed in seeds if seed not in done]
    with progress.open("a") as file:
        for record in _trials(left, workers):
            done[record["seed"]] = record
            file.write(json.dumps(record) + "\n")
            file.flush()
    return [done[seed] for seed in seeds]


def _is_whole(line: str) -> bool:
    """Say whether a line was written to its end before the process was killed."""
    return line.startswith("{") and line.endswith("}")


def _trials(seeds: Sequence[int], workers: int) -> Iterator[dict[str, Any]]:
    if workers == 1:
        yield from map(trial, seeds)
        return
    with get_context("fork").Pool(workers) as pool:
        yield from pool.imap_unordered(trial, seeds, chunksize=20)


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack by a range of seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0:500", help="A:B, from A to before B")
    parser.add_argument("--out", type=Path, default=Path("build/attack"))
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(arguments)
    first, end = map(int, options.seeds.split(":"))
    options.out.mkdir(parents=True, exist_ok=True)
    records = attack(range(first, end), options.out / "progress.jsonl", options.workers)
    counts, lies = tally(records)
    print(f"{len(records)} seeds run, {len(CYCLE)} themes")  # noqa: T201  # a command prints
    print(table(counts))  # noqa: T201
    for sentence in shortfalls(counts):
        print(f"TOO RARE {sentence}")  # noqa: T201
    for record in lies:
        print(f"ACCEPTED FALSEHOOD {json.dumps(record)}")  # noqa: T201
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
