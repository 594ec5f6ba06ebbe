"""Which functions of the checker do something again and again, and which of them pay for it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAYING = frozenset({"spend", "spend_numbers", "paid", "reckon"})
PAID = frozenset({"items", "mapping", "integers", "split", "by_prompt", "replays", "steps", "conditions"})
"""What these return has been paid for, or is paid for entry by entry."""
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
GOING_THROUGH = frozenset(
    {"sorted", "set", "frozenset", "sum", "any", "all", "map", "tuple", "list", "dict", "Counter", "product"}
)
OF_ONE = frozenset({"max", "min", "gcd", "lcm", "union", "update", "join", "fromkeys", "sorted"})
"""These go through what they get where that is one thing, or is spread out."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a module, without those inside it."""

    name: str
    owner: str
    """The class or function that it stands in, or nothing."""
    nodes: tuple[ast.AST, ...]

    @property
    def calls(self) -> set[str]:
        """Return the names of what it calls, methods of its own class by that class."""
        called = [node.func for node in self.nodes if isinstance(node, ast.Call)]
        names = {one.id for one in called if isinstance(one, ast.Name)}
        own = [one for one in called if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)]
        return names | {f"{self.owner}{one.attr}" for one in own if one.value.id == "self"}

    @property
    def is_paying(self) -> bool:
        """Say whether it pays for something, or goes through what has been paid for."""
        return any(_name(node) in PAYING | PAID for node in self.nodes if isinstance(node, ast.Call))

    @property
    def is_looping(self) -> bool:
        """Say whether it does something as often as there are entries of something."""
        return any(isinstance(node, LOOPS) or _goes_through(node) for node in self.nodes)


def _goes_through(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    is_one = len(node.args) == 1 or any(isinstance(one, ast.Starred) for one in node.args)
    is_spelled = isinstance(node.args[0], ast.Set | ast.List | ast.Tuple) and not _is_spread(node.args[0])
    name = _name(node)
    return not is_spelled and (name in GOING_THROUGH or (name in OF_ONE and is_one))


def _is_spread(display: ast.Set | ast.List | ast.Tuple) -> bool:
    return any(isinstance(entry, ast.Starred) for entry in display.elts)


def _name(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def functions(tree: ast.AST, owner: str = "") -> Iterator[Function]:
    """Return every function of a module, those inside others too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            yield Function(f"{owner}{node.name}", owner, tuple(_inside(node)))
        is_named = isinstance(node, (*_FUNCTIONS, ast.ClassDef))
        yield from functions(node, f"{owner}{node.name}." if is_named else owner)


def _inside(tree: ast.AST) -> Iterator[ast.AST]:
    """Return what stands in a function, but not in one inside it."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, _FUNCTIONS):
            yield node
            yield from _inside(node)


def _recursive(found: dict[str, Function]) -> set[str]:
    """Return the functions of a module that come to call themselves."""
    reached = {name: one.calls & found.keys() for name, one in found.items()}
    for _ in found:
        for name, called in reached.items():
            reached[name] = called.union(*(reached[one] for one in called))
    return {name for name, called in reached.items() if name in called}


def unpaid(package: Path) -> set[str]:
    """Return the functions that loop or call themselves and pay for nothing, as `module: function`."""
    names: set[str] = set()
    for path in sorted(package.rglob("*.py")):
        found = {one.name: one for one in functions(ast.parse(path.read_text()))}
        again = _recursive(found) | {name for name, one in found.items() if one.is_looping}
        module = path.relative_to(package).with_suffix("").as_posix()
        names |= {f"{module}: {name}" for name in again if not found[name].is_paying}
    return names
