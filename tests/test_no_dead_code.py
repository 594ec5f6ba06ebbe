"""Nothing of the product is written and never used; `make lint` asks vulture about methods and fields too."""

import ast
import re
from functools import cache
from pathlib import Path

from circuitproof.cli.table import commands

SOURCE = Path(__file__).parents[1] / "src"
COMMAND_NAMES = {name.replace("-", "_") for name in commands()}
WORD = re.compile(r"\w+")


def modules():
    """Return the syntax tree of every module by its dotted name."""
    files = {file.relative_to(SOURCE).with_suffix(""): file for file in SOURCE.rglob("*.py")}
    names = {".".join(path.parts).removesuffix(".__init__"): file for path, file in files.items()}
    return {name: ast.parse(file.read_text()) for name, file in names.items()}


def defined(node):
    """Return the names that a statement of a module defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def is_called_from_outside(module, node):
    """Say whether a statement runs by itself, or is what a user, typer or an entry point calls."""
    if module in {"circuitproof_lab.commands", "circuitproof_lab.api"}:
        return True
    if not isinstance(node, ast.FunctionDef):
        return not defined(node) and not isinstance(node, ast.Import | ast.ImportFrom)
    is_command = (
        module.startswith(("circuitproof.cli.", "circuitproof_lab.commands.")) and node.name in COMMAND_NAMES
    )
    is_called_back = any(ast.unparse(one).startswith(("app.", "group.")) for one in node.decorator_list)
    return is_command or is_called_back or node.name == "main"


def imported(module, tree):
    """Return for each name that a module imports, anywhere in it, all that it may stand for."""
    found = {}
    for node in (one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)):
        above = module.split(".")[: -node.level] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            found.setdefault(alias.asname or alias.name, []).append((source, alias.name))
    return found


def read(node):
    """Return the names that are read below a node, and (name, attribute); an annotation may be a text."""
    found = set()
    for one in ast.walk(node):
        match one:
            case ast.Name(id=name):
                found.add((name, None))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                found.add((name, attribute))
            case ast.Constant(value=str(text)):
                found |= {(word, None) for word in WORD.findall(text)}
    return found


@cache
def uses():
    """Return for each definition, as (module, name), those that it reads; of None, those that are called."""
    found = {None: set()}
    for module, tree in modules().items():
        names = imported(module, tree)
        for node in tree.body:
            targets = set()
            for name, attribute in read(node):
                for source, own in names.get(name, [(module, name)]):
                    targets |= {(source, own), (f"{source}.{own}", attribute)}
            for name in defined(node):
                found.setdefault((module, name), set()).update(targets - {(module, name)})
            if is_called_from_outside(module, node):
                found[None] |= targets | {(module, name) for name in defined(node)}
    return found


def test_every_name_of_a_module_is_reached_from_a_command():
    """What only tests call, or what only calls each other, costs whoever reads the tree."""
    edges, reached, waiting = uses(), set(), [None]
    while waiting:
        for target in edges.get(waiting.pop(), set()) - reached:
            reached.add(target)
            waiting.append(target)
    assert not [".".join(one) for one in edges if one is not None and one not in reached]
