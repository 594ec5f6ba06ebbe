"""The checker in a process of its own, with so much time and memory as every small bundle may take."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SECONDS, MEGABYTES = 10, 500
_LIMITS = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MEGABYTES << 20}, {MEGABYTES << 20}))
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
"""
_MEASURES = """
import atexit, sys, time
from pathlib import Path

def measure():
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    print(time.process_time(), int(peak.split()[1]) / 1024, file=sys.stderr)

atexit.register(measure)
"""
_CHECK = """
import sys
from circuitproof_check.main import main
main([sys.argv[1]])
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """How the checker ended, and what that took."""

    code: int
    said: str
    seconds: float
    """Of the processor."""
    megabytes: float
    """Of memory, where it was most."""


def judged(bundle: Path) -> tuple[int, str, str]:
    """Return how the checker ends, and what it says and complains of."""
    ended = _run(_LIMITS + _CHECK, bundle)
    return ended.returncode, ended.stdout, ended.stderr


def measured(bundle: Path) -> Measured:
    """Return what a check takes, on Linux; nothing but the checker's own bound limits it."""
    ended = _run(_MEASURES + _CHECK, bundle)
    seconds, megabytes = map(float, ended.stderr.split())
    return Measured(ended.returncode, ended.stdout.strip(), seconds, megabytes)


def _run(program: str, bundle: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", program, str(bundle)], check=False, capture_output=True, text=True
    )
