"""What is said of all claims of a file: one table, and what is not as it should be."""

from collections.abc import Iterator

from circuitproof.claims.results import Claims
from circuitproof.claims.tables import short_table
from circuitproof.reports.said import Said


def claims_said(found: Claims) -> Iterator[Said]:
    """Return a row for each claim, and what its verdicts come to."""
    yield short_table(found.name, found.claims)
    yield from found.summary()
