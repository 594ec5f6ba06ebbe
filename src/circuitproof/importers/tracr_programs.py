"""Tracr's library programs, compiled with causal attention: the only file that imports Tracr (an extra)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from circuitproof.importers.tracr_format import NONE, Compiled, Readout, TracrInterface

_BOS = "compiler_bos"
_LARGEST_DENOMINATOR = 1000
"""RASP's interpreter gives fractions of lengths as floats; these are much shorter."""


@dataclass(frozen=True, slots=True)
class LibraryProgram:
    """A program of Tracr's library, its tokens, and how long inputs are at most."""

    make: Callable[[Any], Any]
    """What builds it from the modules of Tracr's library and of RASP."""
    tokens: tuple[str | int, ...]
    longest: int


PROGRAMS = {
    "length": LibraryProgram(lambda at: at.lib.make_length(), ("a", "b", "c"), 4),
    "histogram": LibraryProgram(lambda at: at.lib.make_hist(), ("a", "b", "c"), 4),
    "sort": LibraryProgram(
        lambda at: at.lib.make_sort(at.rasp.tokens, at.rasp.tokens, max_seq_len=4, min_key=1), (1, 2, 3), 4
    ),
    "sort-unique": LibraryProgram(
        lambda at: at.lib.make_sort_unique(at.rasp.tokens, at.rasp.tokens), (1, 2, 3), 4
    ),
    "count-less-freq": LibraryProgram(lambda at: at.lib.make_count_less_freq(2), ("a", "b", "c"), 4),
    "frac-prevs": LibraryProgram(lambda at: at.lib.make_frac_prevs(at.rasp.tokens == "x"), ("x", "y"), 5),
    "detect-pattern": LibraryProgram(
        lambda at: at.lib.detect_pattern(at.rasp.tokens, "ab"), ("a", "b", "c"), 4
    ),
    "pair-balance": LibraryProgram(
        lambda at: at.lib.make_pair_balance(at.rasp.tokens, "(", ")"), ("(", ")"), 5
    ),
    "reverse": LibraryProgram(lambda at: at.lib.make_reverse(at.rasp.tokens), ("a", "b", "c"), 4),
    "dyck": LibraryProgram(lambda at: at.lib.make_shuffle_dyck(["()"]), ("(", ")"), 4),
}


@dataclass(frozen=True, slots=True)
class _Tracr:
    """The modules of Tracr that are needed."""

    lib: Any
    rasp: Any
    causal: Any
    compiling: Any


def compile_program(name: str) -> Compiled:
    """Compile a program, and record what Tracr's own forward gives on every input."""
    from tracr.compiler import compiling, lib  # pyright: ignore[reportMissingImports]  # an extra
    from tracr.rasp import causal_eval, rasp  # pyright: ignore[reportMissingImports]  # the same

    tracr, chosen = _Tracr(lib, rasp, causal_eval, compiling), PROGRAMS[name]
    program = chosen.make(tracr)
    model = compiling.compile_rasp_to_model(program, set(chosen.tokens), chosen.longest, causal=True)
    inputs = [list(one) for one in _inputs(chosen)]
    raw = [causal_eval.evaluate(program, one)[-1] for one in inputs]
    places = _output_places(model.residual_labels, program.label)
    is_number = model.residual_labels[places[0]] == program.label
    answers = tuple(_name(value, is_number=is_number) for value in raw)
    encoding = model.input_encoder.encoding_map
    prompts = [[_BOS, *one] for one in inputs]
    interface = TracrInterface(
        program=name,
        heads=model.model_config.num_heads,
        readout=Readout.NUMBER if is_number else Readout.CATEGORY,
        tokens=tuple(str(token) for token in sorted(encoding, key=encoding.__getitem__)),
        values=_numbers(answers) if is_number else tuple(map(str, model.output_encoder.encoding_map)),
        prompts=tuple(tuple(encoding[token] for token in prompt) for prompt in prompts),
        answers=answers,
    )
    tensors = {
        f"{module}/{part}": value for module, parts in model.params.items() for part, value in parts.items()
    }
    tensors["unembed"] = np.eye(len(model.residual_labels))[:, places]
    outputs = [model.apply(prompt).transformer_output[0, -1] for prompt in prompts]
    tensors["recorded"] = np.stack([np.asarray(one) for one in outputs])[:, places]
    return Compiled(
        interface, {key: np.ascontiguousarray(value, np.float32) for key, value in tensors.items()}
    )


def _inputs(program: LibraryProgram) -> Iterator[tuple[str | int, ...]]:
    for length in range(1, program.longest + 1):
        yield from product(program.tokens, repeat=length)


def _output_places(labels: Sequence[str], label: str) -> list[int]:
    """Return where the residual has the output: along one direction, or one for each value."""
    return [place for place, one in enumerate(labels) if one == label or one.startswith(f"{label}:")]


def _name(value: Any, *, is_number: bool) -> str:  # noqa: ANN401  # whatever RASP's interpreter gives
    if value is None:
        return NONE
    return str(Fraction(float(value)).limit_denominator(_LARGEST_DENOMINATOR) if is_number else value)


def _numbers(answers: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(str, sorted({Fraction(answer) for answer in answers if answer != NONE})))
