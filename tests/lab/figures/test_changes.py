import json

from circuitproof_lab.figures.changes import Bar, Changes, draw_changes, read_changes
from circuitproof_lab.figures.style import write_drawing


def bars(*papers: float | None) -> tuple[Bar, ...]:
    """Return a bar per number of the paper."""
    return tuple(
        Bar(label=f"variant {place}", mean=0.1 * place, least=0.0, most=0.2 * place, paper=paper)
        for place, paper in enumerate(papers)
    )


def test_the_figure_is_the_same_for_the_same_data_and_another_for_others(tmp_path):
    """Bars with the paper's number beside them, and without."""
    contents = []
    for name, papers in (
        ("one", (0.0, 0.5)),
        ("same", (0.0, 0.5)),
        ("other", (0.0, None)),
        ("none", (None,)),
    ):
        panels = [Changes("loss", bars(*papers)), Changes("perplexity", bars(*papers))]
        write_drawing(draw_changes(panels), tmp_path / f"{name}.png")
        contents.append((tmp_path / f"{name}.png").read_bytes())
    assert contents[0] == contents[1]
    assert len(set(contents)) == 3


def test_a_comparison_is_read_from_its_file(tmp_path):
    """The first variant is what the others are compared with, and has no bar."""
    spread = {"mean": 0.5, "least": 0.25, "most": 1.0}
    rows = [
        {"name": name, "loss_change": spread, "perplexity_change": spread, "paper_change": paper}
        for name, paper in (("base", [0, 0]), ("told", [0.125, -2]), ("untold", None))
    ]
    (tmp_path / "comparison.json").write_text(json.dumps({"variants": rows, "gate": None}))
    loss, perplexity = read_changes(tmp_path / "comparison.json")
    assert [bar.label for bar in loss.bars] == ["told", "untold"]
    assert [bar.paper for panel in (loss, perplexity) for bar in panel.bars] == [0.125, None, -2, None]
    assert (loss.bars[0].least, loss.bars[0].mean, loss.bars[0].most) == (0.25, 0.5, 1.0)
    assert "above base" in loss.title
