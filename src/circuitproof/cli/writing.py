"""Every command that writes goes through here: the rule of `files.replacing`, and the option `--force`."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, cast, get_args, get_origin, get_type_hints

from circuitproof.cli.options import Force
from circuitproof.files.replacing import Continued, Product, replacing

_FORCE = Parameter("force", Parameter.KEYWORD_ONLY, default=False, annotation=Force)


def products(command: Callable[..., object]) -> Mapping[str, Product]:
    """Return what a command writes to the places that its parameters name."""
    hints = get_type_hints(command, include_extras=True)
    notes = {name: get_args(hint)[1:] for name, hint in hints.items() if get_origin(hint) is Annotated}
    return {name: one for name, found in notes.items() for one in found if isinstance(one, Product)}


def guarded(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command that replaces nothing unless it is given --force, which it takes if it can replace."""
    written = products(command)

    @wraps(command)
    def run(*, force: bool = False, **values: object) -> object:
        with ExitStack() as stack:
            for name, product in written.items():
                if (place := cast("Path | None", values[name])) is not None:
                    stack.enter_context(replacing(place, product, is_forced=force))
            return command(**values)

    if any(not isinstance(one, Continued) for one in written.values()):
        taken = signature(command)
        setattr(run, "__signature__", taken.replace(parameters=[*taken.parameters.values(), _FORCE]))  # noqa: B010
        run.__annotations__ = {**command.__annotations__, "force": Force}
    return run
