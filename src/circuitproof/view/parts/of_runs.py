"""The parts of a run's page: bundles, the frontier of each gate, calibration, lesions, norms."""

from collections.abc import Callable

from circuitproof.view.drawing import draw_frontier
from circuitproof.view.elements import Element, el, table
from circuitproof.view.parts.section import section, verdict_badge
from circuitproof.view.run import Point, RunStory, Trial
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
            shown_text(one.place),
            verdict_badge(one.report.outcome.name.lower()),
            shown_text(one.report.reason, most=600),
        )
        for one in run.bundles
    ]
    if not rows:
        return None
    made = table(("bundle", "outcome", "the checker says"), rows)
    hint = el("p", "circuitproof report BUNDLE makes the page of one of them.", class_="note")
    return section("bundles", "Bundles", el("div", made, class_="scroll"), hint)


def frontier(run: RunStory) -> Element | None:
    """Return for each gate how many edges it takes to decide with what margin, measured in floats."""
    if not run.trials:
        return None
    about = el(
        "p",
        "Every candidate of a sweep (filled), the selected one (orange), and the most important edges alone "
        "(hollow): edges from left to right, the worst margin on the gate from below, measured in floats.",
        class_="note",
    )
    figures = el("div", *(_trial(trial) for trial in run.trials), class_="figures")
    return section("frontier", "The localisation frontier", about, figures, _table(run))


def _trial(trial: Trial) -> Element:
    title = f"generation {shown_text(trial.generation)}, {shown_text(trial.task)}"
    return el("figure", draw_frontier(trial.points, title), el("figcaption", el("bdi", title)))


def _table(run: RunStory) -> Element:
    rows = [
        (shown_text(trial.generation), shown_text(trial.task), *_cells(point))
        for trial in run.trials
        for point in trial.points
        if point.is_selected
    ]
    made = table(("generation", "task", "selected", "edges#", "right on the gate#", "worst margin#"), rows)
    return el("div", made, class_="scroll")


def _cells(point: Point) -> tuple[str, str, str, str]:
    right = f"{point.agreed}/{point.prompts}"
    return (shown_text(point.origin), f"{point.edges}", right, f"{point.margin:.4g}")


def calibration(run: RunStory) -> Element | None:
    """Return the rungs of calibrations: what is right with everything, and what is left without."""
    rows = [
        (
            shown_text(one.place),
            f"{one.model}/{one.prompts}",
            f"{one.circuit}/{one.prompts}",
            f"{one.without_heads}/{one.prompts}",
            f"{one.without_circuit}/{one.prompts}",
            f"{one.radius:.4g}",
            f"{one.seconds:.3g}",
            "yes" if one.passes else "no",
        )
        for one in run.rungs
    ]
    if not rows:
        return None
    columns = ("rung", "model#", "circuit#", "no heads#", "no circuit#", "radius#", "seconds#", "passes")
    about = el(
        "p",
        "Prompts decided right, measured in floats: by the model, and with parts silenced.",
        class_="note",
    )
    return section(
        "calibration", "The calibration ladder", el("div", table(columns, rows), class_="scroll"), about
    )


def lesions(run: RunStory) -> Element | None:
    """Return what is left of each behaviour when program heads are silenced."""
    rows = [
        (
            shown_text(f"{one.place} {one.task} ({one.fate})", most=120),
            one.where,
            shown_text(", ".join(one.silenced) or "nothing", most=200),
            f"{one.right}/{one.prompts}",
            f"{one.margin:.4g}",
        )
        for one in run.lesions
    ]
    if not rows:
        return None
    made = table(("model", "in", "silenced", "right#", "worst margin#"), rows)
    about = el("p", f"{plural(len(rows), 'lesion')}, measured in floats.", class_="note")
    return section("lesions", "Lesion audit", el("div", made, class_="scroll tall", tabindex="0"), about)


def norms(run: RunStory) -> Element | None:
    """Return when each norm was faded out."""
    rows = [
        (shown_text(one.name), f"{one.first}", f"{one.last}", f"{one.deviation:.4g}") for one in run.norms
    ]
    if not rows:
        return None
    made = table(("norm", "first step#", "last step#", "deviation#"), rows)
    return section("norms", "Norms removed", el("div", made, class_="scroll"))


RUN_PARTS: tuple[Callable[[RunStory], Element | None], ...] = (
    run_heading,
    bundles,
    frontier,
    calibration,
    lesions,
    norms,
)
