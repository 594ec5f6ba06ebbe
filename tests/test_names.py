"""One name, one thing: what types are called in the product with its laboratory, and in the checker."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PRODUCT = ("circuitproof", "circuitproof_lab")
CHECKER = ("circuitproof_check",)
SHARED = re.findall(
    r"\w+",
    """
    Ablation Architecture Circuit Claim Columns ConditionMachine Coordinate Cost Decision Digests Edge
    Fold Form Formula Forward Head KeyToken Label LayerNorm Leaf Node Not Outcome Pattern Program Prompt
    PromptRegion Property Region Relevance RowState RunNode Runs SampledRegion Scan Sealed Shapes State
    Step Task Term TokenAtPosition TokenClass UnsettledError Verdict
    """,
)
"""What the specification speaks of, so that both packages, which share no code, have a type for it."""
METAPHORS = re.compile(
    "sheet|hearing|lesson|ground|therap|demand|story|told|face|room|door|liar|stranger", re.IGNORECASE
)


@cache
def types(packages):
    """Return the files that define each type, by its name: classes and aliases, the private ones too."""
    found = defaultdict(list)
    for package in packages:
        for file in sorted((SOURCE / package).rglob("*.py")):
            for name in filter(None, map(type_name, ast.parse(file.read_text()).body)):
                found[name].append(file.relative_to(SOURCE).as_posix())
    return dict(found)


def type_name(node):
    """Return the name of the class or alias that a statement defines; type variables are none."""
    match node:
        case ast.ClassDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name if re.match("_?[A-Z]+[a-z]", name) and not isinstance(value, ast.Call) else None
        case _:
            return None


@pytest.mark.parametrize("packages", [PRODUCT, CHECKER], ids=["product", "checker"])
def test_a_name_is_one_type(packages):
    """Two types of one name are two things that a reader takes for one; one may be private."""
    found = types(packages)
    meant = {name: [*files, *found.get(f"_{name}", ())] for name, files in found.items() if name[0] != "_"}
    assert len(meant) > 50
    assert {name: files for name, files in meant.items() if len(files) > 1} == {}


def test_the_checker_takes_a_name_of_the_product_only_for_the_same_thing():
    """They share no code; a name that both have is a term of the specification, and listed here."""
    both = {name for name in types(PRODUCT) if name[0] != "_"} & types(CHECKER).keys()
    assert sorted(both) == sorted(SHARED)


def test_types_and_modules_are_called_what_they_are():
    """A form matrix is no sheet; `Interface` and Hugging Face are names of the field."""
    names = [*types(PRODUCT), *types(CHECKER), *(file.stem for file in SOURCE.rglob("*.py"))]
    plain = (re.sub("interface|hugging_?face|history", "", name, flags=re.IGNORECASE) for name in names)
    assert [name for name in plain if METAPHORS.search(name)] == []
