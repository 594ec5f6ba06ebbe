"""docs/architecture.md, docs/extending.md and what each package says of itself are so."""

import ast
import importlib
import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from circuitproof.models.operators import Activation, Norm
from circuitproof.programs.atoms import Atom
from circuitproof.programs.features import Feature
from circuitproof.proof.properties.catalogue import PROPERTIES
from circuitproof.proof.properties.kinds import Kind
from circuitproof.solvers.choices import SolverName

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PRODUCT = SOURCE / "circuitproof"
MAP = (ROOT / "docs" / "architecture.md").read_text()
PAGE = MAP + (ROOT / "docs" / "extending.md").read_text()
OURS = (PRODUCT, SOURCE / "circuitproof_lab")
TABLES = (PRODUCT, SOURCE / "circuitproof_lab" / "commands")
"""Packages that hold more than a sentence."""
PACKAGES = sorted(
    file.parent for root in OURS for file in root.rglob("__init__.py") if file.parent not in TABLES
)
_FIRST = {package.relative_to(PRODUCT).parts[0] for package in PACKAGES if PRODUCT in package.parents}
NAMED = re.compile(r"`((?:circuitproof_lab|{})(?:\.\w+)+)`".format("|".join(sorted(_FIRST))))
KINDS = {
    "An activation": get_args(Activation),
    "A norm": get_args(Norm),
    "A feature": (Feature,),
    "Another atom": get_args(Atom),
    "A solver": (SolverName,),
}


@cache
def tree(file):
    """Return the syntax tree of a file."""
    return ast.parse(file.read_text())


def resolve(name):
    """Return what a dotted name stands for; the product's names are spelled without its own."""
    parts = name.split(".") if name.startswith("circuitproof") else ["circuitproof", *name.split(".")]
    for length in range(len(parts) - 1, 0, -1):
        if SOURCE.joinpath(*parts[:length]).with_suffix(".py").exists():
            found = importlib.import_module(".".join(parts[:length]))
            for part in parts[length:]:
                found = getattr(found, part)
            return found
    raise LookupError(name)


def section(title):
    """Return the lines of the page below a heading, up to the next."""
    return PAGE.split(f"### {title}\n")[1].split("\n#")[0]


@cache
def imports(file):
    """Return (module, name) of all that a file imports by name, and its own names."""
    own = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    found = {(own, node.name) for node in tree(file).body if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom):
            found |= {(node.module, alias.name) for alias in node.names}
    return found


def decided(node):
    """Return the names of classes and enumerations that a case of `match` or the key of a table speaks of."""
    if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name):
        return [node.cls.id]
    members = (
        [node.value] if isinstance(node, ast.MatchValue) else node.keys if isinstance(node, ast.Dict) else []
    )
    return [
        one.value.id for one in members if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
    ]


@cache
def told_apart(file):
    """Return the names of all that a file tells apart anywhere."""
    return {name for node in ast.walk(tree(file)) for name in decided(node)}


def deciders(classes):
    """Return the files that define some classes, or have a `match` or a table over them."""
    homes = {(one.__module__, one.__name__) for one in classes}
    return {
        file.relative_to(PRODUCT if PRODUCT in file.parents else SOURCE).as_posix()
        for file in chain.from_iterable(root.rglob("*.py") for root in OURS)
        if ((known := {name for _, name in homes & imports(file)}) and known & told_apart(file))
        or any(node.name in known for node in tree(file).body if isinstance(node, ast.ClassDef))
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_to_touch_are_those_that_decide_by_kind(kind):
    """A file that begins to tell members apart must be named on the page, where somebody will wince."""
    listed = set(re.findall(r"^- `([\w/]+\.py)`", section(kind), re.MULTILINE))
    assert deciders(KINDS[kind]) == listed


def test_a_property_is_told_from_others_in_its_own_module_alone():
    """Each has a module of its own; all others ask what every property answers."""
    homes = {name_of(one) for one in PROPERTIES.values()}
    assert len(homes) == len(PROPERTIES)
    assert deciders((*PROPERTIES.values(), Kind)) == {*homes, "proof/properties/kinds.py"}
    names = {one.__name__ for one in PROPERTIES.values()}
    for file in chain.from_iterable(root.rglob("*.py") for root in OURS):
        assert len(names & asked_instances(file)) <= 1, file


def name_of(one):
    """Return the file that defines a class, below the source."""
    return f"{one.__module__.removeprefix('circuitproof.').replace('.', '/')}.py"


def asked_instances(file):
    """Return the names of all classes that a file asks `isinstance` about."""
    calls = (node for node in ast.walk(tree(file)) if isinstance(node, ast.Call))
    asked = [one.args[1] for one in calls if isinstance(one.func, ast.Name) and one.func.id == "isinstance"]
    return {node.id for one in asked for node in ast.walk(one) if isinstance(node, ast.Name)}


def test_every_file_and_function_that_the_page_names_is_there():
    """Names are looked up, so a renamed function breaks the page."""
    for path in re.findall(r"`([\w/]+/\w+\.(?:py|md|toml))`", PAGE):
        assert any((place / path).exists() for place in (PRODUCT, SOURCE, ROOT)), path
    for name in NAMED.findall(PAGE):
        assert resolve(name) is not None


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_says_what_it_is_and_what_it_is_asked_for(package):
    """At most ten lines; it names, and imports nothing, so that a package costs nothing until it is used."""
    body = tree(package / "__init__.py")
    (only,) = body.body
    words = ast.get_docstring(body)
    assert isinstance(only, ast.Expr)
    assert len(words.splitlines()) <= 10
    for name in re.findall(r"`(\w+\.\w+)`", words):
        assert resolve(f"{'.'.join(package.relative_to(SOURCE).parts)}.{name}") is not None


def test_the_map_names_every_package_once():
    """One screen: each package of the product and of the laboratory, and nothing else."""
    drawn = MAP.split("```")[1]
    for package in PACKAGES:
        if package.parent in OURS:
            assert len(re.findall(rf"^  (?:\w+ · )*{package.name}\b", drawn, re.MULTILINE)) == 1, package
    assert drawn.count("\n") < 40
