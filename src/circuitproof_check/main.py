"""The command `circuitproof-check`: is a directory what its manifest says, and does it prove its claim?

Nothing is accepted for lack of a complaint. A directory whose files match their digests but that carries no
claim proves nothing: the answer is `incomplete`.
"""

import argparse
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from .claim import Claim, read_claim
from .forward import Forward
from .model import check_against, check_base
from .properties import Verdict, judge
from .reading import MANIFEST, ForgedError, UnreadableError, parse_json, read_sealed, require, sha256
from .symbolic import scope as prompts_of
from .tensors import Weights, read_safetensors

CLAIM, DOMAIN, WEIGHTS, CERTIFICATE = "claim.json", "domain.json", "weights.safetensors", "certificate.json"
BUNDLE = frozenset({CLAIM, DOMAIN, WEIGHTS, CERTIFICATE})


class Outcome(IntEnum):
    """The three answers and the two ways not to get one; the values are the exit codes."""

    VALID = 0
    INVALID = 1
    USAGE = 2
    FAILURE = 3
    INCOMPLETE = 4


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="circuitproof-check", description="Check a bundle with nothing installed."
    )
    parser.add_argument("bundle", type=Path, help="the directory to check")
    parser.add_argument("--against", type=Path, metavar="MODEL", help="the model directory it must be about")
    parser.add_argument("--base", type=Path, metavar="MODEL", help="the model directory it was built on")
    options = parser.parse_args(arguments)
    outcome, reason = check(options.bundle, options.against, options.base)
    print(f"{outcome.name.lower()}: {_printable(reason)}")
    sys.exit(outcome)


def check(bundle: Path, against: Path | None = None, base: Path | None = None) -> tuple[Outcome, str]:
    """Return the answer about a directory, and the reason in one sentence."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # exact logits of deep circuits have more digits than the default allows
    try:
        return _judge(bundle, against, base)
    except (UnreadableError, OSError, RecursionError, MemoryError, OverflowError) as error:
        return Outcome.FAILURE, f"{bundle} cannot be judged: {error}"
    except ForgedError as error:
        return Outcome.INVALID, str(error)
    finally:
        sys.set_int_max_str_digits(limit)


def _judge(bundle: Path, against: Path | None, base: Path | None) -> tuple[Outcome, str]:
    files = read_sealed(bundle)
    if CLAIM not in files:
        found = f"{len(files)} files are as the manifest says"
        return Outcome.INCOMPLETE, f"{found}, but {bundle} carries no claim"
    present = {entry.name for entry in bundle.iterdir()} - {MANIFEST}
    strange = (files.keys() ^ BUNDLE) | (present ^ BUNDLE)
    require("bundles_have_five_files", not strange, "bundle", strange)
    claim = read_claim(parse_json(files[CLAIM], CLAIM), parse_json(files[DOMAIN], DOMAIN), files[DOMAIN])
    tensors = read_safetensors(files[WEIGHTS], WEIGHTS)
    forward = Forward(claim, Weights(claim.slices, tensors))
    if against is not None:
        check_against(against, claim, tensors)
    if base is not None:
        check_base(base, claim)
    certificate = parse_json(files[CERTIFICATE], CERTIFICATE)
    return _summary(claim, judge(certificate, sha256(files[CLAIM]), claim, forward))


def _summary(claim: Claim, verdicts: Sequence[Verdict]) -> tuple[Outcome, str]:
    """Return the outcome of properties whose evidence holds."""
    names: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for claimed, verdict in zip(claim.properties, verdicts, strict=True):
        names[verdict].append(claimed.kind)
    scope = f"{len(claim.edges)} edges, {prompts_of(claim)}"
    if refuted := names[Verdict.REFUTED]:
        return Outcome.INVALID, f"the refutation of {', '.join(refuted)} holds ({scope})"
    if undecided := names[Verdict.UNDECIDED]:
        return Outcome.INCOMPLETE, f"nothing is broken, but {', '.join(undecided)} is undecided ({scope})"
    return Outcome.VALID, f"{', '.join(names[Verdict.PROVED])} proved ({scope})"


def _printable(reason: str) -> str:
    """Return one line: names in a bundle are a stranger's, and may hold any character."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in reason)
