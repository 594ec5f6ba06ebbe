"""One table of all claims, as documents take it."""

import pytest

from circuitproof.claims.forms import Format
from circuitproof.claims.places import MeasuredRun, ProofRecord
from circuitproof.claims.tables import could_run_decide, written
from circuitproof.reports.said import Table
from circuitproof.verbs.floats import FloatFormat


def test_markdown_keeps_its_columns_whatever_a_name_holds():
    """A bar in a name would be one column more; numbers stand to the right."""
    table = Table("t", ("claim", "edges#"), (("a|b", "3"),))
    assert written(table, Format.MARKDOWN) == "| claim | edges |\n| --- | ---: |\n| a\\|b | 3 |\n"


def test_latex_prints_every_sign_as_itself():
    """Signs that LaTeX reads as commands are escaped."""
    table = Table("t", ("claim", "edges#"), (("a_b & 5% \\x^~{}#$", "3"),))
    body = written(table, Format.LATEX)
    assert body.startswith("\\begin{tabular}{lr}\n")
    escaped = r"a\_b \& 5\% \textbackslash{}x\textasciicircum{}\textasciitilde{}\{\}\#\$ & 3 \\"
    assert escaped in body


@pytest.mark.parametrize(
    ("differing", "said"),
    [
        ((0, 0, 0), "FP64 and FP32 and FP16 decide all alike (FP64: 0.50 s, least margin 0.25)"),
        (
            (0, 0, 3),
            "FP64 and FP32 decide all alike; FP16 decides 3 otherwise (FP64: 0.50 s, least margin 0.25)",
        ),
        ((1, 2, 3), "FP64 decides 1 otherwise; FP32 decides 2 otherwise; FP16 decides 3 otherwise"),
    ],
)
def test_what_runs_decide_is_said_for_each_format(differing, said):
    """If none differ it says so."""
    runs = [MeasuredRun(one, count, 0.25, 0.5) for one, count in zip(FloatFormat, differing, strict=True)]
    assert could_run_decide(ProofRecord(1.0, 1, {}, {}, tuple(runs))).startswith(said)


def test_what_was_not_measured_says_why_or_nothing():
    """A claim that does not ask for it has an empty cell."""
    assert could_run_decide(ProofRecord(1.0, 1, {})) == ""
    found = ProofRecord(1.0, 1, {}, {}, (), "torch is not installed")
    assert could_run_decide(found) == "not measured: torch is not installed"
