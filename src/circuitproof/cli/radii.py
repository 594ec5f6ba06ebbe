"""The command that measures how robust decisions are."""

from typing import TYPE_CHECKING

import typer

from circuitproof.cli.options import AsJson, At, CircuitFile, Deadline, ModelPath, Parts, Perturbed, TaskName

if TYPE_CHECKING:
    from circuitproof.lab.runs.radii import PromptRadius, Radii


def radius(  # noqa: PLR0913, PLR0917  # a radius has these parts
    model: ModelPath,
    task: TaskName,
    circuit: CircuitFile = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    budget: Parts = 5_000,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Find how large a perturbation must be to change each decision: exactly, or between proved bounds."""
    from circuitproof.cli.pacing import paced
    from circuitproof.cli.show import show_json
    from circuitproof.lab.runs.radii import find_radii
    from circuitproof.lab.runs.verification import Place
    from circuitproof.prove.effort import Effort

    with paced(deadline, as_json=as_json) as pace:
        effort = Effort(budget=budget, pace=pace)
        found = find_radii(model, task, circuit, Place(at, positions), effort)
    if as_json:
        show_json(found.to_json())
    else:
        _show(found)
    raise typer.Exit(found.exit_code)


def _size(one: "PromptRadius") -> str:
    """Return a radius in words: a number, a tie, or the bounds that are known."""
    from circuitproof.prove.findings import shown

    if one.bracket is None:
        return "a tie"
    low, high = one.bracket.lower, one.bracket.upper
    if one.bracket.is_exact:
        return shown(low)
    if not low and high is None:
        return "not looked at"
    return f"at least {shown(low)}" if high is None else f"between {shown(low)} and {shown(high)}"


def _show(found: "Radii") -> None:
    from circuitproof.cli.show import show_line, show_table
    from circuitproof.prove.findings import shown
    from circuitproof.view.counterexamples import prompt_line

    absolute, relative = found.distribution(), found.distribution(is_relative=True)
    rows = [(name, shown(size), shown(relative[name])) for name, size in absolute.items() if name in relative]
    title = f"{len(found.exact())} of {len(found.prompts)} radii known exactly, at {found.at}"
    if rows:
        show_table(title, ("", "radius#", "relative to the largest coordinate#"), rows)
    else:
        show_line(title)
    infinite = sum(one.bracket is not None and one.bracket.is_infinite for one in found.prompts)
    unattained = sum(one.bracket is not None and not one.bracket.is_attained for one in found.exact())
    show_line(
        f"{found.ties} ties, {infinite} infinite radii; {unattained} infima are not known to be attained"
    )
    if found.open_brackets:
        show_line(f"{len(found.open_brackets)} radii only bounded")
    names = found.task.alphabet.named()
    for place in found.weakest:
        line = prompt_line(names, found.task.prompts[place])
        show_line(f"weakest: {_size(found.prompts[place])}, prompt {place}: {line}")
    if found.ties:
        count = len(found.prompts)
        show_line(f"{found.ties} of {count} prompts tie: there is no decision to keep, and no radius")
    elif found.proved:
        show_line(f"proved: every decision is kept below {shown(found.proved)}")
