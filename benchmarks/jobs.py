"""What --jobs gains: the same command with one process and with two, on lists of `benchmarks/lists.py`.

Each pair is measured one after the other, so that it is the ratio that tells, and that little where other
work has the processors too. Seconds are from the start of the command to its end, those of processors of
all its processes together. The bundles of a pair are compared byte by byte.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from circuitproof.files.canonical import readable_json
from lists import ListCase, case
from timing import print_table, shown

ROWS = ("seeded toy, 10000", "seeded GPT, 512")


def commands(asked: ListCase, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Return what is asked of a model, and the words of it."""
    task = folder / "task.json"
    task.write_bytes(readable_json(asked.task.to_json()))
    common = ["--model", str(asked.model), "--task", str(task)]
    claimed = [word for one in asked.properties for word in ("--property", one)]
    if asked.circuit is None:
        yield "verify", ["verify", *common, *claimed]
        return
    kept = ["--circuit", str(asked.circuit)]
    yield "verify", ["verify", *common, *claimed, *kept, "--epsilon", asked.epsilon]
    yield "minimal", ["minimal", *common, *kept]
    yield "extract", ["extract", *common]


def rows(name: str) -> Iterator[tuple[str, ...]]:
    """Return a row for each command about a list, if its model is there."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        asked = case(name, folder)
        for command, words in () if asked is None else commands(asked, folder):
            found = [measured(words, folder / f"{command}-{jobs}", jobs) for jobs in (1, 2)]
            (alone, own, kept), (together, both, same) = found
            if kept != same:
                raise SystemExit(f"{command} of {name} writes other bytes with two jobs")
            numbers = (alone, together, alone / together, own, both)
            yield (f"{command}: {name}", *(f"{number:.1f}" for number in numbers))


def measured(words: Sequence[str], out: Path, jobs: int) -> tuple[float, float, list[bytes]]:
    """Run a command; return its seconds, those of all its processors, and what it writes."""
    out.mkdir()
    command = [sys.executable, "-m", "circuitproof", *words, "--jobs", str(jobs), "--out", str(out / "out")]
    begun, before = time.perf_counter(), _spent()
    done = subprocess.run(  # noqa: S603  # our own
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, check=False, text=True
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    seconds, spent = time.perf_counter() - begun, _spent() - before
    return seconds, spent, [file.read_bytes() for file in sorted(out.rglob("*")) if file.is_file()]


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the table."""
    columns = ("list", "1 job s", "2 jobs s", "ratio", "1 job, processors' s", "2 jobs, processors' s")
    found = shown(row for name in sys.argv[1:] or ROWS for row in rows(name))
    print_table(f"one process and two, of {os.cpu_count()} processors", columns, found)


if __name__ == "__main__":
    main()
