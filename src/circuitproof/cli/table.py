"""The commands by name, each with its module, its panel of the help and an example."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from circuitproof.files.extensions import extensions

EXTENSIONS = "circuitproof.commands"
"""The group of entry points under which an installed package names its own table of commands."""


class HelpPanel(StrEnum):
    """The parts of the help, in the order of use."""

    IN = "Bring in"
    FIND = "Find"
    PROVE = "Prove"
    CHANGE = "Change"
    LOOK = "Look"
    SHARE = "Share"


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command: the module of its function, its panel, an example, and whether a kill costs it nothing."""

    module: str
    panel: HelpPanel
    example: str
    resumes: bool = False


COMMANDS = {
    "task": CommandEntry(
        "circuitproof.cli.tasks", HelpPanel.IN, "circuitproof task quotes --out quotes-task.json"
    ),
    "model": CommandEntry("circuitproof.cli.models", HelpPanel.IN, "circuitproof model run/model"),
    "circuit": CommandEntry(
        "circuitproof.cli.discovery", HelpPanel.IN, "circuitproof circuit quotes.json --live"
    ),
    "import-release": CommandEntry(
        "circuitproof.cli.discovery",
        HelpPanel.IN,
        "circuitproof import-release release/norm_free --out released",
    ),
    "import-hf": CommandEntry(
        "circuitproof.cli.models", HelpPanel.IN, "circuitproof import-hf gpt2 --out imported --compare"
    ),
    "import-tracr": CommandEntry(
        "circuitproof.cli.models", HelpPanel.IN, "circuitproof import-tracr length --out model"
    ),
    "evaluate": CommandEntry(
        "circuitproof.cli.measuring", HelpPanel.FIND, "circuitproof evaluate --model run/model --task quotes"
    ),
    "extract": CommandEntry(
        "circuitproof.cli.discovery",
        HelpPanel.FIND,
        "circuitproof extract --model run/model --task quotes --out quotes.json",
    ),
    "verify": CommandEntry(
        "circuitproof.cli.proving",
        HelpPanel.PROVE,
        "circuitproof verify --model run/model --task quotes --circuit quotes.json "
        "--epsilon 1/1000 --out bundle",
    ),
    "radius": CommandEntry(
        "circuitproof.cli.proving",
        HelpPanel.PROVE,
        "circuitproof radius --model run/model --task quotes --circuit quotes.json",
    ),
    "minimal": CommandEntry(
        "circuitproof.cli.proving",
        HelpPanel.PROVE,
        "circuitproof minimal --model run/model --task quotes --out bundle",
    ),
    "claims": CommandEntry(
        "circuitproof.cli.claims", HelpPanel.PROVE, "circuitproof claims prove claims.toml", resumes=True
    ),
    "gallery": CommandEntry(
        "circuitproof.cli.gallery",
        HelpPanel.PROVE,
        "circuitproof gallery norm-free --weights release/norm_free",
        resumes=True,
    ),
    "cost": CommandEntry(
        "circuitproof.cli.solvers",
        HelpPanel.PROVE,
        "circuitproof cost --model run/model --task quotes --circuit quotes.json",
    ),
    "install": CommandEntry(
        "circuitproof.cli.models",
        HelpPanel.CHANGE,
        "circuitproof install --model run/model --program 0.0=program.txt --out installed",
    ),
    "tour": CommandEntry("circuitproof.cli.tour", HelpPanel.LOOK, "circuitproof tour"),
    "logits": CommandEntry(
        "circuitproof.cli.logits",
        HelpPanel.LOOK,
        'circuitproof logits --model run/model --prompt "1 9 5" --candidates "9 10"',
    ),
    "show": CommandEntry("circuitproof.cli.viewing", HelpPanel.LOOK, "circuitproof show bundle"),
    "explain": CommandEntry(
        "circuitproof.cli.viewing", HelpPanel.LOOK, 'circuitproof explain "#3" --bundle bundle'
    ),
    "report": CommandEntry(
        "circuitproof.cli.viewing", HelpPanel.SHARE, "circuitproof report bundle --against run/model"
    ),
    "check": CommandEntry(
        "circuitproof.cli.checking", HelpPanel.SHARE, "circuitproof check bundle --against run/model"
    ),
    "queries": CommandEntry(
        "circuitproof.cli.solvers",
        HelpPanel.SHARE,
        "circuitproof queries --model run/model --task quotes --circuit quotes.json --out queries",
    ),
    "export-hf": CommandEntry(
        "circuitproof.cli.models", HelpPanel.SHARE, "circuitproof export-hf --model run/model --out gpt2"
    ),
}
"""The product's own commands, in the order of use."""


@cache
def commands() -> Mapping[str, CommandEntry]:
    """Return all commands: the product's, and those of installed packages that name a table of them."""
    found = dict(COMMANDS)
    for table in extensions(EXTENSIONS):
        found |= table.load()
    return found


def entry_of(name: str) -> CommandEntry | None:
    """Return a command by its name; where it is not the product's own, other packages are asked."""
    return COMMANDS.get(name) or commands().get(name)
