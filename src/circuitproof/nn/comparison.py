"""A model beside logits that were recorded from its original: exactly where it can be, else in floats."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load

from circuitproof.arithmetic.rounding import nearest_double
from circuitproof.circuits.circuit import whole
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.devices import CPU, Device
from circuitproof.files.reading import Fields, read_bytes, read_json, reading, write_rational
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.proof.findings import shown
from circuitproof.tasks.domain import Prompt
from circuitproof.verbs.logits import TokenSpelling, exact_logits

_PROMPTS, _ROWS = 2, 3
"""The dimensions of tokens, and of logits at every position."""


@dataclass(frozen=True, slots=True)
class RecordedLogits:
    """A prompt and what its original computed: logits after its last positions, as many as there are rows."""

    prompt: Prompt
    rows: tuple[tuple[Fraction, ...], ...]

    def prefixes(self) -> Iterator[Prompt]:
        """Return the part of the prompt that each row is about."""
        first = len(self.prompt) - len(self.rows) + 1
        return (self.prompt[:end] for end in range(first, len(self.prompt) + 1))


@dataclass(frozen=True, slots=True)
class LogitDifference:
    """How far logits of ours are from recorded ones, over all positions that were recorded."""

    positions: int
    difference: Fraction
    """The largest absolute difference of two logits."""
    largest: Fraction
    """The largest absolute value that was recorded."""
    agreeing: int
    """At how many positions the largest recorded logit is of a token whose logit is our largest."""
    prompt: int
    """Where the largest difference is: the prompt, the position in it, the token."""
    position: int
    token: int
    is_exact: bool
    """Ours were computed exactly; otherwise by torch in FP64."""
    within: Fraction | None = None
    """The largest difference that is allowed, if that was said."""

    @property
    def exit_code(self) -> ExitCode:
        is_beyond = self.within is not None and self.difference > self.within
        return ExitCode.REFUTED if is_beyond else ExitCode.GOOD

    def words(self) -> Iterator[str]:
        """Tell the largest difference and where it is, how often the largest logit agrees, and the bound."""
        how = "exactly computed" if self.is_exact else "FP64"
        yield (
            f"{how} logits at {self.positions} positions differ from the recorded ones by at most "
            f"{shown(self.difference)}, of token {self.token} at position {self.position} of prompt "
            f"{self.prompt}; the largest recorded is {shown(self.largest)}"
        )
        yield f"top-1 agrees at {self.agreeing} of {self.positions} positions"
        if self.within is not None:
            verb = "beyond" if self.exit_code else "within"
            yield f"the difference is {verb} the bound of {shown(self.within)}"

    def to_json(self) -> Json:
        return {
            "positions": self.positions,
            "difference": nearest_double(self.difference),
            "largest": nearest_double(self.largest),
            "agreeing": self.agreeing,
            "at": {"prompt": self.prompt, "position": self.position, "token": self.token},
            "exact": self.is_exact,
            "within": None if self.within is None else write_rational(self.within),
            "is_within": None if self.within is None else not self.exit_code,
        }


def compare(path: Path, file: Path, within: Fraction | None = None, device: Device = CPU) -> LogitDifference:
    """Compare a model directory with a file of recorded logits; docs/models.md has its format."""
    frozen = open_model(path)
    records = read_records(file, frozen)
    # the exact rows are those of prefixes, which only a mask makes the rows of the prompt
    is_exact = frozen.declaration.inexact_operator is None and frozen.architecture.is_causal
    ours = _exact_rows(frozen, records) if is_exact else _float_rows(path, records, device)
    return replace(_measure(records, ours, is_exact=is_exact), within=within)


def _measure(
    records: Sequence[RecordedLogits], ours: Sequence[Sequence[Fraction]], *, is_exact: bool
) -> LogitDifference:
    """Return the largest difference of rows, which stand in the order of the records."""
    rows = iter(ours)
    worst, agreeing, largest = (Fraction(-1), 0, 0, 0), 0, Fraction(0)
    for prompt, record in enumerate(records):
        for prefix, theirs in zip(record.prefixes(), record.rows, strict=True):
            own = next(rows)
            agreeing += own[theirs.index(max(theirs))] == max(own)
            largest = max(largest, *map(abs, theirs))
            gaps = [abs(one - other) for one, other in zip(own, theirs, strict=True)]
            if (gap := max(gaps)) > worst[0]:
                worst = gap, prompt, len(prefix) - 1, gaps.index(gap)
    gap, prompt, position, token = worst
    return LogitDifference(len(ours), gap, largest, agreeing, prompt, position, token, is_exact)


def _exact_rows(frozen: Frozen, records: Sequence[RecordedLogits]) -> list[tuple[Fraction, ...]]:
    tokens = tuple(range(frozen.architecture.predicted))
    prompts = [prefix for record in records for prefix in record.prefixes()]
    return [found.logits for found in exact_logits(frozen, whole(frozen.graph), tokens, prompts)]


def _float_rows(path: Path, records: Sequence[RecordedLogits], device: Device) -> list[tuple[Fraction, ...]]:
    """Return what torch computes in FP64, so that only the original's rounding is seen."""
    import torch

    from circuitproof.nn.checkpoint import load_model

    model, rows = load_model(path, device).model.double().eval(), list[tuple[Fraction, ...]]()
    with torch.no_grad():
        for record in records:
            found = model(model.tokens_of([record.prompt]))[0, -len(record.rows) :]
            if not bool(found.isfinite().all()):
                raise InputError(f"{path}: a logit of the model is not a finite number, in FP64")
            rows.extend(tuple(map(Fraction, row)) for row in found.tolist())
    return rows


def read_records(file: Path, frozen: Frozen) -> tuple[RecordedLogits, ...]:
    """Read the tokens and logits of a JSON or a safetensors file, as many and as long as the model's."""
    prompts, logits = _read_json(file) if file.suffix == ".json" else _read_tensors(file)
    if not prompts or len(prompts) != len(logits):
        raise InputError(
            f"{file} has {len(prompts)} prompts and logits of {len(logits)}, want one or more of each"
        )
    spelling, size = TokenSpelling(frozen.declaration), frozen.architecture.vocabulary
    records = [
        RecordedLogits(spelling.prompt(prompt), rows) for prompt, rows in zip(prompts, logits, strict=True)
    ]
    for place, record in enumerate(records):
        widths = {*map(len, record.rows)}
        if not 1 <= len(record.rows) <= len(record.prompt) or widths != {size}:
            raise InputError(
                f"{file}: prompt {place} has {len(record.prompt)} tokens and {len(record.rows)} rows of "
                f"{' or '.join(map(str, sorted(widths)))} logits, want a row of {size} for each position or "
                "for the last"
            )
    return tuple(records)


def _read_json(file: Path) -> tuple[Sequence[Prompt], Sequence[tuple[tuple[Fraction, ...], ...]]]:
    with reading(read_json(file), str(file)) as fields:
        return fields.integer_rows("tokens"), [
            tuple(_numbers(row, where) for row in _rows(entry, where))
            for entry, where in fields.entries("logits")
        ]


def _rows(entry: object, where: str) -> Sequence[object]:
    """Return the rows of a prompt: a list of rows, or the only one."""
    rows = Fields({"": entry}, where).items("")
    return rows if rows and isinstance(rows[0], list) else (entry,)


def _numbers(row: object, where: str) -> tuple[Fraction, ...]:
    """Return numbers as the doubles that they name, which is what a forward recorded."""
    return tuple(_number(one, where) for one in Fields({"": row}, where).items(""))


def _number(one: object, where: str) -> Fraction:
    if isinstance(one, bool) or not isinstance(one, int | Decimal) or not isfinite(double := float(one)):
        raise InputError(f"{where} holds {one!r}, want finite numbers")
    return Fraction(double)


def _read_tensors(file: Path) -> tuple[Sequence[Prompt], Sequence[tuple[tuple[Fraction, ...], ...]]]:
    try:
        tensors = load(read_bytes(file))
    except (
        SafetensorError,
        KeyError,
        TypeError,
    ) as error:  # the latter for a format that numpy does not have
        raise InputError(f"{file} is no JSON file and no usable safetensors file: {error}") from error
    if missing := {"tokens", "logits"} - tensors.keys():
        raise InputError(f"{file} lacks {min(missing)}; it holds tokens and logits, as docs/models.md says")
    tokens, logits = tensors["tokens"], tensors["logits"]
    if tokens.ndim != _PROMPTS or tokens.dtype.kind not in "iu":
        raise InputError(
            f"{file}: tokens are {tokens.dtype} of shape {tokens.shape}, want integers [prompt, position]"
        )
    if logits.ndim not in (_PROMPTS, _ROWS) or logits.dtype.kind != "f" or not np.isfinite(logits).all():
        raise InputError(
            f"{file}: logits are {logits.dtype} of shape {logits.shape}, want finite floats "
            "[prompt, position, token] or [prompt, token]"
        )
    return [tuple(row) for row in tokens.tolist()], [
        _rationals(one if one.ndim > 1 else one[None]) for one in logits
    ]


def _rationals(rows: npt.NDArray[np.floating]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(map(Fraction, row)) for row in rows.astype(np.float64).tolist())
