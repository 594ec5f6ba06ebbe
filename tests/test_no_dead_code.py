"""Nothing of the product is written and never used; `make lint` asks vulture about methods and fields too."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from circuitproof.cli.lazy import COMMANDS

SOURCE = Path(__file__).parents[1] / "src"
PACKAGES = ("circuitproof", "circuitproof_check")
COMMAND_NAMES = {name.replace("-", "_") for name in COMMANDS}
WORD = re.compile(r"\w+")


@cache
def modules(package):
    """Return the syntax tree of every module of a package by its dotted name."""
    files = {file.relative_to(SOURCE).with_suffix(""): file for file in (SOURCE / package).rglob("*.py")}
    names = {".".join(path.parts).removesuffix(".__init__"): file for path, file in files.items()}
    return {name: ast.parse(file.read_text()) for name, file in names.items()}


def defined(module, node):
    """Return the names that a statement of a module defines and that nobody calls from outside."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            is_command = module.startswith("circuitproof.cli.") and name in COMMAND_NAMES
            return [] if is_command or name == "main" or is_called_back(node) else [name]
        case ast.Assign(targets=targets):
            return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def is_called_back(node):
    """Say whether typer calls a function, because a decorator says so."""
    return any(ast.unparse(one).startswith("app.") for one in node.decorator_list)


@cache
def words(node):
    """Count the names that are read below a node; an annotation may stand there as text."""
    found = Counter()
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name, ctx=ast.Load()):
                found[name] += 1
            case ast.Constant(value=str(text)):
                found.update(WORD.findall(text))
    return found


def imported():
    """Return (module, name) of all that some module imports, or reads of a module that it imports."""
    found = set()
    for importer, tree in (pair for package in PACKAGES for pair in modules(package).items()):
        nodes = list(ast.walk(tree))
        whole = {}
        for node in (one for one in nodes if isinstance(one, ast.ImportFrom)):
            above = importer.split(".")[: -node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found |= {(source, alias.name) for alias in node.names}
            whole |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names}
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add((whole.get(node.value.id), node.attr))
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_module_is_used_somewhere(package):
    """What only tests call, or what calls only itself, costs whoever reads the tree."""
    taken = imported()
    dead = [
        f"{module}.{name}"
        for module, tree in modules(package).items()
        for node in tree.body
        for name in defined(module, node)
        if (module, name) not in taken and words(tree)[name] <= words(node)[name]
    ]
    assert not dead
