"""One table of all claims, as documents take it."""

from circuitproof.claims.forms import Format
from circuitproof.claims.tables import written
from circuitproof.reports.said import Table


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
