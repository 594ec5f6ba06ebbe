"""The exact engine against solvers: a contradiction is an error that carries its smallest query."""

from collections.abc import Sequence

from circuitproof.proof.verdict import Answer, Verdict
from circuitproof.solvers.obligations import Questions
from circuitproof.solvers.queries import Query
from circuitproof.solvers.rulings import DisagreementError, Ruling
from circuitproof.solvers.smtlib import query_text


def refuse_conflict(questions: Questions, answer: Answer, rulings: Sequence[Ruling]) -> None:
    """Refuse a proof by one engine of what another refutes; who leaves a question open contradicts nobody."""
    decided = {str(answer.verdict): "the exact engine"}
    for ruling in rulings:
        decided.setdefault(str(ruling.verdict), ruling.solver)
    if not {Verdict.PROVED, Verdict.REFUTED} <= decided.keys():
        return
    raise DisagreementError(
        f"{answer.prop.kind}: {decided[Verdict.PROVED]} proves what {decided[Verdict.REFUTED]} refutes",
        query_text(_smallest(questions, answer, rulings)),
    )


def _smallest(questions: Questions, answer: Answer, rulings: Sequence[Ruling]) -> Query:
    """Return the query about what somebody found, narrowed to that, or else the first query."""
    first: Query | None = None
    found = _found(answer, rulings)
    for obligation in questions.obligations(answer.prop):
        for query in obligation.queries():
            first = first or query
            for prompts in found.get(obligation.name, ()) or found.get("", ()):
                narrow = query.narrowed(prompts)
                if narrow is not query:
                    return narrow
    assert first is not None  # noqa: S101  # a property has obligations, and each a query
    return first


def _found(answer: Answer, rulings: Sequence[Ruling]) -> dict[str, list[tuple[int, ...]]]:
    """Return the prompts that engines name, by obligation where they say which."""
    found: dict[str, list[tuple[int, ...]]] = {"": list(answer.findings.counterexamples)}
    for witnesses in answer.findings.edges:
        found[str(witnesses.edge)] = [(x,) for x in (witnesses.flips + witnesses.ties)[:1]]
    for ruling in rulings:
        for solution in ruling.solutions:
            found.setdefault(solution.obligation, []).append(solution.prompts)
    return found
