"""The parts of a run's page: bundles, the frontier of each gate, calibration, lesions, norms, cost."""

from collections.abc import Callable

from circuitproof.view.drawings.charts import Bar, Dot, draw_dots, draw_spans
from circuitproof.view.elements import Child, Element, el, table
from circuitproof.view.parts.section import facts, scrolled, section, share_bar, verdict_badge
from circuitproof.view.run import Folding, Point, Rung, RunStory, Trial
from circuitproof.view.words import plural, shown_text


def run_heading(run: RunStory) -> Element:
    """Return the name of the run and its recipe."""
    return el(
        "header",
        el(
            "h1",
            el("bdi", shown_text(run.path.resolve().name)),
            ": a run of ",
            el("bdi", shown_text(run.recipe)),
        ),
        el("p", f"Recipe {shown_text(run.digest, most=64)}."),
        el("p", "What is measured in floats is marked so; only what the checker judges is proved."),
    )


def bundles(run: RunStory) -> Element | None:
    """Return what the checker says of each bundle."""
    rows = [
        (
            el("bdi", shown_text(one.place)),
            verdict_badge(one.report.outcome.name.lower()),
            el("bdi", shown_text(one.report.reason, most=600)),
        )
        for one in run.bundles
    ]
    if not rows:
        return None
    made = table(("bundle", "outcome", "the checker says"), rows, class_="stacked")
    hint = el("p", "circuitproof report BUNDLE makes the page of one of them.", class_="note")
    return section("bundles", "Bundles", scrolled(made), hint)


def frontier(run: RunStory) -> Element | None:
    """Return for each gate how many edges it takes to decide with what margin, measured in floats."""
    if not run.trials:
        return None
    about = el(
        "p",
        "Every candidate of a sweep (filled), the selected one (orange), and the most important edges alone "
        "(hollow): the edges kept and the worst margin on the gate, measured in floats.",
        class_="note",
    )
    figures = el("div", *(_trial(trial) for trial in run.trials), class_="figures")
    return section("frontier", "The localisation frontier", about, figures, _table(run))


def _trial(trial: Trial) -> Element:
    title = f"generation {shown_text(trial.generation)}, {shown_text(trial.task)}"
    dots = [_dot(point) for point in sorted(trial.points, key=lambda point: point.is_selected)]
    drawn = draw_dots(dots, f"frontier of {title}", ("edges", "worst margin"))
    return el("figure", drawn, el("figcaption", el("bdi", title)))


def _dot(point: Point) -> Dot:
    title = f"{shown_text(point.origin)}: {plural(point.edges, 'edge')}, worst margin {point.margin:.4g}"
    kind = "selected" if point.is_selected else "nested" if point.is_nested else ""
    return Dot(point.edges, point.margin, title, kind)


def _table(run: RunStory) -> Element:
    rows = [
        (shown_text(trial.generation), shown_text(trial.task), *_cells(point))
        for trial in run.trials
        for point in trial.points
        if point.is_selected
    ]
    return scrolled(
        table(("generation", "task", "selected", "edges#", "right on the gate", "worst margin#"), rows)
    )


def _cells(point: Point) -> tuple[Child, ...]:
    right = share_bar(point.agreed, point.prompts)
    return (shown_text(point.origin), f"{point.edges}", right, f"{point.margin:.4g}")


def calibration(run: RunStory) -> Element | None:
    """Return the rungs of calibrations: what is right with everything, and what is left without."""
    if not run.rungs:
        return None
    columns = ("rung", "model", "circuit", "no heads", "no circuit", "radius#", "passes")
    about = el(
        "p",
        "Prompts decided right, measured in floats: by the model, by the circuit, by the model without its "
        "program heads, and by the model without the circuit.",
        class_="note",
    )
    made = table(columns, [_rung(one) for one in run.rungs], class_="stacked")
    return section("calibration", "The calibration ladder", about, scrolled(made))


def _rung(one: Rung) -> tuple[Child, ...]:
    counts = (one.model, one.circuit, one.without_heads, one.without_circuit)
    bars = (share_bar(count, one.prompts) for count in counts)
    return (el("bdi", shown_text(one.place)), *bars, f"{one.radius:.4g}", "yes" if one.passes else "no")


def lesions(run: RunStory) -> Element | None:
    """Return what is left of each behaviour when program heads are silenced."""
    rows = [
        (
            el("bdi", shown_text(one.place, most=120)),
            el("bdi", shown_text(f"{one.task}: {one.fate}")),
            shown_text(one.where),
            el("bdi", shown_text(", ".join(one.silenced) or "nothing", most=200)),
            share_bar(one.right, one.prompts),
            f"{one.margin:.4g}",
        )
        for one in run.lesions
    ]
    if not rows:
        return None
    columns = ("model", "behaviour", "in", "silenced", "right", "worst margin#")
    made = table(columns, rows, class_="sortable stacked")
    words = (
        f"{plural(len(rows), 'lesion')}, measured in floats. A behaviour that is right with its program "
        "heads silenced does not go through them."
    )
    about = el("p", words, class_="note")
    return section("lesions", "Lesion audit", about, scrolled(made, tall=True))


def norms(run: RunStory) -> Element | None:
    """Return when each norm was faded out, and what that changed."""
    rows = [
        (shown_text(one.name), f"{one.first}", f"{one.last}", f"{one.deviation:.4g}") for one in run.norms
    ]
    if not rows:
        return None
    bars = [Bar(shown_text(one.name, most=24), one.first, one.last) for one in run.norms]
    return section(
        "norms",
        "Norms removed",
        el("figure", draw_spans(bars, "when norms were faded out"), class_="narrow"),
        scrolled(table(("norm", "first step#", "last step#", "deviation#"), rows)),
        *(_folding(run.folding) if run.folding is not None else ()),
    )


def _folding(found: Folding) -> tuple[Element, ...]:
    rows = [(shown_text(name), f"{before:.4g}", f"{after:.4g}") for name, before, after in found.measures]
    said = (
        f"Folded into the weights; compared in floats at {found.positions:,} positions: the largest error of "
        f"a logit is {found.largest_error:.3g}, the best token agrees at {found.agreement:.4%} of them."
    )
    return (el("p", said), scrolled(table(("measure", "with norms#", "folded#"), rows)))


def run_cost(run: RunStory) -> Element | None:
    """Return what the run took: seconds of calibration, bytes of bundles."""
    pairs: list[tuple[str, Child]] = [
        (shown_text(one.place), f"{one.seconds:.3g} s of calibration") for one in run.rungs if one.seconds
    ]
    pairs += [(shown_text(one.place), f"{one.size:,} bytes of evidence") for one in run.bundles]
    return section("cost", "What it costs", facts(*pairs)) if pairs else None


RUN_PARTS: tuple[Callable[[RunStory], Element | None], ...] = (
    run_heading,
    bundles,
    frontier,
    calibration,
    lesions,
    norms,
    run_cost,
)
