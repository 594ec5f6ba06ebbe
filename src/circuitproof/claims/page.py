"""One page for all claims of a file: the table, and of each bundle what its own page shows."""

from collections.abc import Sequence

from circuitproof.claims.checking import Checked, Missing
from circuitproof.claims.tables import claims_table
from circuitproof.reports.judged import JudgedBundle
from circuitproof.reports.page import claims_page
from circuitproof.reports.story import Story, tell
from circuitproof.verbs.checker import declared
from circuitproof_check.main import Beside


def page_of(title: str, sentences: Sequence[str], found: Sequence[Checked | Missing]) -> str:
    """Return the page of checked claims as one HTML file; `sentences` say what all come to."""
    bundles = [_judged(one) for one in found if isinstance(one, Checked)]
    return claims_page(title, sentences, claims_table(title, found), bundles)


def _judged(one: Checked) -> JudgedBundle:
    """Let the bytes that are shown be judged once more; a bundle about another claim is not shown."""
    with declared(one.task) as task:
        story = (
            tell(one.bundle, Beside(one.against, one.base, task, one.claim.operations))
            if one.report.claim
            else None
        )
    return JudgedBundle(one.claim.name, one.report, one.size, story if isinstance(story, Story) else None)
