"""Names of rows that do not depend on what else is laid out: the same computation has the same name."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, assert_never

from circuitproof.arithmetic.protocol import Context
from circuitproof.forward.cells import (
    BiasPart,
    Cells,
    InputPart,
    PortPart,
    PositionPart,
    Stage,
    StagePart,
    TokenPart,
)

RowNames = Sequence[bytes]


def row_names(cells: Cells[Any]) -> list[RowNames]:
    """Return for each stage a name of each of its rows: a digest of the node and of what it reads."""
    named: list[RowNames] = []
    for stage in cells.stages:
        parts = [_part_names(cells, part, named) for part in stage.parts]
        node, terms = str(stage.node).encode(), stage.inputs
        inputs = [
            _digest(node, mark, (names[row] for names, row in zip(parts, row_of_parts, strict=True)))
            for row_of_parts, mark in zip(terms, terms.marks(), strict=True)
        ]
        named.append(_output_names(stage, node, inputs, parts) if stage.outputs is not terms else inputs)
    return named


def _output_names(stage: Stage, node: bytes, inputs: RowNames, ports: Sequence[RowNames]) -> RowNames:
    found = [
        _digest(node, mark, _read_names(context, ports if stage.ports else (inputs,) * 3))
        for context, mark in zip(stage.contexts, stage.contexts.marks(), strict=True)
    ]
    return found or [
        _digest(node, mark, sorted(inputs[row] + str(weight).encode() for row, weight in mix))
        for mix, mark in zip(stage.mixes, stage.mixes.marks(), strict=True)
    ]


def _read_names(context: Context, ports: Sequence[RowNames]) -> RowNames:
    """Return the names of what a query reads, and of where it stands."""
    asked, known, chosen = ports
    values = (chosen[value] for value in context.values)
    return [b"%d" % context.at, asked[context.query], *(known[key] for key in context.keys), *values]


def _part_names(cells: Cells[Any], part: InputPart, named: Sequence[RowNames]) -> RowNames:
    match part:
        case StagePart(stage) | PortPart(stage):
            return named[stage]
        case TokenPart():
            return [b"token %d" % token for token in cells.tokens]
        case PositionPart():
            return [b"position %d" % position for position in cells.positions]
        case BiasPart(layer):
            return [b"bias %d" % layer]
        case _:
            assert_never(part)


def _digest(node: bytes, mark: int, read: Iterable[bytes]) -> bytes:
    return blake2b(b"%b %d:" % (node, mark) + b"|".join(read), digest_size=16).digest()
