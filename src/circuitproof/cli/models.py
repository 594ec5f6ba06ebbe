"""Commands for models that come from elsewhere: look one through, seal it, install programs."""

from typing import TYPE_CHECKING, Annotated

import typer

from circuitproof.cli.options import AsJson, ModelPath, Out
from circuitproof.cli.show import show_json, show_line

if TYPE_CHECKING:
    from circuitproof.lab.runs.models import Described


def model(
    path: ModelPath,
    seal: Annotated[
        bool, typer.Option("--seal", help="First write the manifest, for a model that was made elsewhere.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read a whole model directory and say what it holds; docs/models.md has the layout."""
    from circuitproof.lab.runs.models import describe, seal_model

    if seal:
        seal_model(path)
    found = describe(path)
    if as_json:
        show_json(found.to_json())
    else:
        _show(found)


def install(
    path: ModelPath,
    program: Annotated[
        list[str],
        typer.Option(
            "--program",
            metavar="HEAD=FILE",
            help="A head and the file of its program, 1.0=quotes.program; repeat for several.",
            show_default=False,
        ),
    ],
    out: Out,
    as_json: AsJson = False,
) -> None:
    """Write a copy of a model in which programs stand in the place of heads' queries and keys."""
    from circuitproof.lab.runs.models import install as install_programs

    found = install_programs(path, program, out)
    names = [str(head) for head in found.heads]
    if as_json:
        show_json({"model": str(found.path), "programs": [*names]})
    else:
        show_line(f"{found.path} holds the model with programs in the place of {', '.join(names)}")


def _show(found: "Described") -> None:
    from circuitproof.declare.programs.text import to_text
    from circuitproof.text.canonical import readable_json

    declared, sizes = found.declaration, found.declaration.architecture
    show_line(
        f"{found.path}: {found.parameters} parameters in {found.tensors} tensors, all finite; "
        f"a graph of {found.edges} edges"
    )
    show_line(readable_json(sizes.to_json()).decode().strip())
    names = declared.alphabet
    show_line(
        "tokens have no names" if names is None else f"{len(names)} tokens have names: {_begin(names.names)}"
    )
    for head, program in declared.programs.items():
        show_line(f"{head} is a program:\n{to_text(program).strip()}")
    show_line(found.exactness)
    for name, digest in found.files.items():
        show_line(f"{name} {digest}")


def _begin(names: tuple[str, ...]) -> str:
    """Return the first names, in quotes.

    >>> _begin(("a", "b"))
    "'a', 'b'"
    """
    most = 12
    more = ", …" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
