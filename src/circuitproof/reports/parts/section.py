"""What every part is: a section with a title that can be linked to. And what several parts share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from circuitproof.files.printing import shown_text
from circuitproof.reports.elements import Child, Element, el, table

if TYPE_CHECKING:
    from circuitproof_check.main import Beside  # what only proves need not wait for the checker


def section(name: str, title: str, *children: Child) -> Element:
    """Return a part; `name` is where it is linked to, and how its script finds it."""
    return el(
        "section",
        el("h2", title, id=f"{name}-title"),
        *children,
        id=name,
        data_part=name,
        aria_labelledby=f"{name}-title",
    )


def note(text: str) -> Element:
    """Return a remark in small print."""
    return el("p", text, class_="note")


def facts(*pairs: tuple[str, Child]) -> Element:
    """Return what is known, a name and a value each; in text each is a row."""
    rows = (el("tr", el("th", name, scope="row"), el("td", value)) for name, value in pairs)
    return el("table", el("tbody", *rows), class_="facts")


def link(text: str, target: str, **data: str | int) -> Element:
    """Return a link within the page."""
    return el("a", el("bdi", text), href=f"#{target}", **data)


def verdict_badge(verdict: str) -> Element:
    """Return a verdict's word with its colour."""
    return el("span", verdict, class_=f"badge {verdict}")


def uncompared(beside: "Beside") -> str:
    """Say what the checker was not given to compare a bundle with: the model, the task, or both."""
    given = {"model": beside.against, "task": beside.task}
    return " and ".join(f"the {name}" for name, path in given.items() if path is None)


def outcome_badge(outcome: str, beside: "Beside") -> Element:
    """Return the checker's word; that of what is valid says too if something was not compared."""
    if outcome != "valid" or not uncompared(beside):
        return verdict_badge(outcome)
    return el("span", f"{outcome}, not compared", class_=f"badge {outcome} uncompared")


def chosen_prompt() -> Element:
    """Return the place of a bar that says which prompt is chosen and goes on to the next one."""
    return el("div", class_="chosen-prompt", data_at="chosen-prompt", data_page=True)


def scrolled(
    columns: tuple[str, ...], rows: Sequence[tuple[Child, ...]], *, tall: bool = False, **attributes: str
) -> Element:
    """Return a table that is scrolled by itself where it is wide, or long, with the keyboard too."""
    made = table(columns, rows, **attributes)
    return el("div", made, class_="scroll tall" if tall else "scroll", tabindex="0")


def share_bar(count: int, of: int, what: str = "") -> Element:
    """Return how many of how many, with a bar as long as that, and what is counted."""
    share = round(100 * count / of) if of else 0
    bar = el("span", f"{count:,}/{of:,}", class_="share", style=f"--share:{share}%")
    return el("span", bar, f" {what}") if what else bar


def name(text: str, most: int = 60) -> Element:
    """Return an untrusted name as text that turns no direction."""
    return el("bdi", shown_text(text, most=most))
