"""How margins and radii are spread over the prompts."""

from fractions import Fraction

from circuitproof.files.reading import shown
from circuitproof.proof.findings import spread
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.reports.bundle_view import BundleView
from circuitproof.reports.drawings.charts import draw_histogram
from circuitproof.reports.elements import Element, el
from circuitproof.reports.numbers import Numbers
from circuitproof.reports.parts.section import note, section


def spreads(view: BundleView) -> Element | None:
    """Return a histogram of the margins and one of the radii, where they are known."""
    if not isinstance(view.numbers, Numbers):
        return None
    cells = [view.numbers.cells[place] for place in view.numbers.cell_of]
    radii, claimed = [cell.flip.radius for cell in cells if cell.flip is not None], _claimed(view)
    figures = [_figure([cell.margin for cell in cells], "margins", "")]
    figures += [_figure(radii, "radii", _against(claimed), claimed)] if radii else []
    unknown = [] if radii else [note(_unknown(view))]
    return section("spread", "Margins and radii", el("div", *figures, class_="figures"), *unknown)


def _figure(values: list[Fraction], what: str, further: str, mark: Fraction | None = None) -> Element:
    sizes = ", ".join(f"{name} {shown(size)}" for name, size in spread(values).items())
    caption = el("figcaption", f"{len(values):,} {what}: {sizes}{further}")
    return el("figure", draw_histogram(values, what, mark), caption)


def _claimed(view: BundleView) -> Fraction | None:
    """Return the size at which robustness of the final residual was claimed."""
    asked = [answer.prop for answer in view.bundle.answers if isinstance(answer.prop, Robustness)]
    return next((prop.epsilon for prop in asked if prop.at.is_final_residual), None)


def _against(claimed: Fraction | None) -> str:
    about = "; the radius is how far the final residual must move, in each coordinate, to change the decision"
    return about + ("" if claimed is None else f"; robustness was claimed at ε = {shown(claimed)}")


def _unknown(view: BundleView) -> str:
    if not view.bundle.frozen.architecture.has_norm:
        return "No decision is clear, so there are no radii."
    if view.bundle.precision is not None:
        return "A norm reads the final residual, and logits are enclosed: no radii are known."
    return "A norm reads the final residual: radii have no closed form, but circuitproof radius finds them."
