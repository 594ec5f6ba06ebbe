"""Tiny bundles for the checker's tests, with a slow forward pass in plain fractions.

Nothing here is shared with the engine or the checker: it is a third reading of `docs/certificate.md`.
"""

import hashlib
import json
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

Fractions = list[Fraction]
ZERO = Fraction(0)
FINAL_RESIDUAL = {"at": "logits input", "positions": "last"}
"""Where robustness is about, unless told."""
PINS = frozenset({"domain", "tensors", "certificate", "remarks"})
CLAIM_FORMAT, CERTIFICATE_FORMAT = "circuitproof claim 3", "circuitproof certificate 3"


@dataclass
class Bundle:
    """The parts of a bundle, open to forgery; writing pins what `pins` names."""

    claim: dict[str, Any]
    domain: dict[str, Any]
    tensors: dict[str, tuple[tuple[int, ...], list[float]]]
    certificate: dict[str, Any] = field(default_factory=dict)
    pins: set[str] = field(default_factory=lambda: set(PINS))
    tamper: Callable[[dict[str, bytes]], None] = lambda _: None
    """What is done to the files before they are sealed."""
    listed: dict[str, str] = field(default_factory=dict)
    """Digests that the manifest gets instead of the right ones."""
    labels: list[tuple[int, int]] = field(default_factory=list)
    """Answer and class of the prompts of a pattern."""

    def write(self, directory: Path) -> Path:
        """Write the files with their digests."""
        files = {"domain.json": as_bytes(self.domain)}
        if "domain" in self.pins:
            count = len(self.domain.get("prompts", []))
            self.claim["domain"] = {"digest": digest(files["domain.json"]), "prompts": count}
        if "tensors" in self.pins:
            self.claim["weights"] = pinned(self.tensors)
        if "remarks" in self.pins:
            remark(self)
        files["claim.json"] = as_bytes(self.claim)
        if "certificate" in self.pins:
            self.certificate["claim"] = digest(files["claim.json"])
        files["certificate.json"] = as_bytes(self.certificate)
        files["weights.safetensors"] = safetensors(self.tensors)
        self.tamper(files)
        seal(directory, files, self.listed)
        return directory


def as_bytes(value: object) -> bytes:
    """Return JSON bytes."""
    return json.dumps(value).encode()


def digest(content: bytes) -> str:
    """Return the SHA-256 digest in hex."""
    return hashlib.sha256(content).hexdigest()


def seal(directory: Path, files: dict[str, bytes], listed: dict[str, str] | None = None) -> None:
    """Write files and their manifest."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_bytes(content)
    digests = {name: digest(content) for name, content in files.items()}
    manifest = {"files": digests | (listed or {})}
    (directory / "manifest.json").write_bytes(as_bytes(manifest))


def raw(numbers: Iterable[float]) -> bytes:
    """Return FP32 bytes."""
    entries = list(numbers)
    return struct.pack(f"<{len(entries)}f", *entries)


def pinned(tensors: dict[str, tuple[tuple[int, ...], list[float]]]) -> dict[str, Any]:
    """Return what a claim says of full tensors."""
    return {
        name: {"shape": list(shape), "rows": None, "digest": digest(raw(numbers))}
        for name, (shape, numbers) in tensors.items()
    }


def safetensors(tensors: dict[str, tuple[tuple[int, ...], list[float]]]) -> bytes:
    """Return a safetensors file."""
    header: dict[str, Any] = {}
    content = b""
    for name, (shape, numbers) in tensors.items():
        span = [len(content), len(content) + 4 * len(numbers)]
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": span}
        content += raw(numbers)
    spelled = json.dumps(header).encode()
    return struct.pack("<Q", len(spelled)) + spelled + content


def architecture(**changes: Any) -> dict[str, Any]:
    """Return a tiny architecture."""
    return {
        "vocabulary": 6,
        "context": 4,
        "layers": 1,
        "heads": 1,
        "width": 4,
        "head_width": 2,
        "mlp_width": 3,
        "norm": {"kind": "none"},
        "attention": "sparsemax",
        "attention_scale": "1/2",
        "activation": {"kind": "leaky relu", "slope": "1/100"},
        "tied": False,
        "biases": True,
        "logit_bias": True,
    } | changes


def shapes(size: dict[str, Any], programs: Iterable[str] = ()) -> dict[str, tuple[int, ...]]:
    """Return the table of tensors."""
    width, inner, mlp = size["width"], size["head_width"], size["mlp_width"]
    table: dict[str, tuple[int, ...]] = {
        "embed.token": (size["vocabulary"], width),
        "embed.position": (size["context"], width),
        "rotary.cos": (size["context"], size.get("rotary", 0) // 2),
        "rotary.sin": (size["context"], size.get("rotary", 0) // 2),
        "logits.weight": (size.get("outputs", size["vocabulary"]), width),
        "logits.bias": (size.get("outputs", size["vocabulary"]),),
    }
    norms = ["logits.norm"]
    for layer in range(size["layers"]):
        norms += [f"attention.{layer}.norm", f"mlp.{layer}.norm"]
        table |= {f"mlp.{layer}.up.weight": (mlp, width), f"mlp.{layer}.up.bias": (mlp,)}
        table |= {f"mlp.{layer}.down.weight": (width, mlp), f"mlp.{layer}.down.bias": (width,)}
        table[f"attention.{layer}.output.bias"] = (width,)
        for head in range(size["heads"]):
            name = f"head.{layer}.{head}"
            for role in ["value"] if f"{layer}.{head}" in programs else ["query", "key", "value"]:
                table |= {f"{name}.{role}.weight": (inner, width), f"{name}.{role}.bias": (inner,)}
            table[f"{name}.output.weight"] = (width, inner)
    for name in norms:
        table |= {f"{name}.scale": (width,), f"{name}.shift": (width,)}
    return {name: shape for name, shape in table.items() if _occurs(name, size)}


def _occurs(name: str, size: dict[str, Any]) -> bool:
    if name.startswith("mlp.") and not size["mlp_width"]:
        return False
    if ".norm." in name:
        return size["norm"]["kind"] != "none"
    if name == "logits.weight":
        return not size["tied"]
    if name.startswith("rotary.") or name == "embed.position":
        return name.startswith("rotary.") == ("rotary" in size)
    return size["logit_bias"] if name == "logits.bias" else size["biases"] or not name.endswith(".bias")


PORTS = ("query", "key", "value")


def nodes(size: dict[str, Any]) -> list[list[str]]:
    """Return the nodes stage by stage."""
    stages = [["embed"]]
    for layer in range(size["layers"]):
        stages.append([f"head {layer}.{head}" for head in range(size["heads"])])
        if size["mlp_width"] and "parallel" in size:
            stages[-1].append(f"mlp {layer}")
        elif size["mlp_width"]:
            stages.append([f"mlp {layer}"])
    return [*stages, ["logits"]]


def reader(target: str) -> str:
    """Return the node that reads at a port."""
    return " ".join(target.split()[:2])


def ports(node: str, programs: Iterable[str]) -> list[str]:
    """Return where edges into a node end, if ports are told apart: a program has a value port only."""
    if not node.startswith("head"):
        return [node]
    return [f"{node} {use}" for use in (PORTS[2:] if node.removeprefix("head ") in programs else PORTS)]


def earlier(size: dict[str, Any], target: str) -> list[str]:
    """Return the nodes that are computed before a port, in order."""
    stages = nodes(size)
    place = next(place for place, stage in enumerate(stages) if reader(target) in stage)
    return [node for stage in stages[:place] for node in stage]


def every_edge(size: dict[str, Any], programs: Iterable[str] | None = None) -> list[str]:
    """Return every edge in order; given the program heads, those into heads end at ports."""
    stages = nodes(size)
    return [
        f"{source} -> {target}"
        for index, stage in enumerate(stages)
        for source in stage
        for later in stages[index + 1 :]
        for node in later
        for target in ([node] if programs is None else ports(node, programs))
    ]


def edges_of(claim: dict[str, Any]) -> list[str]:
    """Return every edge as the circuit of a claim tells them apart."""
    is_split = claim["circuit"]["granularity"] == "port"
    return every_edge(claim["architecture"], claim["programs"] if is_split else None)


def circuit_of(size: dict[str, Any], edges: list[str], **fields: Any) -> dict[str, Any]:
    """Return a circuit as a claim states it: at whole heads, with nothing at cut edges."""
    return {
        "layers": size["layers"],
        "heads": size["heads"],
        "mlps": size["mlp_width"] > 0,
        "granularity": "head",
        "ablation": "zero",
        "edges": edges,
    } | fields


def random_bundle(
    size: dict[str, Any],
    edges: list[str],
    seed: int,
    programs: dict[str, list[str]] | None = None,
    prompts: int = 6,
) -> Bundle:
    """Return a bundle with random small weights and prompts, and no certificate yet."""
    chance = random.Random(seed)  # noqa: S311  # weights for a test, not keys
    programs = programs or {}
    tensors = {
        name: (shape, [chance.randint(-16, 16) / 8 for _ in range(prod(shape))])
        for name, shape in shapes(size, programs).items()
    }
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < prompts:
        length = chance.randint(1, size["context"])
        drawn[tuple(chance.randrange(size["vocabulary"]) for _ in range(length))] = None
    claim = {
        "format": CLAIM_FORMAT,
        "arithmetic": "exact",
        "architecture": size,
        "programs": programs,
        "circuit": circuit_of(size, edges),
        "task": {
            "name": "tiny",
            "declaration": None,
            "names": {"0": "zero"},
            "candidates": [1, 3, 4],
            "answer": {"kind": "table", "answers": [1] * prompts},
            "relation": {"kind": "table", "classes": [0] * prompts},
        },
        "properties": [],
    }
    return Bundle(claim, {"prompts": list(map(list, drawn)), "strata": ["all"] * prompts}, tensors)


class Naive:
    """The meaning of a circuit, written down as slowly and plainly as possible."""

    def __init__(
        self,
        bundle: Bundle,
        edges: list[str],
        prompt: list[int],
        kept: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Take ports and layers whose shared bias they read in any case as `kept`."""
        self.bundle, self.ablation = bundle, bundle.claim["circuit"]["ablation"]
        self.known: dict[tuple[str, int], Fractions] = {}
        self.size, self.kept = bundle.claim["architecture"], set(kept)
        self.tensors = bundle.tensors
        self.programs = bundle.claim["programs"]
        self.candidates = bundle.claim["task"]["candidates"]
        self.pairs = [edge.split(" -> ") for edge in edges]
        self.prompt = prompt

    def logits(self) -> Fractions:
        """Return the candidates' logits where the claim decides."""
        residual = self.read("logits", "logits.norm", self.decided())
        table = self.matrix("embed.token" if self.size["tied"] else "logits.weight")
        bias = self.bias("logits.bias", self.size.get("outputs", self.size["vocabulary"]))
        return [_dot(table[token], residual) + bias[token] for token in self.candidates]

    def decided(self) -> int:
        """Return the position at which is decided: unless the task says another one, the last."""
        position = self.bundle.claim["task"].get("position", -1)
        return position if position >= 0 else len(self.prompt) + position

    def matrix(self, name: str) -> list[Fractions]:
        """Return the rows of a matrix."""
        shape, numbers = self.tensors[name]
        rows = range(0, len(numbers), shape[1])
        return [[Fraction(number) for number in numbers[row : row + shape[1]]] for row in rows]

    def bias(self, name: str, count: int) -> Fractions:
        """Return a vector of the file, or zeros where there is none."""
        return list(map(Fraction, self.tensors[name][1])) if name in self.tensors else [ZERO] * count

    def affine(self, name: str, point: Fractions) -> Fractions:
        """Return a map with its bias."""
        rows = self.matrix(f"{name}.weight")
        bias = self.bias(f"{name}.bias", len(rows))
        return [_dot(row, point) + shift for row, shift in zip(rows, bias, strict=True)]

    def read(self, port: str, norm: str, position: int) -> Fractions:
        """Return what is read at a port."""
        total = [ZERO] * self.size["width"]
        sources = [source for source, target in self.pairs if target in (port, reader(port))]
        for source in sources:
            total = _add(total, self.output(source, position))
        if self.ablation != "zero":
            for source in earlier(self.size, port):
                total = total if source in sources else _add(total, self.substitute(source, position))
            sources = earlier(self.size, port)
        layers = {source[5:].split(".")[0] for source in sources if source.startswith("head")}
        for layer in layers | {layer for one, layer in self.kept if one in (port, reader(port))}:
            total = _add(total, self.bias(f"attention.{layer}.output.bias", self.size["width"]))
        if self.size["norm"]["kind"] == "none":
            return total
        scale, shift = self.bias(f"{norm}.scale", 0), self.bias(f"{norm}.shift", 0)
        normed = naive_band_norm(total, self.size["norm"])
        return [a * b + c for a, b, c in zip(normed, scale, shift, strict=True)]

    def substitute(self, source: str, position: int) -> Fractions:
        """Return what a cut edge carries."""
        ablation, length = self.ablation, len(self.prompt)
        if ablation["kind"] == "counterfactual":
            (partner,) = [other for one, other in ablation["pairs"] if one == self.prompt]
            places = [(partner, position)]
        elif ablation["over"] == "all":
            places = [(one, place) for one in ablation["prompts"] for place in range(len(one))]
        else:
            places = [(one, position) for one in ablation["prompts"] if len(one) == length]
        every, total = every_edge(self.size), [ZERO] * self.size["width"]
        for prompt, place in places:
            total = _add(total, Naive(self.bundle, every, prompt).output(source, place))
        return [entry / len(places) for entry in total]

    def output(self, node: str, position: int) -> Fractions:
        """Return what a node puts out."""
        if (node, position) not in self.known:
            self.known[node, position] = self.computed(node, position)
        return self.known[node, position]

    def computed(self, node: str, position: int) -> Fractions:
        """Return what a node computes."""
        if node == "embed":
            token = self.matrix("embed.token")[self.prompt[position]]
            return token if "rotary" in self.size else _add(token, self.matrix("embed.position")[position])
        if node.startswith("mlp"):
            name = node.replace(" ", ".")
            hidden = self.affine(f"{name}.up", self.read(node, f"{name}.norm", position))
            slope = Fraction(self.size["activation"].get("slope", 0))
            return self.affine(f"{name}.down", [x if x > 0 else slope * x for x in hidden])
        return self.head(node, position)

    def head(self, node: str, position: int) -> Fractions:
        """Return what a head puts out."""
        name, place = node.replace(" ", "."), node.removeprefix("head ")
        norm = f"attention.{place.split('.')[0]}.norm"
        if place in self.programs:
            row = naive_row(self.programs[place], self.prompt, position)
        else:
            query = self.read(f"{node} query", norm, position)
            keys = [self.read(f"{node} key", norm, key) for key in range(position + 1)]
            row = self.sparsemax_row(name, query, keys)
        mixed = [ZERO] * self.size["head_width"]
        for key, weight in enumerate(row):
            if weight:
                value = self.affine(f"{name}.value", self.read(f"{node} value", norm, key))
                mixed = _add(mixed, [weight * x for x in value])
        return [_dot(out, mixed) for out in self.matrix(f"{name}.output.weight")]

    def sparsemax_row(self, name: str, point: Fractions, points: list[Fractions]) -> Fractions:
        """Return the weights of the keys of some points for the query of one."""
        query = self.turned(self.affine(f"{name}.query", point), len(points) - 1)
        scale = Fraction(self.size["attention_scale"])
        keys = [self.turned(self.affine(f"{name}.key", key), place) for place, key in enumerate(points)]
        return naive_projection([scale * _dot(query, key) for key in keys], Fraction(1))

    def turned(self, point: Fractions, position: int) -> Fractions:
        """Return a query or a key with its pairs of coordinates rotated."""
        if "rotary" not in self.size:
            return point
        half, found = self.size["rotary"] // 2, list(point)
        cosines, sines = self.matrix("rotary.cos")[position], self.matrix("rotary.sin")[position]
        for m in range(half):
            a, b = point[m], point[m + half]
            found[m], found[m + half] = a * cosines[m] - b * sines[m], b * cosines[m] + a * sines[m]
        return found


def _dot(left: Fractions, right: Fractions) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), ZERO)


def _add(left: Fractions, right: Fractions) -> Fractions:
    return [a + b for a, b in zip(left, right, strict=True)]


def naive_projection(scores: Fractions, mass: Fraction) -> Fractions:
    """Return max(s − τ, 0) with sum `mass`: the mass falls as τ grows, so look between the scores."""
    ordered = sorted(scores, reverse=True)
    for count in range(1, len(ordered) + 1):
        cut = (sum(ordered[:count], ZERO) - mass) / count
        if sum((max(score - cut, ZERO) for score in scores), ZERO) == mass:
            return [max(score - cut, ZERO) for score in scores]
    raise AssertionError("some threshold must give the mass")


def naive_band_norm(point: Fractions, norm: dict[str, Any]) -> Fractions:
    """Return the band norm before scale and shift."""
    low, high = Fraction(norm["low"]), Fraction(norm["high"])
    mean = sum(point, ZERO) / len(point)
    centre = [x - mean for x in point]
    sides: list[Fractions] = []
    for sign in (1, -1):
        signed = [sign * x for x in centre]
        side = [max(x, ZERO) for x in signed]
        mass = sum(side, ZERO)
        if mass > high:
            side = naive_projection(signed, high)
        elif mass < low and norm["lift"] == "continuous":
            side = naive_projection(signed, low)
        elif mass < low:
            chosen = [i for i, x in enumerate(side) if x > 0]
            chosen = chosen or [i for i in range(len(side)) if i % 2 == (sign == -1)]
            side = [x + (low - mass) / len(chosen) if i in chosen else x for i, x in enumerate(side)]
        sides.append(side)
    joined = [p - n for p, n in zip(*sides, strict=True)]
    middle = sum(joined, ZERO) / len(joined)
    return [x - middle for x in joined]


def naive_row(lines: list[str], prompt: list[int], query: int) -> Fractions:
    """Return a row of a program, its conditions evaluated as Python."""
    weights: Fractions = []
    for key in range(query + 1):
        names = {
            "key_position": key,
            "query_position": query,
            "relative_distance": query - key,
            "absolute_distance": abs(query - key),
            "key_token": prompt[key],
            "query_token": prompt[query],
            "token_match": prompt[key] == prompt[query],
            "true": True,
            "false": False,
        }
        weight = Fraction(lines[0].split()[1])
        for line in lines[1:-1]:
            spelled, _, condition = line.removeprefix("add ").partition(" when ")
            if not condition or eval(condition, {}, names):  # noqa: S307  # the text is this test's own
                weight += Fraction(spelled)
        weights.append(weight)
    total = sum(weights, ZERO)
    if total:
        return [weight / total for weight in weights]
    return [Fraction(lines[-1] == "otherwise self" and key == query) for key in range(query + 1)]


def row_digest(row: list[str]) -> str:
    """Return the digest that may stand for a row of logits."""
    terms = [Fraction(logit).as_integer_ratio() for logit in row]
    spelled = [f'"{top}"' if bottom == 1 else f'"{top}/{bottom}"' for top, bottom in terms]
    return digest(f"[{','.join(spelled)}]".encode())


class Prover:
    """Writes honest answers from the naive forward pass."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.claim = bundle.claim
        self.prompts = bundle.domain["prompts"]
        self.edges = bundle.claim["circuit"]["edges"]
        self.folds: list[list[str]] = []
        self.known: dict[tuple[str, ...], Fractions] = {}

    def logits(self, prompt: int, edges: list[str]) -> Fractions:
        """Return the naive logits."""
        key = (str(prompt), *edges)
        if key not in self.known:
            self.known[key] = Naive(self.bundle, edges, self.prompts[prompt]).logits()
        return self.known[key]

    def fold(self, prompt: int, edges: list[str] | None = None) -> int:
        """Return the index of the fold, adding it the first time."""
        row = [str(logit) for logit in self.logits(prompt, self.edges if edges is None else edges)]
        if row not in self.folds:
            self.folds.append(row)
        return self.folds.index(row)

    def decision(self, prompt: int, edges: list[str] | None = None) -> set[int]:
        """Return the candidates of the largest logit."""
        logits = self.logits(prompt, self.edges if edges is None else edges)
        pairs = zip(self.claim["task"]["candidates"], logits, strict=True)
        return {token for token, logit in pairs if logit == max(logits)}

    def lesion(self, edge: int) -> list[str]:
        """Return the circuit without an edge."""
        return [kept for index, kept in enumerate(self.edges) if index != edge]

    def by_prompt(self, leaf: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
        """Return a split by prompt."""
        return {"split": "prompt", "children": [leaf(prompt) for prompt in range(len(self.prompts))]}

    def radius(self, prompt: int) -> Fraction | None:
        """Return the radius of a clear decision; None is infinite."""
        naive = Naive(self.bundle, [], [0])
        table = naive.matrix("embed.token" if naive.size["tied"] else "logits.weight")
        logits = self.logits(prompt, self.edges)
        best = logits.index(max(logits))
        rows = [table[token] for token in naive.candidates]
        ratios = [
            (logits[best] - logits[other])
            / sum((abs(a - b) for a, b in zip(rows[best], row, strict=True)), ZERO)
            for other, row in enumerate(rows)
            if row != rows[best]
        ]
        return min(ratios) if ratios else None

    def proof(self, kind: str) -> dict[str, Any]:
        """Return the evidence that a property holds, whether it does or not."""
        if kind in ("equivalence", "invariance"):
            return self.by_prompt(lambda p: {"fold": self.fold(p)})
        if kind == "robustness":
            return self.by_prompt(
                lambda p: {"fold": self.fold(p), "radius": str(self.radius(p) or "infinite")}
            )
        if kind == "faithfulness":
            every = every_edge(self.claim["architecture"])
            return self.by_prompt(lambda p: {"fold": self.fold(p), "model": self.fold(p, every)})
        children = [{"replay": [self.witness(edge)]} for edge in range(len(self.edges))]
        return {"split": "edge", "children": children}

    def witness(self, edge: int) -> dict[str, int]:
        """Return a prompt at which an edge is needed; the first prompt where there is none."""
        without = self.lesion(edge)
        needed = [p for p in range(len(self.prompts)) if self.is_needed(p, without)]
        prompt = needed[0] if needed else 0
        return {"prompt": prompt, "fold": self.fold(prompt), "lesion": self.fold(prompt, without)}

    def is_needed(self, prompt: int, without: list[str]) -> bool:
        """Say whether a clear decision changes."""
        return len(self.decision(prompt)) == 1 and self.decision(prompt) != self.decision(prompt, without)

    def answer(self, entry: dict[str, Any], verdict: str, evidence: dict[str, Any]) -> None:
        """Add a property with its answer."""
        self.claim["properties"].append(entry)
        answer = {"property": dict(entry), "verdict": verdict, "evidence": evidence, "remarks": []}
        self.bundle.certificate = {
            "format": CERTIFICATE_FORMAT,
            "folds": self.folds,
            "answers": [*self.bundle.certificate.get("answers", []), answer],
        }


UNREADABLE = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration, ArithmeticError),
    SyntaxError,
)
"""What stops whoever reads a bundle that was forged so that nothing can be said of it."""


def remark(bundle: Bundle) -> None:
    """Enter the remarks that apply to a bundle about a list, as far as it can be read."""
    try:
        answers = bundle.certificate["answers"]
        for answer, claimed in zip(answers, bundle.claim["properties"], strict=False):
            answer["remarks"] = remarks_on(bundle, answer, claimed)
    except UNREADABLE:
        return


def remarks_on(bundle: Bundle, answer: dict[str, Any], claimed: dict[str, Any]) -> list[str]:
    """Return the remarks that apply to an answer."""
    if answer["verdict"] != "proved":
        return []
    of_ablation = [] if claimed["kind"] == "lesion identity" else on_ablation(bundle, claimed["kind"])
    return on_property(bundle, answer, claimed) + of_ablation


def on_ablation(bundle: Bundle, kind: str) -> list[str]:
    """Return the remarks on what cut edges carry: on prompts where one is cut, on logits where they count."""
    ablation, prompts = bundle.claim["circuit"]["ablation"], bundle.domain["prompts"]
    if ablation == "zero":
        return []
    if ablation["kind"] == "mean":
        word, means = "means of one prompt", ablation["prompts"]
        alike = [[m for m in means if ablation["over"] == "all" or len(m) == len(p)] for p in prompts]
        count = sum(len(one) == 1 for one in alike)
    else:
        word, count = "own partners", sum([prompt, prompt] in ablation["pairs"] for prompt in prompts)
    own, every = bundle.claim["circuit"]["edges"], every_edge(bundle.claim["architecture"])
    if kind in ("necessity", "subset minimality", "minimum", "agreement"):
        return [f"{word}: {count}"] * bool(count)
    is_same = all(Naive(bundle, own, p).logits() == Naive(bundle, every, p).logits() for p in prompts)
    is_cut = set(own) != set(edges_of(bundle.claim))
    return [f"{word}: {count}"] * bool(count and is_cut) + ["logits of the whole model"] * is_same


def on_property(bundle: Bundle, answer: dict[str, Any], claimed: dict[str, Any]) -> list[str]:
    """Return the remarks on what is proved."""
    pairs = zip(bundle.claim["properties"], bundle.certificate["answers"], strict=False)
    proved = [one for one, other in pairs if other["verdict"] == "proved"]
    labels, kind = labels_of(bundle), claimed["kind"]
    is_constant, is_list = len({one for one, _ in labels}) == 1, "pattern" not in bundle.domain
    is_equal = any(says_all_right(one, len(bundle.domain["prompts"])) for one in proved)
    ablation = bundle.claim["circuit"]["ablation"]
    is_zero = ablation == "zero"
    is_one_value = is_zero or ablation.get("over") == "all"
    is_needed = is_one_value and not is_constant and is_path(bundle.claim)
    found = dict.fromkeys(("constant answer", *CONSTANT), False)
    if kind in ("equivalence", "invariance", "robustness", "faithfulness", "agreement"):
        found |= dict(zip(CONSTANT, constants(bundle, answer["evidence"]), strict=True))
    constant = [remark for remark, applies in found.items() if applies]
    match kind:
        case "invariance":
            implied = is_equal and len({group for _, group in labels}) == len(set(labels))
            single = len({group for _, group in labels}) == len(labels)
            said = ["implied by equivalence"] * implied + ["implied by clear decisions"] * single
            return said + constant
        case "necessity":
            implied = is_equal and is_needed
            fixed = [f"constant source: {edge}" for edge in unfed(bundle.claim)]
            said = ["implied by equivalence"] * implied + biased(bundle) * is_zero
            return said + fixed * is_one_value
        case "equivalence":
            return ["constant answer"] * is_constant + [one for one in constant if one == CONSTANT[1]]
        case "subset minimality" | "minimum":
            listed = len(claimed.get("circuits", [None]))
            implied = not is_constant and len(answer["evidence"]["children"]) == listed
            is_one = len(bundle.claim["circuit"]["edges"]) == 1
            single = kind == "minimum" and not is_constant and is_one and is_one_value
            said = ["implied by equivalence"] * implied + ["constant answer"] * is_constant
            return said + ["one edge"] * single
        case "robustness":
            prompts = bundle.domain["prompts"] if is_list else []
            count = len(prompts) - sum(map(reaches(bundle, claimed), prompts))
            return constant + [f"unreached prompts: {count}"] * bool(count)
        case "faithfulness":
            whole = lacks_nothing(bundle)
            ties = sum(len(one) > 1 for one in decisions(bundle, answer["evidence"]))
            return constant + ["whole model"] * whole + [f"tied prompts: {ties}"] * bool(ties)
        case "accuracy":
            answers = [one for one, _ in labels]
            most = max(map(answers.count, answers))
            right = claimed["least"] if "least" in claimed else len(answers) - len(claimed["wrong"])
            none = [best(Naive(bundle, [], prompt).logits()) for prompt in bundle.domain["prompts"]]
            tokens, wanted = bundle.claim["task"]["candidates"], zip(none, answers, strict=True)
            bare = sum({tokens[place] for place in one} == {answer} for one, answer in wanted)
            said = [f"no better than a constant: {most}"] * (most >= right)
            return said + ["decided without edges"] * (bare >= right)
        case "agreement":
            both, prompts = (bundle.claim["circuit"]["edges"], claimed["edges"]), bundle.domain["prompts"]
            own, other = ([Naive(bundle, edges, p).logits() for p in prompts] for edges in both)
            return constant + ["same logits"] * (is_list and own == other)
    return of_lesion(bundle.claim, claimed)


def says_all_right(claimed: dict[str, Any], count: int) -> bool:
    """Say whether a property says of all of so many prompts that they are decided right."""
    if claimed["kind"] == "accuracy":
        return claimed.get("least") == count or claimed.get("wrong") == []
    return claimed["kind"] in ("equivalence", "subset minimality", "minimum")


def of_lesion(claim: dict[str, Any], claimed: dict[str, Any]) -> list[str]:
    """Return the remarks on a lesion identity; heads have one digit each here."""
    programs, live = claim["programs"], {"logits"}
    for edge in reversed(claim["circuit"]["edges"]):
        source, target = edge.split(" -> ")
        live |= {source} if reader(target) in live else set()
    used = [place for place, lines in programs.items() if f"head {place}" in live and form(lines) != "never"]
    is_cut_off = not used and claim["circuit"]["ablation"] == "zero"
    said = ["no program head in the circuit"] * is_cut_off if programs else ["no program head"]
    same = [place for place, lines in programs.items() if claimed["base"]["programs"].get(place) == lines]
    return said + [f"program of the base: head {place}" for place in sorted(same)]


def form(lines: list[str]) -> str:
    """Say whether a program attends always, never or sometimes, by the letters of its lines."""
    sure = [line.split()[1] for line in lines[:-1] if " when " not in line]
    weights = [line.split()[1] for line in lines[:-1]]
    if lines[-1] == "otherwise self" or any(map(Fraction, sure)):
        return "always"
    return "sometimes" if any(map(Fraction, weights)) else "never"


def lacks_nothing(bundle: Bundle) -> bool:
    """Say whether every edge that a circuit lacks is of a node whose last tensors are zero."""
    claim, edges = bundle.claim, bundle.claim["circuit"]["edges"]
    biases = claim["architecture"]["biases"]

    def is_zero(*names: str) -> bool:
        return not any(any(bundle.tensors[name][1]) for name in names if biases or "bias" not in name)

    def is_silent(node: str) -> bool:
        name = node.replace(" ", ".")
        if node.startswith("head"):
            lines = claim["programs"].get(node.removeprefix("head "), ["otherwise self"])
            values = (f"{name}.value.weight", f"{name}.value.bias")
            return form(lines) == "never" or is_zero(f"{name}.output.weight") or is_zero(*values)
        if not node.startswith("mlp") or not is_zero(f"{name}.down.bias"):
            return False
        return is_zero(f"{name}.down.weight") or is_zero(f"{name}.up.weight", f"{name}.up.bias")

    is_cut_to_zero = claim["circuit"]["ablation"] == "zero"
    for source, target in (one.split(" -> ") for one in edges_of(claim)):
        if f"{source} -> {target}" in edges or is_silent(reader(target)):
            continue
        layer = source.removeprefix("head ").split(".")[0]
        kept = [one for one in edges if one.startswith(f"head {layer}.") and one.endswith(f"> {target}")]
        is_lost = source.startswith("head") and not kept and not is_zero(f"attention.{layer}.output.bias")
        if not is_silent(source) or (is_lost and is_cut_to_zero):
            return False
    return True


CONSTANT = ("constant decision", "decided without edges")


def constants(bundle: Bundle, evidence: dict[str, Any]) -> tuple[bool, bool]:
    """Say whether one candidate is decided for all prompts, and whether also without any edge."""
    try:
        found = decisions(bundle, evidence)
        is_one = len(set(found)) == 1 and len(found[0]) == 1
        if bundle.claim["circuit"]["ablation"] == "zero":
            bare = best(Naive(bundle, [], bundle.domain["prompts"][0]).logits())
            return is_one, is_one and found[0] == bare
        bare = [best(Naive(bundle, [], prompt).logits()) for prompt in bundle.domain["prompts"]]
        return is_one, found == bare and all(len(one) == 1 for one in bare)
    except UNREADABLE:
        return False, False


def best(logits: list[Fraction]) -> frozenset[int]:
    """Return the places of the largest logits."""
    return frozenset(place for place, logit in enumerate(logits) if logit == max(logits))


def decisions(bundle: Bundle, evidence: dict[str, Any]) -> list[frozenset[int]]:
    """Return what is decided: of each prompt of a list, or in each leaf about a pattern."""
    if "pattern" not in bundle.domain:
        edges = bundle.claim["circuit"]["edges"]
        return [best(Naive(bundle, edges, prompt).logits()) for prompt in bundle.domain["prompts"]]
    folds = [bundle.certificate["folds"][one["fold"]] for one in evidence.get("prompts", [])]
    shown = [best(list(map(Fraction, fold))) for fold in folds]
    inner = [one for child in evidence.get("children", []) for one in decisions(bundle, child["evidence"])]
    return shown + inner + ([frozenset({evidence["decision"]})] if "decision" in evidence else [])


def unfed(claim: dict[str, Any]) -> list[str]:
    """Return the edges whose source is fed by nothing that looks at tokens."""
    fed = tellers(claim)
    for edge in claim["circuit"]["edges"]:
        source, target = edge.split(" -> ")
        fed |= {reader(target)} if source in fed and not target.endswith(("query", "key")) else set()
    return [edge for edge in claim["circuit"]["edges"] if edge.split(" -> ")[0] not in fed]


def labels_of(bundle: Bundle) -> list[tuple[int, int]]:
    """Return answer and class of each prompt; of a pattern, those that the bundle was told to have."""
    task = bundle.claim["task"]
    if "pattern" in bundle.domain:
        return bundle.labels
    prompts, answer, relation = bundle.domain["prompts"], task["answer"], task["relation"]
    answers, classes = answer.get("answers"), relation.get("classes")
    if answer["kind"] == "only opener":
        pairs = {pair[0]: pair[1] for pair in answers}
        answers = [next(pairs[token] for token in prompt if token in pairs) for prompt in prompts]
    if relation["kind"] == "same opener":
        openers = relation["openers"]
        classes = [next(token for token in prompt if token in openers) for prompt in prompts]
    return list(zip(answers, classes, strict=True))


def tellers(claim: dict[str, Any]) -> set[str]:
    """Return the nodes that tell prompts apart by themselves."""
    programs = claim["programs"].items()
    return {"embed", *(f"head {place}" for place, lines in programs if form(lines) == "sometimes")}


def is_path(claim: dict[str, Any]) -> bool:
    """Say whether the kept edges are one path from a node that tells prompts apart, past no other."""
    pairs = [edge.split(" -> ") for edge in claim["circuit"]["edges"]]
    follows, first = {source: reader(target) for source, target in pairs}, tellers(claim)
    starts = [node for node in follows if node not in follows.values()]
    node, walked = starts[0], 0
    while node in follows:
        node, walked = follows[node], walked + 1
    is_whole = node == "logits" and walked == len(claim["circuit"]["edges"])
    return is_whole and [one for one in follows if one in first] == starts


def biased(bundle: Bundle) -> list[str]:
    """Return the remarks on edges that change no decision as long as a shared bias is kept."""
    edges, found = bundle.claim["circuit"]["edges"], []
    for place, edge in enumerate(edges):
        source, target = edge.split(" -> ")
        layer = source.removeprefix("head ").split(".")[0]
        of_layer = [one for one in edges if one.startswith(f"head {layer}.") and one.endswith(f"> {target}")]
        if source.startswith("head") and len(of_layer) == 1 and bundle.claim["architecture"]["biases"]:
            rest = edges[:place] + edges[place + 1 :]
            if all(is_kept(bundle, rest, prompt, (target, layer)) for prompt in bundle.domain["prompts"]):
                found.append(f"shared bias: {edge}")
    return found


def is_kept(bundle: Bundle, rest: list[str], prompt: list[int], bias: tuple[str, str]) -> bool:
    """Say whether a clear decision stays in a smaller circuit in which a node reads a bias."""
    plain = best(Naive(bundle, bundle.claim["circuit"]["edges"], prompt).logits())
    return len(plain) > 1 or best(Naive(bundle, rest, prompt, [bias]).logits()) == plain


def reaches(bundle: Bundle, claimed: dict[str, Any]) -> Callable[[list[int]], bool]:
    """Return the test whether a perturbation is read on the way to the last logits of a prompt."""
    claim = bundle.claim
    node, _, side = claimed["at"].rpartition(" ")
    pairs = [edge.split(" -> ") for edge in claim["circuit"]["edges"]]

    def read(prompt: list[int], port: str, position: int) -> set[tuple[str, str, int]]:
        found = {(reader(port), "input", position)}
        for source in [source for source, target in pairs if target in (port, reader(port))]:
            found.add((source, "output", position))
            lines = claim["programs"].get(source.removeprefix("head "))
            row = naive_row(lines, prompt, position) if lines else [ZERO + 1] * (position + 1)
            keys = [key for key, weight in enumerate(row) if weight]
            for one in ports(source, claim["programs"]) if source != "embed" else []:
                for key in keys if one.endswith(("key", "value")) else [position]:
                    found |= read(prompt, one, key)
        return found

    def test(prompt: list[int]) -> bool:
        last = len(prompt) - 1
        spans = {"last": [last], "all": range(last + 1)}
        chosen = claimed["positions"]
        places = spans[chosen] if isinstance(chosen, str) else chosen
        return any((node, side, place) in read(prompt, "logits", last) for place in places)

    return test


SEED = 14
"""With these weights the small circuit is faithful and needs each of its edges."""
CIRCUIT = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> mlp 0", "mlp 0 -> logits"]
KINDS = ("equivalence", "invariance", "necessity", "robustness", "faithfulness")


def fitting(
    size: dict[str, Any] | None = None,
    edges: list[str] | None = None,
    programs: dict[str, list[str]] | None = None,
    change: Callable[[Bundle], None] = lambda _: None,
    seed: int = SEED,
) -> Prover:
    """Return a bundle whose tables of answers and classes are what its circuit decides."""
    bundle = random_bundle(size or architecture(), edges or list(CIRCUIT), seed, programs, prompts=8)
    change(bundle)
    prover = Prover(bundle)
    answers = [min(prover.decision(prompt)) for prompt in range(len(prover.prompts))]
    prover.claim["task"]["answer"]["answers"] = answers
    prover.claim["task"]["relation"]["classes"] = list(answers)
    return prover


def is_exemplary(prover: Prover) -> bool:
    """Say whether all five properties hold with more than one answer."""
    prompts = range(len(prover.prompts))
    every = every_edge(prover.claim["architecture"])
    return (
        len(set(prover.claim["task"]["answer"]["answers"])) > 1
        and all(len(prover.decision(p)) == 1 for p in prompts)
        and all(prover.decision(p) == prover.decision(p, every) for p in prompts)
        and all(
            any(prover.is_needed(p, prover.lesion(edge)) for p in prompts)
            for edge in range(len(prover.edges))
        )
    )


def agreeing(prover: Prover, other: list[str], **changes: Any) -> Bundle:
    """Return a bundle with the evidence that the circuit agrees with another, whether it does or not."""
    entry = {"kind": "agreement", "granularity": "head", "edges": list(other)} | changes
    tree = prover.by_prompt(lambda p: {"fold": prover.fold(p), "other": prover.fold(p, other)})
    prover.answer(entry, "proved", tree)
    prover.bundle.claim["weights"] = pinned(prover.bundle.tensors)
    return prover.bundle


def proving(prover: Prover, *kinds: str, epsilon: Fraction | None = None) -> Bundle:
    """Return a bundle with the evidence that `kinds` hold, whether they do or not."""
    for kind in kinds:
        entry = {"kind": kind}
        if kind == "robustness":
            radii = [prover.radius(prompt) for prompt in range(len(prover.prompts))]
            least = min(radius for radius in radii if radius is not None)
            entry |= {"epsilon": str(least / 2 if epsilon is None else epsilon), **FINAL_RESIDUAL}
        prover.answer(entry, "proved", prover.proof(kind))
    bundle = prover.bundle
    bundle.claim["weights"] = pinned(bundle.tensors)
    return bundle
