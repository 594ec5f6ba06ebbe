"""The verdicts: what was answered, what it rests on, and what it does not say."""

from collections.abc import Iterator

from circuitproof.files.printing import shown_text
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Element, el
from circuitproof.reports.evidence import rests_on
from circuitproof.reports.parts.section import scrolled, section, verdict_badge
from circuitproof.reports.words import ablation_words, remark_meaning


def verdicts(view: BundleView) -> Element:
    """Return one row for each property."""
    rows = [
        (
            answer.prop.name,
            verdict_badge(answer.verdict),
            "; ".join(answer.remarks),
            shown_text(rests_on(answer, view.bundle), most=400),
        )
        for answer in view.bundle.answers
    ]
    made = scrolled(("property", "verdict", "remarks", "rests on"), rows, class_="stacked")
    return section("verdicts", "The verdicts", made)


def limits(view: BundleView) -> Element:
    """Return what the verdicts do not say: remarks, what was not compared, and where the domain ends."""
    answers = view.bundle.answers
    remarks = [
        el("li", f"{answer.prop.name} is marked “{remark}”: {remark_meaning(remark)}.")
        for answer in answers
        for remark in answer.remarks
    ]
    silent = [el("li", f"{answer.prop.name}: {answer.prop.meaning().silent}") for answer in answers]
    said = el("ul", *remarks, *_uncompared(view), *silent, *_always(view))
    return section("limits", "What the verdicts do not say", said)


def _uncompared(view: BundleView) -> Iterator[Element]:
    if view.beside.against is None:
        said = "The model was not compared: the weights are those of the bundle. Give "
        yield el("li", said, el("code", "--against MODEL"), ".")
    if view.beside.task is None:
        said = "The task was not compared: prompts and answers are those of the bundle. Give "
        yield el("li", said, el("code", "--task FILE"), ".")


def _always(view: BundleView) -> list[Element]:
    end = "this pattern" if view.bundle.pattern is not None else "this list"
    cut = ablation_words(view.bundle.circuit.ablation)
    return [
        el("li", f"No prompt outside {end} is spoken of, whatever it looks like."),
        el("li", f"{cut} With another ablation the same edges may do something else."),
        el("li", "That a circuit decides a task does not say that the model uses it for that."),
    ]
