"""One prompt explained, on the page that of the least margin until another is chosen."""

from collections.abc import Iterator

from circuitproof.bundle.opening import OpenedBundle
from circuitproof.files.printing import plural
from circuitproof.files.reading import shown
from circuitproof.proof.regions.radius import Bracket
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Child, Element, el, table
from circuitproof.reports.explain import Explanation, explain_place
from circuitproof.reports.numbers import ComputedCell, Numbers
from circuitproof.reports.parts.prompts import closest
from circuitproof.reports.parts.section import chosen_prompt, facts, name, section
from circuitproof.reports.trace import AttentionReading
from circuitproof.reports.words import (
    ablation_words,
    answer_name,
    decision_text,
    exact,
    moved,
    prompt_text,
    token_name,
)

_MOVED = 8
UNSHARED = "Logits are enclosed: a margin is divided among edges only where it is exact."
_UNMOVED = {False: "anything: it is a tie", True: "nothing at the final residual"}


def explanation(view: BundleView) -> Element | None:
    """Return the explanation of the prompt of the least margin."""
    if not isinstance(view.numbers, Numbers):
        return None
    found = explain_place(view, view.numbers, closest(view)[0])
    return explained("One prompt: that of the least margin", found)


def explained(title: str, found: Explanation) -> Element:
    """Return an explanation: facts, what each edge brings, and where heads look."""
    return section(
        "explanation",
        title,
        chosen_prompt(),
        el("div", facts(*_facts(found)), data_at="explanation-facts"),
        el("h3", "What each edge brings to the margin"),
        el("div", _shares(found), class_="scroll tall", tabindex="0", data_at="explanation-shares"),
        el("h3", "Where heads look"),
        el("div", _readings(found), class_="scroll tall", tabindex="0", data_at="explanation-reads"),
    )


def _facts(found: Explanation) -> Iterator[tuple[str, Child]]:
    task, cell = found.bundle.task, found.cell
    yield "prompt", name(prompt_text(task, found.prompt), most=2000)
    yield "answer", el("bdi", "not claimed" if found.answer is None else answer_name(task, found.answer))
    tie = " (a tie)" if cell.is_clear is False else ""
    yield "decision", el("bdi", f"{decision_text(task, cell.fold.decision)}{tie}")
    for whose, fold in found.beside.items():
        yield whose, el("bdi", decision_text(task, fold.decision))
    yield "cell", _cell(found)
    rival = answer_name(task, task.candidates[cell.runner])
    yield "margin", el("bdi", f"{_margin(cell)} over {rival}")
    yield "flips by", el("bdi", flip_words(found.bundle, cell, found.searched))
    if found.needed is not None:
        cut = ", ".join(map(str, found.needed))
        yield "needs", cut or "no single edge: without any one of them the decision stays"
    yield "cut edges", ablation_words(found.bundle.circuit.ablation)
    if found.partner is not None:
        yield "partner", name(prompt_text(task, found.partner), most=2000)


def _margin(cell: ComputedCell) -> str:
    """Return a margin exactly, or with how far it is off at most."""
    return exact(cell.margin) if not cell.within else f"{shown(cell.margin)} ± {shown(cell.within, 2)}"


def _cell(found: Explanation) -> str:
    if found.number is None:
        return "none of the bundle's prompts is this one"
    return f"cell {found.number}, with {plural(found.shared, 'prompt')} of the bundle"


def flip_words(bundle: OpenedBundle, cell: ComputedCell, searched: Bracket | None = None) -> str:
    """Say what would change the decision of a cell, or what a search for that has found."""
    flip = cell.flip
    if searched is not None:
        return _searched(searched)
    if flip is None and cell.is_clear is True and bundle.frozen.architecture.has_norm:
        if bundle.precision is not None:
            return "not known: a norm reads the final residual, and logits are enclosed"
        return "no closed form: a norm reads the final residual (circuitproof explain and radius search)"
    if flip is None:
        return _UNMOVED[cell.is_clear] if isinstance(cell.is_clear, bool) else "not known, as the decision"
    rival = answer_name(bundle.task, bundle.task.candidates[flip.competitor])
    places = ", ".join(f"{'+' if flip.direction[x] > 0 else '−'}{x}" for x in flip.support[:_MOVED])
    more = ", …" if len(flip.support) > _MOVED else ""
    coordinates = f"{plural(len(flip.support), 'coordinate')} of the final residual ({places}{more})"
    if bundle.precision is not None:
        return f"moving {coordinates} by {shown(flip.radius)}: then {rival} is level or ahead"
    return f"moving {coordinates} by {exact(flip.radius)}: then {rival} is level"


def _searched(found: Bracket) -> str:
    if found.is_infinite:
        return "nothing at the final residual"
    none = f"no perturbation of the final residual below {shown(found.lower)} does"
    if found.eta is None or found.upper is None:
        return f"{none}; larger ones are not known"
    exactly = "the exact radius" if found.is_exact else f"{none}, and between them it is open"
    return f"{moved(found.eta)} of the final residual, none by more than {shown(found.upper)}: {exactly}"


def _shares(found: Explanation) -> Element:
    if found.bundle.precision is not None:
        return el("p", UNSHARED)
    rows: list[tuple[Child, ...]] = [(edge, shown(share), "") for edge, share in found.terms()]
    rows.append(("sum: the margin", shown(found.cell.margin), ""))
    rows.extend((edge, "", shown(share)) for edge, share in found.inner())
    return table(("edge", "into logits#", "inside#"), rows)


def _readings(found: Explanation) -> Element:
    rows = [_reading(found, one) for one in found.readings]
    return table(("head", "from#", "reads"), rows) if rows else el("p", "No head is read.")


def _reading(found: Explanation, one: AttentionReading) -> tuple[Child, ...]:
    names = {key: token_name(found.bundle.task, found.prompt[key]) for key, _ in one.weights}
    looks = ", ".join(f"{names[key]} at {key}: {shown(weight)}" for key, weight in one.weights)
    program = " (program)" if one.head in found.bundle.frozen.programs else ""
    return (f"{one.head}{program}", f"{one.query}", el("bdi", looks or "nothing"))
