"""The command `circuitproof-check`: is a directory what its manifest says, and does it prove its claim?

Nothing is accepted for lack of a complaint. A directory whose files match their digests but that carries no
claim proves nothing: the answer is `incomplete`.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from . import FORMAT, __version__
from .claim import read_claim, with_unreached
from .forward import Forward
from .model import ModelDirectory, check_base, check_declared, check_rows, check_tensors, open_model
from .properties import Verdict, judge
from .reading import (
    MANIFEST,
    ForgedError,
    UnreadableError,
    cut,
    mapping,
    named,
    open_sealed,
    parse_json,
    quoted,
    require,
    sha256,
)
from .summary import LONGEST_LINE, Beside, Judged, assumptions, facts, sentence
from .task import check_task
from .tensors import Tensor, Weights, read_safetensors, stored_size
from .work import ExceededError, allow, allow_more, only_foresee, usual

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

CLAIM, DOMAIN, WEIGHTS, CERTIFICATE = "claim.json", "domain.json", "weights.safetensors", "certificate.json"
DETACHED = frozenset({CLAIM, DOMAIN, CERTIFICATE})
"""The files of a bundle that holds no weights."""
UNHELD = "the bundle holds no weights: give the model with --against"


class Outcome(IntEnum):
    """The four answers and the two ways not to get one; the values are the exit codes."""

    VALID = 0
    REFUTED = 1
    USAGE = 2
    FAILURE = 3
    INCOMPLETE = 4
    INVALID = 5


@dataclass(frozen=True, slots=True)
class Report:
    """The answer, the reason in one sentence, and what the bundle claims if that could be read."""

    outcome: Outcome
    reason: str
    claim: dict[str, object] = field(default_factory=dict[str, object])
    assumptions: tuple[dict[str, str], ...] = ()
    """What a verdict rests on beside the evidence."""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False, compare=False)
    """The very bytes that were judged, if they were to the end: what is shown of a bundle is made of them."""
    tensors: Mapping[str, Tensor] = field(default_factory=dict[str, Tensor], repr=False, compare=False)
    """The same of what a detached bundle names, from the model."""
    folds: tuple[tuple[Fraction, ...], ...] = field(default=(), repr=False, compare=False)
    """The rows of exact logits that evidence refers to, each as it was computed."""

    def to_json(self) -> str:
        content = {"outcome": self.outcome.name.lower(), "exit": int(self.outcome), "reason": self.reason}
        judged = {"claim": self.claim, "assumptions": self.assumptions} if self.claim else {}
        return json.dumps(content | judged, indent=2)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    report = inspect(options.bundle, Beside(options.against, options.base, options.task, options.operations))
    line = f"{report.outcome.name.lower()}: {_printable(report.reason)}"
    _say(report.to_json() if options.as_json else line)
    sys.exit(report.outcome)


def _say(text: str) -> None:
    """Print to standard output; what cannot be said must not read as an answer."""
    if sys.stdout is None:
        _fail("it is closed")
    try:
        print(text.encode(sys.stdout.encoding or "ascii", "backslashreplace").decode(), flush=True)
    except OSError as error:
        _fail(error.strerror or str(error))
    except ValueError as error:
        _fail(str(error))


def _fail(reason: str) -> NoReturn:
    """Say where it may still be heard that there is no answer; what is left to be written is given up."""
    with suppress(OSError, ValueError):
        print(f"failure: standard output cannot be written: {reason}", file=sys.stderr, flush=True)
    os._exit(Outcome.FAILURE)


class _Parser(argparse.ArgumentParser):
    """A parser whose help and version are output like any other."""

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        if file is sys.stdout and file is not sys.stderr:
            _say(message.rstrip())
        else:
            super()._print_message(message, file)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="circuitproof-check", description="Check a bundle with nothing installed.")
    parser.add_argument("bundle", type=Path, help="the directory to check")
    parser.add_argument("--against", type=Path, metavar="MODEL", help="the model directory it must be about")
    parser.add_argument("--base", type=Path, metavar="MODEL", help="the model directory it was built on")
    parser.add_argument(
        "--task", type=Path, metavar="FILE", help="the declaration of its task, as JSON or TOML"
    )
    parser.add_argument("--operations", type=_count, metavar="N", help="how much work it may be")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print the answer as JSON")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}, format {FORMAT}")
    return parser


def _count(spelled: str) -> int:
    if not (spelled.isascii() and spelled.isdecimal() and len(spelled) <= 18 and int(spelled)):  # noqa: PLR2004  # digits
        raise argparse.ArgumentTypeError(f"{spelled!r} is not a whole number from 1")
    return int(spelled)


def check(bundle: Path, against: Path | None = None, base: Path | None = None) -> tuple[Outcome, str]:
    """Return the answer about a directory, and the reason in one sentence."""
    report = inspect(bundle, Beside(against, base))
    return report.outcome, report.reason


def inspect(bundle: Path, beside: Beside) -> Report:
    """Return the answer about a directory; whatever happens, it is an answer, and a short one."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # exact logits of deep circuits have more digits than the default allows
    try:
        report = _answer(bundle, beside)
        return replace(report, reason=cut(report.reason, LONGEST_LINE - len(f"{report.outcome.name}: ")))
    finally:
        sys.set_int_max_str_digits(limit)


def _answer(bundle: Path, beside: Beside) -> Report:
    where = named(bundle)
    try:
        _refuse_path(bundle)
        return _judge(bundle, beside)
    except OSError as error:
        reason = f"cannot read {named(error.filename)}: {error.strerror}"
        return Report(Outcome.FAILURE, f"{where} cannot be judged: {reason}")
    except (UnreadableError, MemoryError) as error:
        return Report(Outcome.FAILURE, f"{where} cannot be judged: {error}")
    except ExceededError as error:
        return Report(Outcome.INCOMPLETE, str(error))
    except RecursionError:
        return Report(Outcome.INCOMPLETE, f"{where} is nested more deeply than is read")
    except ForgedError as error:
        return Report(Outcome.INVALID, str(error))
    except Exception as error:  # noqa: BLE001  # a fault of the checker is no verdict on the bundle
        return Report(
            Outcome.FAILURE, f"the checker failed: {type(error).__name__}: {quoted(str(error), 200)}"
        )


def _refuse_path(bundle: Path) -> None:
    """Refuse a directory from which Python imports modules: it could replace those of the checker."""
    if any(os.path.realpath(path) == os.path.realpath(bundle) for path in sys.path):
        raise UnreadableError("it is on Python's path and could replace its modules; use python -I")


def _judge(bundle: Path, beside: Beside) -> Report:
    allow(beside.operations or usual(0))
    sealed = open_sealed(bundle)
    if CLAIM not in sealed.digests:
        for name in sealed.digests:
            sealed.check(name)
        found = f"{len(sealed.digests)} files are as the manifest says"
        return Report(Outcome.INCOMPLETE, f"{found}, but {named(bundle)} carries no claim")
    present = {entry.name for entry in bundle.iterdir()} - {MANIFEST}
    held = DETACHED | ({WEIGHTS} & (sealed.digests.keys() | present))
    strange = (sealed.digests.keys() ^ held) | (present ^ held)
    require("bundles_have_their_files_alone", not strange, "bundle", strange)
    size = sum(map(sealed.size, (CLAIM, DOMAIN, CERTIFICATE)))
    allow(beside.operations or usual(size))
    if beside.only_foreseen:
        only_foresee()
    files = {name: sealed.read(name) for name in (CLAIM, DOMAIN, CERTIFICATE)}
    stated, domain, certificate = (parse_json(content, name) for name, content in files.items())
    claim = with_unreached(read_claim(stated, domain, files[DOMAIN]))
    is_told = claim.is_detached is not (WEIGHTS in held)
    require("weights_are_here_unless_detached", is_told, "bundle", claim.is_detached)
    alphabet = None
    if beside.task is not None:
        alphabet = check_task(beside.task, mapping(stated, CLAIM)["task"], domain, claim.architecture)
    if claim.is_detached and beside.against is None:
        return Report(Outcome.INCOMPLETE, UNHELD)
    model = _model(beside.against, beside)
    has_alphabet = model is not None and check_declared(model, claim, alphabet)
    of_model = None if model is None else check_tensors(model, claim)
    if not claim.is_detached:
        files[WEIGHTS] = sealed.read(WEIGHTS, stored_size(claim.slices))
    tensors = _tensors(files.get(WEIGHTS), of_model)
    further = sum(len(tensor.content) for tensor in tensors.values())
    _allow_more(beside, usual(size + further) - usual(size))
    forward = Forward(claim, Weights(claim.slices, tensors))
    if of_model is not None:
        check_rows(claim, tensors, of_model)
    if (base := _model(beside.base, beside)) is not None:
        check_base(base, claim)
    found = judge(certificate, sha256(files[CLAIM]), claim, forward)
    judged = Judged(claim, found.answers, beside, has_alphabet, found.count, found.precision)
    passed_on: Mapping[str, Tensor] = tensors if claim.is_detached else {}
    return replace(_report(judged), files=files, tensors=passed_on, folds=found.folds)


def _model(directory: Path | None, beside: Beside) -> ModelDirectory | None:
    """Return a model that the bundle is compared with; whoever named it wants its digests."""
    if directory is None:
        return None
    model = open_model(directory)
    _allow_more(beside, model.digesting)
    return model


def _tensors(stored: bytes | None, of_model: Mapping[str, Tensor] | None) -> Mapping[str, Tensor]:
    """Return the tensors of a claim: those of the bundle's file, or of a model that has their digests."""
    return of_model or {} if stored is None else read_safetensors(stored, WEIGHTS)


def _allow_more(beside: Beside, operations: int) -> None:
    """Allow further operations, unless their number was told."""
    if beside.operations is None:
        allow_more(operations)


def _report(judged: Judged) -> Report:
    """Return the outcome of properties whose evidence holds, with the whole claim in words."""
    verdicts = {verdict for verdict, _ in judged.answers}
    if Verdict.REFUTED in verdicts:
        outcome = Outcome.REFUTED
    else:
        outcome = Outcome.INCOMPLETE if Verdict.UNDECIDED in verdicts else Outcome.VALID
    return Report(outcome, sentence(judged), facts(judged), assumptions(judged))


def _printable(reason: str) -> str:
    """Return one line: names in a bundle are untrusted, and may hold any character."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in reason)
