"""An extraction as a table of its candidates, with the drawing of the chosen circuit."""

from collections.abc import Iterator

from circuitproof.find.extraction import Extraction
from circuitproof.reports.answers import drawn
from circuitproof.reports.said import Said, Table


def extraction_said(found: Extraction) -> Iterator[Said]:
    """Return every candidate; the selected one has a star."""
    rows = tuple(
        (
            f"{candidate.threshold:g}{' *' if candidate == found.selected else ''}",
            f"{len(candidate.circuit)}",
            f"{len(candidate.circuit.nodes())}",
            f"{len(candidate.circuit.heads())}",
            f"{candidate.measure.agreed}/{candidate.measure.prompts}",
            f"{candidate.measure.worst_margin:.4f}",
            f"{candidate.measure.kl:.2e}",
        )
        for candidate in found.candidates
    )
    columns = ("threshold", "edges#", "nodes#", "heads#", "agreement#", "worst margin#", "KL#")
    title = (
        f"{found.task}: faithful to the {found.method.objective}, ablation {found.circuit.ablation.name}, "
        "measured in FP32; * is selected"
    )
    yield Table(title, columns, rows)
    yield drawn(found.circuit, found.programs)
