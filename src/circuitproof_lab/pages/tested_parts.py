"""The parts of a run's page about models beside each other: explanations by surrogates, and variants."""

from collections.abc import Sequence

from circuitproof.files.printing import plural, shown_text
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.parts.section import name, note, scrolled, section, share_bar
from circuitproof_lab.pages.folder import RunView
from circuitproof_lab.records.surrogate import SurrogateReport, TestedProgram
from circuitproof_lab.records.variants import NormGate, SeedSpread, VariantRow


def explanations(run: RunView) -> Element | None:
    """Return what became of each explanation that was tested through a surrogate."""
    if not run.explanations:
        return None
    about = note(
        "A program is compared with a small network that answers every word of a bounded domain as the "
        "teacher does: proved there in exact arithmetic, or refuted by a word. It says nothing of others."
    )
    columns = ("teacher", "data", "surrogate", "explanation", "refuted by", "outcome")
    made = scrolled(columns, [_explanation(one) for one in run.explanations], class_="stacked")
    return section("explanations", "Explanations tested from outside", about, made)


def _explanation(one: SurrogateReport) -> tuple[Child, ...]:
    tested = one.explanation
    return (
        name(one.name),
        "" if tested is None else share_bar(tested.agreed, one.data),
        share_bar(one.surrogate_agreed, one.words),
        "none" if tested is None else f"{shown_text(tested.template)}: {tested.verdict}",
        "" if tested is None else _disproof(tested),
        shown_text(one.outcome, most=200),
    )


def _disproof(tested: TestedProgram) -> str:
    if (found := tested.disproof) is None:
        return ""
    said = f"{list(found.tokens)}, {found.text}: program {found.program}, teacher {found.teacher}"
    return shown_text(said, most=200)


def variants(run: RunView) -> Element | None:
    """Return what was measured of each variant, and how far it is from the first."""
    if run.comparison is None or not run.comparison.rows:
        return None
    first, kinds = run.comparison.rows[0], tuple(run.comparison.rows[0].measures)
    about = note(
        f"Means over {plural(len(first.runs), 'seed')}, from the least to the most, measured in floats; "
        f"above (Δ) {shown_text(first.name)} of the same seed."
    )
    columns = ("variant", *(column for kind in kinds for column in (f"{kind}#", f"Δ {kind}#")))
    made = scrolled(columns, [_variant(row, kinds) for row in run.comparison.rows], class_="stacked")
    gate = () if run.comparison.gate is None else (el("p", _gate(run.comparison.gate)),)
    return section("variants", "Variants beside each other", about, made, *gate)


def _variant(row: VariantRow, kinds: Sequence[str]) -> tuple[Child, ...]:
    pairs = ((row.measures[kind], row.changes[kind]) for kind in kinds)
    return (name(row.name), *(cell for value, change in pairs for cell in (_text(value), _text(change, "+"))))


def _gate(gate: NormGate) -> str:
    beside = [one for one in (gate.source, gate.control, gate.gate) if one is not None]
    above = "; ".join(f"{_text(one.loss, '+')} against {shown_text(one.name)}" for one in beside)
    verdict = "passed" if gate.passes else "failed"
    return f"{shown_text(gate.name)}, loss: {above}. The gate, the last of these, is {verdict}."


def _text(found: SeedSpread, sign: str = "") -> str:
    spread = f" ({found.least:{sign}.4g} to {found.most:{sign}.4g})" if found.least < found.most else ""
    return f"{found.mean:{sign}.4g}{spread}"
