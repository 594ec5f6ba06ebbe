"""The command that compares variants of a language model: its table, its figure, its JSON."""

import json

from variants import write_variants


def test_a_comparison_is_a_table_a_figure_and_a_gate(run, tmp_path):
    """Our numbers and the paper's stand beside each other; a second call repeats no training."""
    given = ("variants", write_variants(tmp_path), "--out", tmp_path / "run", "--seed", 2)
    code, out, _ = run(*given, "--figure", tmp_path / "changes.png")
    assert code == 0
    for words in (
        "baseline",
        "norm-free",
        "+0.5000",
        "-2.0000",
        "in FP32; one seed",
        "of loss against plain",
    ):
        assert words in out
    assert (tmp_path / "changes.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "changes.png").write_bytes(b"of another day")
    again = (*given, "--figure", tmp_path / "changes.png", "--json")
    assert run(*again)[0] == 3
    assert (tmp_path / "changes.png").read_bytes() == b"of another day"
    code, out, _ = run(*again, "--force")
    assert code == 0
    assert (tmp_path / "changes.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(out)
    assert [row["name"] for row in found["rows"]] == ["baseline", "plain", "band", "control", "norm-free"]
    assert found["gate"]["control"]["name"] == "control"


def test_a_seed_is_compared_when_every_variant_is_measured(run, tmp_path):
    """Until then the command says what is missing, and draws nothing."""
    given = (
        "variants",
        write_variants(tmp_path),
        "--out",
        tmp_path / "run",
        "--seed",
        1,
        "--variant",
        "plain",
    )
    code, out, err = run(*given, "--figure", tmp_path / "changes.png")
    assert code == 0
    assert "seed 1 is not compared yet: baseline, band, control, norm-free to be measured" in out
    assert "no seed is measured with every variant yet" in err
    assert not (tmp_path / "changes.png").exists()
