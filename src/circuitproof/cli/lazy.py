"""Commands by name: their modules are imported when they run, and no sooner."""

import ast
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command's function stands, in which panel of the help, and whether a kill costs it nothing."""

    module: str
    panel: str
    resumes: bool = False


_IN, _FIND, _PROVE, _CHANGE, _LOOK, _SHARE = "Bring in", "Find", "Prove", "Change", "Look", "Share"
COMMANDS = {
    "task": Entry("tasks", _IN),
    "model": Entry("models", _IN),
    "circuit": Entry("discovery", _IN),
    "import-release": Entry("discovery", _IN),
    "import-hf": Entry("models", _IN),
    "import-tracr": Entry("models", _IN),
    "train": Entry("training", _IN, resumes=True),
    "evaluate": Entry("training", _FIND),
    "extract": Entry("discovery", _FIND),
    "localise": Entry("localisation", _FIND, resumes=True),
    "synthesise": Entry("synthesis", _FIND),
    "run": Entry("study", _FIND, resumes=True),
    "verify": Entry("proving", _PROVE),
    "radius": Entry("proving", _PROVE),
    "minimal": Entry("proving", _PROVE),
    "claims": Entry("claims", _PROVE, resumes=True),
    "gallery": Entry("gallery", _PROVE, resumes=True),
    "cost": Entry("solvers", _PROVE),
    "variants": Entry("variants", _CHANGE, resumes=True),
    "install": Entry("models", _CHANGE),
    "remove-norm": Entry("norms", _CHANGE, resumes=True),
    "distill": Entry("distillation", _CHANGE, resumes=True),
    "construct": Entry("construction", _CHANGE, resumes=True),
    "surrogate": Entry("surrogate", _CHANGE, resumes=True),
    "tour": Entry("tour", _LOOK),
    "logits": Entry("logits", _LOOK),
    "show": Entry("viewing", _LOOK),
    "explain": Entry("viewing", _LOOK),
    "ledger": Entry("localisation", _LOOK),
    "report": Entry("viewing", _SHARE),
    "figures": Entry("viewing", _SHARE),
    "check": Entry("checking", _SHARE),
    "recheck": Entry("synthesis", _SHARE),
    "queries": Entry("solvers", _SHARE),
    "export-hf": Entry("models", _SHARE),
}
"""Every command, by the panels of the help and in the order of use."""


class LazyGroup(TyperGroup):
    """A group whose commands are listed without importing them, and loaded where they are asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # noqa: ARG002  # as the base has it
        return list(COMMANDS)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # noqa: ANN401, ARG002  # it has no public name
        """Write the commands of each panel with what they do."""
        for panel in dict.fromkeys(entry.panel for entry in COMMANDS.values()):
            names = [name for name, entry in COMMANDS.items() if entry.panel == panel]
            with formatter.section(panel):
                formatter.write_dl([(name, _help(name).partition("\n\n")[0]) for name in names])

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:
        """Return the command that the arguments begin with, loaded, and the arguments that are left."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else _load(name), rest


def unloaded() -> None:
    """Stand for a command in the list of all, until it is loaded."""


def _help(name: str) -> str:
    """Return the docstring of a command's function from the text of its module."""
    text = Path(__file__).with_name(f"{COMMANDS[name].module}.py").read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return next(ast.get_docstring(one) or "" for one in functions if one.name == name.replace("-", "_"))


def _load(name: str) -> object:
    from circuitproof.cli.examples import EXAMPLES
    from circuitproof.cli.helping import HELP, GroupedCommand
    from circuitproof.cli.writing import guarded

    module = import_module(f"circuitproof.cli.{COMMANDS[name].module}")
    example = f"\b\nExample:\n  {EXAMPLES[name]}"
    if (group := getattr(module, "group", None)) is not None:
        found = get_command(group)
        found.epilog, found.context_settings = example, HELP
        return found
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    command = alone.command(name, cls=GroupedCommand, context_settings=HELP, epilog=example)
    command(guarded(getattr(module, name.replace("-", "_"))))
    return get_command(alone)
