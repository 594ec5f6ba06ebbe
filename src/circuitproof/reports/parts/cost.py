"""What the evidence costs: how much a stranger must read and compute again."""

from typing import cast

from circuitproof.bundle.opening import Answered
from circuitproof.files.printing import plural
from circuitproof.files.reading import write_rational
from circuitproof.reports.elements import Element
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.parts.section import facts, note, scrolled, section
from circuitproof.reports.story import Story


def cost(story: Story) -> Element:
    """Return how large the bundle is, and what is computed only once."""
    bundle = story.bundle
    rows = [(answer.prop.name, f"{leaves(answer):,}") for answer in bundle.answers]
    longest = max((len(write_rational(logit)) for row in bundle.folds for logit in row), default=0)
    return section(
        "cost",
        "What it costs",
        facts(
            ("files", _files(story)),
            ("weights", f"{plural(len(bundle.frozen.file.shapes()), 'tensor')} of the model are read"),
            ("computations", _computations(story)),
            ("exact logits", f"{plural(len(bundle.folds), 'row')}; the longest number has {longest:,} signs"),
        ),
        scrolled(("property", "leaves of evidence#"), rows),
        note("circuitproof cost counts what solvers would be asked instead."),
    )


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


def _files(story: Story) -> str:
    sizes = {name: len(content) for name, content in sorted(story.judgement.files.items())}
    listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
    return f"{sum(sizes.values()):,} bytes ({listed})"


def _computations(story: Story) -> str:
    prompts = plural(len(story.bundle.domain), "prompt")
    if not isinstance(story.numbers, Numbers):
        return prompts
    cells = plural(len(story.numbers.cells), "cell")
    rows = sum(len(stage.inputs) for stage in story.numbers.trace.stages)
    return f"{prompts} in {cells}, which {plural(rows, 'distinct input')} of nodes decide"
