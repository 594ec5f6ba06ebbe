"""The commands by name, each with its module, its panel of the help and an example."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

EXTENSIONS = "circuitproof.commands"
"""The group of entry points under which an installed package names its own table of commands."""


class Panel(StrEnum):
    """The parts of the help, in the order of use."""

    IN = "Bring in"
    FIND = "Find"
    PROVE = "Prove"
    CHANGE = "Change"
    LOOK = "Look"
    SHARE = "Share"


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the module of its function, its panel, an example, and whether a kill costs it nothing."""

    module: str
    panel: Panel
    example: str
    resumes: bool = False


COMMANDS = {
    "task": Entry("circuitproof.cli.tasks", Panel.IN, "circuitproof task quotes --out quotes-task.json"),
    "model": Entry("circuitproof.cli.models", Panel.IN, "circuitproof model run/model"),
    "circuit": Entry("circuitproof.cli.discovery", Panel.IN, "circuitproof circuit quotes.json --live"),
    "import-release": Entry(
        "circuitproof.cli.discovery",
        Panel.IN,
        "circuitproof import-release release/norm_free --out released",
    ),
    "import-hf": Entry(
        "circuitproof.cli.models", Panel.IN, "circuitproof import-hf gpt2 --out imported --compare"
    ),
    "import-tracr": Entry(
        "circuitproof.cli.models", Panel.IN, "circuitproof import-tracr length --out model"
    ),
    "evaluate": Entry(
        "circuitproof.cli.measuring", Panel.FIND, "circuitproof evaluate --model run/model --task quotes"
    ),
    "extract": Entry(
        "circuitproof.cli.discovery",
        Panel.FIND,
        "circuitproof extract --model run/model --task quotes --out quotes.json",
    ),
    "verify": Entry(
        "circuitproof.cli.proving",
        Panel.PROVE,
        "circuitproof verify --model run/model --task quotes --circuit quotes.json "
        "--epsilon 1/1000 --out bundle",
    ),
    "radius": Entry(
        "circuitproof.cli.proving",
        Panel.PROVE,
        "circuitproof radius --model run/model --task quotes --circuit quotes.json",
    ),
    "minimal": Entry(
        "circuitproof.cli.proving",
        Panel.PROVE,
        "circuitproof minimal --model run/model --task quotes --out bundle",
    ),
    "claims": Entry(
        "circuitproof.cli.claims", Panel.PROVE, "circuitproof claims prove claims.toml", resumes=True
    ),
    "gallery": Entry(
        "circuitproof.cli.gallery",
        Panel.PROVE,
        "circuitproof gallery norm-free --weights release/norm_free",
        resumes=True,
    ),
    "cost": Entry(
        "circuitproof.cli.solvers",
        Panel.PROVE,
        "circuitproof cost --model run/model --task quotes --circuit quotes.json",
    ),
    "install": Entry(
        "circuitproof.cli.models",
        Panel.CHANGE,
        "circuitproof install --model run/model --program 0.0=program.txt --out installed",
    ),
    "tour": Entry("circuitproof.cli.tour", Panel.LOOK, "circuitproof tour"),
    "logits": Entry(
        "circuitproof.cli.logits",
        Panel.LOOK,
        'circuitproof logits --model run/model --prompt "1 9 5" --candidates "9 10"',
    ),
    "show": Entry("circuitproof.cli.viewing", Panel.LOOK, "circuitproof show bundle"),
    "explain": Entry("circuitproof.cli.viewing", Panel.LOOK, 'circuitproof explain "#3" --bundle bundle'),
    "report": Entry(
        "circuitproof.cli.viewing", Panel.SHARE, "circuitproof report bundle --against run/model"
    ),
    "check": Entry("circuitproof.cli.checking", Panel.SHARE, "circuitproof check bundle --against run/model"),
    "queries": Entry(
        "circuitproof.cli.solvers",
        Panel.SHARE,
        "circuitproof queries --model run/model --task quotes --circuit quotes.json --out queries",
    ),
    "export-hf": Entry(
        "circuitproof.cli.models", Panel.SHARE, "circuitproof export-hf --model run/model --out gpt2"
    ),
}
"""The product's own commands, in the order of use."""


@cache
def commands() -> Mapping[str, Entry]:
    """Return all commands: the product's, and those of installed packages that name a table of them."""
    from importlib.metadata import entry_points  # a command of the product's need not wait for it

    found = dict(COMMANDS)
    for point in entry_points(group=EXTENSIONS):
        found |= point.load()
    return found


def entry_of(name: str) -> Entry | None:
    """Return a command by its name; where it is not the product's own, other packages are asked."""
    return COMMANDS.get(name) or commands().get(name)
