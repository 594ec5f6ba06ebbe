"""The stage that checks: the independent checker judges a bundle beside what it must be about."""

import time
from dataclasses import replace
from pathlib import Path

from circuitproof.files.run import Run
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_lab.records.checked import CHECKED, CheckedBundle

_ALLOWANCES = (None, 10**9, 10**10, 10**11)
"""What a check may take, tried in turn: the usual of the bundle's size, then minutes, then hours."""


def check_bundle(
    run: Run, bundle: Path, model: Path, base: Path | None = None, telling: str | None = None
) -> CheckedBundle:
    """Return what the checker says of a bundle about a model, asked once."""
    return run.record(CHECKED, CheckedBundle, lambda: _checked(bundle, Beside(model, base)), telling)


def _checked(bundle: Path, beside: Beside) -> CheckedBundle:
    """Check a bundle, allowing more work where the usual does not do; what exceeds it is not begun."""
    begin = time.perf_counter()
    for operations in _ALLOWANCES:
        report = inspect(bundle, replace(beside, operations=operations))
        is_judged = bool(report.claim) or report.outcome is not Outcome.INCOMPLETE
        if is_judged:
            break
    seconds = time.perf_counter() - begin
    return CheckedBundle(report.outcome.name.lower(), report.reason, operations, seconds)
