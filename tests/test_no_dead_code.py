"""Nothing of the product is written and never used; `make lint` asks vulture about methods and fields too."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from circuitproof.cli.lazy import COMMANDS

SOURCE = Path(__file__).parents[1] / "src"
PACKAGES = ("circuitproof", "circuitproof_check")
ENTRIES = {"main", "__getattr__", *(name.replace("-", "_") for name in COMMANDS)}
"""What is called from outside: scripts, Python itself, and commands, which are found by their names."""


@cache
def tree(file):
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text())


def defined(node):
    """Return the names that a statement at the level of a module defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [] if name in ENTRIES or has_hook(node) else [name]
        case ast.Assign(targets=targets):
            return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def has_hook(node):
    """Say whether a decorator hands a function over to somebody who calls it, as typer's `callback` does."""
    called = [one.func for one in node.decorator_list if isinstance(one, ast.Call)]
    return any(isinstance(one, ast.Attribute) and one.attr == "callback" for one in called)


def used(node):
    """Count the names that are read below a node, those in annotations that stand as text among them."""
    found = Counter()
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                found[name] += 1
            case ast.Constant(value=str(text)) if text.isidentifier() or "[" in text:
                found += Counter(word for word in text.replace("[", " ").replace("]", " ").split())
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_module_is_used_somewhere(package):
    """A function that only tests call, or that calls only itself, costs whoever reads the tree."""
    trees = {file: tree(file) for file in (SOURCE / package).rglob("*.py")}
    everywhere = sum(map(used, trees.values()), Counter())
    dead = [
        f"{file.relative_to(SOURCE)}: {name}"
        for file, module in trees.items()
        for node in module.body
        for name in defined(node)
        if everywhere[name] <= (0 if isinstance(node, ast.Assign | ast.AnnAssign) else used(node)[name])
    ]
    assert not dead
