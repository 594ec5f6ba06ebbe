"""The regions of a pattern: which parts of it a proof looks at, and how many prompts they have."""

from circuitproof.files.printing import plural
from circuitproof.files.reading import scientific
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.parts.section import note, section
from circuitproof.reports.regions import RegionRow, RegionTree

_SHOWN = 500
"""How many regions of a tree are shown."""


def regions(view: BundleView) -> Element | None:
    """Return the trees of a claim about a pattern."""
    if not view.trees:
        return None
    return section("regions", "Regions of the pattern", *map(_tree, view.trees))


def _tree(tree: RegionTree) -> Element:
    leaves = sum(bool(region.shows) for region in tree.regions)
    rest = len(tree.regions) - _SHOWN
    more = [note(f"{rest:,} further regions are not shown.")] if rest > 0 else []
    shown = (el("li", *_region(one), style=f"--depth:{one.depth}") for one in tree.regions[:_SHOWN])
    return el(
        "details",
        el("summary", f"{tree.prop.name}: {plural(leaves, 'region')}"),
        el("ul", *shown, class_="tree"),
        *more,
        open=leaves <= 20,  # noqa: PLR2004  # what fits a screen
    )


def _region(one: RegionRow) -> list[Child]:
    count = [] if one.prompts is None else [f": {scientific(one.prompts)} prompts"]
    shows = [f"; {one.shows}"] if one.shows else []
    return [el("span", "· " * one.depth, class_="dots"), el("bdi", one.words), *count, *shows]
