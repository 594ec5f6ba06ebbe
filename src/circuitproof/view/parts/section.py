"""What every part is: a section with a title that can be linked to."""

from circuitproof.view.elements import Child, Element, el


def section(name: str, title: str, *children: Child) -> Element:
    """Return a part; `name` is where it is linked to."""
    return el(
        "section", el("h2", title, id=f"{name}-title"), *children, id=name, aria_labelledby=f"{name}-title"
    )


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
