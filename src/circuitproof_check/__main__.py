"""Run the checker: `python -m circuitproof_check BUNDLE`, or `python -I -S src/circuitproof_check BUNDLE`."""

import sys
from pathlib import Path

if not __package__:  # the directory itself was run: nothing is installed and this is the only entry
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from circuitproof_check.main import main

main()
