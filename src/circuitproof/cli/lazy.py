"""Commands by name: their modules are imported when they run, and no sooner."""

import ast
from importlib import import_module
from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.main import get_command

COMMANDS = {
    "train": "training",
    "remove-norm": "norms",
    "evaluate": "training",
    "task": "tasks",
    "verify": "proving",
    "verify-pattern": "symbolic",
    "queries": "solvers",
    "cost": "solvers",
    "minimal": "proving",
    "radius": "radii",
    "circuit": "discovery",
    "import-release": "discovery",
    "model": "models",
    "install": "models",
    "extract": "discovery",
    "localise": "localisation",
    "ledger": "localisation",
    "surrogate": "surrogate",
    "synthesise": "synthesis",
    "recheck": "synthesis",
    "distill": "distillation",
    "construct": "construction",
}
"""Every command, in the order of the help, and the module in which the function of its name stands."""


class LazyGroup(TyperGroup):
    """A group whose commands are listed without importing them, and loaded where they are asked for."""

    def list_commands(self, ctx: typer.Context) -> list[str]:
        """Return all names; whoever lists them is about to say what each command does."""
        for name, listed in self.commands.items():
            listed.help = _help(name)
        return super().list_commands(ctx)

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:
        """Return the command that the arguments begin with, loaded, and the arguments that are left."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else _load(name), rest


def unloaded() -> None:
    """Stand for a command in the list of all, until it is loaded."""


def _help(name: str) -> str:
    """Return the docstring of a command's function from the text of its module."""
    text = Path(__file__).with_name(f"{COMMANDS[name]}.py").read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return next(ast.get_docstring(one) or "" for one in functions if one.name == name.replace("-", "_"))


def _load(name: str) -> object:
    module = import_module(f"circuitproof.cli.{COMMANDS[name]}")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(getattr(module, name.replace("-", "_")))
    return get_command(alone)
