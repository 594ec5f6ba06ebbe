"""The command that shows models which somebody else made, and proves what is claimed of them anew."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Exit, Option

from circuitproof.cli.claims import Jobs
from circuitproof.cli.claims_anew import shown_claims
from circuitproof.cli.options import AsJson
from circuitproof.cli.show import printing, show_line, show_result, show_table
from circuitproof.files.replacing import Continued
from circuitproof.workers import Division, workers_of

if TYPE_CHECKING:
    from circuitproof.claims.results import Claims
    from circuitproof.gallery.listed import GalleryModel, KeptModel


def gallery(
    name: Annotated[str | None, Argument(metavar="[NAME]", help="A row of it. [default: all]")] = None,
    weights: Annotated[
        Path | None, Option("--weights", help="The weights, as the row wants them: prove its claims.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", help="The row's folder. [default: build/gallery/NAME]"), Continued()
    ] = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Show models that others made and what is proved of them; with --weights, prove and check it anew."""
    from circuitproof.claims.showing import claims_said
    from circuitproof.gallery.listed import ROWS, KeptModel, find_row

    if name is None:
        if weights is not None or out is not None:
            raise BadParameter("--weights and --out want the name of a row")
        show_result(ROWS, _show_rows, as_json=as_json)
        return
    row = find_row(name)
    if isinstance(row, KeptModel):
        if weights is not None or out is not None:
            raise BadParameter(f"row {name!r} keeps its proofs: use circuitproof claims check {row.file}")
        show_result(row, _show_kept, as_json=as_json)
        return
    if weights is None:
        show_result(row, _show_row, as_json=as_json)
        return
    found = _rebuilt(row, weights, out or Path("build") / "gallery" / row.name, workers_of(jobs))
    show_result(found, printing(claims_said), as_json=as_json)
    raise Exit(found.exit_code)


def _rebuilt(row: "GalleryModel", weights: Path, folder: Path, workers: Division) -> "Claims":
    from circuitproof.claims.checking import check_claims
    from circuitproof.claims.proving import prove_claims
    from circuitproof.claims.results import Claims
    from circuitproof.gallery.rebuilding import PROOFS, rebuild
    from circuitproof.nn.measuring import measured_after

    stated, proofs = rebuild(row, weights, folder), folder / PROOFS
    with shown_claims(stated.name, len(stated.claims)) as hear:
        prove_claims(stated, proofs, hear, workers=workers, measure=measured_after)
        return Claims(stated.name, check_claims(stated, proofs, workers=workers, hear=hear))


def _show_rows(rows: "tuple[GalleryModel | KeptModel, ...]") -> None:
    show_table("the gallery", ("name", "model", "claim"), [(row.name, row.model, row.claim) for row in rows])
    show_line("circuitproof gallery NAME says where the weights of one can be had")


def _show_row(row: "GalleryModel") -> None:
    show_line(f"{row.name}: {row.model}")
    show_line(f"claim: {row.claim}")
    show_line(f"weights: {row.original} of {row.address} at {row.commit}; {row.known_by}")
    show_line(f"circuitproof gallery {row.name} --weights WEIGHTS, where WEIGHTS is {row.wants}")
    if row.kept is not None:
        model = f"build/gallery/{row.name}/model"
        show_line("its proofs are kept in the repository without weights, and judged against those by")
        show_line(f"circuitproof claims check {row.kept} --where {row.name}={model}")


def _show_kept(row: "KeptModel") -> None:
    show_line(f"{row.name}: {row.model}")
    show_line(f"claim: {row.claim}")
    show_line(f"made by: circuitproof run {row.recipe}; its proofs are kept in the repository")
    show_line(f"circuitproof claims table {row.file} lets the checker judge them all")
