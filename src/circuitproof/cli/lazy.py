"""Commands are listed without importing them: their modules are imported when they run, and no sooner."""

import ast
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from circuitproof.cli.table import CommandEntry, HelpPanel, commands, entry_of


class LazyGroup(TyperGroup):
    """A group whose commands stand in tables, and are loaded where they are asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # noqa: ARG002  # as the base has it
        return list(commands())

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # noqa: ANN401, ARG002  # it has no public name
        """Write the commands of each panel with what they do."""
        for panel in HelpPanel:
            rows = [(name, _summary(name, one)) for name, one in commands().items() if one.panel is panel]
            with formatter.section(panel):
                formatter.write_dl(rows)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # noqa: ANN401, ARG002  # as the base has it
        """Return a command, loaded; without one of that name all are listed, for the nearest to be named."""
        if (entry := entry_of(cmd_name)) is not None:
            return _load(cmd_name, entry)
        self.commands = dict.fromkeys(commands())
        return None


def _summary(name: str, entry: CommandEntry) -> str:
    """Return the first sentence of a command's docstring from the text of its module."""
    return _docstrings(entry.module)[name.replace("-", "_")].partition("\n\n")[0]


@cache
def _docstrings(module: str) -> dict[str, str]:
    """Return what the functions of a module say of themselves, without importing it."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name=module)
    tree = ast.parse(Path(spec.origin).read_text())
    return {one.name: ast.get_docstring(one) or "" for one in tree.body if isinstance(one, ast.FunctionDef)}


def _load(name: str, entry: CommandEntry) -> object:
    from circuitproof.cli.helping import HELP, GroupedCommand
    from circuitproof.cli.writing import guarded

    module = import_module(entry.module)
    example = f"\b\nExample:\n  {entry.example}"
    if (group := getattr(module, "group", None)) is not None:
        found = get_command(group)
        found.epilog, found.context_settings = example, HELP
        return found
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    command = alone.command(name, cls=GroupedCommand, context_settings=HELP, epilog=example)
    command(guarded(getattr(module, name.replace("-", "_"))))
    return get_command(alone)
