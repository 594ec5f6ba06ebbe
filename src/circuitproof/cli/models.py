"""Commands for models that come from elsewhere or go there: look one through, convert, install programs."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from typer import Argument, BadParameter, Context, Exit, Option

from circuitproof.cli.helping import given, refuse_idle
from circuitproof.cli.options import AsJson, DeviceOption, ModelOption, ModelOut, ModelPath, Out
from circuitproof.cli.show import show_json, show_line, show_result, show_text
from circuitproof.files.canonical import readable_json
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.reading import alone
from circuitproof.files.replacing import Folder

if TYPE_CHECKING:
    from circuitproof.files.canonical import Json
    from circuitproof.importers.foreign import Foreign
    from circuitproof.importers.hugging_face_comparison import LogitAgreement
    from circuitproof.tasks.alphabet import Alphabet
    from circuitproof.verbs.models import Described

_GPT2 = ("config.json", "model.safetensors", "tokenizer.json", "vocab.json", "merges.txt")


def model(  # noqa: PLR0913, PLR0917  # what is looked at, and how it is compared
    context: Context,
    path: ModelPath,
    seal: Annotated[
        bool, Option("--seal", help="First write the manifest, for a model that was made elsewhere.")
    ] = False,
    compare: Annotated[
        Path | None,
        Option(
            "--compare",
            help="Compare with logits of the original: a safetensors or JSON file of tokens and logits.",
        ),
    ] = None,
    within: Annotated[
        str | None, Option("--within", help="The largest difference allowed, such as 1e-4; beyond is exit 1.")
    ] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Read a whole model directory and say what it holds; docs/models.md has the layout."""
    from circuitproof.verbs.models import describe, seal_model

    if within is not None and compare is None:
        raise BadParameter("--within bounds the difference of --compare FILE, which is not given")
    if compare is None:
        refuse_idle(given(context, "device"), "torch computes nothing without --compare")
    bound = None if within is None else alone(within, "--within").rational("")
    if seal:
        seal_model(path)
    described = describe(path)
    if compare is None:
        show_result(described, _show, as_json=as_json)
        return
    _show_compared(described, compare, bound, device, as_json=as_json)


def _show_compared(
    described: "Described", file: Path, within: Fraction | None, device: DeviceChoice, *, as_json: bool
) -> NoReturn:
    from circuitproof.nn.comparison import compare
    from circuitproof.nn.devices import device_of
    from circuitproof.reports.words import exactness

    compared = compare(described.path, file, within, device_of(device, in_doubles=True))
    if as_json:
        show_json({**described.to_json(), "compared": compared.to_json()})
    else:
        for line in (*compared.words(), exactness(described.declaration)):
            show_line(line)
    raise Exit(compared.exit_code)


def install(
    model: ModelOption,
    program: Annotated[
        list[str],
        Option(
            "--program",
            metavar="HEAD=FILE",
            help="A head and the file of its program, 1.0=quotes.program; repeat for several.",
        ),
    ],
    out: ModelOut,
    as_json: AsJson = False,
) -> None:
    """Write a copy of a model in which programs stand in the place of heads' queries and keys."""
    from circuitproof.verbs.models import install as install_programs

    names = [str(head) for head in install_programs(model, program, out)]
    if as_json:
        show_json({"model": out, "programs": names})
    else:
        show_line(f"{out} holds the model with programs in the place of {', '.join(names)}")


def import_hf(  # noqa: PLR0913, PLR0917  # what is turned into what, and how it is compared
    context: Context,
    source: Annotated[
        str,
        Argument(
            metavar="DIR|NAME",
            help="A GPT-2 or GPT-NeoX (Pythia) of Hugging Face's: a directory, or its name on the Hub.",
        ),
    ],
    out: ModelOut,
    compare: Annotated[
        bool,
        Option("--compare", help="Write it only if its logits are those of transformers, but for rounding."),
    ] = False,
    revision: Annotated[str | None, Option("--revision", help="A commit or tag, for a name.")] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Turn a GPT-2 or GPT-NeoX of Hugging Face's into a model directory: the same numbers and operators."""
    from circuitproof.importers.hugging_face import import_hf as convert
    from circuitproof.importers.hugging_face import locate
    from circuitproof.nn.devices import device_of

    if not compare:
        refuse_idle(given(context, "device"), "torch computes nothing without --compare")
    where, folder = device_of(device, in_doubles=True), locate(source, revision)
    agreements: list[LogitAgreement] = []

    def accept(model: Path) -> None:
        from circuitproof.importers.hugging_face_comparison import compare as beside

        agreements.append(beside(folder, model, where))

    found = convert(folder, out, accept if compare else None)
    if as_json:
        compared = agreements[0] if agreements else None
        show_json({**_imported(found, out), "compared": compared})
        return
    _show_imported(found, out)
    if not agreements:
        show_line(
            "its logits were not compared with those of transformers; --compare does so before it is written"
        )
    for one in agreements:
        show_line(
            f"logits at {one.positions} positions differ from those of transformers by {one.difference:.2g} "
            f"in FP64 and {one.difference_fp32:.2g} in FP32; the largest is {one.largest_logit:.3g}"
        )


def import_tl(
    source: Annotated[
        Path,
        Argument(
            metavar="DIR|FILE", help="A directory of config.json and safetensors, or a safetensors file."
        ),
    ],
    out: ModelOut,
    config: Annotated[
        Path | None, Option("--config", help="Its configuration, where that is not config.json beside it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a model of TransformerLens, in any of its layouts, into a model directory."""
    from circuitproof.importers.transformer_lens import import_tl as convert

    _tell_imported(convert(source, out, config), out, as_json=as_json)


def import_mingpt(
    source: Annotated[
        Path,
        Argument(metavar="DIR", help="A minGPT or nanoGPT: a directory of config.json and safetensors."),
    ],
    out: ModelOut,
    zero_biases: Annotated[
        bool, Option("--zero-biases", help="Take a bias that is missing, though others are there, as zeros.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Turn a model of minGPT or nanoGPT into a model directory."""
    from circuitproof.importers.min_gpt import import_mingpt as convert

    _tell_imported(convert(source, out, zero_biases=zero_biases), out, as_json=as_json)


def _tell_imported(found: "Foreign", out: Path, *, as_json: bool) -> None:
    if as_json:
        show_json(_imported(found, out))
    else:
        _show_imported(found, out)


def _imported(found: "Foreign", out: Path) -> "dict[str, Json]":
    notes: list[Json] = [*found.notes]
    return {"model": str(out), "source": found.where, "parameters": found.parameters, "notes": notes}


def _show_imported(found: "Foreign", out: Path) -> None:
    """Say what was written, and everything that was done to it."""
    from circuitproof.reports.words import exactness

    declared = found.declaration
    named = "tokens have names" if declared.alphabet else "no tokenizer, so tokens have no names"
    show_line(f"{out} holds {found.where}: {found.parameters} parameters, {named}")
    for note in found.notes:
        show_line(f"note: {note}")
    show_line(exactness(declared))


def import_tracr(
    source: Annotated[
        str,
        Argument(metavar="PROGRAM|FILE", help="A program of Tracr's library, or the file of a compiled one."),
    ],
    out: ModelOut,
    as_json: AsJson = False,
) -> None:
    """Turn a program that Tracr compiled into a model directory, sparsemax in the place of softmax."""
    from circuitproof.importers.tracr import TASK
    from circuitproof.importers.tracr import import_tracr as convert

    found = convert(source, out)
    if as_json:
        show_json(found)
        return
    show_line(
        f"{out} holds {found.program}, compiled by Tracr; {out / TASK} is its task of {found.prompts} inputs"
    )
    show_line(
        f"{found.replaced}: logits differ by at most {found.largest_difference:.2g}, the largest is "
        f"{found.largest_logit:.3g}; every input is decided as Tracr's model and RASP's interpreter do"
    )


def export_hf(
    model: ModelOption, out: Annotated[Out, Folder("GPT-2 of Hugging Face's", _GPT2)], as_json: AsJson = False
) -> None:
    """Write a model as Hugging Face stores a GPT-2, if its operators are GPT-2's."""
    from circuitproof.importers.hugging_face import export_hf as convert

    convert(model, out)
    if as_json:
        show_json({"model": model, "directory": out})
    else:
        show_line(f"{out} holds {model} as a Hugging Face GPT-2")


def _show(found: "Described") -> None:
    from circuitproof.reports.words import exactness, program_lines
    from circuitproof.tasks.names import TokenNames

    declared, sizes = found.declaration, found.declaration.architecture
    show_line(
        f"{found.path}: {found.parameters} parameters in {found.tensors} tensors, all finite; "
        f"a graph of {found.edges} edges"
    )
    show_text(readable_json(sizes.to_json()).decode())
    names = declared.alphabet
    show_line("tokens have no names" if names is None else f"{len(names)} tokens have names: {_begin(names)}")
    for head, program in declared.programs.items():
        lines = program_lines(TokenNames({}) if names is None else names.named(), program)
        show_line(f"{head} is a program:")
        show_text("".join(f"{line}\n" for line in lines))
    show_line(exactness(declared))
    for name, digest in found.files.items():
        show_line(f"{name} {digest}")


def _begin(names: "Alphabet") -> str:
    """Return what people see of the first tokens."""
    from circuitproof.tasks.names import named

    most = 12
    more = " …" if len(names) > most else ""
    return " ".join(named(names.named(), token) for token in range(min(most, len(names)))) + more
