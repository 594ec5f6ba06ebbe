"""The parts of a run's page: circuits and verdicts first, then gates, calibration, audits, norms, cost."""

from collections.abc import Callable, Iterator

from circuitproof.files.printing import plural, shown_text
from circuitproof.reports.drawings.charts import Dot, draw_dots, draw_spans
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.parts.of_bundles import bundles
from circuitproof.reports.parts.section import facts, name, note, scrolled, section, share_bar
from circuitproof_lab.pages.folder import RunView, ShownRung
from circuitproof_lab.pages.study_parts import (
    blocks,
    domains,
    healing,
    limits,
    perplexity_text,
    programs,
    viability,
)
from circuitproof_lab.pages.tested_parts import explanations, variants
from circuitproof_lab.records.gate import FrontierPoint, GateOutcome
from circuitproof_lab.records.norms import NormFold


def run_heading(run: RunView) -> Element:
    """Return the name of the run, and what its numbers are."""
    return el(
        "header",
        el("h1", name(run.path.resolve().name), ": a run of ", name(run.recipe)),
        el("p", "What is measured in floats is marked so; only what the checker judges is proved."),
    )


_TRIED = ("generation", "task", "selected", "edges#", "right on the gate")


def frontier(run: RunView) -> Element | None:
    """Return for each gate how many edges it takes to decide with what margin, measured in floats."""
    if not run.trials:
        return None
    about = note(
        "Every candidate of a sweep (filled), the selected one (orange), and the most important edges alone "
        "(hollow): the edges kept and the worst margin on the gate, measured in floats. A gate is dealt "
        "before the model is asked for anything; what the model itself decides wrong there is counted apart, "
        "and no circuit is asked for it. Programs for the circuit's heads are selected before it opens too."
    )
    figures = el("div", *map(_trial, run.trials), class_="figures")
    columns = (*_TRIED, "worst margin#", "missed by the model itself", "with programs")
    made = scrolled(columns, [_selected(trial) for trial in run.trials], class_="stacked")
    return section("frontier", "The localisation frontier", about, figures, made)


def _trial(gate: GateOutcome) -> Element:
    """Draw every circuit that a gate measured, the selected one over the others."""
    title = f"generation {shown_text(gate.generation)}, {shown_text(gate.task)}"
    dots = [_dot(point) for point in gate.points if point is not gate.trial]
    dots += [*(_dot(point, "nested") for point in gate.nested), _dot(gate.trial, "selected")]
    drawn = draw_dots(dots, f"frontier of {title}", ("edges", "worst margin"))
    return el("figure", drawn, el("figcaption", el("bdi", title)))


def _dot(point: FrontierPoint, kind: str = "") -> Dot:
    edges, margin = len(point.circuit), point.gate.worst_margin
    title = f"{shown_text(point.origin)}: {plural(edges, 'edge')}, worst margin {margin:.4g}"
    return Dot(edges, margin, title, kind)


def _selected(gate: GateOutcome) -> tuple[Child, ...]:
    edges, found = len(gate.trial.circuit), gate.trial.gate
    names = map(shown_text, (gate.generation, gate.task, gate.trial.origin))
    size = found.prompts + len(gate.apart)
    return (
        *names,
        f"{edges}",
        share_bar(found.agreed, found.prompts),
        f"{found.worst_margin:.4g}",
        share_bar(len(gate.apart), size),
        "–" if gate.programs is None else share_bar(gate.programs.right, found.prompts),
    )


def calibration(run: RunView) -> Element | None:
    """Return the rungs of calibrations: what model and circuit decide right, perplexity and aim."""
    if not run.rungs:
        return None
    aims = " or ".join(dict.fromkeys(one.state.aim for one in run.rungs))
    columns = ("rung", "model", "circuit", "perplexity#", f"{aims}#", "passes")
    about = note(f"Prompts decided right, measured in floats.{_budget(run)}")
    made = scrolled(columns, [_rung(one) for one in run.rungs], class_="stacked")
    why = (el("p", shown_text(f"{one.state.task}: {one.why}", most=400)) for one in run.rungs if one.why)
    return section("calibration", "The calibration ladder", about, made, *why)


def _budget(run: RunView) -> str:
    if (quality := run.study.quality) is None:
        return ""
    has, may = perplexity_text(quality.loss), perplexity_text(quality.budget)
    return f" The base has perplexity {has} on held-out text; an artifact may have {may}."


def _rung(one: ShownRung) -> tuple[Child, ...]:
    state, audit = one.state, one.state.audit
    return (
        name(one.place),
        share_bar(audit.model, audit.prompts),
        share_bar(audit.circuit, audit.prompts),
        perplexity_text(None if state.losses is None else state.losses.model),
        f"{state.radius:.4g}",
        ("yes, of record" if one.why else "yes") if state.passes else "no",
    )


def audit(run: RunView) -> Element | None:
    """Return what is left at each rung without program heads or circuit, and where the model errs."""
    if not run.rungs:
        return None
    about = note(
        "Prompts decided right without something, measured in floats. What is right without the program "
        "heads takes another route; that this route is no product of calibration shows in the base."
    )
    left = [row for rung in run.rungs for row in _without(rung)]
    columns = ("rung", "without", "model", "perplexity#", "circuit")
    sets = ("rung", "wrong#", "not right without heads#", "both#")
    return section(
        "audit",
        "What is left without",
        about,
        scrolled(columns, left, class_="sortable stacked", tall=True),
        el("h3", "Where the model errs"),
        scrolled(sets, [_errors(one) for one in run.rungs], class_="stacked"),
    )


def _without(rung: ShownRung) -> Iterator[tuple[Child, ...]]:
    """Return all program heads together, each alone where there are several, and the circuit's edges."""
    audit, losses = rung.state.audit, rung.state.losses

    def row(without: str, right: int, loss: float | None, circuit: int | None = None) -> tuple[Child, ...]:
        beside = "" if circuit is None else share_bar(circuit, audit.prompts)
        shares = share_bar(right, audit.prompts), perplexity_text(loss), beside
        return (name(rung.place), name(without), *shares)

    together = None if losses is None else losses.without_heads
    each = (None,) * len(audit.heads) if losses is None else losses.without_each
    if len(audit.heads) == 1:
        yield row(audit.heads[0], audit.without_heads, together, audit.circuit_without_each[0])
    else:
        yield row("all program heads", audit.without_heads, together, audit.circuit_without_heads)
        yield from map(row, audit.heads, audit.without_each, each, audit.circuit_without_each)
    lost = None if losses is None else losses.without_circuit
    yield row("the circuit and these heads", audit.without_circuit, lost)


def _errors(one: ShownRung) -> tuple[Child, ...]:
    errors = one.state.audit.errors
    return (name(one.place), f"{errors.wrong:,}", f"{errors.uncovered:,}", f"{errors.both:,}")


def lesions(run: RunView) -> Element | None:
    """Return what is left of each behaviour when program heads are silenced."""
    rows = [
        (
            name(one.place, most=120),
            name(f"{one.task}: {one.fate}"),
            shown_text(one.lesion.where),
            name(", ".join(one.lesion.silenced) or "nothing", most=200),
            share_bar(one.lesion.right, one.lesion.prompts),
            f"{one.lesion.worst_margin:.4g}",
        )
        for one in run.lesions
    ]
    if not rows:
        return None
    columns = ("model", "behaviour", "in", "silenced", "right", "worst margin#")
    about = note(
        f"{plural(len(rows), 'lesion')}, measured in floats. A behaviour that is right with its program "
        "heads silenced does not go through them."
    )
    made = scrolled(columns, rows, class_="sortable stacked", tall=True)
    return section("lesions", "Lesion audit", about, made)


def norms(run: RunView) -> Element | None:
    """Return when each norm was faded out, and what that changed."""
    rows = [
        (shown_text(one.name), f"{one.first}", f"{one.last}", f"{one.deviation:.4g}") for one in run.norms
    ]
    if not rows:
        return None
    spans = [(shown_text(one.name, most=24), one.first, one.last) for one in run.norms]
    return section(
        "norms",
        "Norms removed",
        el("figure", draw_spans(spans, "when norms were faded out"), class_="narrow"),
        scrolled(("norm", "first step#", "last step#", "deviation#"), rows, class_="stacked"),
        *(_folding(run.folding) if run.folding is not None else ()),
    )


def _folding(found: NormFold) -> tuple[Element, ...]:
    error, after = found.error, found.folded.measures
    rows = [
        (shown_text(name), f"{before:.4g}", f"{after[name]:.4g}" if name in after else "–")
        for name, before in found.source.measures.items()
    ]
    said = (
        f"Folded into the weights; compared in floats at {error.positions:,} positions: the largest error of "
        f"a logit is {error.largest_error:.3g}, the best token agrees at {error.agreement:.4%} of them."
    )
    return (el("p", said), scrolled(("measure", "with norms#", "folded#"), rows))


def run_cost(run: RunView) -> Element | None:
    """Return the recipe's digest, and what the run took: seconds of calibration, bytes of bundles."""
    pairs: list[tuple[str, Child]] = [
        (shown_text(one.place), f"{one.state.seconds:.3g} s of calibration") for one in run.rungs
    ]
    pairs += [(shown_text(one.place), f"{one.size:,} bytes of evidence") for one in run.bundles]
    recipe = ("recipe", shown_text(run.digest, most=64))
    return section("cost", "What it is made of, and what it costs", facts(recipe, *pairs)) if pairs else None


RUN_PARTS: tuple[Callable[[RunView], Element | None], ...] = (
    run_heading,
    lambda run: bundles(run.bundles),
    viability,
    frontier,
    domains,
    blocks,
    programs,
    healing,
    calibration,
    audit,
    lesions,
    limits,
    norms,
    explanations,
    variants,
    run_cost,
)
