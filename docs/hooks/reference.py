"""Writes the reference of the Python interface from what `circuitproof.__all__` holds; none is kept."""

import inspect
from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import circuitproof


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page, as mkdocs calls for it."""
    files.append(File.generated(config, "reference.md", content="\n".join(_lines())))
    return files


def _lines() -> Iterator[str]:
    yield f"# Python, circuitproof {circuitproof.__version__}\n"
    yield f"{inspect.getdoc(circuitproof)}\n"
    for name in getattr(circuitproof, "__all__", ()):
        yield from _entry(name, getattr(circuitproof, name))


def _entry(name: str, thing: object) -> Iterator[str]:
    yield f"## {name}\n"
    if callable(thing):
        yield f"```python\n{name}{_signature(thing)}\n```\n"
        yield f"{inspect.getdoc(thing) or ''}\n"
    else:
        yield f"`{thing!r}`\n"


def _signature(thing: object) -> str:
    try:
        return str(inspect.signature(thing))  # pyright: ignore[reportArgumentType]  # it is callable
    except ValueError:
        return "(…)"
