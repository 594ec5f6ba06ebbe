"""Reading the drawings that ACDC makes of circuits: Graphviz text whose visible edges are kept.

| ours             | ACDC                                      |
|------------------|-------------------------------------------|
| `embed`          | `<embeds>`, or `<tok_embeds>` with `<pos_embeds>` |
| `head 0.1`       | `<a0.1>`                                  |
| `head 0.1 query` | `<a0.1_q>`                                |
| `mlp 0`          | `<m0>`                                    |
| `logits`         | `<resid_post>`                            |

An edge from a head's port to the head itself is the head's own wiring, and an invisible one only lays nodes
out: neither is an edge of the circuit. A drawing has neither sizes nor an ablation: cut edges carry zero.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import (
    EMBED,
    LOGITS,
    Edge,
    Granularity,
    Graph,
    Head,
    Mlp,
    Node,
    Port,
    Target,
    Use,
)
from circuitproof.errors import InputError
from circuitproof.files.reading import about

SUFFIXES = (".gv", ".dot")
_SKIPPED = re.compile(r"(?:\s|//[^\n]*|\#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<mark>->|[\[\]{}=;,:])|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<angled><[^<>\s]*>)|(?P<plain>[\w.+-]+?(?=->|[^\w.+-]|$))"""
)
_NAME = re.compile(
    r"<?(?:(?P<embed>embeds)|(?P<half>tok_embeds|pos_embeds)|(?P<out>resid_post)"
    r"|a(?P<layer>N)\.(?P<head>N)(?:_(?P<use>[qkv]))?|m(?P<mlp>N))>?".replace("N", "[0-9]{1,9}")
)
_USES = {"q": Use.QUERY, "k": Use.KEY, "v": Use.VALUE}
_HALVES = ("tok_embeds", "pos_embeds")
_INVISIBLE = "invis"
_SHOWN = 40
"""How much of a name is enough to recognise it."""


@dataclass(frozen=True, slots=True)
class _DotToken:
    """A word of the text, or one of its marks."""

    text: str
    is_mark: bool


@dataclass(frozen=True, slots=True)
class _Drawn:
    """An edge of the drawing, by the names of its ends."""

    source: str
    target: str
    is_visible: bool


def parse_graphviz(text: str, where: str, sizes: Graph | None = None) -> Circuit:
    """Read the circuit that a drawing of ACDC's keeps.

    `sizes` are those of the model; without them, the largest layer and head that are named are the last.
    """
    with about(where):
        parser = _Parser(list(_words(text, where)), where)
        drawn = parser.edges()
        kept = [edge for edge in drawn if edge.is_visible]
        if not kept:
            lays = f"lays out {len(parser.nodes)} nodes and keeps no edge"
            raise InputError(f"{where} {lays}: {len(drawn)} edges are drawn, all of them invisible")
        return _circuit(kept, parser.nodes, where, sizes)


def _words(text: str, where: str) -> Iterator[_DotToken]:
    place = 0
    while place < len(text):
        if skipped := _SKIPPED.match(text, place):
            place = skipped.end()
            continue
        found = _TOKEN.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise InputError(f"{where}: line {line} is not Graphviz text: {text[place : place + _SHOWN]!r}")
        place = found.end()
        if found["mark"]:
            yield _DotToken(found["mark"], is_mark=True)
        else:
            yield _DotToken(found["quoted"] or found["angled"] or found["plain"] or "", is_mark=False)


class _Parser:
    """Reads the statements of one directed graph without subgraphs."""

    def __init__(self, words: Sequence[_DotToken], where: str) -> None:
        self._words, self._where, self._place = words, where, 0
        self._style = ""
        self.nodes: dict[str, None] = {}
        """The names of nodes, in the order in which they are met."""

    def edges(self) -> list[_Drawn]:
        """Return every edge, visible or not."""
        if self._peek("strict"):
            self._next()
        if not self._peek("digraph"):
            raise InputError(
                f"{self._where} is no directed graph; want Graphviz text that begins with digraph"
            )
        self._next()
        if not self._peek("{"):
            self._next()
        self._expect("{")
        found: list[_Drawn] = []
        while not self._peek("}"):
            found += self._statement()
        self._expect("}")
        if self._place != len(self._words):
            raise InputError(f"{self._where} goes on behind its graph; want one graph in a file")
        return found

    def _statement(self) -> list[_Drawn]:
        if self._peek(";"):
            self._next()
            return []
        if self._peek("{") or self._peek("subgraph"):
            raise InputError(f"{self._where} has a subgraph; want nodes and edges only, as ACDC draws them")
        names = [self._name()]
        if self._peek("="):
            self._next()
            self._name()
            return []
        while self._peek("->"):
            self._next()
            names.append(self._name())
        style = self._attributes()
        if len(names) == 1 and names[0] in {"node", "edge", "graph"}:
            self._style = style if names[0] == "edge" and style is not None else self._style
            return []
        self.nodes |= dict.fromkeys(names)
        shown = _INVISIBLE not in (self._style if style is None else style).split(",")
        return [_Drawn(one, other, shown) for one, other in pairwise(names)]

    def _attributes(self) -> str | None:
        """Read lists of attributes and return the style, if they give one."""
        style: str | None = None
        while self._peek("["):
            self._next()
            while not self._peek("]"):
                if self._peek(",") or self._peek(";"):
                    self._next()
                    continue
                key = self._name()
                self._expect("=")
                value = self._name()
                style = value.replace(" ", "") if key == "style" else style
            self._expect("]")
        return style

    def _peek(self, text: str) -> bool:
        return self._place < len(self._words) and self._words[self._place].text == text

    def _next(self) -> _DotToken:
        if self._place == len(self._words):
            raise InputError(f"{self._where} ends within its graph; want a closing brace")
        self._place += 1
        return self._words[self._place - 1]

    def _name(self) -> str:
        word = self._next()
        if word.is_mark:
            raise InputError(f"{self._where} has {word.text!r} where a name is wanted")
        return word.text

    def _expect(self, mark: str) -> None:
        word = self._next()
        if not word.is_mark or word.text != mark:
            raise InputError(f"{self._where} has {word.text[:_SHOWN]!r} where {mark!r} is wanted")


def _circuit(kept: Sequence[_Drawn], nodes: Iterable[str], where: str, sizes: Graph | None) -> Circuit:
    ends = {name: _end(name, where) for name in nodes}
    joined = [(edge, ends[edge.source], ends[edge.target]) for edge in kept]
    wired = [(edge, source, target) for edge, source, target in joined if not _is_own(source, target)]
    if ported := [edge for edge, source, _ in wired if isinstance(source, Port)]:
        raise InputError(
            f"{where}: {ported[0].source} -> {ported[0].target} leaves a port, which feeds its own head only"
        )
    _refuse_half_embedded(kept, where)
    targets = [target for _, _, target in wired]
    has_ports = any(isinstance(target, Port) for target in targets)
    if has_ports and (whole := next((one for one in targets if isinstance(one, Head)), None)):
        raise InputError(f"{where} feeds {whole} as a whole and ports of heads apart; want one of the two")
    graph = sizes or _sizes([*ends.values()])
    told = Granularity.PORT if has_ports else Granularity.HEAD
    return Circuit(
        replace(graph, granularity=told), frozenset(_edge(source, target) for _, source, target in wired)
    )


def _end(name: str, where: str) -> Target:
    match = _NAME.fullmatch(name)
    if match is None:
        wanted = "<embeds>, <aL.H>, <aL.H_q>, <mL> or <resid_post>"
        raise InputError(f"{where}: {name[:_SHOWN]!r} is not a node as ACDC names them; want {wanted}")
    if match["embed"] or match["half"]:
        return EMBED
    if match["out"]:
        return LOGITS
    if match["mlp"]:
        return Mlp(int(match["mlp"]))
    head = Head(int(match["layer"]), int(match["head"]))
    return Port(head, _USES[match["use"]]) if match["use"] else head


def _is_own(source: Target, target: Target) -> bool:
    """Say whether an edge leads from a port to its own head."""
    return isinstance(source, Port) and source.head == target


def _refuse_half_embedded(kept: Sequence[_Drawn], where: str) -> None:
    """Refuse a reader of tokens or positions alone: `embed` is the sum of both."""
    read = {half: {one.target for one in kept if one.source.strip("<>") == half} for half in _HALVES}
    if alone := sorted(read["tok_embeds"] ^ read["pos_embeds"]):
        raise InputError(
            f"{where}: {alone[0]} reads one of tok_embeds and pos_embeds; embed is their sum, so want both"
        )


def _sizes(ends: Sequence[Target]) -> Graph:
    heads = [end.head if isinstance(end, Port) else end for end in ends if isinstance(end, Head | Port)]
    layers = [*(head.layer for head in heads), *(end.layer for end in ends if isinstance(end, Mlp))]
    return Graph(max(layers, default=0) + 1, max((head.index for head in heads), default=0) + 1)


def _edge(source: Target, target: Target) -> Edge:
    node: Node = source.head if isinstance(source, Port) else source
    return Edge(node, target)
