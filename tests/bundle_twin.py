"""The slow, obvious oracle: is what a bundle says true? It reads files, and shares no code with the product.

`falsehoods` returns a sentence for each answer that is not so, beginning with `false`. A claim that the
format forbids outright is one too, whatever its answers: its sentence begins with `forbidden`.
"""

import hashlib
import json
import random
import struct
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import isfinite, prod
from pathlib import Path
from typing import Any

import condition_twin
from bundle_maker import (
    earlier,
    edges_of,
    every_edge,
    naive_band_norm,
    naive_projection,
    ports,
    reader,
    says_all_right,
    shapes,
)
from condition_twin import ForbiddenError, demand

ZERO = Fraction(0)
MOST_PROMPTS = 20_000
TRIES, MOST_TRIES, MOST_SHAKEN = 24, 200, 16
"""How many random corners and points of a ball are tried beside those that are chosen, at one prompt and in
all; and of a pattern, at about how many prompts."""


@dataclass(frozen=True)
class Tensor:
    """Raw bytes of a tensor or of some of its rows."""

    shape: tuple[int, ...]
    content: bytes

    def floats(self):
        """Return the numbers as they are stored."""
        return struct.unpack(f"<{len(self.content) // 4}f", self.content)

    @property
    def digest(self):
        """Return the digest of the bytes."""
        return hashlib.sha256(self.content).hexdigest()


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    return {
        name: Tensor(tuple(entry["shape"]), data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
        if name != "__metadata__"
    }


@dataclass(frozen=True)
class Model:
    """A declaration and its tensors, as rows of numbers by their place."""

    size: dict[str, Any]
    programs: dict[str, condition_twin.Program]
    rows: dict[str, dict[int, Any]]

    def row(self, name, place):
        """Return a row of a matrix, or an entry of a vector."""
        demand(place in self.rows.get(name, {}), f"{name} has no row {place}")
        return self.rows[name][place]

    def matrix(self, name):
        """Return all rows, in order; each must be one of numbers."""
        found = self.rows.get(name)
        demand(found and sorted(found) == list(range(len(found))), f"{name} lacks rows of numbers")
        return [found[place] for place in range(len(found))]


def rows_of(tensors, places):
    """Return the rows of tensors that are all numbers; `places` says which are there if not all."""
    table = {}
    for name, tensor in tensors.items():
        floats, width = tensor.floats(), prod(tensor.shape[1:])
        rows = [floats[k : k + width] for k in range(0, len(floats), width)]
        known = zip(places.get(name) or range(len(rows)), rows, strict=True)
        exact = {place: list(map(Fraction, row)) for place, row in known if all(map(isfinite, row))}
        is_vector = len(tensor.shape) == 1
        table[name] = {place: row[0] if is_vector else row for place, row in exact.items()}
    return table


def model_of(declared, tensors, places):
    """Return a model by its declaration; its programs must be in the language."""
    size = declared["architecture"]
    programs = {
        head: condition_twin.parsed(tuple(lines), size["vocabulary"])
        for head, lines in declared["programs"].items()
    }
    return Model(size, programs, rows_of(tensors, places))


class Part(tuple[int, ...]):  # noqa: SLOT001  # a tuple has no slots of its own
    """The tokens of a prompt up to a position, where heads see the others too."""

    whole: tuple[int, ...]

    def __new__(cls, whole, end):
        """Return the first tokens of a prompt."""
        found = super().__new__(cls, whole[:end])
        found.whole = tuple(whole)
        return found

    def __getitem__(self, place):
        """Return a token, or another part of the same prompt from its start."""
        return Part(self.whole, place.stop) if isinstance(place, slice) else super().__getitem__(place)

    def __eq__(self, other):
        return isinstance(other, Part) and (self.whole, len(self)) == (other.whole, len(other))

    def __hash__(self):
        return hash((self.whole, len(self)))


def seen(size, prompt):
    """Return a prompt as its last position sees it."""
    return Part(prompt, len(prompt)) if size.get("mask") == "none" else tuple(prompt)


def keys_of(prefix):
    """Return how many keys a neural head has at the last position of a prefix."""
    return len(prefix.whole) if isinstance(prefix, Part) else len(prefix)


class Carried:
    """What cut edges carry in the place of an output: something of the whole model, or nothing."""

    def __init__(self, model, ablation):
        self.ablation = ablation
        self.whole = None if ablation == "zero" else Run(model, every_edge(model.size))
        self.means = {}

    def about(self, prompt):
        """Return what of a prompt matters for what cut edges carry on it."""
        if self.ablation == "zero":
            return None
        if self.ablation["kind"] == "counterfactual":
            found = [tuple(other) for one, other in self.ablation["pairs"] if tuple(one) == prompt]
            demand(len(found) == 1 and len(found[0]) == len(prompt), "a prompt has no partner of its length")
            return found[0]
        return len(prompt) if self.ablation["over"] == "position" else None

    def vector(self, source, about, place):
        """Return what a cut edge carries at a position."""
        if isinstance(about, tuple):
            return self.whole.output(source, seen(self.whole.model.size, about)[: place + 1])
        key = (source, about, place if about else None)
        if key not in self.means:
            prompts = [seen(self.whole.model.size, one) for one in self.ablation["prompts"]]
            ends = [one[: place + 1] for one in prompts if len(one) == about]
            if about is None:
                ends = [one[:end] for one in prompts for end in range(1, len(one) + 1)]
            demand(ends, "no prompt of a mean has the length")
            total = [ZERO] * len(self.whole.output(source, ends[0]))
            for end in ends:
                total = add(total, self.whole.output(source, end))
            self.means[key] = [entry / len(ends) for entry in total]
        return self.means[key]


class Run:
    """One circuit of a model on prompts; what depends on the same tokens is computed once.

    `nudges` adds vectors at a node or port, a side and a position; a run with nudges is for one prompt.
    """

    def __init__(self, model, edges, nudges=None, carried=None):
        self.model, self.nudges, self.known = model, nudges or {}, {}
        self.carried, self.about = carried or Carried(model, "zero"), None
        self.sources = {}
        for source, target in (edge.split(" -> ") for edge in edges):
            self.sources.setdefault(target, []).append(source)
        self.is_split = any(reader(target) != target for target in self.sources)
        self.width = model.size["width"]

    def logits(self, candidates, prompt):
        """Return the candidates' logits at the last position."""
        size, self.about = self.model.size, self.carried.about(tuple(prompt))
        residual = self.read("logits", "logits.norm", seen(size, prompt))
        table = "embed.token" if size["tied"] else "logits.weight"
        bias = [self.model.row("logits.bias", t) if size["logit_bias"] else ZERO for t in candidates]
        return [dot(self.model.row(table, t), residual) + b for t, b in zip(candidates, bias, strict=True)]

    def nudged(self, vector, node, side, prefix):
        """Return a vector with what is added there."""
        extra = self.nudges.get((node, side, len(prefix) - 1))
        return vector if extra is None else add(vector, extra)

    def read(self, port, norm, prefix):
        """Return what is read at a port at the last position of a prefix."""
        key = ("read", port, prefix, self.about)
        if key not in self.known:
            self.known[key] = self.normed(norm, self.summed(port, prefix))
        return self.known[key]

    def summed(self, port, prefix):
        """Return the sum of the sources of a port, of what stands at cut edges, and of shared biases."""
        kept = [source for target in {port, reader(port)} for source in self.sources.get(target, [])]
        cut = []
        if self.carried.whole is not None:
            cut = [source for source in earlier(self.model.size, port) if source not in kept]
        total = [ZERO] * self.width
        for source in kept:
            total = add(total, self.output(source, prefix))
        for source in cut:
            total = add(total, self.carried.vector(source, self.about, len(prefix) - 1))
        if self.model.size["biases"]:
            for layer in sorted({s[5:].split(".")[0] for s in kept + cut if s.startswith("head")}):
                total = add(total, self.model.matrix(f"attention.{layer}.output.bias"))
        for place in sorted({port, reader(port)}):
            total = self.nudged(total, place, "input", prefix)
        return total

    def port(self, node, use):
        """Return where a head reads for one of its uses; the same for all if ports are not told apart."""
        return f"{node} {use}" if self.is_split else node

    def normed(self, name, total):
        """Return a node's norm of its input."""
        norm = self.model.size["norm"]
        if norm["kind"] == "none":
            return total
        demand(norm["kind"] == "band", "a layer norm is evaluated")
        scale, shift = self.model.matrix(f"{name}.scale"), self.model.matrix(f"{name}.shift")
        return [a * b + c for a, b, c in zip(naive_band_norm(total, norm), scale, shift, strict=True)]

    def output(self, node, prefix):
        """Return what a node hands on at the last position of a prefix."""
        key = (node, prefix, self.about)
        if key not in self.known:
            found = self.computed(node, prefix)
            self.known[key] = self.nudged(found, node, "output", prefix)
        return self.known[key]

    def computed(self, node, prefix):
        """Return what a node computes."""
        if node == "embed":
            token = self.model.row("embed.token", prefix[-1])
            return add(token, self.model.row("embed.position", len(prefix) - 1))
        name = node.replace(" ", ".")
        if node.startswith("mlp"):
            hidden = self.affine(f"{name}.up", self.read(node, f"{name}.norm", prefix))
            return self.affine(f"{name}.down", self.bent(hidden))
        return self.head(node, name, prefix)

    def bent(self, hidden):
        """Return the activation."""
        kind = self.model.size["activation"]["kind"]
        demand(kind != "gelu", "a GELU is evaluated")
        slope = Fraction(self.model.size["activation"].get("slope", 0))
        return [x if x > 0 else slope * x for x in hidden]

    def head(self, node, name, prefix):
        """Return what a head computes."""
        place = node.removeprefix("head ")
        norm, last = f"attention.{place.split('.')[0]}.norm", len(prefix) - 1
        if place in self.model.programs:
            weights = condition_twin.row(self.model.programs[place], prefix, last)
        else:
            weights = self.sparsemax(node, name, norm, prefix)
        mixed = [ZERO] * self.model.size["head_width"]
        for key, weight in enumerate(weights):
            if weight:
                read = self.read(self.port(node, "value"), norm, prefix[: key + 1])
                value = self.affine(f"{name}.value", read)
                mixed = add(mixed, [weight * x for x in value])
        return [dot(out, mixed) for out in self.model.matrix(f"{name}.output.weight")]

    def sparsemax(self, node, name, norm, prefix):
        """Return the weights of a neural head."""
        demand(self.model.size["attention"] == "sparsemax", "a softmax is evaluated")
        port = self.port(node, "key")
        keys = [self.read(port, norm, prefix[: key + 1]) for key in range(keys_of(prefix))]
        query = self.affine(f"{name}.query", self.read(self.port(node, "query"), norm, prefix))
        scale = Fraction(self.model.size["attention_scale"])
        scores = [scale * dot(query, self.affine(f"{name}.key", one)) for one in keys]
        return naive_projection(scores, Fraction(1))

    def affine(self, name, point):
        """Return a linear map with its bias, if there are biases."""
        mapped = [dot(row, point) for row in self.model.matrix(f"{name}.weight")]
        return add(mapped, self.model.matrix(f"{name}.bias")) if self.model.size["biases"] else mapped


def dot(left, right):
    """Return the scalar product."""
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), ZERO)


def add(left, right):
    """Return the sum of two vectors."""
    return [a + b for a, b in zip(left, right, strict=True)]


def decided(candidates, logits):
    """Return the candidates of the largest logit."""
    return frozenset(t for t, logit in zip(candidates, logits, strict=True) if logit == max(logits))


def is_in(token, shape):
    """Say whether a token is in a class."""
    return token in shape["tokens"] if "tokens" in shape else token not in shape["all but"]


def ends(shape, prompt, start):
    """Return every place where a match of a shape that begins at `start` can end."""
    match shape:
        case {"sequence": parts}:
            found = {start}
            for part in parts:
                found = {end for place in found for end in ends(part, prompt, place)}
            return found
        case {"choice": parts}:
            return {end for part in parts for end in ends(part, prompt, start)}
        case {"repeat": part, "least": least, "most": most}:
            return repeated(part, least, len(prompt) + least if most is None else most, prompt, start)
        case _:
            return {start + 1} if start < len(prompt) and is_in(prompt[start], shape) else set()


def repeated(part, least, most, prompt, start):
    """Return where a part that is repeated can end."""
    reached, found = {start}, {start} if least == 0 else set()
    for times in range(1, most + 1):
        reached = {end for place in reached for end in ends(part, prompt, place)}
        if times >= least:
            found |= reached
    return found


def is_denoted(pattern, prompt):
    """Say whether a prompt is one of a pattern."""
    for clause in pattern["clauses"]:
        found = [place for place, token in enumerate(prompt) if is_in(token, clause["of"])]
        if "first" in clause:
            if not all(clause["first"] <= place <= clause["last"] for place in found):
                return False
        elif len(found) < clause["least"] or (clause["most"] is not None and len(found) > clause["most"]):
            return False
    return len(prompt) in ends(pattern["shape"], prompt, 0)


def prompts_of(pattern, vocabulary, context):
    """Return every prompt of a pattern, the short ones first."""
    longest = min(pattern["longest"], context)
    demand(sum(vocabulary**n for n in range(1, longest + 1)) <= MOST_PROMPTS, "too many prompts to look at")
    every = (p for n in range(1, longest + 1) for p in product(range(vocabulary), repeat=n))
    return [prompt for prompt in every if is_denoted(pattern, prompt)]


def classes_of(shape):
    """Return every class of tokens of a shape."""
    match shape:
        case {"sequence": parts} | {"choice": parts}:
            return [one for part in parts for one in classes_of(part)]
        case {"repeat": part}:
            return classes_of(part)
        case _:
            return [shape]


class Statement:
    """What a bundle states: prompts with their answers and classes, a circuit, and properties."""

    def __init__(self, claim, domain, model):
        self.claim, self.model, self.size = claim, model, claim["architecture"]
        self.task, self.edges = claim["task"], tuple(claim["circuit"]["edges"])
        self.ablation = claim["circuit"]["ablation"]
        self.cuts_to_zero = self.ablation == "zero"
        self.cuts_to_one = self.cuts_to_zero or self.ablation.get("over") == "all"
        self.is_split = claim["circuit"]["granularity"] == "port"
        self.candidates, self.pattern = self.task["candidates"], domain.get("pattern")
        self.shown = [tuple(prompt) for prompt in domain["prompts"]]
        self.breaches = [breach for program in model.programs.values() for breach in program.breaches]
        self.check_tokens()
        self.prompts = self.shown
        if self.pattern is not None:
            self.check_pattern()
            self.prompts = prompts_of(self.pattern, self.size["vocabulary"], self.size["context"])
            demand(self.prompts, "the pattern denotes no prompt")
            demand(set(self.shown) <= set(self.prompts), "a shown prompt is not of the pattern")
        self.answers = self.labels(self.task["answer"], "answers")
        self.classes = self.labels(self.task["relation"], "openers", "classes")
        demand(set(self.answers.values()) <= set(self.candidates), "an answer is no candidate")
        self.check_circuit()
        self.check_ablation()
        self.carried = Carried(model, self.ablation)
        self.runs = {}

    def check_tokens(self):
        """Demand tokens of the vocabulary everywhere, distinct candidates and distinct prompts."""
        known = range(self.size["vocabulary"])
        demand(len(set(self.candidates)) == len(self.candidates) > 1, "candidates are no choice")
        demand(all(token in known for token in self.candidates), "a candidate is outside the vocabulary")
        demand(self.shown and len(set(self.shown)) == len(self.shown), "prompts repeat or there are none")
        fits = all(1 <= len(prompt) <= self.size["context"] for prompt in self.shown)
        demand(fits, "a prompt is empty or longer than the context")
        demand(all(t in known for prompt in self.shown for t in prompt), "a prompt has an unknown token")
        openers = [pair[0] for pair in self.task["answer"]["answers"] if isinstance(pair, list)]
        openers += self.task["relation"].get("openers", [])
        if not all(token in known for token in openers):
            self.breaches.append("an opener is outside the vocabulary")

    def check_pattern(self):
        """Demand a pattern of the vocabulary and the context, with rules and four properties."""
        demand(self.cuts_to_zero and not self.is_split, "a pattern has ports, or something at cut edges")
        kinds = self.task["answer"]["kind"], self.task["relation"]["kind"]
        demand(kinds == ("only opener", "same opener"), "a pattern has no rules")
        demand(1 <= self.pattern["longest"] <= self.size["context"], "the pattern exceeds the context")
        listed = [*classes_of(self.pattern["shape"]), *(one["of"] for one in self.pattern["clauses"])]
        tokens = [token for one in listed for part in one.values() for token in part]
        demand(all(t in range(self.size["vocabulary"]) for t in tokens), "the pattern has an unknown token")
        allowed = {"equivalence", "invariance", "necessity", "robustness", "agreement"}
        demand(all(p["kind"] in allowed for p in self.claim["properties"]), "a pattern has other properties")

    def check_circuit(self):
        """Demand a circuit of the model that reads its prompt, and distinct properties."""
        circuit = self.claim["circuit"]
        sizes = circuit["layers"], circuit["heads"], circuit["mlps"]
        found = (self.size["layers"], self.size["heads"], self.size["mlp_width"] > 0)
        demand(sizes == found, "the circuit is of another graph")
        demand(circuit["granularity"] in ("head", "port"), "the granularity is unknown")
        order = edges_of(self.claim)
        demand(set(self.edges) <= set(order), "an edge is not of the graph")
        demand([e for e in order if e in self.edges] == list(self.edges), "edges are not in order")
        demand(not self.cuts_to_zero or reads(self.edges, self.model.programs), "the circuit reads no prompt")
        of_edges = {"necessity", "subset minimality", "minimum"}
        is_idle = any(p["kind"] in of_edges for p in self.claim["properties"]) and not self.edges
        demand(not is_idle, "a property of edges is about none")
        kinds = [p["kind"] for p in self.claim["properties"]]
        demand(kinds and len(set(kinds)) == len(kinds), "properties repeat or there are none")

    def check_ablation(self):
        """Demand prompts of the vocabulary and the context for what cut edges carry on every prompt."""
        if self.cuts_to_zero:
            return
        kind, known = self.ablation["kind"], range(self.size["vocabulary"])
        demand(kind in ("mean", "counterfactual"), "the ablation is unknown")
        pairs = self.ablation.get("pairs", [])
        prompts = [one for pair in pairs for one in pair] or self.ablation["prompts"]
        fits = all(1 <= len(one) <= self.size["context"] for one in prompts)
        demand(fits, "a prompt of the ablation is empty or longer than the context")
        demand(all(t in known for one in prompts for t in one), "the ablation has an unknown token")
        if kind == "counterfactual":
            demand(all(len(one) == len(other) for one, other in pairs), "a partner has another length")
            demand(len({tuple(one) for one, _ in pairs}) == len(pairs), "a prompt has two partners")
            demand({tuple(one) for one, _ in pairs} >= set(self.prompts), "a prompt has no partner")
            return
        demand(prompts and len(set(map(tuple, prompts))) == len(prompts), "a mean is over too few prompts")
        demand(self.ablation["over"] in ("position", "all"), "means are over something else")
        lengths = set(map(len, prompts)) if self.ablation["over"] == "position" else set(range(99))
        demand(lengths >= set(map(len, self.prompts)), "no prompt of a mean has the length")

    def labels(self, rule, *names):
        """Return the answer or class of each prompt."""
        if rule["kind"] == "table":
            table = rule[names[-1]]
            demand(len(table) == len(self.prompts), "a table has not one entry per prompt")
            return dict(zip(self.prompts, table, strict=True))
        listed = rule[names[0]]
        pairs = {one[0]: one[1] for one in listed} if names[0] == "answers" else {o: o for o in listed}
        demand(len(pairs) == len(listed), "an opener is listed twice")
        found = {prompt: [t for t in prompt if t in pairs] for prompt in self.prompts}
        demand(all(len(one) == 1 for one in found.values()), "a prompt has not just one opener")
        return {prompt: pairs[one[0]] for prompt, one in found.items()}

    def logits(self, prompt, edges=None):
        """Return the logits of a prompt in a circuit."""
        kept = self.edges if edges is None else edges
        if kept not in self.runs:
            self.runs[kept] = Run(self.model, kept, carried=self.carried)
        return self.runs[kept].logits(self.candidates, prompt)

    def decision(self, prompt, edges=None):
        """Return the decision about a prompt in a circuit."""
        return decided(self.candidates, self.logits(prompt, edges))

    def solves(self, edges):
        """Say whether a circuit decides the right answer of every prompt."""
        return all(self.decision(prompt, edges) == {self.answers[prompt]} for prompt in self.prompts)

    def truth(self, prop):
        """Say whether a property holds: yes, no, or (robustness where something bends) None."""
        return {
            "equivalence": lambda: self.solves(self.edges),
            "invariance": self.invariance,
            "necessity": self.necessity,
            "robustness": lambda: self.robustness(prop),
            "faithfulness": self.faithfulness,
            "accuracy": lambda: self.accuracy(prop),
            "agreement": lambda: self.agreement(prop),
            "subset minimality": lambda: self.fewest(self.edges, [self.edges]),
            "minimum": lambda: self.minimum(prop),
        }[prop["kind"]]()

    def invariance(self):
        """Say whether prompts of a class are decided alike, and clearly."""
        found = {}
        for prompt in self.prompts:
            decision = self.decision(prompt)
            if len(decision) > 1 or found.setdefault(self.classes[prompt], decision) != decision:
                return False
        return True

    def accuracy(self, prop):
        """Say whether just the listed prompts are wrong, or enough right."""
        count = len(self.prompts)
        right = [self.decision(prompt) == {self.answers[prompt]} for prompt in self.prompts]
        if "least" in prop:
            demand(1 <= prop["least"] <= count, "no prompt need be right, or more than there are")
            return sum(right) >= prop["least"]
        check_listed(prop["wrong"], count)
        return [place for place, one in enumerate(right) if not one] == prop["wrong"]

    def necessity(self):
        """Say whether each edge has a prompt whose clear decision changes without it."""
        for edge in self.edges:
            rest = tuple(kept for kept in self.edges if kept != edge)
            if not any(self.is_needed(prompt, rest) for prompt in self.prompts):
                return False
        return True

    def is_needed(self, prompt, rest):
        """Say whether a clear decision changes."""
        decision = self.decision(prompt)
        return len(decision) == 1 and decision != self.decision(prompt, rest)

    def faithfulness(self):
        """Say whether the whole model decides alike."""
        every = tuple(every_edge(self.size))
        return all(self.decision(p) == self.decision(p, every) for p in self.prompts)

    def agreement(self, prop):
        """Say whether another circuit has the same clear decisions; it must be one that can be claimed."""
        other, told = tuple(prop["edges"]), self.claim["circuit"]["granularity"]
        demand(prop["granularity"] == told, "the other circuit has another granularity")
        every = edges_of(self.claim)
        demand(set(other) <= set(every), "the other circuit has other edges")
        demand(list(other) == sorted(set(other), key=every.index), "the other circuit is in disorder")
        demand(live(other) != live(self.edges), "the other circuit is the same")
        demand(not self.cuts_to_zero or reads(other, self.model.programs), "the other circuit is blind")
        return self.are_alike([(self.decision(p), self.decision(p, other)) for p in self.prompts])

    def are_alike(self, pairs):
        """Say whether two circuits have the same clear decisions."""
        return all(len(one) == 1 and one == second for one, second in pairs)

    def minimum(self, prop):
        """Say whether just the listed circuits are the smallest that solve the task."""
        listed = [tuple(one) for one in prop["circuits"]]
        demand(
            self.edges in listed and len(set(listed)) == len(listed), "the circuit is not among the listed"
        )
        demand({len(one) for one in listed} == {len(self.edges)}, "listed circuits have other sizes")
        return self.fewest(tuple(edges_of(self.claim)), listed)

    def fewest(self, edges, expected):
        """Say whether of all sets of some edges, no larger than ours, just the expected ones solve.

        No set is left out, whatever it reads, the empty one and those with dead edges included.
        """
        demand(all(not dead(one) for one in expected), "an expected circuit has dead edges")
        demand(all(set(one) <= set(edges) for one in expected), "an expected circuit has other edges")
        unknown = None
        for one in (one for n in range(len(self.edges) + 1) for one in combinations(edges, n)):
            try:
                if self.solves(one) != (one in expected):
                    return False
            except ForbiddenError as error:  # one that has no exact value leaves the others theirs
                may_be_blind = self.cuts_to_one and len(set(self.answers.values())) > 1
                is_tried = reads(one, self.model.programs) or not may_be_blind
                unknown = error if is_tried else unknown
        if unknown is not None:
            raise unknown
        return True

    def robustness(self, prop):
        """Say whether decisions stay: exactly where nothing bends, otherwise no or unknown."""
        self.check_place(prop)
        epsilon = Fraction(prop["epsilon"])
        demand(epsilon > 0, "epsilon is not positive")
        is_final = (prop["at"], prop["positions"]) == ("logits input", "last")
        if is_final and self.size["norm"]["kind"] == "none":
            return all(self.exceeds(prompt, epsilon) for prompt in self.prompts)
        some = self.prompts[:: 1 + len(self.prompts) // MOST_SHAKEN]
        broken = any(self.breaks(prop, prompt, epsilon) for prompt in some)
        return False if broken or any(len(self.decision(p)) > 1 for p in self.prompts) else None

    def check_place(self, prop):
        """Demand a place inside the live circuit, and positions that every prompt has."""
        node, _, side = prop["at"].rpartition(" ")
        demand(side in ("input", "output"), "the place has no side")
        is_final = (prop["at"], prop["positions"]) == ("logits input", "last")
        demand(self.cuts_to_zero or is_final, "something inside is perturbed, and cut edges carry something")
        is_head = node.startswith("head") and side == "input"
        demand(not (self.is_split and is_head), "a head with ports has three inputs")
        demand(prop["at"] not in ("embed input", "logits output"), "the place is outside")
        demand(
            node in feeding(self.edges),
            "the place is not in the circuit",
        )
        if not isinstance(prop["positions"], str):
            places = prop["positions"]
            demand(places and places == sorted(set(places)) and places[0] >= 0, "positions do not increase")
            demand(places[-1] < min(map(len, self.prompts)), "a prompt lacks a position")
        reached_some = any(self.is_reached(prop, prompt) for prompt in self.prompts)
        demand(reached_some, "the perturbation reaches the logits of no prompt")

    def exceeds(self, prompt, epsilon):
        """Say whether the exact radius of a decision exceeds epsilon."""
        logits = self.logits(prompt)
        if len(decided(self.candidates, logits)) > 1:
            return False
        table = "embed.token" if self.size["tied"] else "logits.weight"
        rows = [self.model.row(table, token) for token in self.candidates]
        best = logits.index(max(logits))
        apart = [sum(abs(a - b) for a, b in zip(rows[best], row, strict=True)) for row in rows]
        return all(logits[best] - one > epsilon * d for one, d in zip(logits, apart, strict=True) if d)

    def places(self, prop, prompt):
        """Return the positions of a prompt that are perturbed."""
        named = {"last": [len(prompt) - 1], "all": list(range(len(prompt)))}
        return named[prop["positions"]] if isinstance(prop["positions"], str) else prop["positions"]

    def perturbed(self, prop, prompt, eta):
        """Return the logits of a prompt with a perturbation added."""
        width, (node, _, side) = self.size["width"], prop["at"].rpartition(" ")
        places = self.places(prop, prompt)
        demand(len(eta) == width * len(places), "a perturbation has not a number per coordinate")
        nudges = {(node, side, at): list(eta[k * width : (k + 1) * width]) for k, at in enumerate(places)}
        return self.run_of(self.edges, nudges).logits(self.candidates, prompt)

    def run_of(self, edges, nudges=None):
        """Return a circuit that can be evaluated on a prompt, with vectors added."""
        return Run(self.model, edges, nudges, self.carried)

    def breaks(self, prop, prompt, epsilon):
        """Look for a perturbation that ends a decision: corners, directions, and the way down each margin."""
        clear = self.decision(prompt)
        if len(clear) > 1:
            return True
        count = self.size["width"] * len(self.places(prop, prompt))
        tried = []
        for eta in self.etas(count, epsilon, random.Random(str(prompt))):  # noqa: S311  # points, not keys
            tried.append((eta, self.perturbed(prop, prompt, eta)))
            if decided(self.candidates, tried[-1][1]) != clear:
                return True
        best = self.candidates.index(next(iter(clear)))
        downhill = [steepest(tried, best, other, epsilon, count) for other in range(len(self.candidates))]
        return any(decided(self.candidates, self.perturbed(prop, prompt, eta)) != clear for eta in downhill)

    def etas(self, count, epsilon, draw):
        """Return zero, both ways along each coordinate, random corners and random points of a ball."""
        yield (ZERO,) * count
        for place in range(count):
            for sign in (epsilon, -epsilon):
                yield tuple(sign if place == one else ZERO for one in range(count))
        for _ in range(max(2, min(TRIES, MOST_TRIES // min(MOST_SHAKEN, len(self.prompts))))):
            yield tuple(draw.choice((-epsilon, epsilon)) for _ in range(count))
            yield tuple(epsilon * draw.randint(-8, 8) / 8 for _ in range(count))

    def read_places(self, prompt, port="logits", position=None):
        """Return each node, side and position that is read on the way to the last logits of a prompt."""
        position = len(prompt) - 1 if position is None else position
        found = {(reader(port), "input", position)}
        pairs = [edge.split(" -> ") for edge in self.edges]
        for source in [source for source, target in pairs if target in (port, reader(port))]:
            found.add((source, "output", position))
            for one in [] if source == "embed" else ports(source, self.model.programs):
                for key in self.keys(prompt, one, position):
                    found |= self.read_places(prompt, one, key)
        return found

    def keys(self, prompt, port, position):
        """Return the positions at which a port is read for what its node puts out at one."""
        if not port.endswith(("key", "value")):
            return [position]
        program = self.model.programs.get(reader(port).removeprefix("head "))
        count = len(prompt) if self.size.get("mask") == "none" else position + 1
        row = [1] * count if program is None else condition_twin.row(program, prompt, position)
        return [key for key, weight in enumerate(row) if weight]

    def is_reached(self, prop, prompt):
        """Say whether a perturbation is read on the way to the logits of a prompt."""
        node, _, side = prop["at"].rpartition(" ")
        read = self.read_places(prompt)
        return any((node, side, place) in read for place in self.places(prop, prompt))

    def remarks(self, prop, answer, proved):
        """Return the remarks that apply to an answer, of the table in the specification."""
        if answer["verdict"] != "proved":
            return []
        of_ablation = [] if prop["kind"] == "lesion identity" else self.ablation_remarks(prop["kind"])
        return self.property_remarks(prop, proved) + of_ablation

    def ablation_remarks(self, kind):
        """Return what is to be said where cut edges carry less than they seem to.

        That the logits are the model's says nothing of properties that cut further edges.
        """
        if self.cuts_to_zero:
            return []
        said = []
        if self.ablation["kind"] == "mean":
            is_one = [len(self.averaged(prompt)) == 1 for prompt in self.prompts]
            said = [f"means of one prompt: {sum(is_one)}"] * any(is_one)
        else:
            own = [self.carried.about(prompt) == prompt for prompt in self.prompts]
            said = [f"own partners: {sum(own)}"] * any(own)
        if kind in ("necessity", "subset minimality", "minimum", "agreement"):
            return said
        every = tuple(every_edge(self.size))
        is_same = all(self.logits(prompt) == self.logits(prompt, every) for prompt in self.prompts)
        is_cut = any(edge not in self.edges for edge in edges_of(self.claim))
        return said * is_cut + ["logits of the whole model"] * is_same

    def averaged(self, prompt):
        """Return the prompts that a mean is taken over for one."""
        prompts, is_pooled = self.ablation["prompts"], self.ablation["over"] == "all"
        return [one for one in prompts if is_pooled or len(one) == len(prompt)]

    def property_remarks(self, prop, proved):  # noqa: C901, PLR0911  # a table
        """Return the remarks on what is proved."""
        pairs = {(self.answers[prompt], self.classes[prompt]) for prompt in self.prompts}
        is_constant = len({one for one, _ in pairs}) == 1
        count = len(self.prompts)
        is_equal = any(says_all_right(one, count) for one in proved)
        match prop["kind"]:
            case "accuracy":
                said = self.accuracy_remarks(prop)
            case "invariance":
                is_single = len(set(self.classes.values())) == len(self.prompts)
                implied = is_equal and len({group for _, group in pairs}) == len(pairs)
                said = ["implied by equivalence"] * implied + ["implied by clear decisions"] * is_single
                return said + self.constant_remarks()
            case "necessity":
                if not self.cuts_to_one:
                    return []
                implied = is_equal and not is_constant and self.is_chain()
                biased = [edge for place, edge in enumerate(self.edges) if self.is_biased(place)]
                biased *= self.cuts_to_zero
                said = ["implied by equivalence"] * implied + [f"shared bias: {edge}" for edge in biased]
                return said + [f"constant source: {edge}" for edge in self.edges if self.is_constant(edge)]
            case "equivalence":
                return ["constant answer"] * is_constant + self.unedged_remarks()
            case "subset minimality" | "minimum":
                return self.size_remarks(prop, is_constant)
            case "robustness":
                count = sum(not self.is_reached(prop, prompt) for prompt in self.prompts)
                return self.constant_remarks() + [f"unreached prompts: {count}"] * bool(count)
            case "faithfulness":
                ties = sum(len(self.decision(prompt)) > 1 for prompt in self.prompts)
                said = ["whole model"] * self.is_whole() + [f"tied prompts: {ties}"] * bool(ties)
                return self.constant_remarks() + said
            case "agreement":
                other = tuple(prop["edges"])
                is_same = all(self.logits(prompt) == self.logits(prompt, other) for prompt in self.prompts)
                is_list = self.pattern is None
                return self.constant_remarks() + ["same logits"] * (is_list and is_same)
            case "lesion identity":
                return self.lesion_remarks(prop)
            case _:
                raise AssertionError(prop)
        return said

    def accuracy_remarks(self, prop):
        """Return what is to be said where a constant, or no edge, is right as often."""
        answers, count = [self.answers[prompt] for prompt in self.prompts], len(self.prompts)
        most = max(map(answers.count, answers))
        said = prop["least"] if "least" in prop else count - len(prop["wrong"])
        bare = sum(self.decision(p, ()) == {self.answers[p]} for p in self.prompts)
        remarks = [f"no better than a constant: {most}"] * (most >= said)
        return remarks + ["decided without edges"] * (bare >= said)

    def constant_remarks(self):
        """Return what is to be said where one candidate is decided for all prompts, or no edge is needed."""
        found = {self.decision(prompt) for prompt in self.prompts}
        is_one = len(found) == 1 and len(min(found)) == 1
        return ["constant decision"] * is_one + self.unedged_remarks()

    def unedged_remarks(self):
        """Return what is to be said where all is decided, clearly, as without any edge."""
        pairs = [(self.decision(prompt), self.decision(prompt, ())) for prompt in self.prompts]
        is_same = all(one == other and len(one) == 1 for one, other in pairs)
        return ["decided without edges"] * is_same

    def is_constant(self, edge):
        """Say whether nothing that looks at tokens feeds the source of an edge, itself included."""
        source = edge.split(" -> ")[0]
        telling = [one for one in self.edges if not one.endswith((" query", " key"))]
        fed = reached([backwards(one) for one in telling], source)
        return not any(is_reader(node, self.model.programs) for node in fed)

    def is_chain(self):
        """Say whether the circuit reads its prompt no more, whichever edge is cut."""
        lesions = [[kept for kept in self.edges if kept != edge] for edge in self.edges]
        return not any(reads(lesion, self.model.programs) for lesion in lesions)

    def has_no_rival(self, edges, expected):
        """Say whether of all sets of some edges, no larger than ours, no other reads without a dead edge."""
        sets = (one for n in range(len(self.edges) + 1) for one in combinations(edges, n))
        others = (one for one in sets if one not in expected)
        rivals = (one for one in others if not self.cuts_to_one or reads(one, self.model.programs))
        return all(dead(one) for one in rivals)

    def size_remarks(self, prop, is_constant):
        """Return what is to be said of a proof about size."""
        is_minimum = prop["kind"] == "minimum"
        edges = edges_of(self.claim) if is_minimum else self.edges
        expected = [tuple(one) for one in prop.get("circuits", [self.edges])]
        if is_constant:
            return ["constant answer"]
        said = ["implied by equivalence"] * self.has_no_rival(edges, expected)
        return said + ["one edge"] * (is_minimum and len(self.edges) == 1 and self.cuts_to_one)

    def is_whole(self):
        """Say whether only edges of nodes that put out zero are left out, and no bias with them."""
        lacked = [edge.split(" -> ") for edge in edges_of(self.claim) if edge not in self.edges]
        return all(
            self.is_silent(reader(target))
            or (self.is_silent(source) and not self.is_bias_lost(source, target))
            for source, target in lacked
        )

    def is_silent(self, node):
        """Say whether a node puts out zero whatever it reads."""
        name, place = node.replace(" ", "."), node.removeprefix("head ")
        if node.startswith("head"):
            program = self.model.programs.get(place)
            never = program is not None and program.attends() is False
            return never or self.is_zero(f"{name}.output.weight") or self.is_nothing(f"{name}.value")
        if not node.startswith("mlp") or (self.size["biases"] and not self.is_zero(f"{name}.down.bias")):
            return False
        return self.is_zero(f"{name}.down.weight") or self.is_nothing(f"{name}.up")

    def is_nothing(self, name):
        """Say whether an affine map is zero."""
        return all(map(self.is_zero, [f"{name}.weight"] + [f"{name}.bias"] * self.size["biases"]))

    def is_bias_lost(self, source, target):
        """Say whether a node reads no bias of a layer of which the model lets it read one."""
        if not source.startswith("head") or not self.size["biases"] or not self.cuts_to_zero:
            return False
        layer = source.removeprefix("head ").split(".")[0]
        kept = [e for e in self.edges if e.startswith(f"head {layer}.") and e.endswith(f"-> {target}")]
        return not kept and not self.is_zero(f"attention.{layer}.output.bias")

    def is_zero(self, name):
        """Say whether a tensor is zero."""
        rows = self.model.matrix(name)
        return not any(any(row) if isinstance(row, list) else row for row in rows)

    def lesion_remarks(self, prop):
        """Return what is to be said of silenced heads."""
        programs, lines = self.model.programs, self.claim["programs"]
        used = [place for place in programs if f"head {place}" in feeding(self.edges)]
        is_used = any(programs[place].attends() is not False for place in used)
        is_cut_off = self.cuts_to_zero and not is_used
        said = ["no program head in the circuit"] * is_cut_off if programs else ["no program head"]
        same = [place for place, one in prop["base"]["programs"].items() if lines.get(place) == one]
        ordered = sorted(same, key=lambda place: tuple(map(int, place.split("."))))
        return said + [f"program of the base: head {place}" for place in ordered]

    def is_biased(self, place):
        """Say whether an edge does no more at the prompts of the domain file than to bring a shared bias."""
        source, target = self.edges[place].split(" -> ")
        layer = source.removeprefix("head ").split(".")[0]
        alike = [e for e in self.edges if e.startswith(f"head {layer}.") and e.endswith(f"-> {target}")]
        if not source.startswith("head") or len(alike) > 1 or not self.size["biases"]:
            return False
        rest = self.edges[:place] + self.edges[place + 1 :]
        bias = self.model.matrix(f"attention.{layer}.output.bias")
        clear = [prompt for prompt in self.shown if len(self.decision(prompt)) == 1]
        for prompt in clear:
            nudges = {(target, "input", position): bias for position in range(len(prompt))}
            kept = Run(self.model, rest, nudges).logits(self.candidates, prompt)
            if decided(self.candidates, kept) != self.decision(prompt):
                return False
        return True

    def witnessed(self, prop, evidence):
        """Say whether the perturbation that refutes robustness does so."""
        (entry,) = evidence["replay"]
        prompt, eta = self.shown[entry["prompt"]], [Fraction(x) for x in entry["eta"]]
        small = max(map(abs, eta)) <= Fraction(prop["epsilon"])
        clear = self.decision(prompt)
        return small and (
            len(clear) > 1 or decided(self.candidates, self.perturbed(prop, prompt, eta)) != clear
        )


def check_listed(listed, count):
    """Demand numbers of prompts, in order, of which at least one is left."""
    is_list = listed == sorted(set(listed)) and all(0 <= one < count for one in listed)
    demand(is_list and len(listed) < count, "listed prompts are in disorder, not there, or all")


def steepest(tried, best, other, epsilon, count):
    """Return the corner that closes a margin fastest, judged by the steps along each coordinate."""
    leads = [logits[best] - logits[other] for _, logits in tried[1 : 1 + 2 * count]]
    return tuple(-epsilon if leads[2 * k] > leads[2 * k + 1] else epsilon for k in range(count))


def reached(edges, start="embed"):
    """Return the nodes that are reached along edges."""
    found, size = {start}, 0
    while len(found) > size:
        size = len(found)
        found |= {reader(edge.split(" -> ")[1]) for edge in edges if edge.split(" -> ")[0] in found}
    return found


def feeding(edges):
    """Return the nodes from which edges lead to the logits, and the logits."""
    return reached([backwards(edge) for edge in edges], "logits")


def backwards(edge):
    """Return the way from the node that reads to the source."""
    source, target = edge.split(" -> ")
    return f"{reader(target)} -> {source}"


def reads(edges, programs):
    """Say whether something that tells prompts apart by itself feeds the logits."""
    return any(is_reader(node, programs) for node in feeding(edges))


def is_reader(node, programs):
    """Say whether a node tells prompts apart by itself: the embedding, or a head that may or may not attend.

    Programs are parsed, or lines.
    """
    program = programs.get(node.removeprefix("head "))
    if isinstance(program, list):
        program = condition_twin.parsed(tuple(program), 0)
    return node == "embed" or (program is not None and program.attends() is None)


def live(edges):
    """Return the edges that feed the logits."""
    return set(edges) - set(dead(edges))


def dead(edges):
    """Return the edges that do not feed the logits."""
    live = feeding(edges)
    return [edge for edge in edges if reader(edge.split(" -> ")[1]) not in live]


def is_lesioned_base(claim, prop, model_dir, base_dir):
    """Say whether a model without its program heads is its base."""
    readouts = tuple(f"head.{place}." for place in claim["programs"])
    kept = [n for n in shapes(claim["architecture"], claim["programs"]) if not n.startswith(readouts)]
    before = prop["base"].get("tensors", prop["base"])
    declared = prop["base"] if "architecture" in prop["base"] else None
    if base_dir is not None:
        declared = json.loads((base_dir / "model.json").read_bytes())
        before = {n: t.digest for n, t in read_tensors(base_dir / "weights.safetensors").items()}
    after = prop["artifact"]
    if model_dir is not None:
        after = {n: t.digest for n, t in read_tensors(model_dir / "weights.safetensors").items()}
    if declared is not None:
        if declared["architecture"] != claim["architecture"]:
            return False
        if not declared["programs"].keys() <= claim["programs"].keys():
            return False
        if before.keys() != shapes(declared["architecture"], declared["programs"]).keys():
            return False
    return all(before.get(name) == after.get(name) is not None for name in kept)


def read_bundle(bundle: Path):
    """Return claim, domain and certificate."""
    names = ("claim.json", "domain.json", "certificate.json")
    return tuple(json.loads((bundle / name).read_bytes()) for name in names)


def falsehoods(bundle: Path, model: Path | None = None, base: Path | None = None) -> list[str]:
    """Return a sentence for each answer of a bundle that is not so, given the model that it is about."""
    claim, domain, certificate = read_bundle(bundle)
    try:
        stated = stated_model(bundle, claim, model)
        if claim["arithmetic"] == "enclosed":
            from real_oracle import real_falsehoods  # which is made of what stands here

            return real_falsehoods((claim, domain, certificate), stated, model, base)
        statement = Statement(claim, domain, stated)
    except ForbiddenError as error:
        return [f"forbidden: {error}"]
    found = [f"forbidden: {breach}" for breach in statement.breaches]
    found += ["forbidden: an arithmetic that is not exact"] if claim["arithmetic"] != "exact" else []
    for prop, answer in zip(claim["properties"], certificate["answers"], strict=True):
        if answer["verdict"] != "undecided":
            try:
                is_so = is_true(statement, prop, answer, model, base)
            except ForbiddenError as error:
                found.append(f"forbidden: {prop['kind']} is {answer['verdict']}, but {error}")
            else:
                found += [] if is_so else [f"false: {prop['kind']} is {answer['verdict']}, but is not"]
    return found or [
        f"false: remarks on {kind} are not its own" for kind in misremarked(statement, certificate)
    ]


def misremarked(statement, certificate):
    """Return the properties whose remarks are not those that apply."""
    pairs = list(zip(statement.claim["properties"], certificate["answers"], strict=True))
    proved = [prop for prop, answer in pairs if answer["verdict"] == "proved"]
    for prop, answer in pairs:
        try:
            wanted = statement.remarks(prop, answer, proved)
        except ForbiddenError:
            continue
        if answer["remarks"] != wanted:
            yield prop["kind"]


def is_true(statement, prop, answer, model, base):
    """Say whether an answer is true, as far as can be told."""
    is_proof = answer["verdict"] == "proved"
    if prop["kind"] == "lesion identity":
        return is_lesioned_base(statement.claim, prop, model, base) == is_proof
    truth = statement.truth(prop)
    if truth is None:
        return is_proof or statement.witnessed(prop, answer["evidence"])
    return truth == is_proof


def kept_rows(tensor, rows):
    """Return some rows of a tensor, or all."""
    if rows is None:
        return tensor
    step = 4 * prod(tensor.shape[1:])
    parts = [tensor.content[step * row : step * (row + 1)] for row in rows]
    return Tensor((len(rows), *tensor.shape[1:]), b"".join(parts))


def stated_model(bundle, claim, model_dir):
    """Return the model of a claim; where its directory is given, the claim must be about it."""
    if claim.get("detached"):
        demand(model_dir is not None and not (bundle / "weights.safetensors").exists(), "no weights")
        whole = read_tensors(model_dir / "weights.safetensors")
        for name, entry in claim["weights"].items():
            demand(name in whole and whole[name].digest == entry["digest"], f"{name} is not the model's")
        tensors = {name: kept_rows(whole[name], entry["rows"]) for name, entry in claim["weights"].items()}
    else:
        tensors = read_tensors(bundle / "weights.safetensors")
    places = {name: entry["rows"] for name, entry in claim["weights"].items()}
    if model_dir is None:
        return model_of(claim, tensors, places)
    declared = json.loads((model_dir / "model.json").read_bytes())
    full = read_tensors(model_dir / "weights.safetensors")
    demand(declared["architecture"] == claim["architecture"], "the architecture is not the model's")
    ours, theirs = (model_of(one, {}, {}).programs for one in (claim, declared))
    demand(ours == theirs, "the programs are not the model's")  # two spellings of one rule are the same
    stored, table = rows_of(tensors, places), rows_of(full, {})
    for name, rows in stored.items():
        for place, row in rows.items():
            demand(table.get(name, {}).get(place) == row, f"tensor {name} is not the model's")
    return Model(claim["architecture"], model_of(declared, full, {}).programs, table)
