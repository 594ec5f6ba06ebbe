"""The command `circuitproof-check`: is a directory what its manifest says, and does it prove its claim?

Nothing is accepted for lack of a complaint. A directory whose files match their digests but that carries no
claim proves nothing: the answer is `incomplete`.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path


class Outcome(IntEnum):
    """The three answers and the two ways not to get one; the values are the exit codes."""

    VALID = 0
    INVALID = 1
    USAGE = 2
    FAILURE = 3
    INCOMPLETE = 4


class UnreadableError(Exception):
    """The directory cannot be read at all, so there is nothing to judge."""


class ForgedError(Exception):
    """The directory contradicts itself."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="circuitproof-check", description="Check a bundle with nothing installed."
    )
    parser.add_argument("bundle", type=Path, help="the directory to check")
    options = parser.parse_args(arguments)
    outcome, reason = check(options.bundle)
    print(f"{outcome.name.lower()}: {reason}")
    sys.exit(outcome)


def check(bundle: Path) -> tuple[Outcome, str]:
    """Return the answer about a directory, and the reason in one sentence."""
    try:
        count = _check_digests(bundle)
    except (UnreadableError, OSError) as error:
        return Outcome.FAILURE, str(error)
    except ForgedError as error:
        return Outcome.INVALID, str(error)
    return Outcome.INCOMPLETE, f"{count} files are as the manifest says, but {bundle} carries no claim"


def _check_digests(bundle: Path) -> int:
    manifest = bundle / "manifest.json"
    try:
        files = json.loads(manifest.read_bytes())["files"]
        wanted = {str(name): str(digest) for name, digest in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"{manifest} is not a manifest: {error}") from error
    if not wanted:
        raise ForgedError(f"{manifest} lists no files")
    for name, digest in wanted.items():
        if Path(name).name != name:
            raise ForgedError(f"{manifest} lists {name!r}, which is not a plain file name")
        if not (bundle / name).is_file():
            raise ForgedError(f"{name!r} is listed but missing")
        if hashlib.sha256((bundle / name).read_bytes()).hexdigest() != digest:
            raise ForgedError(f"{name!r} is not what the manifest says")
    return len(wanted)


if __name__ == "__main__":
    main()
