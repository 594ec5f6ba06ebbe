"""The parts of a run's page: circuits and verdicts first, then gates, calibration, audits, norms, cost."""

from collections.abc import Callable

from circuitproof.text.printing import plural, shown_text
from circuitproof.view.drawings.charts import Dot, draw_dots, draw_spans
from circuitproof.view.elements import Child, Element, el
from circuitproof.view.parts.of_bundles import bundles
from circuitproof.view.parts.of_studies import beyond, healing, programs, viability
from circuitproof.view.parts.section import facts, name, note, scrolled, section, share_bar
from circuitproof.view.run import Folding, Point, RunStory, Trial
from circuitproof.view.rungs import Lesioned, Rung
from circuitproof.view.words import perplexity_text


def run_heading(run: RunStory) -> Element:
    """Return the name of the run, and what its numbers are."""
    return el(
        "header",
        el("h1", name(run.path.resolve().name), ": a run of ", name(run.recipe)),
        el("p", "What is measured in floats is marked so; only what the checker judges is proved."),
    )


def frontier(run: RunStory) -> Element | None:
    """Return for each gate how many edges it takes to decide with what margin, measured in floats."""
    if not run.trials:
        return None
    about = note(
        "Every candidate of a sweep (filled), the selected one (orange), and the most important edges alone "
        "(hollow): the edges kept and the worst margin on the gate, measured in floats."
    )
    figures = el("div", *map(_trial, run.trials), class_="figures")
    columns = ("generation", "task", "selected", "edges#", "right on the gate", "worst margin#")
    made = scrolled(columns, [_selected(trial) for trial in run.trials], class_="stacked")
    return section("frontier", "The localisation frontier", about, figures, made)


def _trial(trial: Trial) -> Element:
    title = f"generation {shown_text(trial.generation)}, {shown_text(trial.task)}"
    dots = [_dot(point) for point in sorted(trial.points, key=lambda point: point.is_selected)]
    drawn = draw_dots(dots, f"frontier of {title}", ("edges", "worst margin"))
    return el("figure", drawn, el("figcaption", el("bdi", title)))


def _dot(point: Point) -> Dot:
    title = f"{shown_text(point.origin)}: {plural(point.edges, 'edge')}, worst margin {point.margin:.4g}"
    kind = "selected" if point.is_selected else "nested" if point.is_nested else ""
    return Dot(point.edges, point.margin, title, kind)


def _selected(trial: Trial) -> tuple[Child, ...]:
    point = trial.selected
    names = map(shown_text, (trial.generation, trial.task, point.origin))
    return (*names, f"{point.edges}", share_bar(point.agreed, point.prompts), f"{point.margin:.4g}")


def calibration(run: RunStory) -> Element | None:
    """Return the rungs of calibrations: what model and circuit decide right, perplexity and radius."""
    if not run.rungs:
        return None
    columns = ("rung", "model", "circuit", "perplexity#", "radius#", "passes")
    about = note(f"Prompts decided right, measured in floats.{_budget(run)}")
    made = scrolled(columns, [_rung(one) for one in run.rungs], class_="stacked")
    why = (el("p", shown_text(f"{one.task}: {one.why}", most=400)) for one in run.rungs if one.why)
    return section("calibration", "The calibration ladder", about, made, *why)


def _budget(run: RunStory) -> str:
    if (quality := run.study.quality) is None:
        return ""
    has, may = perplexity_text(quality.perplexity), perplexity_text(quality.budget)
    return f" The base has perplexity {has} on held-out text; an artifact may have {may}."


def _rung(one: Rung) -> tuple[Child, ...]:
    return (
        name(one.place),
        share_bar(one.model, one.prompts),
        share_bar(one.circuit, one.prompts),
        perplexity_text(one.perplexity),
        f"{one.radius:.4g}",
        ("yes, of record" if one.why else "yes") if one.passes else "no",
    )


def audit(run: RunStory) -> Element | None:
    """Return what is left at each rung without program heads or circuit, and where the model errs."""
    if not run.rungs:
        return None
    about = note(
        "Prompts decided right without something, measured in floats. What is right without the program "
        "heads takes another route; that this route is no product of calibration shows in the base."
    )
    left = [_lesioned(rung, one) for rung in run.rungs for one in rung.lesions]
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


def _lesioned(rung: Rung, one: Lesioned) -> tuple[Child, ...]:
    circuit = "" if one.circuit is None else share_bar(one.circuit, rung.prompts)
    shares = share_bar(one.model, rung.prompts), perplexity_text(one.perplexity), circuit
    return (name(rung.place), name(one.without), *shares)


def _errors(one: Rung) -> tuple[Child, ...]:
    return (name(one.place), f"{one.errors.wrong:,}", f"{one.errors.uncovered:,}", f"{one.errors.both:,}")


def lesions(run: RunStory) -> Element | None:
    """Return what is left of each behaviour when program heads are silenced."""
    rows = [
        (
            name(one.place, most=120),
            name(f"{one.task}: {one.fate}"),
            shown_text(one.where),
            name(", ".join(one.silenced) or "nothing", most=200),
            share_bar(one.right, one.prompts),
            f"{one.margin:.4g}",
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


def norms(run: RunStory) -> Element | None:
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


def _folding(found: Folding) -> tuple[Element, ...]:
    rows = [(shown_text(name), f"{before:.4g}", f"{after:.4g}") for name, before, after in found.measures]
    said = (
        f"Folded into the weights; compared in floats at {found.positions:,} positions: the largest error of "
        f"a logit is {found.largest_error:.3g}, the best token agrees at {found.agreement:.4%} of them."
    )
    return (el("p", said), scrolled(("measure", "with norms#", "folded#"), rows))


def run_cost(run: RunStory) -> Element | None:
    """Return the recipe's digest, and what the run took: seconds of calibration, bytes of bundles."""
    pairs: list[tuple[str, Child]] = [
        (shown_text(one.place), f"{one.seconds:.3g} s of calibration") for one in run.rungs if one.seconds
    ]
    pairs += [(shown_text(one.place), f"{one.size:,} bytes of evidence") for one in run.bundles]
    recipe = ("recipe", shown_text(run.digest, most=64))
    return section("cost", "What it is made of, and what it costs", facts(recipe, *pairs)) if pairs else None


RUN_PARTS: tuple[Callable[[RunStory], Element | None], ...] = (
    run_heading,
    bundles,
    viability,
    frontier,
    programs,
    healing,
    calibration,
    audit,
    lesions,
    beyond,
    norms,
    run_cost,
)
