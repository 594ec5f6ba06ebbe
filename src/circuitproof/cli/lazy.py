"""Commands by name: their modules are imported when they run, and no sooner."""

from dataclasses import dataclass
from importlib import import_module

import typer
from typer.core import TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Command:
    """The module in which a command's function stands, and the first line of its help."""

    module: str
    help: str


COMMANDS = {
    "train": Command("training", "Train the model of a recipe; an interrupted run goes on where it stopped."),
    "remove-norm": Command(
        "norms", "Fade the norms of a model out in training and fold them away; an interrupted run goes on."
    ),
    "evaluate": Command(
        "training",
        "Run a model and circuits of it on tasks: how many prompts are right, and by what margin "
        "(in floats).",
    ),
    "task": Command(
        "tasks",
        "Say what a task asks: prompts, candidates, answers, classes, and the digest that claims carry.",
    ),
    "verify": Command(
        "proving",
        "Prove or refute what a circuit does on a task, in exact arithmetic, with evidence for a stranger.",
    ),
    "verify-pattern": Command(
        "symbolic",
        "Prove or refute what a circuit does on every prompt of a pattern: the same as verify --task FILE.",
    ),
    "queries": Command(
        "solvers", "Write every query of a claim as an SMT-LIB file that says what each answer means."
    ),
    "cost": Command(
        "solvers",
        "Count what the four properties of circuits assert, by source, and per edge beside the paper's.",
    ),
    "minimal": Command(
        "proving",
        "Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does.",
    ),
    "radius": Command(
        "radii",
        "Find how large a perturbation must be to change each decision: exactly, or between proved bounds.",
    ),
    "circuit": Command(
        "discovery", "Read a circuit in our spelling, the release's or EAP-IG's, and print it in ours."
    ),
    "import-release": Command(
        "discovery",
        "Turn a model of the paper's public release into a model directory, with its circuits beside.",
    ),
    "model": Command(
        "models", "Read a whole model directory and say what it holds; docs/models.md has the layout."
    ),
    "install": Command(
        "models", "Write a copy of a model in which programs stand in the place of heads' queries and keys."
    ),
    "extract": Command(
        "discovery",
        "Find a circuit that keeps what a model decides on a task, and report every candidate (in floats).",
    ),
    "localise": Command(
        "localisation",
        "Extract circuits, open each generation's gate once, and prove what is left; runs can be resumed.",
    ),
    "ledger": Command(
        "localisation", "Check a ledger's chain and list what was declared, looked at, burned and measured."
    ),
    "surrogate": Command(
        "surrogate",
        "Test explanations of teachers through surrogates: fit, prove or refute, and repair what is refuted.",
    ),
    "synthesise": Command(
        "synthesis",
        "Find a program that can take a head's place, accepted exactly, or certify that none in bounds can.",
    ),
    "recheck": Command(
        "synthesis",
        "Check a certificate that no program will do: list the language anew, and repeat every refutation.",
    ),
    "distill": Command(
        "distillation",
        "Replace neural heads by programs, heal under three objectives, and prove what is left.",
    ),
    "construct": Command(
        "construction",
        "Install programs in a model, calibrate only their readouts, audit, prove and bundle; resumable.",
    ),
}
"""Every command, in the order of the help; a command's function has its name."""


class LazyGroup(TyperGroup):
    """A group whose commands are told from the table, and loaded where they are asked for."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple[str | None, object, list[str]]:
        """Return the command that the arguments begin with, loaded, and the arguments that are left."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else _load(name), rest


def _load(name: str) -> object:
    module = import_module(f"circuitproof.cli.{COMMANDS[name].module}")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name)(getattr(module, name.replace("-", "_")))
    return get_command(alone)


def unloaded() -> None:
    """Stand for a command in the list of all, until it is loaded."""
