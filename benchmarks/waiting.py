"""What trainings that share a machine's cores cost each other, by how torch's threads wait.

A training's threads meet after every operation. While one waits for another that has no core, it either looks
again and again and keeps the core, or sleeps. Each training uses all cores and begins without norms: steps
ten times slower that were once seen of such a model are what this looks like.
"""

import os
import subprocess
import sys
import time

import torch

from circuitproof.cli.main import WAITING
from circuitproof_lab.train.memory import freed_memory_kept
from timing import print_table, shown
from training import TOKENS, architectures, step_seconds

_POLICIES = {
    "torch's default": {},
    "sleep at once": {"OMP_WAIT_POLICY": "PASSIVE"},
    "circuitproof": WAITING,
}
_AT_ONCE = (1, 3, 5)


def tokens_a_second() -> float:
    """Return how fast a fresh model without norms trains in this process, by the clock on the wall."""
    torch.manual_seed(0)
    with freed_memory_kept():
        return TOKENS / step_seconds(architectures()["no norm, softmax"], time.perf_counter)[0]


def slowest(at_once: int, policy: dict[str, str]) -> float:
    """Return the tokens a second of the slowest of so many trainings."""
    plain = {name: value for name, value in os.environ.items() if name not in WAITING}
    command = (sys.executable, __file__, "one")
    started = [
        subprocess.Popen(command, env=plain | policy, stdout=subprocess.PIPE, text=True)  # noqa: S603  # ourselves
        for _ in range(at_once)
    ]
    return min(float(one.communicate()[0]) for one in started)


def main() -> None:
    """Print the table."""
    rows = shown(
        (name, *(f"{slowest(at_once, policy):,.0f}" for at_once in _AT_ONCE))
        for name, policy in _POLICIES.items()
    )
    columns = ("threads that wait", *(f"{at_once} at once" for at_once in _AT_ONCE))
    print_table(f"tokens a second of the slowest training, {os.cpu_count()} cores", columns, rows)


if __name__ == "__main__":
    if sys.argv[1:] == ["one"]:
        print(tokens_a_second())
    else:
        main()
