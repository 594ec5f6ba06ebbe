"""What the evidence costs: how much the independent checker must read and compute again."""

from typing import cast

from circuitproof.bundle.opening import Answered
from circuitproof.files.printing import plural
from circuitproof.files.reading import write_rational
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Element
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.parts.section import facts, note, scrolled, section


def cost(view: BundleView) -> Element:
    """Return how large the bundle is, and what is computed only once."""
    bundle = view.bundle
    rows = [(answer.prop.name, f"{leaves(answer):,}") for answer in bundle.answers]
    return section(
        "cost",
        "What it costs",
        facts(
            ("files", _files(view)),
            ("weights", f"{plural(len(bundle.frozen.file.shapes()), 'tensor')} of the model are read"),
            ("computations", _computations(view)),
            _logits(view),
        ),
        scrolled(("property", "leaves of evidence#"), rows),
        note("circuitproof cost counts what solvers would be asked instead."),
    )


def _logits(view: BundleView) -> tuple[str, str]:
    bundle = view.bundle
    if bundle.precision is not None:
        return "enclosed logits", f"none are kept: the checker computes them with {bundle.precision} bits"
    longest = max((len(write_rational(logit)) for row in bundle.folds for logit in row), default=0)
    return "exact logits", f"{plural(len(bundle.folds), 'row')}; the longest number has {longest:,} signs"


def leaves(answer: Answered) -> int:
    """Count the leaves of an answer's evidence."""
    return _leaves({key: answer.evidence.value(key) for key in answer.evidence.keys()})  # noqa: SIM118  # Fields is not a mapping


def _leaves(node: object) -> int:
    """Count the objects in which no other stands."""
    inside: list[object] = []
    if isinstance(node, dict):
        inside = list(cast("dict[str, object]", node).values())
    elif isinstance(node, list):
        inside = cast("list[object]", node)
    return sum(map(_leaves, inside)) or int(isinstance(node, dict))


def _files(view: BundleView) -> str:
    sizes = {name: len(content) for name, content in sorted(view.judgement.files.items())}
    listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
    return f"{sum(sizes.values()):,} bytes ({listed})"


def _computations(view: BundleView) -> str:
    prompts = plural(len(view.bundle.domain), "prompt")
    if not isinstance(view.numbers, Numbers):
        return prompts
    cells = plural(len(view.numbers.cells), "cell")
    rows = sum(len(stage.inputs) for stage in view.numbers.trace.stages)
    return f"{prompts} in {cells}, which {plural(rows, 'distinct input')} of nodes decide"
