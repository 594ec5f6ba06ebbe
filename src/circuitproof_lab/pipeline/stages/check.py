"""The stage that checks: the independent checker judges a bundle beside what it must be about."""

from pathlib import Path

from circuitproof.files.run import Run
from circuitproof_check.main import check
from circuitproof_lab.records.checked import CHECKED, CheckedBundle


def check_bundle(
    run: Run, bundle: Path, model: Path, base: Path | None = None, telling: str | None = None
) -> CheckedBundle:
    """Return what the checker says of a bundle about a model, asked once."""

    def ask() -> CheckedBundle:
        outcome, reason = check(bundle, model, base)
        return CheckedBundle(outcome.name.lower(), reason)

    return run.record(CHECKED, CheckedBundle, ask, telling)
