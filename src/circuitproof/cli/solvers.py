"""Commands that put claims to solvers, and count what that costs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from typer import Context, Exit, Option

from circuitproof.cli.helping import given, refuse_idle
from circuitproof.cli.keeping import show_kept
from circuitproof.cli.options import (
    AgreesWith,
    AsJson,
    At,
    CircuitFile,
    Deadline,
    Epsilon,
    ModelOption,
    Out,
    Perturbed,
    TaskName,
)
from circuitproof.cli.pacing import paced
from circuitproof.cli.show import show_line, show_result, show_table
from circuitproof.errors import ExitCode, asked_for
from circuitproof.files.reading import alone
from circuitproof.files.replacing import Folder
from circuitproof.proof.properties.kinds import Kind
from circuitproof.solvers.choices import Asking, Branching, Engine

if TYPE_CHECKING:
    from circuitproof.proof.claim import Claim
    from circuitproof.proof.effort import Pace
    from circuitproof.solvers.rulings import Ruling
    from circuitproof.verbs.cost import Account, Costs
    from circuitproof.verbs.cross_check import ComparedProperty, CrossCheck
    from circuitproof.verbs.verification import Request

Engines = Annotated[
    Engine,
    Option(
        "--engine", help="Who answers: exact arithmetic with evidence, a solver, or all of them compared."
    ),
]
Anchors = Annotated[
    int | None, Option("--anchors", min=1, help="Ask solvers about so many prompts. [default: all]")
]
Seconds = Annotated[float, Option("--seconds", min=0.001, max=1e6, help="What a solver has for a query.")]
Branched = Annotated[
    Branching, Option("--branches", help="Keep every branch, or follow the exact engine's, checked first.")
]


def show_cross_check(
    request: "Request", asking: Asking, out: Path | None, deadline: float | None, *, as_json: bool
) -> NoReturn:
    """Put a claim to engines, print who decided what in how long, and end with the verdict's exit code."""
    from circuitproof.proof.verdict import EXIT_CODES
    from circuitproof.verbs.cross_check import cross_check

    def answer(pace: "Pace") -> "CrossCheck":
        return cross_check(request.at(pace), asking=asking, out=out)

    found = show_kept(answer, _show_compared, out, deadline, as_json=as_json)
    raise Exit(EXIT_CODES[found.verdict])


def _show_compared(found: "CrossCheck") -> None:
    from circuitproof.reports.answers import claim_title
    from circuitproof.reports.counterexamples import counterexample_lines

    rows = [row for one in found.compared for row in _compared_rows(found.claim, one)]
    columns = ("property", "engine", "verdict", "met#", "seconds#", "seen")
    show_table(claim_title(found.claim, found.verdict), columns, rows)
    for one in found.counterexamples():
        for line in counterexample_lines(found.claim.task, one):
            show_line(line)
    if found.exact_seconds is not None:
        show_line(f"the exact engine took {found.exact_seconds:.2f} s for all properties")


def queries(  # noqa: PLR0913, PLR0917  # a claim has these parts
    context: Context,
    model: ModelOption,
    task: TaskName,
    out: Annotated[Out, Folder("folder of queries", ("*.smt2",))],
    circuit: CircuitFile = None,
    properties: Annotated[
        list[Kind] | None, Option("--property", help="What to claim; repeat for several.")
    ] = None,
    agrees_with: AgreesWith = None,
    epsilon: Epsilon = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    anchors: Anchors = None,
    branches: Branched = Branching.KEPT,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Write every query of a claim as an SMT-LIB file that says what each answer means."""
    from circuitproof.verbs.asked import circuit_beside
    from circuitproof.verbs.cross_check import write_queries
    from circuitproof.verbs.verification import PerturbationSite, Request, parse_properties

    if epsilon is None:
        refuse_idle(given(context, "at", "positions"), "there is no --epsilon")
    other, place = circuit_beside(agrees_with, model), PerturbationSite(at, positions)
    asked = parse_properties(properties or [], epsilon, agrees_with=other)
    request = Request(model=model, circuit=circuit, task=task, properties=asked, place=place)
    asking = Asking(engine=Engine.ALL, branching=branches, anchors=anchors)
    with paced(deadline, as_json=as_json) as pace:
        count = write_queries(request.at(pace), asking, out)
    told = {"queries": count, "folder": out}
    show_result(told, lambda _: show_line(f"{out} holds {count} queries"), as_json=as_json)


def cost(  # noqa: PLR0913, PLR0917  # a count has these parts
    context: Context,
    models: Annotated[list[Path], Option("--model", help="A model directory; repeat for several.")],
    circuits: Annotated[
        list[Path], Option("--circuit", help="A circuit for all models, or one for each, in order.")
    ],
    task: TaskName,
    epsilon: Annotated[str, Option("--epsilon", help="The size of perturbations.")] = "1/100",
    anchors: Anchors = None,
    branches: Branched = Branching.TRACED,
    engine: Annotated[
        Engine, Option("--engine", help="Which solvers answer as well; exact only counts.")
    ] = Engine.EXACT,
    seconds: Seconds = 60.0,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Count what the four properties of circuits assert, by source, and per edge beside the paper's."""
    from circuitproof.verbs.cost import CostRequest, count_costs

    if engine is Engine.EXACT:
        refuse_idle(given(context, "seconds"), "no solver is asked (--engine)")
    with asked_for():
        size = alone(epsilon, "--epsilon").rational("")
    with paced(deadline, as_json=as_json) as pace:
        request = CostRequest(
            models=tuple(models),
            circuits=tuple(circuits),
            task=task,
            epsilon=size,
            asking=Asking(engine=engine, branching=branches, anchors=anchors, seconds=seconds),
            pace=pace,
        )
        found = count_costs(request)
    show_result(found, _show_costs, as_json=as_json)
    raise Exit(ExitCode.UNDECIDED if found.overdue else ExitCode.GOOD)


def _show_costs(found: "Costs") -> None:
    from circuitproof.verbs.cost import PAPER_PER_EDGE, explain

    sources = ("norm#", "attention#", "mlp#", "embedding#", "decision#")
    work = ("per norm#", "products#", "branches#", "encode s#", "solve s", "total#")
    columns = ("circuit", "claim", "edges#", "per edge#", "paper#", *sources, *work)
    rows = [
        (*_counts(one), f"{one.total.total}" if found.is_matched else "not compared")
        for one in found.accounts
    ]
    show_table("assertions of the four properties", columns, rows)
    for model in found.overdue:
        show_line(f"the work was ended before all of {model} was counted")
    for sentence in explain(found):
        show_line(sentence)
    figures = ", ".join(f"{variant} {number}" for variant, number in PAPER_PER_EDGE.items())
    show_line(f"paper: assertions per edge of its own circuits, {figures}")


def _counts(one: "Account") -> tuple[str, ...]:
    from circuitproof.solvers.assertions import AssertionSource
    from circuitproof.verbs.cost import PAPER_PER_EDGE

    total = one.total
    return (
        f"{one.variant} ({one.model.name})",
        f"{one.verdict}",
        f"{len(one.circuit)}",
        f"{float(one.per_edge):.0f}",
        f"{PAPER_PER_EDGE[one.variant]}",
        *(f"{total.assertions.get(source, 0)}" for source in AssertionSource),
        "" if total.per_norm is None else f"{float(total.per_norm):.1f}",
        f"{total.products}",
        f"{total.branches}",
        f"{total.encode_seconds:.1f}",
        ", ".join(f"{name} {seconds:.1f}" for name, seconds in one.seconds().items()),
    )


def _compared_rows(claim: "Claim", one: "ComparedProperty") -> "Iterator[tuple[str, ...]]":
    from circuitproof.reports.answers import answer_row

    if one.answer is not None:
        name, verdict, met, seen = answer_row(claim, one.answer)
        yield (name, "exact", verdict, met, "", seen)
    for ruling in one.solver_answers.rulings:
        met, seconds = f"{ruling.met}/{ruling.obligations}", f"{ruling.seconds:.2f}"
        yield (one.prop.name, ruling.solver, ruling.verdict, met, seconds, _seen(ruling))


def _seen(ruling: "Ruling") -> str:
    found = [(one.obligation, " with ".join(map(str, one.prompts))) for one in ruling.solutions[:3]]
    parts = [f"{obligation}: prompt {prompts}" for obligation, prompts in found]
    if ruling.open:
        parts.append(f"{len(ruling.open)} open, first {ruling.open[0]}")
    return "; ".join(parts) or "no counterexample"
