"""The claim: what is said of which circuit of which model, in words and as formulas."""

from circuitproof.bundle.opening import OpenedBundle
from circuitproof.files.printing import plural, shown_text
from circuitproof.files.reading import scientific
from circuitproof.proof.properties.property import Property
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Element, el
from circuitproof.reports.parts.section import facts, name, section
from circuitproof.reports.regions import labelled_prompts
from circuitproof.reports.rules import rule_words
from circuitproof.reports.words import ablation_words, answer_name, edges_words, model_words, pattern_words
from circuitproof.tasks.domain import LAST


def claim(view: BundleView) -> Element:
    """Return model, circuit, task and domain, and each property as a sentence and a formula."""
    bundle = view.bundle
    task = bundle.task
    return section(
        "claim",
        "The claim",
        facts(
            ("task", name(task.name)),
            ("declaration", task.declaration or "none"),
            ("candidates T", _candidates(view)),
            *([] if (words := rule_words(task.answer, task.names)) is None else [("answer P", words)]),
            ("domain D", el("bdi", _domain(view))),
            ("circuit C", edges_words(bundle.circuit)),
            ("ablation", ablation_words(bundle.circuit.ablation)),
            ("model M", model_words(bundle.frozen.architecture, len(bundle.frozen.programs))),
        ),
        el(
            "p",
            "The decision d(x) is the set of candidates of the largest logit that C computes at "
            f"{_place(task.position)} of x; P(x) is the right answer; x R x′ says that x and x′ must be "
            f"decided alike. {_arithmetic(bundle)}",
        ),
        *(_property(answer.prop) for answer in bundle.answers),
    )


def _place(position: int) -> str:
    """Say where is decided: a negative position counts from the end."""
    return "the last token" if position == LAST else f"position {position}"


def _arithmetic(bundle: OpenedBundle) -> str:
    """Say how numbers are known."""
    if bundle.precision is None:
        return "All numbers are exact."
    return (
        "Numbers are enclosed: real ones, between proved bounds; a decision counts where one logit is "
        "known to be the largest."
    )


def _candidates(view: BundleView) -> Element:
    task = view.bundle.task
    first, *more = (el("bdi", answer_name(task, one), class_="token") for one in task.candidates)
    return el("span", first, *(child for one in more for child in (", ", one)))


def _property(prop: Property) -> Element:
    means = prop.meaning()
    formula = el("p", means.formula, class_="formula")
    return el("div", el("h3", prop.name), el("p", means.words), formula)


def _domain(view: BundleView) -> str:
    if (task := labelled_prompts(view.bundle)) is not None:
        words = pattern_words(view.bundle.task.names, task.pattern)
        return f"all {scientific(task.size)} prompts of {shown_text(words, most=600)}"
    sizes, names = view.bundle.domain.sizes(), view.bundle.task.names
    strata = ", ".join(f"{count} {shown_text(names.stratum(one))}" for one, count in list(sizes.items())[:8])
    listed = plural(len(view.bundle.domain), "listed prompt")
    return f"{listed} ({strata}{', …' if len(sizes) > 8 else ''})" if len(sizes) > 1 else listed  # noqa: PLR2004  # as above
