from circuitproof.lab.reports.changes import Bar, Changes, draw_changes


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
        draw_changes([Changes("loss", bars(*papers)), Changes("perplexity", bars(*papers))], tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert len(set(contents)) == 3
    assert all(content.startswith(b"\x89PNG") for content in contents)
