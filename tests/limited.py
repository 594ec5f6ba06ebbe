"""The checker in a process of its own, with so much time and memory as every small bundle may take."""

import subprocess
import sys
from pathlib import Path

SECONDS, MEGABYTES = 10, 500
_PROGRAM = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEGABYTES << 20}, {MEGABYTES << 20}))
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
from circuitproof_check.main import main
main([sys.argv[1]])
"""


def judged(bundle: Path) -> tuple[int, str, str]:
    """Return how the checker ends, and what it says and complains of."""
    ended = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", _PROGRAM, str(bundle)], check=False, capture_output=True, text=True
    )
    return ended.returncode, ended.stdout, ended.stderr
