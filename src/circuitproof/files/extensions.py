"""What installed packages add to this one, by their entry points.

Read from the files themselves: to import `importlib.metadata` would take a fifth of the time of `--help`.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Extension:
    """A name that a package gives to something of its own: `run.json = package.module:function`."""

    name: str
    module: str
    attribute: str

    def load(self) -> Any:  # noqa: ANN401  # whoever names the group knows what is in it
        return getattr(import_module(self.module), self.attribute)


def extensions(group: str) -> Iterator[Extension]:
    """Return what installed packages name in a group; of two of one name, the first on Python's path."""
    seen: set[str] = set()
    for folder in map(Path, sys.path):
        for file in sorted(folder.glob("*-info/entry_points.txt")):
            package = file.parent.name.partition("-")[0].removesuffix(".egg").lower()
            if package not in seen:
                yield from _named(file.read_text(encoding="utf-8"), group)
            seen.add(package)


def _named(text: str, group: str) -> Iterator[Extension]:
    r"""Return the entry points of one section of such a file.

    >>> list(_named("[other]\nb = c:d\n[mine]\na = p.q:f\n", "mine"))
    [Extension(name='a', module='p.q', attribute='f')]
    """
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == group and "=" in line and not line.startswith(("#", ";")):
            name, place = line.split("=", 1)
            module, _, attribute = place.partition("[")[0].partition(":")
            yield Extension(name.strip(), module.strip(), attribute.strip())
