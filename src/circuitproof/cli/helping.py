"""How a command's help looks, and command lines that are refused before the command begins."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from circuitproof.errors import UsageError

HELP = {"help_option_names": ["-h", "--help"]}
"""The flags that ask for help, for every command and for the list of them."""
GROUPS = {
    "Claim": (
        "model",
        "task",
        "circuit",
        "ablation",
        "properties",
        "bounds",
        "candidates",
        "position",
        "agrees_with",
    ),
    "Robustness": ("epsilon", "at", "positions", "method", "budget"),
    "Patterns": ("pattern", "limits", "regions", "listed", "exps"),
    "Enclosed logits": ("precision",),
    "Solvers": ("engine", "anchors", "seconds", "branches"),
    "Output": (
        "deadline",
        "jobs",
        "cluster",
        "measure_floats",
        "device",
        "out",
        "detached",
        "as_json",
        "force",
        "help",
    ),
}
"""The options of the commands that have many, by what they are about."""
_GROUPED = "verify"
_ALONE = ("circuit", "agrees_with")
"""Options that one may take for repeatable, since they are in other commands; the last would count."""


class GroupedCommand(TyperCommand):
    """A command whose options, where there are many, stand in groups."""

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # noqa: ANN401  # it has no public name
        """Write the options of each group."""
        if self.name != _GROUPED:
            super().format_options(ctx, formatter)
            return
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        for group, names in GROUPS.items():
            if found := [record for name in names if (record := records.get(name)) is not None]:
                with formatter.section(group):
                    formatter.write_dl(found)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        """Refuse an empty argument, which Python takes for this folder, and one of two that would be lost."""
        for place, word in enumerate(args):
            if not word or (word.startswith("--") and word.endswith("=")):
                after = f" after {args[place - 1]}" if place and not word else f" in {word}" if word else ""
                raise typer.BadParameter(f"an argument{after} is empty; write a value, or leave it out", ctx)
        for param, times in Counter(self.make_parser(ctx).parse_args(list(args))[2]).items():
            if times > 1 and param.name in _ALONE and not param.multiple:
                said = f"{param.opts[0]} is given {times} times, and only the last would count; give it once"
                raise typer.BadParameter(said, ctx)
        return super().parse_args(ctx, args)


def given(context: typer.Context, *names: str) -> tuple[str, ...]:
    """Return those of some options, by their parameters' names, that the command line gives, as flags."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return tuple(
        f"--{name.replace('_', '-')}"
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    )


def refuse_idle(flags: Sequence[str], why: str) -> None:
    """Refuse options that do nothing beside the others."""
    if flags:
        raise UsageError(f"{flags[0]} does nothing here: {why}; leave it out")
