"""The command for a first look, which needs no model, no training and no torch."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated

from typer import Exit, Option

from circuitproof.cli.options import AsJson
from circuitproof.cli.show import show_json, show_line, show_text

_NEXT = """
Next:
  circuitproof explain "#3" --bundle {bundle}
      one prompt of this proof, edge by edge
  make demo
      train a toy, find its circuits, prove and check them
  circuitproof verify --help
      prove something of a model, a circuit and a task of your own
"""


def tour(
    is_opened: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a proof that comes with the package, look at it, and see a changed number refused."""
    from circuitproof.reports.touring import SHIPPED, take_tour
    from circuitproof_check.main import Outcome

    taken = take_tour(Path(mkdtemp(prefix="circuitproof-tour-")))
    is_as_told = (taken.checked.outcome, taken.broken.outcome) == (Outcome.VALID, Outcome.INVALID)
    if as_json:
        words = {"checked": taken.checked.reason, "broken": taken.broken.reason}
        show_json({"is_as_told": is_as_told, "page": taken.page, **words})
        raise Exit(Outcome.VALID if is_as_told else Outcome.FAILURE)
    show_line("1. A proof, checked by the independent checker (standard library, no code of the prover):")
    show_line(f"   {taken.checked.outcome.name.lower()}: {taken.checked.reason}")
    show_line("2. What it says:")
    show_text(taken.verdicts)
    show_line(f"3. A copy in which one logit is changed, {taken.number}, with all digests right:")
    show_line(f"   {taken.broken.outcome.name.lower()}: {taken.broken.reason}")
    show_line(f"4. The same as a page, for any browser: {taken.page}")
    show_text(_NEXT.format(bundle=SHIPPED / "bundle"))
    if is_opened:
        import webbrowser

        webbrowser.open(taken.page.as_uri())
    raise Exit(Outcome.VALID if is_as_told else Outcome.FAILURE)
