"""Program heads: their rules as text."""

from circuitproof.declare.programs.lines import to_lines
from circuitproof.view.elements import Element, el
from circuitproof.view.parts.section import section
from circuitproof.view.story import Story
from circuitproof.view.words import plural


def program_heads(story: Story) -> Element | None:
    """Return the program of each head of the circuit that has one; where it looks is told for each prompt."""
    programs = story.bundle.frozen.programs
    heads = [
        head for head in sorted(programs, key=lambda head: head.place) if head in story.bundle.circuit.nodes()
    ]
    if not heads:
        return None
    unused = len(programs) - len(heads)
    return section(
        "programs",
        "Program heads",
        *(
            el("div", el("h3", str(head)), el("pre", "\n".join(to_lines(programs[head])), tabindex="0"))
            for head in heads
        ),
        *(
            [el("p", f"{plural(unused, 'program head')} of the model not in the circuit.", class_="note")]
            if unused
            else []
        ),
    )
