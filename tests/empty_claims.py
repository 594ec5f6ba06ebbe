"""Random asks that are likely to be true for a trivial reason, and what makes them so, found by looking.

Programs attend always, never or sometimes, tensors are zero, circuits are short or nearly whole, bases have
the same programs. `emptiness` looks at every prompt of the vocabulary, at what nodes really put out there,
and knows nothing of the rules by which remarks are found.
"""

from copy import deepcopy
from itertools import product
from random import Random

import bundle_maker as maker
from bundle_twin import Run, dead, reads
from random_claims import (
    Ask,
    Spelled,
    Theme,
    condition,
    fill,
    fit_answers,
    random_sizes,
    random_tensors,
)

KINDS = ("equivalence", "necessity", "faithfulness", "subset minimality", "minimum", "lesion identity")
EXACT = Theme(KINDS, features=frozenset({"exact", "small"}))


def plain_program(draw, size):
    """Return a program that attends always, never or sometimes."""
    default = draw.choice(("0", "0", "0", "1"))
    rules = [f"add {draw.choice('011')} when {condition(draw, size)}"] * draw.choice((0, 1, 1, 1))
    rules += [f"add {draw.choice('01')}"] * (draw.random() < 0.2)
    return [f"default {default}", *rules, f"otherwise {draw.choice(('self', 'nowhere', 'nowhere'))}"]


def empty_ask(seed):
    """Return an ask about a tiny model much of which is zero."""
    draw = Random(f"empty {seed}")  # noqa: S311  # claims, not secrets
    size = random_sizes(draw, EXACT) | {"vocabulary": 4, "context": 2, "biases": draw.random() < 0.5}
    heads = [f"0.{index}" for index in range(size["heads"])]
    programs = {head: plain_program(draw, size) for head in heads if draw.random() < 0.7}
    tensors = random_tensors(draw, size, programs)
    for name, (shape, numbers) in tensors.items():
        is_last = name.endswith(("output.weight", "down.weight", "down.bias", "output.bias"))
        if draw.random() < (0.45 if is_last else 0.1):
            tensors[name] = (shape, [0.0] * len(numbers))
    model = Spelled(size, programs, tensors)
    circuit = maker.circuit_of(size, _edges(draw, model))
    listed = [list(prompt) for prompt in draw.sample(every_prompt(size), 4)]
    task = {"candidates": [0, 1], "prompts": listed}
    task["answer"] = {"kind": "table", "answers": [0, 1, 0, 1]}
    task["relation"] = {"kind": "table", "classes": [0, 0, 1, 1]}
    asked = Ask(seed, "list", model, circuit, task, [])
    fit_answers(draw, asked)
    asked.properties = [{"kind": kind} for kind in draw.sample(KINDS, draw.choice((1, 2, 2)))]
    for prop in asked.properties:
        if prop["kind"] == "minimum":
            prop["circuits"] = [circuit["edges"]]
        if prop["kind"] == "lesion identity":
            asked.base = _base(draw, model)
    return asked


def _edges(draw, model):
    """Return a short circuit that reads its prompt, a path, or one that lacks a node or few edges."""
    every = maker.every_edge(model.architecture)
    for _ in range(200):
        match draw.choice(("short", "short", "node", "edges")):
            case "short":
                drawn = draw.sample(every, draw.randint(1, 3))
            case "node":
                out = draw.choice(["mlp 0", *(f"head {place}" for place in model.programs)])
                drawn = [edge for edge in every if out not in edge.split(" -> ")]
            case _:
                drawn = draw.sample(every, len(every) - draw.randint(1, 2))
        live = [edge for edge in every if edge in drawn and edge not in dead(drawn)]
        if reads(live, model.programs):
            return live
    return ["embed -> logits"]


def _base(draw, model):
    """Return a base with the same programs, some of them, or none."""
    base = deepcopy(model)
    base.programs = {head: lines for head, lines in model.programs.items() if draw.random() < 0.4}
    fill(draw, base)
    return base


def every_prompt(size):
    """Return all prompts that the model can read."""
    lengths = range(1, size["context"] + 1)
    return [prompt for n in lengths for prompt in product(range(size["vocabulary"]), repeat=n)]


def emptiness(asked, kinds):
    """Return the remarks that something trivial calls for, of each proved property, found by looking."""
    model, edges = asked.model.meant(), asked.circuit["edges"]
    prompts, candidates = every_prompt(asked.model.architecture), asked.task["candidates"]
    is_varied = len(set(asked.task["answer"]["answers"])) > 1

    def logits(kept):
        run = Run(model, kept)
        return [run.logits(candidates, prompt) for prompt in prompts]

    def is_alike(kept):
        found = logits(kept)
        return all(one == found[0] for one in found)

    found = {}
    lesions = [[kept for kept in edges if kept != edge] for edge in edges]
    is_equal = not {"equivalence", "subset minimality", "minimum"}.isdisjoint(kinds)
    is_chain = is_varied and all(map(is_alike, lesions))
    for kind in kinds:
        said = []
        if kind == "necessity":
            said = ["implied by equivalence"] * (is_equal and is_chain)
            run = Run(model, edges)
            for edge in edges:
                put_out = [run.output(edge.split(" -> ")[0], prompt) for prompt in prompts]
                said += [f"constant source: {edge}"] * all(one == put_out[0] for one in put_out)
        elif kind == "subset minimality":
            said = ["implied by equivalence"] * is_chain
        elif kind == "faithfulness":
            same = logits(edges) == logits(maker.every_edge(asked.model.architecture))
            said = ["whole model"] * same
        found[kind] = said
    return found
