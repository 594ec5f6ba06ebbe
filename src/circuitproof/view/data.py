"""What the page's script works with, as JSON: prompts, cells, edges, and where heads look."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from circuitproof.prove.findings import shown
from circuitproof.text.canonical import Json
from circuitproof.view.numbers import Cell, Numbers
from circuitproof.view.parts.prompts import closest, decided
from circuitproof.view.story import Story, Unjudged
from circuitproof.view.words import property_name, token_name

_READS = 60_000
"""The most weights of heads that a page carries."""


def story_to_json(story: Story | Unjudged) -> Json:
    """Return what a page says, for programs; of a bundle that was not judged to its end only the reason."""
    judged = story.judgement
    said: dict[str, Json] = {"outcome": judged.outcome.name.lower(), "reason": judged.reason}
    if isinstance(story, Unjudged):
        return said
    answers: list[Json] = [
        {
            "property": property_name(answer.prop),
            "verdict": str(answer.verdict),
            "remarks": list(answer.remarks),
        }
        for answer in story.bundle.answers
    ]
    return {**said, "answers": answers, "data": page_data(story)}


def page_data(story: Story) -> Json:
    """Return what can be searched, sorted and chosen on a page."""
    prompts, task = story.bundle.domain.prompts, story.bundle.task
    tokens = {token: place for place, token in enumerate(sorted({t for prompt in prompts for t in prompt}))}
    content: dict[str, Json] = {
        "tokens": [token_name(task, token) for token in tokens],
        "prompts": [[tokens[token] for token in prompt] for prompt in prompts],
        "answers": [token_name(task, answer) for answer in story.answers],
        "classes": list(story.classes),
        "order": list[Json](closest(story)),
        "edges": [str(edge) for edge in story.bundle.circuit],
        "programs": [str(head) for head in story.bundle.frozen.programs],
    }
    return content | (_numbers(story, story.numbers) if isinstance(story.numbers, Numbers) else {})


def _numbers(story: Story, found: Numbers) -> dict[str, Json]:
    margins = _ranks(cell.margin for cell in found.cells)
    radii = _ranks(cell.flip.radius for cell in found.cells if cell.flip is not None)
    return {
        "cell_of": list(found.cell_of),
        "cells": [_cell(story, cell, margins, radii) for cell in found.cells],
        "needs": [
            [list(found.needs[edge].flips), list(found.needs[edge].ties)] if found.needs else None
            for edge in story.bundle.circuit
        ],
        **_reads(story, found),
    }


def _cell(story: Story, cell: Cell, margins: Mapping[Fraction, int], radii: Mapping[Fraction, int]) -> Json:
    task, flow, flip = story.bundle.task, cell.flow, cell.flip
    return {
        "decision": decided(story, cell),
        "rival": token_name(task, task.candidates[cell.runner]),
        "margin": [shown(cell.margin), margins[cell.margin]],
        "radius": None if flip is None else [shown(flip.radius), radii[flip.radius]],
        "flips_to": None if flip is None else token_name(task, task.candidates[flip.competitor]),
        "moves": None if flip is None else len(flip.support),
        "shares": None
        if flow is None
        else [shown(flow.edges.get(edge, Fraction(0))) for edge in story.bundle.circuit],
        "own": None if flow is None else {str(node): shown(share) for node, share in flow.own.items()},
    }


def _ranks(values: Iterable[Fraction]) -> Mapping[Fraction, int]:
    """Return the place of each value in their order: exact where floats would not be."""
    return {value: place for place, value in enumerate(sorted(set(values)))}


def _reads(story: Story, found: Numbers) -> dict[str, Json]:
    """Return where heads look for the first prompts, each distinct row of weights once."""
    rows: dict[tuple[tuple[int, str], ...], int] = {}
    reads: list[Json] = []
    size = 0
    for prompt in story.bundle.domain.prompts:
        if size > _READS:
            break
        listed: list[Json] = []
        for one in found.readings(prompt):
            row = tuple((key, shown(weight)) for key, weight in one.weights)
            listed.append([str(one.head), one.query, rows.setdefault(row, len(rows))])
            size += 1 + len(row)
        reads.append(listed)
    return {"reads": reads, "rows": [[list(pair) for pair in row] for row in rows]}
