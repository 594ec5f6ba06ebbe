"""The command that writes a page of results from records."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from circuitproof.cli.options import AsJson
from circuitproof.cli.show import show_line, show_result
from circuitproof.files.replacing import OneFile


def results(
    evidence: Annotated[Path, Argument(metavar="EVIDENCE", help="The folder of records and template.")],
    out: Annotated[Path, Option("--out", help="Where the page is written."), OneFile()],
    as_json: AsJson = False,
) -> None:
    """Write a page whose numbers are read from records: EVIDENCE/results.in.md with its fields filled."""
    from circuitproof.files.canonical import write_file
    from circuitproof_lab.pages.results import NO_RECORD, results_page

    page = results_page(evidence)
    write_file(out, page.text.encode())
    pending = f", {page.pending} have {NO_RECORD[1:-1]}" if page.pending else ""
    told = {"page": out, "fields": page.fields, "pending": page.pending}
    show_result(
        told, lambda _: show_line(f"{out} has {page.fields} numbers of records{pending}"), as_json=as_json
    )
