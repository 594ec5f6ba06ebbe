"""The heads of the circuit: programs with their rules, and where each head looks in the chosen prompt."""

from collections.abc import Iterator

from circuitproof.circuits.graph import Head
from circuitproof.files.printing import plural
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Element, el
from circuitproof.reports.parts.section import chosen_prompt, note, section
from circuitproof.reports.words import program_lines

_OPEN = 4
"""Up to so many neural heads, all are in sight at once."""


def program_nodes(view: BundleView) -> list[Head]:
    """Return the heads of the circuit that have a program."""
    programs = view.bundle.frozen.programs
    return [head for head in view.bundle.circuit.heads() if head in programs]


def heads(view: BundleView) -> Element | None:
    """Return each program with its heads, and the other heads; the page draws where they look."""
    programs, nodes = view.bundle.frozen.programs, program_nodes(view)
    if not view.bundle.circuit.heads():
        return None
    listed = (
        _program(
            number,
            [head for head in nodes if programs[head] == program],
            program_lines(view.bundle.task.names, program),
        )
        for number, program in enumerate(dict.fromkeys(programs[head] for head in nodes))
    )
    unused = len(programs) - len(nodes)
    beside = [note(f"{plural(unused, 'program head')} of the model not in the circuit.")] if unused else []
    return section("heads", "The heads", chosen_prompt(), *listed, *_neural(view), *beside)


def _neural(view: BundleView) -> Iterator[Element]:
    """Return the place of each neural head's attention; of many they are closed until one is opened."""
    found = [head for head in view.bundle.circuit.heads() if head not in view.bundle.frozen.programs]
    for head in found:
        title = el("summary", f"{head}, learned attention")
        looks = el("div", class_="scroll", tabindex="0", data_at=f"attention {head}")
        yield el("details", title, looks, data_page=True, data_head=str(head), open=len(found) <= _OPEN)


def _program(number: int, heads: list[Head], lines: list[str]) -> Element:
    rules = el("pre", "\n".join(lines), tabindex="0")
    looks = el("div", class_="scroll", tabindex="0", data_at=f"attention {number}", data_page=True)
    return el("div", el("h3", ", ".join(map(str, heads))), el("div", rules, looks, class_="program"))
