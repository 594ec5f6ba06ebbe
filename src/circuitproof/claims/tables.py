"""The claims of a file as one table: for the terminal, a page, a Markdown document or a LaTeX one."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from circuitproof.claims.checking import CheckedClaim, UnprovedClaim
from circuitproof.claims.forms import Format
from circuitproof.claims.places import ProofRecord
from circuitproof.files.reading import Fields
from circuitproof.reports.reporting import claim_cells
from circuitproof.reports.said import Table

COLUMNS = (
    "claim",
    "property",
    "verdict",
    "expected",
    "edges#",
    "prompts#",
    "cells#",
    "prove s#",
    "check s#",
    "bytes#",
)
RUNS = "could a run decide it?"
_SHARED = len(COLUMNS) - 3
"""How many cells stand once for all properties of a claim, the last of them about runs in floats."""
_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def claims_table(title: str, found: Sequence[CheckedClaim | UnprovedClaim]) -> Table:
    """Return a row for each property of each claim; what all properties share stands in the first.

    Where the claims file asks what floats decide, a last column says whether a run could tell.
    """
    rows = tuple(row for one in found for row in _rows(one))
    if not any(one.claim.measures_floats for one in found):
        return Table(title, COLUMNS, tuple(row[: len(COLUMNS)] for row in rows))
    return Table(title, (*COLUMNS, RUNS), rows)


def _rows(one: CheckedClaim | UnprovedClaim) -> Iterator[tuple[str, ...]]:
    match one:
        case UnprovedClaim():
            verdicts, shared = {}, ("",) * _SHARED
        case CheckedClaim():
            verdicts, shared = one.verdicts, _shared(one)
        case _:
            assert_never(one)
    outcome = "not proved yet" if isinstance(one, UnprovedClaim) else one.report.outcome.name.lower()
    for place, (kind, wanted) in enumerate(one.claim.expected.items()):
        numbers = shared if place == 0 else ("",) * len(shared)
        yield ("" if place else one.claim.name, kind, verdicts.get(kind, outcome), wanted, *numbers)


def _shared(one: CheckedClaim) -> tuple[str, ...]:
    if not one.report.claim:
        return ("",) * _SHARED
    edges, prompts, _ = claim_cells(Fields(one.report.claim, one.claim.name))
    return (edges, prompts, f"{one.record.cells}", *_cost(one), could_run_decide(one.record))


def could_run_decide(record: ProofRecord) -> str:
    """Say whether a run in floats decides what is known to be decided, as far as that was measured."""
    if record.unmeasured or not record.floats:
        return record.unmeasured and f"not measured: {record.unmeasured}"
    differing = [
        f"{run.format} decides {run.differing:,} otherwise" for run in record.floats if run.differing
    ]
    alike = " and ".join(str(run.format) for run in record.floats if not run.differing)
    said = [*([f"{alike} decide all alike"] if alike else []), *differing]
    widest = record.floats[0]
    lead = "" if widest.least_margin is None else f", least margin {widest.least_margin:.4g}"
    return f"{'; '.join(said)} ({widest.format}: {widest.seconds:.2f} s{lead})"


def _cost(one: CheckedClaim) -> tuple[str, str, str]:
    return (f"{one.record.seconds:.1f}", f"{one.seconds:.1f}", f"{one.size:,}")


def short_table(title: str, found: Sequence[CheckedClaim | UnprovedClaim]) -> Table:
    """Return a row for each claim, as a terminal has room for it."""
    columns = ("claim", "edges#", "prompts#", "the checker says", "prove s#", "check s#", "bytes#")
    return Table(title, columns, tuple(map(_short_row, found)))


def _short_row(one: CheckedClaim | UnprovedClaim) -> tuple[str, ...]:
    if isinstance(one, UnprovedClaim):
        return (one.claim.name, "", "", "not proved yet", "", "", "")
    if not one.report.claim:
        return (one.claim.name, "", "", one.report.outcome.name.lower(), *_cost(one))
    return (one.claim.name, *claim_cells(Fields(one.report.claim, one.claim.name)), *_cost(one))


def written(table: Table, form: Format) -> str:
    """Return a table as the text of a document."""
    match form:
        case Format.MARKDOWN:
            return _markdown(table)
        case Format.LATEX:
            return _latex(table)
        case _:
            assert_never(form)


def _markdown(table: Table) -> str:
    rules = ["---:" if column.endswith("#") else "---" for column in table.columns]
    titles = [column.removesuffix("#") for column in table.columns]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in table.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (titles, rules, *cells))


def _latex(table: Table) -> str:
    sides = "".join("r" if column.endswith("#") else "l" for column in table.columns)
    titles = [column.removesuffix("#") for column in table.columns]
    lines = [" & ".join(map(_escaped, row)) + r" \\" for row in (titles, *table.rows)]
    body = [f"\\begin{{tabular}}{{{sides}}}", "\\hline", lines[0], "\\hline", *lines[1:], "\\hline"]
    return "\n".join([*body, "\\end{tabular}", ""])


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
