"""One page for all claims of a file: the table, and of each bundle what its own page shows."""

from collections.abc import Sequence

from circuitproof.claims.checking import CheckedClaim, UnprovedClaim
from circuitproof.claims.tables import claims_table
from circuitproof.reports.bundle_view import BundleView, tell
from circuitproof.reports.judged import JudgedBundle
from circuitproof.reports.page import claims_page
from circuitproof.verbs.checker import declared
from circuitproof_check.main import Beside


def page_of(title: str, sentences: Sequence[str], found: Sequence[CheckedClaim | UnprovedClaim]) -> str:
    """Return the page of checked claims as one HTML file; `sentences` say what all come to."""
    bundles = [_judged(one) for one in found if isinstance(one, CheckedClaim)]
    return claims_page(title, sentences, claims_table(title, found), bundles)


def _judged(one: CheckedClaim) -> JudgedBundle:
    """Let the bytes that are shown be judged once more; a bundle about another claim is not shown."""
    with declared(one.task) as task:
        view = (
            tell(one.bundle, Beside(one.against, one.base, task, one.claim.operations))
            if one.report.claim
            else None
        )
    return JudgedBundle(one.claim.name, one.report, one.size, view if isinstance(view, BundleView) else None)
