"""Random asks of the prover, by seed: tiny models, circuits, tasks and properties, as data.

Most are sound and many of those true; some have a flaw that the prover ought to refuse. Nothing of the
product is used to draw an ask. `told` gives it to the prover, by way of the product's own constructors and
readers, so that every guard on the way has its say.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import bundle_maker as maker
from bundle_twin import (
    Carried,
    ForbiddenError,
    Model,
    Run,
    Tensor,
    dead,
    decided,
    feeding,
    live,
    prompts_of,
    reads,
    rows_of,
)
from condition_twin import parsed

NAMES = "abcdefghijkl"
BAND = {"kind": "band", "low": "1", "high": "2"}
FINAL = {"at": "logits input", "positions": "last"}


@dataclass
class Spelled:
    """A model as its files say it."""

    architecture: dict[str, Any]
    programs: dict[str, list[str]]
    tensors: dict[str, tuple[tuple[int, ...], list[float]]]

    def write(self, directory: Path) -> Path:
        """Write the model directory, unless it is there."""
        if not directory.exists():
            declared = {"architecture": self.architecture, "programs": self.programs, "alphabet": None}
            files = {
                "model.json": maker.as_bytes(declared),
                "weights.safetensors": maker.safetensors(self.tensors),
            }
            maker.seal(directory, files)
        return directory

    def meant(self) -> Model:
        """Return the model as the oracle reads it."""
        size = self.architecture
        tensors = {name: Tensor(shape, maker.raw(numbers)) for name, (shape, numbers) in self.tensors.items()}
        programs = {head: parsed(tuple(lines), size["vocabulary"]) for head, lines in self.programs.items()}
        return Model(size, programs, rows_of(tensors, {}))


@dataclass
class Ask:
    """What the prover is asked; `flaw` names what is wrong with it, if anything is."""

    seed: int
    theme: str
    model: Spelled
    circuit: dict[str, Any]
    task: dict[str, Any]
    """Candidates, answer, relation, and prompts or a pattern."""
    properties: list[dict[str, Any]]
    base: Spelled | None = None
    flaw: str = ""
    is_enclosed: bool = False
    """Whether its numbers are enclosed, so that softmax, GELU and LayerNorm may be evaluated."""
    radius: Fraction | None = None
    """How far logits may be from what the prover is told of them; nothing where it is told them exactly."""

    @property
    def is_pattern(self) -> bool:
        """Say whether it is about all prompts of a pattern."""
        return "pattern" in self.task


@dataclass(frozen=True)
class Theme:
    """What an ask is mainly about, so that every kind of evidence is common."""

    properties: tuple[str, ...]
    is_pattern: bool = False
    norm: bool | None = None
    """With a norm, without one, or either."""
    features: frozenset[str] = field(default_factory=frozenset)


THEMES = {
    "list": Theme(("equivalence", "invariance", "necessity")),
    "radius": Theme(("robustness",), norm=False, features=frozenset({"final"})),
    "regions": Theme(("robustness",), features=frozenset({"elsewhere"})),
    "normed regions": Theme(("robustness",), norm=True, features=frozenset({"final"})),
    "whole": Theme(("faithfulness",), features=frozenset({"exact"})),
    "subsets": Theme(("subset minimality",), features=frozenset({"small"})),
    "minimum": Theme(("minimum",), features=frozenset({"small"})),
    "base": Theme(("lesion identity",), features=frozenset({"programs"})),
    "many": Theme(("equivalence", "invariance", "necessity", "robustness", "faithfulness")),
    "pattern": Theme(("equivalence", "invariance", "necessity"), is_pattern=True),
    "margins": Theme(
        ("equivalence", "invariance", "robustness"),
        is_pattern=True,
        norm=False,
        features=frozenset({"programs", "chain"}),
    ),
    "ordered": Theme(
        ("equivalence", "invariance", "robustness"),
        is_pattern=True,
        norm=False,
        features=frozenset({"programs", "chain", "ordered"}),
    ),
    "unruly": Theme(
        ("equivalence", "invariance", "necessity", "robustness"),
        is_pattern=True,
        features=frozenset({"programs", "unruly"}),
    ),
    "pattern edges": Theme(("necessity",), is_pattern=True, features=frozenset({"programs", "useless"})),
    "pattern radius": Theme(("robustness",), is_pattern=True, features=frozenset({"final"})),
    "pattern prompts": Theme(
        ("robustness",), is_pattern=True, norm=False, features=frozenset({"final", "neural"})
    ),
    "pattern norm": Theme(
        ("robustness", "equivalence"), is_pattern=True, norm=True, features=frozenset({"final"})
    ),
}
CYCLE = tuple(THEMES)


def ask(seed: int) -> Ask:
    """Return the ask of a seed."""
    draw = Random(seed)  # noqa: S311  # claims, not secrets
    name = CYCLE[seed % len(CYCLE)]
    theme = THEMES[name]
    model = random_model(draw, theme)
    circuit = random_circuit(draw, model, theme)
    task = random_pattern(draw, model, theme) if theme.is_pattern else random_prompts(draw, model)
    found = Ask(seed, name, model, circuit, task, [])
    vary(Random(f"ablation {seed}"), found)  # noqa: S311  # the same
    fit_answers(draw, found)
    found.properties = [make_property(draw, found, kind) for kind in chosen(draw, theme.properties)]
    if seed >= 10 * len(CYCLE):
        agree(Random(f"agreement {seed}"), found)  # noqa: S311  # the same
    if any(prop["kind"] == "lesion identity" for prop in found.properties):
        found.base = random_base(draw, model)
    if "ordered" in theme.features:
        spoil(
            draw,
            found,
            draw.choice(("ordered keys", "ordered keys", "ordered keys below", "ordered queries")),
        )
    elif "unruly" in theme.features:
        spoil(draw, found, draw.choice(("phantom opener", "unlabelled", "strange pattern", "other relation")))
    elif draw.random() < 0.35:
        names = sorted(FLAWS.keys() - OF_LISTS) if theme.is_pattern else sorted(FLAWS)
        spoil(draw, found, draw.choice((*names, *(OFTEN if theme.is_pattern else ()))))
    blur(Random(f"arithmetic {seed}"), found)  # noqa: S311  # the same
    return found


EXACT_SEEDS = 560
"""From this seed on, asks may be blurred; golden bundles and pages are of seeds below it."""


def blur(draw: Random, asked: Ask) -> None:
    """Let the prover of some lists not know every decision."""
    is_fit = asked.seed >= EXACT_SEEDS and not asked.flaw and not asked.is_pattern
    if is_fit and draw.random() < 0.12:
        asked.radius = draw.choice((Fraction(0), Fraction(1, 8), Fraction(1), Fraction(10**6)))


def vary(draw: Random, asked: Ask) -> None:
    """Let some circuits tell ports apart, some cut edges carry something, and some models have no MLPs."""
    if asked.is_pattern:
        if draw.random() < 0.04:
            asked.flaw, change = draw.choice((("ports of a pattern", split), ("ablated pattern", ablate)))
            asked.task["prompts"] = [[0], [1, 2]]
            change(draw, asked)
            del asked.task["prompts"]
        return
    if draw.random() < 0.06:
        remove_mlps(draw, asked)
    if draw.random() < 0.3:
        split(draw, asked)
    if draw.random() < 0.35:
        ablate(draw, asked)
    if "necessity" in THEMES[asked.theme].properties and draw.random() < 0.7:
        need_edges(draw, asked)


def need_edges(draw: Random, asked: Ask) -> None:
    """Let the circuit need each of its edges for some clear decision, if one of a few does."""
    model, order = asked.model.meant(), ordered_edges(asked)
    carried = Carried(model, asked.circuit["ablation"])
    for _ in range(30):
        drawn = draw.sample(order, min(len(order), draw.randint(1, 3)))
        edges = [edge for edge in order if edge in drawn and edge not in dead(drawn)]
        is_read = carried.whole is not None or reads(edges, model.programs)
        if edges and is_read and _is_needed(asked, model, edges, carried):
            asked.circuit["edges"] = edges
            return


def _is_needed(asked: Ask, model: Model, edges: list[str], carried: Carried) -> bool:
    candidates, prompts = asked.task["candidates"], list(map(tuple, asked.task["prompts"]))

    def decisions(kept: list[str]) -> list[frozenset[int]]:
        run = Run(model, kept, carried=carried)
        return [decided(candidates, run.logits(candidates, prompt)) for prompt in prompts]

    try:
        own, lesions = decisions(edges), [[one for one in edges if one != cut] for cut in edges]
        pairs = (zip(own, decisions(lesion), strict=True) for lesion in lesions)
        return all(any(len(one) == 1 and one != other for one, other in found) for found in pairs)
    except ForbiddenError:
        return False


def split(draw: Random, asked: Ask) -> None:
    """Let an edge into a head be one to some of its ports."""
    circuit, programs = asked.circuit, asked.model.programs
    most = 1 if asked.theme == "minimum" else 3
    kept: set[str] = set()
    for edge in circuit["edges"]:
        source, target = edge.split(" -> ")
        ports = maker.ports(target, programs)
        chosen = draw.sample(ports, draw.randint(1, min(most, len(ports))))
        kept |= {f"{source} -> {port}" for port in chosen}
    order = maker.every_edge(asked.model.architecture, programs)
    circuit |= {"granularity": "port", "edges": [edge for edge in order if edge in kept]}


def remove_mlps(draw: Random, asked: Ask) -> None:
    """Let a model have only attention."""
    asked.model.architecture["mlp_width"] = 0
    fill(draw, asked.model)
    asked.circuit = random_circuit(draw, asked.model, THEMES[asked.theme])


def ablate(draw: Random, asked: Ask) -> None:
    """Let cut edges carry a mean or what is put out on a partner; some circuits are blind then, or empty."""
    circuit, size, prompts = asked.circuit, asked.model.architecture, asked.task["prompts"]

    def alike(prompt: list[int]) -> list[int]:
        return [draw.randrange(size["vocabulary"]) for _ in prompt]

    if draw.random() < 0.5:
        partners = [list(one) if draw.random() < 0.2 else alike(one) for one in prompts]
        pairs = [[list(one), other] for one, other in zip(prompts, partners, strict=True)]
        circuit["ablation"] = {"kind": "counterfactual", "pairs": pairs}
    else:
        drawn = {tuple(draw.choice((alike(one), one))) for one in prompts for _ in range(2)}
        over = draw.choice(("position", "position", "all"))
        listed = sorted(drawn)[: len(drawn) if over == "position" else draw.randint(1, 3)]
        circuit["ablation"] = {"kind": "mean", "over": over, "prompts": list(map(list, listed))}
    if draw.random() < 0.2:
        order = ordered_edges(asked)
        drawn = draw.sample(order, min(len(order), draw.randint(0, 2)))
        circuit["edges"] = [edge for edge in order if edge in drawn and edge not in dead(drawn)]
    if draw.random() < 0.12:
        spoil_ablation(draw, asked)


def spoil_ablation(draw: Random, asked: Ask) -> None:
    """Let what cut edges carry be unknown on some prompt, or be of no prompt of the model."""
    ablation, size = asked.circuit["ablation"], asked.model.architecture
    asked.flaw = f"{ablation['kind']} flaw"
    listed = ablation.get("pairs", ablation.get("prompts"))
    change = draw.choice(("less", "twice", "far", "long", "other"))
    if change == "less":
        listed.pop()
    elif change == "twice":
        listed.append(deepcopy(listed[0]))
    elif ablation["kind"] == "counterfactual":
        partner = listed[0][1]
        partner[:] = {"far": [size["vocabulary"]] * len(partner), "long": [0] * (size["context"] + 1)}.get(
            change, [*partner, 0]
        )
    elif change == "other":
        ablation["over"] = "token"
    else:
        listed.append([size["vocabulary"]] if change == "far" else [0] * (size["context"] + 1))


OF_LISTS = {
    "short tables",
    "repeated prompt",
    "empty prompt",
    "far prompt",
    "missing base",
    "match of numbers",
}
OFTEN = ("phantom opener", "unlabelled", "strange pattern", "ordered keys", "unknown key")
"""Flaws that are only of listed prompts, and some that matter more where there is a pattern."""


def spoil(draw: Random, asked: Ask, flaw: str) -> None:
    """Give an ask a flaw; where it is in a program, the answers are fitted to it."""
    asked.flaw = flaw
    FLAWS[flaw](draw, asked)
    is_program = flaw.startswith(("ordered", "unknown", "both", "same", "count", "repeated set"))
    if asked.is_pattern and is_program and draw.random() < 0.5:
        fit_answers(draw, asked)


def chosen(draw: Random, kinds: tuple[str, ...]) -> list[str]:
    """Return some of the properties, at least one."""
    return [kind for kind in kinds if draw.random() < 0.6] or [draw.choice(kinds)]


def weighted(draw: Random, **choices: int) -> str:
    """Return one of several words, by weight; underscores stand for blanks."""
    return draw.choices(list(choices), list(choices.values()))[0].replace("_", " ")


def random_sizes(draw: Random, theme: Theme) -> dict[str, Any]:
    """Return an architecture; operators without an exact meaning are rare."""
    norm = draw.random() < 0.35 if theme.norm is None else theme.norm
    kind = weighted(draw, reference=5, continuous=5, layer=1) if norm else "none"
    norms = {"none": {"kind": "none"}, "layer": {"kind": "layer", "epsilon": "1/100000"}}
    activation = weighted(draw, relu=4, leaky_relu=5, gelu=1)
    slopes = {"leaky relu": {"slope": draw.choice(("1/4", "1/100"))}, "gelu": {"form": "tanh"}}
    is_small = bool(theme.features & {"small", "exact"})
    size = {
        "vocabulary": draw.choice((4, 4, 5, 5, 6, 7)) if not theme.is_pattern else draw.choice((4, 4, 5, 6)),
        "context": draw.choice((2, 3, 3, 4)),
        "layers": 1 if is_small else draw.choice((1, 1, 1, 2)),
        "heads": draw.choice((1, 1, 2)),
        "width": draw.choice((2, 2, 3, 4)),
        "head_width": draw.choice((1, 2)),
        "mlp_width": draw.choice((1, 2, 3)),
        "norm": norms.get(kind, BAND | {"lift": kind}),
        "attention": weighted(draw, sparsemax=5, softmax=1),
        "attention_scale": draw.choice(("1", "1/2", "2")),
        "activation": {"kind": activation} | slopes.get(activation, {}),
        "tied": draw.random() < 0.3,
        "biases": draw.random() < 0.5,
        "logit_bias": draw.random() < 0.4,
    }
    if "ordered" in theme.features:
        size |= {"vocabulary": 7, "layers": 1, "heads": 1, "context": 3}
    if theme.features & {"exact", "neural"}:
        size |= {"attention": "sparsemax", "activation": {"kind": "relu"}}
        size["norm"] = {"kind": "none"} if kind == "layer" else size["norm"]
    return size


def random_model(draw: Random, theme: Theme) -> Spelled:
    """Return a model with coarse weights, so that ties and exact zeros occur."""
    size = random_sizes(draw, theme)
    share = 0.9 if theme.is_pattern or "programs" in theme.features else 0.5
    share = 0.2 if "neural" in theme.features else share
    heads = [f"{layer}.{index}" for layer in range(size["layers"]) for index in range(size["heads"])]
    programs = {head: random_program(draw, size) for head in heads if draw.random() < share}
    if "small" in theme.features and draw.random() < 0.4:
        return _telling_alone(draw, size, heads)
    return Spelled(size, programs, random_tensors(draw, size, programs))


def _telling_alone(draw: Random, size: dict[str, Any], heads: list[str]) -> Spelled:
    """Return a model whose programs tell prompts apart by where they look, and mostly by nothing else."""
    size["biases"] = True
    programs = {
        head: ["default 0", f"add 1 when {condition(draw, size)}", "otherwise nowhere"] for head in heads
    }
    tensors = random_tensors(draw, size, programs)
    for name, (shape, numbers) in tensors.items():
        if name.endswith("value.weight") and draw.random() < 0.7:
            tensors[name] = (shape, [0.0] * len(numbers))
    return Spelled(size, programs, tensors)


def random_tensors(
    draw: Random, size: dict[str, Any], programs: dict[str, list[str]]
) -> dict[str, tuple[tuple[int, ...], list[float]]]:
    """Return weights that are multiples of an eighth."""
    step = draw.choice((1, 1, 4))
    shapes = maker.shapes(size, programs)
    gain = draw.choice((1, 4, 8))
    return {
        name: (
            shape,
            [step * draw.randint(-8 // step, 8 // step) / 8 * _gain(name, gain) for _ in range(prod(shape))],
        )
        for name, shape in shapes.items()
    }


def _gain(name: str, gain: int) -> int:
    """Return how much larger weights are than others: after a norm, what is small may weigh much."""
    return gain if name.endswith("norm.scale") else 1


def tokens(draw: Random, size: dict[str, Any], most: int = 2) -> str:
    """Return a set of tokens as text."""
    count = draw.randint(1, most)
    return "{" + ", ".join(map(str, sorted(draw.sample(range(size["vocabulary"]), count)))) + "}"


def brackets(draw: Random, size: dict[str, Any]) -> str:
    """Return a pair of brackets, or two."""
    one, two, three, four = draw.sample(range(size["vocabulary"]), 4)
    pairs = sorted([(one, two), (three, four)][: draw.randint(1, 2)])
    return "{" + ", ".join(f"{opener}: {closer}" for opener, closer in pairs) + "}"


def atom(draw: Random, size: dict[str, Any]) -> str:
    """Return a single condition."""
    token, place = draw.randrange(size["vocabulary"]), draw.randrange(size["context"])
    sign = draw.choice(("==", "!=", "<", "<=", ">", ">="))
    common = (f"key_token in {tokens(draw, size)}", f"key_token == {token}", f"key_token != {token}")
    places = (
        f"key_position {sign} {place}",
        f"query_position {sign} {place}",
        f"relative_distance {sign} {place}",
        f"absolute_distance {sign} {place}",
        f"relative_distance in {{{', '.join(map(str, range(place + 1)))}}}",
    )
    counted = draw.choice(("key", "query"))
    rare = (
        f"query_token in {tokens(draw, size)}",
        f"query_token == {token}",
        "token_match",
        f"{counted}_count {tokens(draw, size)} up to 2 {sign} {draw.randint(0, 2)}",
        f"{counted}_depth {brackets(draw, size)} up to 1 {sign} {draw.randint(0, 1)}",
        f"unmatched {brackets(draw, size)}",
        f"partner {brackets(draw, size)}",
    )
    return draw.choice(draw.choices((common, places, rare), (4, 2, 2))[0])


def condition(draw: Random, size: dict[str, Any]) -> str:
    """Return a condition in the one form that programs are printed in."""
    one, other = atom(draw, size), atom(draw, size)
    scan = draw.choice(("first", "last", "nearest"))
    forms = (f"{one}", f"not {one}", f"{scan} {one}", f"{scan} ({one} or {other})", f"{one} and {other}")
    found = draw.choices((*forms, f"{one} or {other}"), (6, 1, 2, 1, 1, 1))[0]
    return f"{one}" if one == other else found


def random_program(draw: Random, size: dict[str, Any]) -> list[str]:
    """Return the lines of a program."""
    rules = [
        f"add {draw.choice(('1', '1', '2', '1/2'))} when {condition(draw, size)}"
        for _ in range(draw.choice((0, 1, 1, 1, 2)))
    ]
    default = draw.choice(("0", "0", "0", "1", "1/3"))
    return [f"default {default}", *rules, f"otherwise {draw.choice(('self', 'self', 'nowhere'))}"]


def random_circuit(draw: Random, model: Spelled, theme: Theme) -> dict[str, Any]:
    """Return a circuit without dead edges that reads its prompt: by the embedding, or by a program alone."""
    size = model.architecture
    every = maker.every_edge(size)
    most = min(len(every), 4 if "small" in theme.features else 6)
    for _ in range(200):
        edges = draw.sample(every, draw.randint(1, most))
        if "chain" in theme.features:
            edges = [e for e in edges if e.endswith("-> logits") or e.startswith("embed")]
        unread = set(dead(edges))
        live = [edge for edge in every if edge in edges and edge not in unread]
        is_deep = any("head" in edge for edge in live) or draw.random() < 0.2
        if reads(live, model.programs) and is_deep:
            edges = live
            break
    else:
        edges = ["embed -> logits"]
    if "exact" in theme.features and draw.random() < 0.4:
        edges = every
    if "ordered" in theme.features:
        edges = ["embed -> head 0.0", "head 0.0 -> logits"]
    if "small" in theme.features and draw.random() < 0.5:
        edges = draw.choice((["embed -> logits"], ["embed -> head 0.0", "head 0.0 -> logits"]))
    if "useless" in theme.features and draw.random() < 0.5 and "embed -> head 0.0" in every:
        edges = [
            e for e in every if e in {*edges, "embed -> head 0.0", "head 0.0 -> logits", "embed -> logits"}
        ]
    return maker.circuit_of(size, edges)


def random_candidates(draw: Random, size: dict[str, Any]) -> list[int]:
    """Return two or three tokens."""
    return draw.sample(range(size["vocabulary"]), draw.choice((2, 2, 3)))


def random_prompts(draw: Random, model: Spelled) -> dict[str, Any]:
    """Return a task on listed prompts; answers are filled in later."""
    size, candidates = model.architecture, random_candidates(draw, model.architecture)
    openers = draw.sample(range(size["vocabulary"]), 2)
    is_table = draw.random() < 0.7
    others = [token for token in range(size["vocabulary"]) if is_table or token not in openers]
    drawn: dict[tuple[int, ...], None] = {}
    for _ in range(draw.randint(1, 6)):
        prompt = [draw.choice(others) for _ in range(draw.randint(1, size["context"]))]
        if not is_table:
            prompt[draw.randrange(len(prompt))] = draw.choice(openers)
        drawn[tuple(prompt)] = None
    prompts = [list(prompt) for prompt in drawn]
    task = {"candidates": candidates, "prompts": prompts}
    if is_table:
        answers = [draw.choice(candidates) for _ in prompts]
        classes = [draw.randint(0, 1) for _ in prompts]
        return task | {
            "answer": {"kind": "table", "answers": answers},
            "relation": {"kind": "table", "classes": classes},
        }
    return task | opener_rules(draw, candidates, openers)


def opener_rules(draw: Random, candidates: list[int], openers: list[int]) -> dict[str, Any]:
    """Return rules about the only opener."""
    pairs = [[opener, draw.choice(candidates)] for opener in openers]
    return {
        "answer": {"kind": "only opener", "answers": pairs},
        "relation": {"kind": "same opener", "openers": list(openers)},
    }


def random_class(draw: Random, size: dict[str, Any]) -> dict[str, list[int]]:
    """Return a class of tokens."""
    listed = sorted(draw.sample(range(size["vocabulary"]), draw.choice((1, 2))))
    return draw.choice(({"all but": []}, {"all but": listed}, {"tokens": listed}, {"tokens": listed}))


def random_shape(draw: Random, size: dict[str, Any], depth: int = 2) -> dict[str, Any]:
    """Return a shape of few tokens."""
    form = draw.choice(("class", "repeat", "sequence", "choice")) if depth else "class"
    if form == "repeat":
        least = draw.choice((0, 1, 1))
        most = draw.choice((None, max(least, 1), 2, 3))
        return {"repeat": random_shape(draw, size, 0), "least": least, "most": most}
    if form in ("sequence", "choice"):
        parts = [random_shape(draw, size, depth - 1) for _ in range(2)]
        flat = [inner for part in parts for inner in part.get(form, [part])]
        return {form: flat}
    return random_class(draw, size)


def random_pattern(draw: Random, model: Spelled, theme: Theme) -> dict[str, Any]:
    """Return a task on a pattern each prompt of which has one opener."""
    size, candidates = model.architecture, random_candidates(draw, model.architecture)
    openers = sorted(draw.sample(range(size["vocabulary"]), draw.choice((1, 2, 2))))
    if "ordered" in theme.features:
        openers = [size["vocabulary"] - 2, size["vocabulary"] - 1]
    plain = {"repeat": {"all but": []}, "least": 1, "most": min(size["context"], 3)}
    found: list[tuple[int, ...]] = []
    pattern: dict[str, Any] = {}
    while not found:
        is_plain = draw.random() < 0.5 or "ordered" in theme.features
        shape = plain if is_plain else random_shape(draw, size)
        bound = longest_of(shape)
        longest = min(size["context"], 3 if draw.random() < 0.8 else 4, bound or 9)
        clauses = [{"of": {"tokens": openers}, "least": 1, "most": 1}, *random_clauses(draw, size)]
        pattern = {"shape": shape, "clauses": clauses, "longest": longest}
        found = prompts_of(pattern, size["vocabulary"], size["context"])
    return {"candidates": candidates, "pattern": pattern} | opener_rules(draw, candidates, openers)


def random_clauses(draw: Random, size: dict[str, Any]) -> list[dict[str, Any]]:
    """Return further clauses, mostly none."""
    of, least = random_class(draw, size), draw.randint(0, 1)
    return draw.choice(
        (
            [],
            [],
            [{"of": of, "first": 0, "last": draw.randint(0, 2)}],
            [{"of": of, "least": least, "most": 2}],
        )
    )


def longest_of(shape: dict[str, Any]) -> int | None:
    """Return how many tokens a shape has at most."""
    match shape:
        case {"sequence": parts} | {"choice": parts}:
            sizes = [longest_of(part) for part in parts]
            join = sum if "sequence" in shape else max
            return None if None in sizes else join(sizes)
        case {"repeat": part, "most": most}:
            size = longest_of(part)
            return None if most is None or size is None else most * size
        case _:
            return 1


def spelled_pattern(pattern: dict[str, Any]) -> str:
    """Return the text of a pattern."""
    text = _spelled(pattern["shape"])
    clauses = [
        f"{_spelled(c['of'])} only at {c['first']}..{c['last']}"
        if "first" in c
        else f"exactly {c['least']}..{c['most']} of {_spelled(c['of'])}"
        for c in pattern["clauses"]
    ]
    text += f" with {' and '.join(clauses)}" if clauses else ""
    return f"{text} up to {pattern['longest']} tokens"


def _spelled(shape: dict[str, Any]) -> str:
    match shape:
        case {"tokens": listed}:
            return f"[{', '.join(map(str, listed))}]"
        case {"all but": listed}:
            return f"any but [{', '.join(map(str, listed))}]" if listed else "any"
        case {"sequence": parts}:
            return f"({' '.join(f'({_spelled(part)})' for part in parts)})"
        case {"choice": parts}:
            return f"({' | '.join(f'({_spelled(part)})' for part in parts)})"
        case {"repeat": part, "least": least, "most": most}:
            return f"({_spelled(part)}){{{least}..{'' if most is None else most}}}"


def ordinary(draw: Random, asked: Ask) -> None:
    """Give a list's model softmax, GELU, LayerNorm, rotary positions or a parallel block, and enclose it."""
    if asked.is_pattern or asked.flaw or asked.base is not None or asked.radius is not None:
        return
    asked.is_enclosed = True
    size = asked.model.architecture
    size["attention"] = weighted(draw, softmax=4, sparsemax=1)
    gelu = {"kind": "gelu", "form": draw.choice(("tanh", "exact"))}
    size["activation"] = gelu if draw.random() < 0.6 else {"kind": "relu"}
    layer = {"kind": "layer", "epsilon": draw.choice(("1/100000", "1/8"))}
    size["norm"] = layer if draw.random() < 0.5 else {"kind": "none"}
    if draw.random() < 0.3:
        size |= {"rotary": 2, "head_width": 2}
    if size["mlp_width"] and draw.random() < 0.3:
        size["parallel"] = True
    asked.model.tensors = random_tensors(draw, size, asked.model.programs)
    asked.circuit["edges"] = [edge for edge in ordered_edges(asked) if edge in asked.circuit["edges"]]
    for prop in asked.properties:
        if prop["kind"] == "robustness":
            prop.update(FINAL)
        elif prop["kind"] == "minimum":
            prop["circuits"] = [asked.circuit["edges"]]
    fit_answers(draw, asked)


def unmask(draw: Random, asked: Ask) -> None:
    """Let the heads of a list's model see later positions too; there are no programs then."""
    if asked.is_pattern or asked.flaw or asked.base is not None or asked.radius is not None:
        return
    asked.model.architecture["mask"] = "none"
    asked.model.programs.clear()
    asked.model.tensors = random_tensors(draw, asked.model.architecture, asked.model.programs)
    fit_answers(draw, asked)


def measure(draw: Random, asked: Ask) -> None:
    """Ask for counts and measures of a list, to be found or bounded."""
    if asked.is_pattern or asked.flaw or asked.base is not None or asked.radius is not None:
        return
    count, found = len(asked.task["prompts"]), list[dict[str, Any]]()

    def some() -> list[int]:
        return sorted(draw.sample(range(count), draw.randrange(count)))

    def bracket() -> list[str | None]:
        low, high = sorted(Fraction(draw.randint(-12, 24), 4) for _ in range(2))
        return draw.choice(([str(low), str(high)], [str(low), None], [None, str(high)]))

    found.append(
        draw.choice(({}, {"least": draw.randint(1, count)}, {"wrong": some()})) | {"kind": "accuracy"}
    )
    if asked.is_enclosed:
        spans = {span: bracket() if draw.random() < 0.7 else None for span in ("least", "mean", "greatest")}
        recovered = draw.choice(({}, {"mean": bracket(), "without": some()}))
        found += [
            {"kind": "loss"} | draw.choice(({}, {"mean": [str(Fraction(draw.randint(1, 12), 4)), None]})),
            {"kind": "logit difference"} | draw.choice(({}, spans if any(spans.values()) else {})),
            {"kind": "recovered difference"} | recovered,
        ]
    asked.properties += draw.sample(found, draw.randint(1, len(found)))


ORDINARY = 1_000_000
"""From this seed on, models of lists are ordinary ones or unmasked, and counts and measures are claimed."""


def is_of_pattern(seed: int) -> bool:
    """Say whether the ask of a seed is about a pattern."""
    return THEMES[CYCLE[seed % len(CYCLE)]].is_pattern


def fuller(seed: int) -> Ask:
    """Return the ask of a seed, enclosed, unmasked or measured, or some of these."""
    draw, asked = Random(f"fuller {seed}"), ask(seed)  # noqa: S311  # claims, not secrets
    if draw.random() < 0.7:
        ordinary(draw, asked)
    if draw.random() < 0.4:
        unmask(draw, asked)
    if draw.random() < 0.6:
        measure(draw, asked)
    asked.theme = "fuller"
    return asked


def run_of(asked: Ask, model: Model) -> Run:
    """Return the circuit of an ask as the oracle runs it."""
    if asked.is_enclosed:
        from real_oracle import RealCarried, RealRun  # which are made of what stands in the other oracle

        carried = RealCarried(model, asked.circuit["ablation"])
        return RealRun(model, asked.circuit["edges"], carried=carried)
    return Run(model, asked.circuit["edges"], carried=Carried(model, asked.circuit["ablation"]))


def fit_answers(draw: Random, asked: Ask) -> None:
    """Make the answers those that the circuit decides, mostly; where it ties or cannot be computed, any."""
    if draw.random() < 0.2:
        return
    size, task = asked.model.architecture, asked.task
    prompts = [tuple(p) for p in task["prompts"]] if "prompts" in task else []
    if asked.is_pattern:
        prompts = prompts_of(task["pattern"], size["vocabulary"], size["context"])
    try:
        run = run_of(asked, asked.model.meant())
        if task["answer"]["kind"] == "only opener":
            _fit_openers(run, task, prompts)
        else:
            answers = [min(decided(task["candidates"], run.logits(task["candidates"], p))) for p in prompts]
            task["answer"]["answers"] = answers
            if draw.random() < 0.6:
                task["relation"]["classes"] = list(answers)
    except ForbiddenError:
        return


def _fit_openers(run: Run, task: dict[str, Any], prompts: list[tuple[int, ...]]) -> None:
    for pair in task["answer"]["answers"]:
        first = next((prompt for prompt in prompts if pair[0] in prompt), None)
        if first is not None:
            pair[1] = min(decided(task["candidates"], run.logits(task["candidates"], first)))


def agree(draw: Random, asked: Ask) -> None:
    """Let some asks claim agreement, too; a second circuit that cannot be meant is a flaw."""
    if draw.random() > (0.5 if asked.is_pattern else 0.15) or not asked.circuit["edges"]:  # seldom
        return
    every, own = ordered_edges(asked), set(asked.circuit["edges"])
    programs, granularity = asked.model.programs, asked.circuit["granularity"]
    others = [own ^ set(draw.sample(every, min(len(every), draw.randint(1, 2)))) for _ in range(12)]
    fit = [one for one in others if reads(one, programs) and live(one) != live(own)]
    second = draw.choice(fit) if fit and draw.random() < 0.8 else others[0]
    if draw.random() < 0.1:
        granularity = {"head": "port", "port": "head"}[granularity]
    if second not in fit or granularity != asked.circuit["granularity"]:
        asked.flaw = asked.flaw or "other circuit"
    other = [edge for edge in every if edge in second]
    asked.properties.append({"kind": "agreement", "granularity": granularity, "edges": other})


def make_property(draw: Random, asked: Ask, kind: str) -> dict[str, Any]:
    """Return a property as it stands in a claim; that of a base is made when the prover is asked."""
    if kind == "robustness":
        return {"kind": kind} | random_place(draw, asked)
    if kind == "minimum":
        own = asked.circuit["edges"]
        return {"kind": kind, "circuits": [own]}
    return {"kind": kind}


def random_place(draw: Random, asked: Ask) -> dict[str, Any]:
    """Return epsilon and where it is perturbed."""
    epsilon = draw.choice(("1/64", "1/16", "1/8", "1/2", "1", "2"))
    if draw.random() < (0.8 if asked.theme == "pattern prompts" else 0.4) and (radius := least_radius(asked)):
        epsilon = str(radius * draw.choice((1, Fraction(7, 8), Fraction(1, 2), Fraction(999, 1000))))
    features = THEMES[asked.theme].features
    if "final" in features or (asked.is_pattern and draw.random() < 0.9) or draw.random() < 0.2:
        return {"epsilon": epsilon} | FINAL
    edges = asked.circuit["edges"]
    node = draw.choice(sorted(feeding(edges)))
    side = {"embed": "output", "logits": "input"}.get(node) or draw.choice(("input", "output"))
    return {"epsilon": epsilon, "at": f"{node} {side}", "positions": draw.choice(("last", "all", [0]))}


def least_radius(asked: Ask) -> Fraction | None:
    """Return how far the final residual can move, if nothing came after it, before a decision is lost."""
    size, task = asked.model.architecture, asked.task
    prompts = [tuple(prompt) for prompt in task.get("prompts", [])]
    if asked.is_pattern:
        prompts = prompts_of(task["pattern"], size["vocabulary"], size["context"])
    radii: list[Fraction] = []
    try:
        model = asked.model.meant()
        run = run_of(asked, model)
        rows = [model.row("embed.token" if size["tied"] else "logits.weight", t) for t in task["candidates"]]
        for prompt in prompts:
            logits = run.logits(task["candidates"], prompt)
            best = logits.index(max(logits))
            apart = [sum(abs(a - b) for a, b in zip(rows[best], row, strict=True)) for row in rows]
            radii += [(logits[best] - one) / d for one, d in zip(logits, apart, strict=True) if d]
    except ForbiddenError:
        return None
    return min(radii, default=None)


def random_base(draw: Random, model: Spelled) -> Spelled:
    """Return the base of a model, which may differ in its declaration, its programs or a tensor."""
    base = deepcopy(model)
    base.programs = {}
    for head in model.programs:
        if draw.random() < 0.3:
            base.programs[head] = random_program(draw, base.architecture)
    change = draw.choice(("none", "none", "tensor", "tensor", "head", "declaration"))
    if change == "declaration":
        change_declaration(draw, base)
    fill(draw, base)
    names = sorted(base.tensors)
    if change == "head":
        names = [name for name in names if name.startswith("head")]
    if change in ("tensor", "head") and names:
        shape, numbers = base.tensors[name := draw.choice(names)]
        base.tensors[name] = (shape, [numbers[0] + 1, *numbers[1:]])
    return base


def change_declaration(draw: Random, base: Spelled) -> None:
    """Make a base another architecture than the artifact's."""
    size = base.architecture
    other = {"relu": {"kind": "leaky relu", "slope": "1/2"}}.get(size["activation"]["kind"], {"kind": "relu"})
    size |= draw.choice(
        (
            {"attention": "softmax" if size["attention"] == "sparsemax" else "sparsemax"},
            {"attention_scale": "4"},
            {"activation": other},
            {"layers": size["layers"] + 1},
            {"logit_bias": True},
            {"norm": BAND | {"lift": "reference"}},
            {"heads": size["heads"] + 1},
            {"context": size["context"] + 1},
        )
    )


def fill(draw: Random, model: Spelled) -> None:
    """Give a model just the tensors that its declaration has, new ones at random."""
    wanted = maker.shapes(model.architecture, model.programs)
    fresh = random_tensors(draw, model.architecture, model.programs)
    kept = {name: one for name, one in model.tensors.items() if wanted.get(name) == one[0]}
    model.tensors = {name: kept.get(name, fresh[name]) for name in wanted}


def _reprogram(line: str):
    def flaw(draw: Random, asked: Ask) -> None:
        size = asked.model.architecture
        head = draw.choice(sorted(asked.model.programs) or ["0.0"])
        spelled = line.format(T=size["vocabulary"], N=draw.randint(1, size["vocabulary"] - 3))
        lines = asked.model.programs.get(head, ["default 0", "otherwise self"])
        first = "default 0" if asked.theme == "ordered" else lines[0]
        asked.model.programs[head] = [first, spelled, lines[-1]]
        fill(draw, asked.model)
        if asked.base is None:
            use_head(asked, head)

    return flaw


def _deep() -> str:
    """Return a condition of one level too many."""
    found = "key_token == 0"
    for level in range(17):
        inner = f"({found})" if level else found
        found = f"key_token == 1 or {found}" if level % 2 else f"key_token == 1 and {inner}"
    return found


def use_head(asked: Ask, head: str) -> None:
    """Let the circuit read a head, so that its program matters; what it has no more is cut."""
    port = f"head {head} value" if asked.circuit["granularity"] == "port" else f"head {head}"
    edges = {*asked.circuit["edges"], f"embed -> {port}", f"head {head} -> logits"}
    asked.circuit["edges"] = [edge for edge in ordered_edges(asked) if edge in edges]


def ordered_edges(asked: Ask) -> list[str]:
    """Return every edge as the circuit of an ask tells them apart."""
    return maker.edges_of({**vars(asked.model), "circuit": asked.circuit})


def _set(**changes: Any):
    """Return a flaw that changes the first property in some fields."""
    return lambda _, asked: asked.properties[0].update(changes)


def _phantom_opener(draw: Random, asked: Ask) -> None:
    token = asked.model.architecture["vocabulary"] + draw.choice((0, 0, 2))
    rule, relation = asked.task["answer"], asked.task["relation"]
    where = draw.choice(("both", "answer", "relation"))
    if rule["kind"] == "only opener" and where != "relation":
        rule["answers"].append([token, asked.task["candidates"][0]])
    if relation["kind"] == "same opener" and where != "answer":
        relation["openers"].append(token)


def _of_task(change):
    return lambda draw, asked: change(draw, asked.task, asked.model.architecture)


def _repeat_candidate(_: Random, task: dict[str, Any], __: dict[str, Any]) -> None:
    task["candidates"].append(task["candidates"][0])


def _far_candidate(_: Random, task: dict[str, Any], size: dict[str, Any]) -> None:
    task["candidates"].append(size["vocabulary"])


def _single_candidate(_: Random, task: dict[str, Any], __: dict[str, Any]) -> None:
    del task["candidates"][1:]


def _other_answer(_: Random, task: dict[str, Any], size: dict[str, Any]) -> None:
    wrong = next((t for t in range(size["vocabulary"]) if t not in task["candidates"]), size["vocabulary"])
    rule = task["answer"]
    rule["answers"] = (
        [wrong, *rule["answers"][1:]]
        if rule["kind"] == "table"
        else [[rule["answers"][0][0], wrong], *rule["answers"][1:]]
    )


def _short_tables(_: Random, task: dict[str, Any], __: dict[str, Any]) -> None:
    for rule in (task["answer"], task["relation"]):
        for key in ("answers", "classes", "openers"):
            if key in rule:
                rule[key] = rule[key][1:]


def _repeat_opener(_: Random, task: dict[str, Any], __: dict[str, Any]) -> None:
    for rule in (task["answer"], task["relation"]):
        for key in ("answers", "openers"):
            rule.get(key, []).extend(deepcopy(rule.get(key, [])[:1]))


def _prompt(make):
    """Return a flaw that adds a prompt, and an entry for it to the tables."""

    def change(_: Random, task: dict[str, Any], size: dict[str, Any]) -> None:
        if "prompts" not in task:
            task["pattern"]["longest"] = size["context"] + 1
            return
        task["prompts"].append(make(task["prompts"], size))
        for rule, key in ((task["answer"], "answers"), (task["relation"], "classes")):
            if rule["kind"] == "table":
                rule[key].append(rule[key][0])

    return change


def _unlabelled(draw: Random, task: dict[str, Any], _: dict[str, Any]) -> None:
    """Drop the clause that gives each prompt one opener, or ask for two; a list loses its openers."""
    if "pattern" in task:
        clauses = task["pattern"]["clauses"]
        clauses[:1] = draw.choice(([], [clauses[0] | {"least": 0}], [clauses[0] | {"most": 2}]))
    else:
        task["prompts"][0] = [token for token in task["prompts"][0] for _ in range(2)]


def _strange_pattern(draw: Random, task: dict[str, Any], size: dict[str, Any]) -> None:
    """Name a token that is not there, an empty range, a class of nothing, or no prompt at all."""
    if "pattern" not in task:
        return
    pattern, far = task["pattern"], size["vocabulary"]
    part = pattern["shape"]
    pattern |= draw.choice(
        (
            {"shape": {"choice": [part, {"tokens": [far]}]}},
            {"shape": {"sequence": [{"all but": [far]}, part]}},
            {"shape": {"repeat": {"all but": []}, "least": 2, "most": 1}},
            {"shape": {"choice": [{"tokens": [1, 0]}, part]}},
            {"shape": {"repeat": {"all but": []}, "least": 0, "most": 2}},
            {"clauses": [*pattern["clauses"], {"of": {"tokens": [far]}, "least": 0, "most": 1}]},
            {"clauses": [*pattern["clauses"], {"of": {"all but": []}, "least": 3, "most": 2}]},
            {"clauses": [*pattern["clauses"], {"of": {"all but": []}, "first": 2, "last": 1}]},
            {"clauses": [*pattern["clauses"], {"of": {"all but": []}, "least": 0, "most": 0}]},
        )
    )


def _other_relation(draw: Random, task: dict[str, Any], size: dict[str, Any]) -> None:
    if task["relation"]["kind"] == "same opener":
        task["relation"]["openers"] = draw.sample(range(size["vocabulary"]), 2)


def _other_graph(draw: Random, asked: Ask) -> None:
    asked.circuit[draw.choice(("layers", "heads"))] += 1


def _dead_circuit(draw: Random, asked: Ask) -> None:
    every = ordered_edges(asked)
    asked.circuit["edges"] = draw.sample(every, draw.randint(0, 3))


def _dead_edge(draw: Random, asked: Ask) -> None:
    every = ordered_edges(asked)
    edges = {*asked.circuit["edges"], *draw.sample(every, 2)}
    asked.circuit["edges"] = [edge for edge in every if edge in edges]
    for prop in asked.properties:
        if prop["kind"] == "minimum":
            prop["circuits"] = [asked.circuit["edges"]]


def _other_minimum(draw: Random, asked: Ask) -> None:
    every = ordered_edges(asked)
    own = asked.circuit["edges"]
    other = sorted(draw.sample(every, len(own)), key=every.index)
    circuits = draw.choice(([other], [own, other], [own, own], [own, own[:-1]], []))
    asked.properties = [{"kind": "minimum", "circuits": circuits}]


def _foreign_property(draw: Random, asked: Ask) -> None:
    kind = draw.choice(("faithfulness", "subset minimality", "equivalence"))
    asked.properties.append({"kind": kind})


def _no_property(_: Random, asked: Ask) -> None:
    asked.properties = []


def _inexact(draw: Random, asked: Ask) -> None:
    """Let everything that is computed use what has no exact value."""
    size = asked.model.architecture
    size |= draw.choice(
        (
            {"attention": "softmax"},
            {"activation": {"kind": "gelu", "form": "exact"}},
            {"norm": {"kind": "layer", "epsilon": "1/100000"}},
        )
    )
    fill(draw, asked.model)


def _missing_base(draw: Random, asked: Ask) -> None:
    if asked.base is not None:
        change_declaration(draw, asked.base)
        del asked.base.tensors[draw.choice(sorted(asked.base.tensors))]


def _no_prompts(_: Random, task: dict[str, Any], __: dict[str, Any]) -> None:
    task["answer"]["answers"] = []
    if "prompts" in task:
        task["prompts"] = []
        task["relation"].update({key: [] for key in ("classes", "openers") if key in task["relation"]})


def _strange_weights(draw: Random, asked: Ask) -> None:
    """Let a weight be no number, or a tensor be of another shape, missing or one too many."""
    tensors = asked.model.tensors
    name = draw.choice(sorted(tensors))
    shape, numbers = tensors[name]
    change = draw.choice(("nan", "infinite", "shape", "missing", "more"))
    if change in ("nan", "infinite"):
        tensors[name] = (shape, [float(change[:3]), *numbers[1:]])
    elif change == "shape":
        tensors[name] = (
            (*shape[:-1], shape[-1] + 1),
            [*numbers, *numbers][: prod(shape) // shape[-1] * (shape[-1] + 1)],
        )
    elif change == "missing":
        del tensors[name]
    else:
        tensors["more"] = (shape, numbers)


def _absent_head(draw: Random, asked: Ask) -> None:
    head = f"{asked.model.architecture['layers']}.0"
    asked.model.programs[head] = random_program(draw, asked.model.architecture)


def _at(**place: Any):
    return _set(kind="robustness", **({"epsilon": "1/8"} | FINAL | place))


FLAWS = {
    "ordered keys": _reprogram("add 1 when key_token > {N}"),
    "ordered keys below": _reprogram("add 1 when key_token <= {N}"),
    "ordered queries": _reprogram("add 1 when query_token >= {N}"),
    "unknown key": _reprogram("add 1 when key_token in {{0, {T}}}"),
    "unknown query": _reprogram("add 1 when query_token != {T}"),
    "both brackets": _reprogram("add 1 when unmatched {{0: 1, 1: 2}}"),
    "same bracket": _reprogram("add 1 when key_depth {{0: 0}} up to 2 == 1"),
    "count to zero": _reprogram("add 1 when key_count {{0}} up to 0 == 0"),
    "count too far": _reprogram("add 1 when key_count {{0}} up to 1 < 3"),
    "repeated set": _reprogram("add 1 when key_token in {{1, 1}}"),
    "match of numbers": _reprogram("add 1 when token_match in {{1}}"),
    "no weight": _reprogram("add 1/0 when token_match"),
    "deep": _reprogram(f"add 1 when {_deep()}"),
    "phantom opener": _phantom_opener,
    "repeated candidate": _of_task(_repeat_candidate),
    "far candidate": _of_task(_far_candidate),
    "single candidate": _of_task(_single_candidate),
    "other answer": _of_task(_other_answer),
    "short tables": _of_task(_short_tables),
    "repeated opener": _of_task(_repeat_opener),
    "repeated prompt": _of_task(_prompt(lambda prompts, _: list(prompts[0]))),
    "empty prompt": _of_task(_prompt(lambda _, __: [])),
    "far prompt": _of_task(_prompt(lambda _, size: [0, size["vocabulary"]])),
    "long prompt": _of_task(_prompt(lambda _, size: [1] * (size["context"] + 1))),
    "no prompts": _of_task(_no_prompts),
    "strange weights": _strange_weights,
    "absent head": _absent_head,
    "unlabelled": _of_task(_unlabelled),
    "strange pattern": _of_task(_strange_pattern),
    "other relation": _of_task(_other_relation),
    "other graph": _other_graph,
    "dead circuit": _dead_circuit,
    "dead edge": _dead_edge,
    "other minimum": _other_minimum,
    "foreign property": _foreign_property,
    "no property": _no_property,
    "inexact": _inexact,
    "missing base": _missing_base,
    "no epsilon": _at(epsilon="0"),
    "negative epsilon": _at(epsilon="-1/8"),
    "before embed": _at(at="embed input"),
    "after logits": _at(at="logits output"),
    "far position": _at(at="embed output", positions=[7]),
    "falling positions": _at(at="embed output", positions=[1, 0]),
    "no positions": _at(at="embed output", positions=[]),
    "unread place": _at(at="mlp 0 output", positions="all"),
    "unread head": _at(at="head 0.0 input", positions="last"),
}


@dataclass(frozen=True)
class ProverAnswer:
    """What the prover made of an ask: a bundle, or the error with which it refused."""

    bundle: Path | None
    model: Path | None
    base: Path | None
    refusal: BaseException | None = None


def told(asked: Ask, directory: Path) -> ProverAnswer:
    """Let the prover answer an ask; model directories stand beside the bundle and are written once."""
    model = asked.model.write(directory / "model")
    base = None if asked.base is None else asked.base.write(directory / "base")
    try:
        write_answers(asked, model, base, bundle := directory / "bundle")
    except Exception as error:  # noqa: BLE001  # a mutant may fail in any way
        return ProverAnswer(None, model, base, error)
    return ProverAnswer(bundle if bundle.is_dir() else None, model, base)


def write_answers(asked: Ask, model: Path, base: Path | None, bundle: Path) -> None:
    """Make the claim with the product's constructors, prove it, and write the bundle."""
    from circuitproof.bundle.files import write_bundle
    from circuitproof.circuits.spelling import parse_circuit
    from circuitproof.forward.frozen import open_model
    from circuitproof.proof.arithmetic import EXACT, EnclosedNumbers
    from circuitproof.proof.battery import prove
    from circuitproof.proof.claim import Claim
    from circuitproof.proof.effort import Effort

    frozen = open_model(model)
    circuit = parse_circuit(asked.circuit, "ask", frozen.graph if asked.is_enclosed else None)
    properties = tuple(_property(prop, frozen, base, asked.circuit) for prop in asked.properties)
    task = _pattern_task(asked) if asked.is_pattern else _task(asked)
    exact = EnclosedNumbers(most=256) if asked.is_enclosed else EXACT
    claim = Claim(frozen, circuit, task, properties, exact if asked.radius is None else blurred(asked))
    is_detached = asked.seed >= ORDINARY and asked.seed % 8 == 0
    write_bundle(bundle, prove(claim, Effort(budget=300, regions=256, listed=512)), is_detached=is_detached)


def blurred(asked: Ask):
    """Return the test arithmetic, mostly under the name of the exact one, which the checker accepts."""
    from widened import Disguised, Widened

    return (Widened if asked.seed % 4 == 0 else Disguised)(asked.radius, asked.seed)


def _rules(task: dict[str, Any]):
    from circuitproof.tasks.rules import AnswerTable, ClassTable, OnlyOpener, SameOpener

    answer, relation = task["answer"], task["relation"]
    is_rule = answer["kind"] == "only opener"
    return (
        OnlyOpener(tuple(map(tuple, answer["answers"])))
        if is_rule
        else AnswerTable(tuple(answer["answers"])),
        ClassTable(tuple(relation["classes"]))
        if relation["kind"] == "table"
        else SameOpener(tuple(relation["openers"])),
    )


def _task(asked: Ask):
    from circuitproof.tasks.alphabet import Alphabet
    from circuitproof.tasks.domain import Domain
    from circuitproof.tasks.task import Task

    prompts = tuple(map(tuple, asked.task["prompts"]))
    answer, relation = _rules(asked.task)
    alphabet = Alphabet(tuple(NAMES[: asked.model.architecture["vocabulary"]]))
    domain = Domain(prompts, ("all",) * len(prompts))
    return Task("ask", alphabet, tuple(asked.task["candidates"]), domain, answer, relation)


def _pattern_task(asked: Ask):
    from circuitproof.files.reading import Fields
    from circuitproof.tasks.alphabet import Vocabulary
    from circuitproof.tasks.pattern_text import parse_pattern
    from circuitproof.tasks.patterns import read_pattern
    from circuitproof.tasks.task import Task

    pattern = asked.task["pattern"]
    read = (
        parse_pattern(spelled_pattern(pattern))
        if asked.seed % 2
        else read_pattern(Fields({"pattern": pattern}, "ask"))
    )
    answer, relation = _rules(asked.task)
    size = asked.model.architecture["vocabulary"]
    return Task("ask", Vocabulary(size), tuple(asked.task["candidates"]), read, answer, relation)


def _property(prop: dict[str, Any], frozen, base: Path | None, circuit: dict[str, Any]):
    from circuitproof.circuits.spelling import parse_circuit
    from circuitproof.files.reading import Fields
    from circuitproof.forward.interface import Span, parse_interface
    from circuitproof.proof.properties.agreement import Agreement
    from circuitproof.proof.properties.catalogue import PROPERTIES
    from circuitproof.proof.properties.minimum import Minimum
    from circuitproof.proof.properties.robustness import Robustness

    match prop["kind"]:
        case "robustness":
            chosen = prop["positions"]
            positions = Span(chosen) if isinstance(chosen, str) else tuple(chosen)
            return Robustness(Fraction(prop["epsilon"]), parse_interface(prop["at"], frozen.graph, positions))
        case "minimum":
            return Minimum(tuple(parse_circuit(circuit | {"edges": one}, "ask") for one in prop["circuits"]))
        case "agreement":
            told = {"edges": prop["edges"], "granularity": prop["granularity"]}
            return Agreement(parse_circuit(circuit | told, "ask"))
        case "lesion identity":
            return lesion_identity(base, frozen)
        case kind if len(prop) > 1:
            return PROPERTIES[kind].read(Fields(prop, "ask"), parse_circuit(circuit, "ask"))
        case kind:
            return PROPERTIES[kind]()


def lesion_identity(base: Path, frozen):
    """Return the claim that a model without its program heads is its base."""
    from circuitproof.forward.frozen import open_model
    from circuitproof.proof.properties.lesion_identity import identity_with

    return identity_with(open_model(base), frozen)


@lru_cache(maxsize=4096)
def known_ask(seed: int) -> Ask:
    """Return the ask of a seed, drawn once; it must not be changed."""
    return ask(seed) if seed < ORDINARY else fuller(seed)
