import pytest

from circuitproof.files.records import read_record, write_record
from circuitproof_lab.figures.changes import Bar, changes_of, draw_changes
from circuitproof_lab.figures.style import write_drawing
from circuitproof_lab.records.variants import (
    COMPARISON,
    MeasuredModel,
    SeedSpread,
    UnfinishedSeed,
    VariantComparison,
    VariantRow,
)

SPREAD = SeedSpread(0.5, 0.25, 1.0)


def compared(*papers: float | None) -> VariantComparison:
    """Return a comparison of a variant per number of the paper, after the first."""
    rows = [
        VariantRow(
            name=f"variant {place}",
            runs=(MeasuredModel(1, 9, None, {"loss": 0.5, "perplexity": 0.5}),),
            measures={"loss": SPREAD, "perplexity": SPREAD},
            changes={"loss": SPREAD, "perplexity": SPREAD},
            paper=None,
            paper_changes={} if paper is None else {"loss": paper, "perplexity": -paper},
        )
        for place, paper in enumerate((0.0, *papers))
    ]
    return VariantComparison(tuple(rows), None, ())


@pytest.mark.parametrize("papers", [(0.0, 0.5), (0.0, None), (None,)])
def test_the_figure_is_the_same_for_the_same_data_and_another_for_others(tmp_path, papers):
    """Bars with the paper's number beside them, and without."""
    contents = []
    for name, found in (("one", papers), ("same", papers), ("other", (*papers, 0.25))):
        write_drawing(draw_changes(compared(*found)), tmp_path / f"{name}.png")
        contents.append((tmp_path / f"{name}.png").read_bytes())
    assert contents[0] == contents[1]
    assert contents[2] != contents[0]


def test_a_comparison_is_read_from_its_file(tmp_path):
    """The first variant is what the others are compared with, and has no bar."""
    write_record(tmp_path / COMPARISON, compared(0.125, None))
    loss, perplexity = changes_of(read_record(tmp_path / COMPARISON, VariantComparison))
    assert loss.bars[0] == Bar(label="variant 1", mean=0.5, least=0.25, most=1.0, paper=0.125)
    assert [bar.paper for panel in (loss, perplexity) for bar in panel.bars] == [0.125, None, -0.125, None]
    assert loss.title == "loss above variant 0"


def test_a_comparison_without_a_finished_seed_is_a_sentence():
    """Nothing is drawn of nothing."""
    unfinished = VariantComparison((), None, (UnfinishedSeed(1, ("plain",)),))
    assert "no seed is measured with every variant yet" in draw_changes(unfinished)
