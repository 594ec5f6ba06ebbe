"""Commands that look for programs in the place of heads."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from circuitproof.cli.keeping import show_kept
from circuitproof.cli.options import AsJson, Deadline, DeviceOption, ModelOption, Out, Tasks
from circuitproof.cli.show import show_json, show_line, show_table
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.replacing import OneFile
from circuitproof.find.choices import Objective
from circuitproof.programs.syntax import Pick, Program
from circuitproof.programs.text import to_text
from circuitproof_lab.distill.choices import Growth, Scope

if TYPE_CHECKING:
    from circuitproof_lab.pipeline.synthesis import SynthesisReport

_Circuits = Annotated[
    list[Path] | None,
    Option("--circuit", help="A circuit file for each task, in order. [default: the whole model alone]"),
]
_ConditionsOption = Annotated[int, Option("--conditions", min=1, help="The most conditions of a rule.")]
_Alternatives = Annotated[int, Option("--or", min=1, help="The most alternatives of a condition.")]
_Overlap = Annotated[
    float, Option("--overlap", min=0, max=1, help="The least overlap with the head's attention.")
]
_Picks = Annotated[list[Pick] | None, Option("--pick", help="A scan to try; repeat for several.")]
_Pairs = Annotated[
    list[str] | None, Option("--pair", help="Tokens of an opener and its closer, 11:13; repeat for several.")
]
_ObjectiveOption = Annotated[
    Objective, Option("--objective", help="Want the right answers, or the model's own decisions.")
]
_ScopeOption = Annotated[
    Scope, Option("--scope", help="What must decide as wanted with the program installed.")
]
_GrowthOption = Annotated[
    Growth, Option("--growth", help="Rank the whole language, or add words as refutations ask for.")
]


def synthesise(  # noqa: PLR0913, PLR0917  # a search has these bounds, each recorded
    model: ModelOption,
    task: Tasks,
    head: Annotated[str, Option("--head", help="Layer and index of a head: 1.0.")],
    out: Annotated[Out, OneFile(beside=(".report.json", ".unrealisable.json"))],
    circuit: _Circuits = None,
    rules: Annotated[int, Option("--rules", min=1, help="The most rules of a program.")] = 2,
    conditions: _ConditionsOption = 1,
    alternatives: _Alternatives = 1,
    members: Annotated[int, Option("--members", min=1, help="The most tokens of a membership.")] = 2,
    pick: _Picks = None,
    pair: _Pairs = None,
    objective: _ObjectiveOption = Objective.PROGRAM,
    scope: _ScopeOption = Scope.BOTH,
    growth: _GrowthOption = Growth.WHOLE,
    overlap: _Overlap = 0.0,
    budget: Annotated[int, Option("--budget", min=1, help="The most programs to form.")] = 300_000,
    device: DeviceOption = DeviceChoice.CPU,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Find a program that can take a head's place, accepted exactly, or certify that none in bounds can."""
    from circuitproof.nn.devices import device_of
    from circuitproof.programs.candidates import Grammar
    from circuitproof.proof.verdict import EXIT_CODES
    from circuitproof_lab.distill.synthesis import Bounds
    from circuitproof_lab.pipeline.synthesis import SynthesisRequest, parse_brackets
    from circuitproof_lab.pipeline.synthesis import synthesise as synthesise_program

    grammar = Grammar(
        rules=rules,
        conditions=conditions,
        alternatives=alternatives,
        members=members,
        picks=tuple(pick or ()),
        brackets=parse_brackets(pair or []),
    )
    bounds = Bounds(
        grammar=grammar, objective=objective, scope=scope, growth=growth, overlap=overlap, budget=budget
    )
    where, circuits = device_of(device), tuple(circuit or ())
    asked = SynthesisRequest(
        model=model, tasks=tuple(task), head=head, circuits=circuits, bounds=bounds, device=where
    )
    shown = partial(_show, model=model)
    found = show_kept(partial(synthesise_program, asked, out), shown, out, deadline, as_json=as_json)
    if not as_json:
        _show_places(found, out)
    raise Exit(EXIT_CODES[found.verdict])


def recheck(
    certificate: Annotated[Path, Argument(metavar="FILE", help="A certificate of unrealisability.")],
    model: ModelOption,
    task: Tasks,
    as_json: AsJson = False,
) -> None:
    """Check a certificate that no program will do: list the language anew, and repeat every refutation."""
    from circuitproof_lab.pipeline.rechecking import recheck_certificate

    found = recheck_certificate(certificate, model, task)
    programs, meanings = found.language.program_count(), len(found.refuted)
    if as_json:
        show_json({"valid": True, "head": str(found.head), "programs": programs, "meanings": meanings})
    else:
        show_line(
            f"valid: all {programs} programs are refuted in the place of {found.head}, by {meanings} meanings"
        )


def _show(found: "SynthesisReport", model: Path) -> None:
    from circuitproof.models.declaration import read_declaration
    from circuitproof.reports.words import listed_tokens

    result = found.synthesis
    rows = [
        (f"{leader.overlap:.4f}{' *' if leader.is_accepted else ''}", _rules(leader.program))
        for leader in result.leaders
    ]
    kind = result.record.attention
    title = f"{result.head}: the candidates nearest to its {kind} attention; * is accepted exactly"
    show_table(title, ("overlap", "program"), rows)
    alphabet = read_declaration(model).alphabet
    mentioned = frozenset(token for leader in result.leaders for token in leader.program.tokens())
    if alphabet is not None and mentioned:
        show_line(f"tokens: {listed_tokens(alphabet.named(), mentioned)}")
    seen, effort = result.record, result.effort
    show_line(
        f"mean support {seen.mean_support:.2f} keys, under softmax {seen.mean_softmax_support:.2f}; "
        f"{effort.programs} programs over {effort.words} words, {effort.meanings} meanings, "
        f"{effort.tried} tried, {effort.decisions} exact decisions in {found.seconds:.1f} s"
    )


def _show_places(found: "SynthesisReport", out: Path) -> None:
    from circuitproof.proof.verdict import Verdict
    from circuitproof_lab.pipeline.synthesis import certificate_path

    match found.verdict:
        case Verdict.PROVED:
            show_line(f"{out} holds the program")
        case Verdict.REFUTED:
            show_line(f"unrealisable: {certificate_path(out)} refutes every meaning")
        case _:
            show_line(f"unfinished: {found.synthesis.to_json()['reason']}")


def _rules(program: Program) -> str:
    """Return the rules of a program and, where it says more than they do, its fallback."""
    lines = to_text(program).splitlines()[1:]
    return "; ".join(lines[:-1] or lines)
