"""Turn examples, Python files in cells, into notebooks: `python examples/to_notebook.py FILE.py`.

Jupytext does the same and keeps both in step.
"""

import json
import re
import sys
from pathlib import Path


def cells(text: str) -> list[tuple[str, str]]:
    """Return the cells of a percent script, each with its kind: markdown without its hashes, or code."""
    _, *parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)
    found: list[tuple[str, str]] = []
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        is_markdown = "[markdown]" in title
        lines = [re.sub("^# ?", "", line) if is_markdown else line for line in body.strip("\n").splitlines()]
        found.append(("markdown" if is_markdown else "code", "\n".join(lines)))
    return found


def notebook(text: str) -> str:
    """Return a percent script as a notebook that was not run."""
    made = [
        {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for kind, source in cells(text)
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": made}, indent=1)


if __name__ == "__main__":
    for script in map(Path, sys.argv[1:]):
        if script.name != Path(__file__).name:
            script.with_suffix(".ipynb").write_text(notebook(script.read_text()))
