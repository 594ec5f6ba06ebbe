"""SMT-LIB 2 text: the only form in which a query reaches a solver, so what one reads is what was solved."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from textwrap import wrap
from typing import assert_never

from circuitproof.solvers.assertions import Assertion
from circuitproof.solvers.queries import Query
from circuitproof.solvers.terms import (
    Conditional,
    Conjunction,
    Disjunction,
    Negation,
    Selector,
    SmtFormula,
    Sum,
    Summand,
    Truth,
    Variable,
    VariableProduct,
    ZeroComparison,
    parts_of,
)

_COMMENT_WIDTH = 100


def query_text(query: Query) -> str:
    """Return a query as a whole file, whose header says what each answer means for the claim."""
    meaning, eta = query.meaning, ", ".join(one.name for one in query.eta)
    header = [
        meaning.title,
        f"sat: {meaning.satisfiable}",
        f"unsat: {meaning.unsatisfiable}",
        *(
            f"{selector.name} is true where prompt {' with '.join(map(str, case.prompts))} is a solution"
            for selector, case in zip(query.selectors, query.cases, strict=True)
        ),
        *([f"the perturbation is {eta}"] if eta else []),
    ]
    return script_text(header, (*query.premises, query.goal))


def certificate_text(query: Query) -> str:
    """Return the question whether what a query assumes can be true at all, before its goal is added."""
    header = [
        f"{query.meaning.title}: the traced branches alone",
        "sat: the branches fit the circuit, so the answer to the query itself says something",
        "unsat: the branches contradict the circuit; nothing may be concluded from them",
    ]
    return script_text(header, query.premises)


def stability_text(query: Query) -> str:
    """Return the question whether some perturbation leaves the traced branches."""
    terms = query.log.terms
    kept = [assertion for assertion in query.premises if not assertion.is_condition]
    traced = [assertion.formula for assertion in query.premises if assertion.is_condition]
    leaves = Assertion(terms.negation(terms.all_of(traced)), query.goal.source)
    header = [
        f"{query.meaning.title}: whether the traced branches hold all over the ball",
        "sat: some perturbation takes another branch; the traced proof says nothing there",
        "unsat: every perturbation takes the traced branches",
    ]
    return script_text(header, (*kept, leaves))


def script_text(header: Sequence[str], assertions: Sequence[Assertion]) -> str:
    """Return assertions as a file with one `check-sat`, under comment lines."""
    parts = dict.fromkeys(part for assertion in assertions for part in parts_of(assertion.formula))
    is_linear = not any(isinstance(part, VariableProduct) for part in parts)
    comments = [line for text in header for line in wrap(text, _COMMENT_WIDTH)]
    return "\n".join(
        [
            *(f"; {line}" for line in comments),
            f"(set-logic {'QF_LRA' if is_linear else 'QF_NRA'})",
            *(f"(declare-const {part.name} Real)" for part in parts if isinstance(part, Variable)),
            *(f"(declare-const {part.name} Bool)" for part in parts if isinstance(part, Selector)),
            *(f"(assert {formula_text(assertion.formula)})" for assertion in assertions),
            "(check-sat)",
            "",
        ]
    )


def number_text(value: Fraction | int) -> str:
    """Return a rational as SMT-LIB writes it.

    >>> number_text(Fraction(-22, 5)), number_text(Fraction(3))
    ('(- (/ 22.0 5.0))', '3.0')
    """
    above, below = value.numerator, value.denominator
    text = f"{abs(above)}.0" if below == 1 else f"(/ {abs(above)}.0 {below}.0)"
    return text if above >= 0 else f"(- {text})"


def sum_text(value: Sum) -> str:
    parts = [_part_text(atom, factor) for atom, factor in value.parts]
    return _added([*parts, number_text(value.constant)] if value.constant else parts)


def formula_text(formula: SmtFormula) -> str:
    match formula:
        case Truth(value):
            return "true" if value else "false"
        case Selector(name):
            return name
        case ZeroComparison(value, relation):
            return f"({relation} {' '.join(_sides(value))})"
        case Negation(inner):
            return f"(not {formula_text(inner)})"
        case Conjunction(parts):
            return f"(and {' '.join(map(formula_text, parts))})"
        case Disjunction(parts):
            return f"(or {' '.join(map(formula_text, parts))})"
        case _:
            assert_never(formula)


def _sides(value: Sum) -> tuple[str, str]:
    """Return what is added and what is taken away, both times what makes every number whole.

    A solver keeps every distinct number as a term, and twice or three times over where it is a quotient or
    negative: at GPT-2's width that is most of the memory that it needs.
    """
    whole = lcm(value.constant.denominator, *(factor.denominator for _, factor in value.parts))
    sides: tuple[list[str], list[str]] = ([], [])
    for atom, factor in value.parts:
        sides[factor < 0].append(_part_text(atom, abs(_times(factor, whole))))
    if constant := _times(value.constant, whole):
        sides[constant < 0].append(f"{abs(constant)}.0")
    return _added(sides[0]), _added(sides[1])


def _times(number: Fraction, whole: int) -> int:
    return number.numerator * (whole // number.denominator)


def _added(parts: Sequence[str]) -> str:
    return f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0.0"


def _part_text(atom: Summand, factor: Fraction | int) -> str:
    text = _atom_text(atom)
    return text if factor == 1 else f"(* {number_text(factor)} {text})"


def _atom_text(atom: Summand) -> str:
    match atom:
        case Variable(name):
            return name
        case VariableProduct(left, right):
            return f"(* {left.name} {right.name})"
        case Conditional(condition, then, otherwise):
            return f"(ite {formula_text(condition)} {sum_text(then)} {sum_text(otherwise)})"
        case _:
            assert_never(atom)
