"""Which loops of the checker nothing pays for: none inside the loop, and none on every way to it."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAYING = frozenset({"spend", "spend_numbers", "paid", "reckon"})
PAID = frozenset(
    {"items", "mapping", "integers", "rationals", "split", "by_prompt", "replays", "steps", "conditions"}
)
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
    """A function of a module; those inside it are functions of their own."""

    name: str
    owner: str
    """The class or function that it stands in, or nothing."""
    body: list[ast.stmt]

    @property
    def calls(self) -> set[str]:
        """Return the names of what it calls, methods of its own class by that class."""
        called = [node.func for node in _inside(self.body) if isinstance(node, ast.Call)]
        names = {one.id for one in called if isinstance(one, ast.Name)}
        own = [one for one in called if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)]
        return names | {f"{self.owner}{one.attr}" for one in own if one.value.id == "self"}

    @property
    def is_paying(self) -> bool:
        """Say whether it pays for something, or goes through what has been paid for."""
        return _calls_one(self.body, PAYING | PAID)

    def unpaid(self) -> int:
        """Return how many of its loops nothing pays for."""
        known = {name for node in _inside(self.body) for name in _names_of_paid(node)}
        return sum(not _is_paid(loop, known) for loop in _loops_after(self.body, is_paid=False))


def _loops_after(block: list[ast.stmt], *, is_paid: bool) -> Iterator[ast.AST]:
    """Return the loops of a block before which nothing pays, whichever way leads to them."""
    for statement in block:
        if is_paid:
            return
        inner = [part for name in ("body", "orelse", "finalbody") for part in [getattr(statement, name, [])]]
        inner += [one.body for one in (*getattr(statement, "handlers", []), *getattr(statement, "cases", []))]
        is_block = not isinstance(statement, (*_FUNCTIONS, ast.ClassDef))
        heads = [part for part in ast.iter_child_nodes(statement) if not _is_in_block(part)]
        yield from [statement] if isinstance(statement, LOOPS) else []
        yield from (node for node in _unpriced(heads if is_block else []) if _repeats(node))
        if is_block:
            is_paid = _calls_one(heads, PAYING)
            for part in inner:
                yield from _loops_after(part, is_paid=is_paid)


def _is_in_block(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case)


def _repeats(node: ast.AST) -> bool:
    return isinstance(node, LOOPS) or _goes_through(node)


def _is_paid(loop: ast.AST, known: set[str]) -> bool:
    """Say whether something inside a loop pays, or what it goes through has been paid for."""
    inner = list(_inside([loop]))
    names = {node.id for node in inner if isinstance(node, ast.Name)}
    return _calls_one([loop], PAYING | PAID) or bool(names & known)


def _names_of_paid(node: ast.AST) -> set[str]:
    """Return the names that an assignment gives to what has been paid for."""
    if not isinstance(node, ast.Assign) or not _calls_one([node.value], PAID | {"paid"}):
        return set()
    return {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _calls_one(nodes: "list[ast.stmt] | list[ast.AST]", names: frozenset[str] | set[str]) -> bool:
    return any(_name(node) in names for node in _inside(nodes) if isinstance(node, ast.Call))


def _goes_through(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], LOOPS):
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
            yield Function(f"{owner}{node.name}", owner, node.body)
        is_named = isinstance(node, (*_FUNCTIONS, ast.ClassDef))
        yield from functions(node, f"{owner}{node.name}." if is_named else owner)


def _unpriced(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Return nodes and what stands in them, without what finds the price that is paid."""
    for node in nodes:
        if not isinstance(node, _FUNCTIONS) and not (isinstance(node, ast.Call) and _name(node) in PAYING):
            yield node
            yield from _unpriced(list(ast.iter_child_nodes(node)))


def _inside(nodes: "list[ast.stmt] | list[ast.AST]") -> Iterator[ast.AST]:
    """Return nodes and what stands in them, but not what stands in a function inside."""
    for node in nodes:
        if not isinstance(node, _FUNCTIONS):
            yield node
            yield from _inside(list(ast.iter_child_nodes(node)))


def _recursive(found: dict[str, Function]) -> set[str]:
    """Return the functions of a module that come to call themselves."""
    reached = {name: one.calls & found.keys() for name, one in found.items()}
    for _ in found:
        for name, called in reached.items():
            reached[name] = called.union(*(reached[one] for one in called))
    return {name for name, called in reached.items() if name in called}


def unpaid(package: Path) -> Counter[str]:
    """Return how many loops of functions nothing pays for, by `module: function`.

    A function that comes to call itself and pays for nothing counts as one more.
    """
    counts: Counter[str] = Counter()
    for path in sorted(package.rglob("*.py")):
        found = {one.name: one for one in functions(ast.parse(path.read_text()))}
        again = {name for name in _recursive(found) if not found[name].is_paying}
        module = path.relative_to(package).with_suffix("").as_posix()
        numbers = {name: one.unpaid() + (name in again) for name, one in found.items()}
        counts += Counter({f"{module}: {name}": number for name, number in numbers.items()})
    return counts
