"""Mutants: provers in which one guard, check or comparison says something else. Found by walking the source.

A mutant is applied in this process: the module is compiled with the change, and the code of the live function
objects is exchanged, which also reaches them through properties, caches and dataclasses. What is no part of a
function (constants, tables of lambdas, class bodies) cannot be exchanged; it is counted, not applied.
"""

import ast
import gc
import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from types import CodeType, FunctionType

import circuitproof

ROOT = Path(circuitproof.__file__).parent
PACKAGES = ("proof", "models", "circuits", "programs", "tasks", "forward", "bundle")
"""Solvers are asked beside the battery; they write no bundles."""
FLIPPED = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
EDGED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
Change = Callable[[ast.AST], ast.AST | None]
"""Changes a copy of a node in place, or returns what stands in its place."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: its file (from the package), its line, and the node in the order of the walk."""

    file: str
    line: int
    kind: str
    node: int
    change: int
    function: str
    """The outermost function that it is in, by qualified name; empty outside of functions."""
    repeat: int
    """How many changes of this kind come before it on the line."""
    fires: int
    """The line that runs when the guard speaks: the first one of its body."""

    @property
    def name(self) -> str:
        """Return the stable name."""
        again = f" #{self.repeat + 1}" if self.repeat else ""
        return f"{self.file}:{self.line} {self.kind}{again}"


def changes(node: ast.AST) -> list[tuple[str, Change]]:
    """Return every lie that can be told at a node."""
    return [*_of_statements(node), *_of_expressions(node)]


def _of_statements(node: ast.AST) -> list[tuple[str, Change]]:
    found: list[tuple[str, Change]] = []
    match node:
        case ast.Raise():
            found.append(("raise-pass", lambda _: ast.Pass()))
        case ast.Assert():
            found.append(("assert-pass", lambda _: ast.Pass()))
        case ast.Expr(value=ast.Call()):
            found.append(("call-drop", lambda _: ast.Pass()))
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            pass
        case ast.If():
            found += [(f"if-{name}", _retest(make)) for name, make in _TESTS.items() if name != "true"]
        case _:
            pass
    return found


def _of_expressions(node: ast.AST) -> list[tuple[str, Change]]:
    found: list[tuple[str, Change]] = []
    match node:
        case ast.IfExp():
            found += [(f"choice-{name}", _retest(make)) for name, make in _TESTS.items() if name != "not"]
        case ast.match_case() if node.guard is not None:
            found.append(("guard-drop", _unguarded))
        case ast.comprehension():
            found += [("filter-drop", _without("ifs", k)) for k in range(len(node.ifs))]
        case ast.Compare():
            found += _comparisons(node)
        case ast.BoolOp():
            found += [("operand-drop", _unjoined(k)) for k in range(len(node.values))]
        case ast.UnaryOp(op=ast.Not()):
            found.append(("not-drop", lambda one: one.operand))
        case ast.Call(func=ast.Name(id=name)) if name in SWAPPED:
            found.append((f"{name}-swap", lambda one: setattr(one.func, "id", SWAPPED[one.func.id])))
        case _:
            pass
    return found


_TESTS: dict[str, Callable[[ast.expr], ast.expr]] = {
    "false": lambda _: ast.Constant(value=False),
    "true": lambda _: ast.Constant(value=True),
    "not": lambda test: ast.UnaryOp(op=ast.Not(), operand=test),
}


def _unguarded(case: ast.match_case) -> None:
    """Let a guard always hold; without one, Python refuses cases after a name that matches everything."""
    case.guard = ast.Constant(value=True)


def _retest(make: Callable[[ast.expr], ast.expr]) -> Change:
    return lambda node: setattr(node, "test", make(node.test))


def _without(field: str, place: int) -> Change:
    return lambda node: getattr(node, field).pop(place) and None


def _unjoined(place: int) -> Change:
    def change(node: ast.AST) -> ast.AST | None:
        del node.values[place]
        return node.values[0] if len(node.values) == 1 else None

    return change


def _comparisons(node: ast.Compare) -> list[tuple[str, Change]]:
    found: list[tuple[str, Change]] = []
    for k, sign in enumerate(node.ops):
        tables = (("compare-flip", FLIPPED), ("compare-edge", EDGED))
        found += [(name, _resigned(k, table[type(sign)])) for name, table in tables if type(sign) in table]
        if len(node.ops) > 1:
            found.append(("compare-drop", _unlinked(k)))
    return found


def _resigned(place: int, sign: type[ast.cmpop]) -> Change:
    return lambda node: node.ops.__setitem__(place, sign())


def _unlinked(place: int) -> Change:
    """Drop a link of a chain: its first operand, or the one after the sign."""

    def change(node: ast.AST) -> None:
        operands = [node.left, *node.comparators]
        del operands[0 if place == 0 else place + 1]
        del node.ops[place]
        node.left, node.comparators = operands[0], operands[1:]

    return change


def files() -> list[str]:
    """Return the files in which mutants are made."""
    return sorted(str(path.relative_to(ROOT)) for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


@cache
def all_mutants() -> tuple[Mutant, ...]:
    """Return a mutant for each guard, check and comparison, in the order of files and lines."""
    return tuple(mutant for file in files() for mutant in _of_file(file))


def placed(file: str, function: str, kind: str) -> list[Mutant]:
    """Return the mutants of a kind in a function; lines may move, functions rarely do."""
    return [m for m in all_mutants() if (m.file, m.function, m.kind) == (file, function, kind)]


def _of_file(file: str) -> Iterator[Mutant]:
    tree = ast.parse((ROOT / file).read_text())
    owners = dict(_owners(tree, "", is_inside=False))
    seen: Counter[tuple[int, str]] = Counter()
    for number, node in enumerate(ast.walk(tree)):
        for place, (kind, _) in enumerate(changes(node)):
            line = _line(node)
            yield Mutant(
                file, line, kind, number, place, owners.get(node, ""), seen[line, kind], _fires(node)
            )
            seen[line, kind] += 1


def _line(node: ast.AST) -> int:
    shown = node.guard if isinstance(node, ast.match_case) else node
    shown = shown.iter if isinstance(shown, ast.comprehension) else shown
    return shown.lineno


def _fires(node: ast.AST) -> int:
    return node.body[0].lineno if isinstance(node, ast.If) else _line(node)


def _owners(node: ast.AST, name: str, *, is_inside: bool) -> Iterator[tuple[ast.AST, str]]:
    """Return each node with the outermost function that it is in; decorators and defaults are in none."""
    for child in ast.iter_child_nodes(node):
        if is_inside:
            yield child, name
            yield from _owners(child, name, is_inside=True)
        elif isinstance(child, ast.ClassDef):
            yield from _owners(child, f"{name}{child.name}.", is_inside=False)
        elif isinstance(child, ast.FunctionDef):
            for inner in child.body:
                yield inner, name + child.name
                yield from _owners(inner, name + child.name, is_inside=True)
        else:
            yield from _owners(child, name, is_inside=False)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Exchange the one node."""
        return self.new if node is self.old else self.generic_visit(node)


@cache
def _source(file: str) -> str:
    return (ROOT / file).read_text()


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Return the code of the outermost functions of a module or class."""
    for part in code.co_consts:
        if isinstance(part, CodeType) and "<" not in part.co_qualname:
            yield part
            if not part.co_flags & 2:  # a class body, which has functions of its own
                yield from _codes(part)


@cache
def mutated(*mutants: Mutant) -> list[CodeType]:
    """Return the code of the functions that mutants of one file change."""
    file = mutants[0].file
    tree = ast.parse(_source(file))  # parsing anew is ten times as fast as copying a tree
    walked = list(ast.walk(tree))
    for mutant in mutants:
        node = walked[mutant.node]
        other = changes(node)[mutant.change][1](node)
        if other is not None:
            tree = _Replace(node, ast.copy_location(other, node)).visit(tree)
    code = compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec", dont_inherit=True)
    found = [_enclosing(code, mutant) for mutant in mutants if mutant.function]
    return [one for one in dict.fromkeys(found) if one is not None]


def _enclosing(module: CodeType, mutant: Mutant) -> CodeType | None:
    """Return the function of a mutant; of those with its name (a property and its setter), the last above."""
    named = [one for one in _codes(module) if one.co_qualname == mutant.function]
    above = [one for one in named if one.co_firstlineno <= mutant.line]
    return max(above, key=lambda one: one.co_firstlineno, default=None)


@cache
def _live() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Return the function objects of the packages by file, name and line, with all modules loaded."""
    for name in PACKAGES:
        package = importlib.import_module(f"circuitproof.{name}")
        for entry in pkgutil.walk_packages(package.__path__, f"circuitproof.{name}."):
            importlib.import_module(entry.name)
    found: dict[tuple[str, str, int], list[FunctionType]] = {}
    for one in _objects():
        if type(one) is FunctionType and one.__code__.co_filename.startswith(str(ROOT)):
            found.setdefault(_key(one.__code__), []).append(one)
    return found


def _objects() -> list[object]:
    """Return all objects there are, those too that the collector was told to pass over."""
    gc.unfreeze()
    found = gc.get_objects()
    gc.freeze()
    return found


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def is_swappable(mutant: Mutant) -> bool:
    """Say whether there is a live function whose code can be exchanged; what is no Python has none."""
    try:
        return any(_targets(code) for code in mutated(mutant))
    except SyntaxError:
        return False


def _targets(code: CodeType) -> list[FunctionType]:
    return [one for one in _live().get(_key(code), []) if one.__code__.co_freevars == code.co_freevars]


def forget() -> None:
    """Empty the caches of the product: what an honest function found is not what a mutant finds."""
    for one in _caches():
        one.cache_clear()


@cache
def _caches() -> list[_lru_cache_wrapper]:
    _live()
    caches = [one for one in _objects() if type(one) is _lru_cache_wrapper]
    return [one for one in caches if (one.__module__ or "").startswith("circuitproof.")]


@contextmanager
def applied_mutants(*mutants: Mutant) -> Iterator[None]:
    """Apply mutants to the prover for a while."""
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    codes = [code for group in by_file.values() for code in mutated(*group)]
    with ExitStack() as stack:
        stack.callback(forget)
        for code in codes:
            for function in _targets(code):
                stack.callback(setattr, function, "__code__", function.__code__)
                function.__code__ = code
        forget()
        yield
