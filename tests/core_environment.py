"""An environment without any extra: commands run one after another, and what became of each is printed.

Run by a test as a program; its input are command lines as JSON.
"""

import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from io import StringIO

OURS = {"circuitproof", "circuitproof_check", "circuitproof_lab"}


def needed(name: str, known: set[str]) -> None:
    """Add to what is known a distribution and all that is installed with it when no extra is asked for."""
    if name in known:
        return
    known.add(name)
    with suppress(PackageNotFoundError):  # what other systems need
        for wanted in requires(name) or ():
            if "extra ==" not in wanted:
                needed(_normal(re.split(r"[^\w.-]", wanted)[0]), known)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def hidden() -> set[str]:
    """Return every package that is not there where nothing but circuitproof was installed."""
    known = set[str]()
    needed("circuitproof", known)
    owners = packages_distributions().items()
    return {package for package, owned in owners if not known.intersection(map(_normal, owned))} - OURS


class _Hidden(MetaPathFinder):
    """Finds no package of an extra, whatever is installed."""

    def __init__(self, packages: set[str]) -> None:
        self.hidden = packages

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        if fullname.partition(".")[0] in self.hidden:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def run(words: list[str]) -> tuple[int, str, str]:
    """Run a command as the entry point does and return its exit code and output."""
    from circuitproof.cli.main import main

    sys.argv, code = ["circuitproof", *words], 0
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    extras = hidden() - sys.modules.keys()  # what Python itself begins with
    assert {"torch", "z3", "matplotlib"} <= extras
    sys.meta_path.insert(0, _Hidden(extras))
    found = [run(words) for words in json.load(sys.stdin)]
    assert not extras & sys.modules.keys()
    print(json.dumps(found))  # noqa: T201  # for the test that asked
