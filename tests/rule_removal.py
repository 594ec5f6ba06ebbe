"""The checker without one of its rules."""

import importlib
import pkgutil
from typing import Any

import pytest

import circuitproof_check
from circuitproof_check import reading


def without(rule: str | tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a rule, or several, away from every module of the checker."""
    honest, gone = reading.require, (rule,) if isinstance(rule, str) else rule

    def require(name: str, condition: object, *words: Any) -> None:
        honest(name, condition or name in gone, *words)

    for entry in pkgutil.walk_packages(circuitproof_check.__path__, "circuitproof_check."):
        if not entry.name.endswith("__main__"):
            monkeypatch.setattr(importlib.import_module(entry.name), "require", require, raising=False)
