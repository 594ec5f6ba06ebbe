"""What the page's script works with, as JSON: prompts, cells, edges, witnesses, and where heads look.

A part whose script needs more adds a function to `DATA`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

from circuitproof.arithmetic.protocol import RationalRow
from circuitproof.circuits.ablation import Counterfactual
from circuitproof.files.canonical import Json
from circuitproof.files.reading import shown
from circuitproof.programs.meaning import row as program_row
from circuitproof.programs.syntax import Program
from circuitproof.proof.fold import Fold
from circuitproof.reports.bundle_view import BundleView, Unjudged
from circuitproof.reports.evidence import PromptWitness, Shown, ShownDecision
from circuitproof.reports.numbers import ComputedCell, Numbers, lead
from circuitproof.reports.parts.explanation import UNSHARED, flip_words
from circuitproof.reports.parts.heads import program_nodes
from circuitproof.reports.parts.prompts import closest
from circuitproof.reports.parts.witnesses import says
from circuitproof.reports.trace import trace
from circuitproof.reports.words import (
    ablation_words,
    answer_name,
    constants_words,
    decision_text,
    prompt_text,
    token_name,
)
from circuitproof.tasks.domain import Prompt

_READS = 60_000
"""The most weights of heads that a page carries of each kind."""
_NEURAL = 40_000
"""The most weights of neural heads at all positions, which are computed for the page."""


def view_to_json(view: BundleView | Unjudged) -> Json:
    """Return what a page says, for programs; of a bundle that was not judged to its end only the reason."""
    judged = view.judgement
    said: dict[str, Json] = {"outcome": judged.outcome.name.lower(), "reason": judged.reason}
    if isinstance(view, Unjudged):
        return said
    answers: list[Json] = [
        {"property": one.prop.name, "verdict": str(one.verdict), "remarks": list(one.remarks)}
        for one in view.bundle.answers
    ]
    return {**said, "answers": answers, "data": page_data(view)}


def page_data(view: BundleView) -> Json:
    """Return what can be searched, sorted and chosen on a page."""
    return {key: value for gather in DATA for key, value in gather(view).items()}


def _prompts(view: BundleView) -> dict[str, Json]:
    prompts, task = view.bundle.domain.prompts, view.bundle.task
    tokens = {token: place for place, token in enumerate(sorted({t for prompt in prompts for t in prompt}))}
    return {
        "tokens": [token_name(task, token) for token in tokens],
        "prompts": [[tokens[token] for token in prompt] for prompt in prompts],
        "answers": [answer_name(task, answer) for answer in view.answers],
        "order": list[Json](closest(view)),
        "edges": [str(edge) for edge in view.bundle.circuit],
    }


def _numbers(view: BundleView) -> dict[str, Json]:
    found = view.numbers
    if not isinstance(found, Numbers):
        return {}
    margins = _ranks(cell.margin for cell in found.cells)
    radii = _ranks(cell.flip.radius for cell in found.cells if cell.flip is not None)
    needs: list[Json] = [[_cells(found, one.flips), _cells(found, one.ties)] for one in found.needs.values()]
    return {
        "cell_of": list(found.cell_of),
        "cells": [_cell(view, cell, margins, radii) for cell in found.cells],
        "needs": needs or None,
        **({} if view.bundle.precision is None else {"unshared": UNSHARED}),
    }


def _cells(found: Numbers, places: Sequence[int]) -> Json:
    """Return the cells of some prompts: of who needs an edge, whole cells do."""
    return list[Json](sorted({found.cell_of[place] for place in places}))


def _cell(
    view: BundleView, cell: ComputedCell, margins: Mapping[Fraction, int], radii: Mapping[Fraction, int]
) -> Json:
    task, edges, flow, flip = view.bundle.task, view.bundle.circuit, cell.flow, cell.flip
    return {
        "decision": decision_text(task, cell.fold.decision),
        "rival": answer_name(task, task.candidates[cell.runner]),
        "margin": [shown(cell.margin), margins[cell.margin]],
        "radius": None if flip is None else [shown(flip.radius), radii[flip.radius]],
        "flips": flip_words(view.bundle, cell),
        "shares": None if flow is None else [shown(flow.edges.get(edge, Fraction(0))) for edge in edges],
        "own": None if flow is None else {str(node): shown(share) for node, share in flow.own.items()},
    }


def _ranks(values: Iterable[Fraction]) -> Mapping[Fraction, int]:
    """Return the place of each value in their order: exact where floats would not be."""
    return {value: place for place, value in enumerate(sorted(set(values)))}


def _ablation(view: BundleView) -> dict[str, Json]:
    """Return what cut edges carry: in words, and for each prompt its partner if it has one."""
    ablation, task = view.bundle.circuit.ablation, view.bundle.task
    said: dict[str, Json] = {"cut": ablation_words(ablation), "constants": constants_words(ablation)}
    if isinstance(ablation, Counterfactual):
        partners = [ablation.partners.get(prompt, ()) for prompt in view.bundle.domain.prompts]
        said["partners"] = [prompt_text(task, partner) for partner in partners]
    return said


def _witnesses(view: BundleView) -> dict[str, Json]:
    return {"witnesses": [_witness(view, one) for one in view.witnesses]}


def _witness(view: BundleView, one: PromptWitness) -> Json:
    return {
        "says": says(one),
        "refutes": one.is_refutation,
        "edge": None if one.edge is None else list(view.bundle.circuit).index(one.edge),
        "change": one.change(),
        "width": view.bundle.frozen.architecture.width,
        "shown": [_shown(view, entry) for entry in one.shown],
    }


def _shown(view: BundleView, entry: Shown) -> Json:
    return {
        "prompt": entry.prompt,
        "before": _decided(view, entry.found),
        "after": None if entry.other is None else _decided(view, entry.other),
        "eta": [shown(size) for size in entry.perturbation],
    }


def _decided(view: BundleView, found: ShownDecision) -> Json:
    margin = shown(lead(found)) if isinstance(found, Fold) else None
    return {"decision": decision_text(view.bundle.task, found.decision), "margin": margin}


class _DistinctRows:
    """Rows of weights, each distinct one once."""

    def __init__(self) -> None:
        self._places: dict[tuple[tuple[int, str], ...], int] = {}

    def place(self, row: RationalRow) -> int:
        """Return the place of a row; weights of 0 are left out."""
        spelled = tuple((key, shown(weight)) for key, weight in row if weight)
        return self._places.setdefault(spelled, len(self._places))

    def to_json(self) -> Json:
        return [[list(pair) for pair in row] for row in self._places]


def _looks(view: BundleView) -> dict[str, Json]:
    """Return where heads look from the positions that matter, and programs from all, least margins first."""
    if not isinstance(view.numbers, Numbers):
        return {}
    rows, nodes, programs = _DistinctRows(), program_nodes(view), view.bundle.frozen.programs
    distinct = list(dict.fromkeys(programs[head] for head in nodes))
    return {
        "programs": {str(head): distinct.index(programs[head]) for head in nodes},
        "reads": _reads(view, view.numbers, rows),
        "attention": _attention(view, distinct, rows),
        "neural": _neural(view, rows),
        "rows": rows.to_json(),
    }


def _reads(view: BundleView, found: Numbers, rows: _DistinctRows) -> Json:
    reads, size = dict[str, Json](), 0
    for place in closest(view):
        if size > _READS:
            break
        prompt = view.bundle.domain.prompts[place]
        listed = [(one, rows.place(one.weights)) for one in found.trace.readings(prompt)]
        reads[str(place)] = [[str(one.head), one.query, row] for one, row in listed]
        size += sum(1 + len(one.weights) for one, _ in listed)
    return reads


def _attention(view: BundleView, programs: list[Program], rows: _DistinctRows) -> Json:
    """Return for each prompt and each distinct program the row of weights from every position."""

    @cache
    def row(number: int, prefix: Prompt) -> int:
        return rows.place(program_row(programs[number], prefix, len(prefix) - 1))

    found: dict[str, Json] = {}
    for place in closest(view) if programs else ():
        if row.cache_info().currsize > _READS:
            break
        prompt = view.bundle.domain.prompts[place]
        prefixes = [prompt[: last + 1] for last in range(len(prompt))]
        found[str(place)] = [[row(number, one) for one in prefixes] for number in range(len(programs))]
    return found


def _neural(view: BundleView, rows: _DistinctRows) -> Json:
    """Return the rows of neural heads at every position, for some prompts of the least margins."""
    frozen, circuit = view.bundle.frozen, view.bundle.circuit
    heads = [head for head in circuit.live().heads() if head not in frozen.programs]
    places = list(_affordable(view, len(heads))) if heads else []
    if not places:
        return {}
    prompts = [view.bundle.domain.prompts[place] for place in places]
    traced = trace(view.bundle, prompts, is_whole=True)
    found: dict[str, Json] = {}
    for place, prompt in zip(places, prompts, strict=True):
        matrices = traced.matrices(prompt)
        found[str(place)] = {str(head): [rows.place(row) for row in matrices[head]] for head in heads}
    return found


def _affordable(view: BundleView, heads: int) -> Iterator[int]:
    """Return the places of prompts of the least margins whose matrices have no more weights than allowed."""
    size = 0
    for place in closest(view):
        size += heads * len(view.bundle.domain.prompts[place]) ** 2 // 2
        if size > _NEURAL:
            return
        yield place


DATA: tuple[Callable[[BundleView], dict[str, Json]], ...] = (
    _prompts,
    _numbers,
    _ablation,
    _witnesses,
    _looks,
)
