"""Bad input for every command: models, circuits, tasks, recipes and flags that cannot be used.

A fault spoils a good file or flag; a `Case` is a command line with one fault and what the answer must name.
"""

# ruff: noqa: E501  # a table of command lines
import json
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from circuitproof.files.sealed import seal
from claim_files import CLAIMS, write_claims
from gpt2_files import CONFIG, Tensors, gpt2_tensors, write_gpt2
from places import RECIPES, ROOT

GOOD_CIRCUIT: dict[str, Any] = {
    "layers": 1,
    "heads": 1,
    "ablation": "zero",
    "edges": ["embed -> head 0.0", "head 0.0 -> logits"],
}
GOOD_TASK = """
name = "marks"
vocabulary = 32
candidates = [9, 10]
answers = [[9, 9], [10, 10]]
pattern = "any{1..6} with exactly 1 of [9, 10]"
"""
LISTED_TASK = """
name = "letters"
alphabet = ["a", "b", "c"]
prompts = ["a c", "b c"]
answers = ["a", "b"]
classes = ["a", "b"]
"""


TEMPLATED_TASK = """
name = "verbs"
alphabet = ["dog", "dogs", "near", "runs", "run"]
slots = { noun = ["dog", "dogs"], other = ["dog", "dogs"] }
[[templates]]
name = "near"
text = "{noun} near {other}"
answer = { noun = { dog = "runs", dogs = "run" } }
irrelevant = ["other"]
"""


@dataclass(frozen=True)
class Case:
    """A command line, made in an empty folder beside a good `model`, and what its answer holds."""

    name: str
    make: Callable[[Path], list[object]]
    words: tuple[str, ...] = ()
    code: int = 3


def resealed(directory: Path) -> None:
    """Let the manifest say what the files are now."""
    (directory / "manifest.json").unlink(missing_ok=True)
    seal(directory)


def declared(**changes: Any) -> Callable[[Path], None]:
    """Return what changes the architecture of a model's declaration."""

    def spoil(directory: Path) -> None:
        file = directory / "model.json"
        content = json.loads(file.read_text())
        content["architecture"].update(changes)
        file.write_text(json.dumps(content))
        resealed(directory)

    return spoil


def weights(change: Callable[[dict[str, Any], bytearray], None]) -> Callable[[Path], None]:
    """Return what changes the header or the bytes of a model's tensors."""

    def spoil(directory: Path) -> None:
        file = directory / "weights.safetensors"
        content = file.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header, data = json.loads(content[8 : 8 + length]), bytearray(content[8 + length :])
        change(header, data)
        text = json.dumps(header).encode()
        file.write_bytes(struct.pack("<Q", len(text)) + text + data)
        resealed(directory)

    return spoil


def content(name: str, data: bytes, *, is_sealed: bool = True) -> Callable[[Path], None]:
    """Return what gives a file of a model another content."""

    def spoil(directory: Path) -> None:
        (directory / name).write_bytes(data)
        if is_sealed:
            resealed(directory)

    return spoil


def _rename(header: dict[str, Any], _: bytearray) -> None:
    header["embed.other"] = header.pop("embed.token")


def _reshape(header: dict[str, Any], _: bytearray) -> None:
    header["embed.token"]["shape"].reverse()


def _double(header: dict[str, Any], _: bytearray) -> None:
    header["embed.token"]["dtype"] = "F64"


def _overlap(header: dict[str, Any], _: bytearray) -> None:
    header["embed.token"]["data_offsets"] = header["embed.position"]["data_offsets"]


def _infinite(header: dict[str, Any], data: bytearray) -> None:
    start, end = header["embed.token"]["data_offsets"]
    data[start:end] = struct.pack("<f", float("nan")) * ((end - start) // 4)


MODELS: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "missing": (rmtree, "model"),
    "a file": (lambda path: (rmtree(path), path.write_text("model")), "model"),
    "empty": (lambda path: [file.unlink() for file in path.iterdir()], ".json"),
    "unsealed": (lambda path: (path / "manifest.json").unlink(), "circuitproof model AT/model --seal"),
    "a manifest of nothing": (content("manifest.json", b'{"files": {}}', is_sealed=False), "manifest.json"),
    "a manifest that is no JSON": (content("manifest.json", b"{", is_sealed=False), "manifest.json"),
    "a manifest that leads outside": (
        content("manifest.json", b'{"files": {"../model.json": "0"}}', is_sealed=False),
        "manifest.json",
    ),
    "a changed declaration": (content("model.json", b"{}", is_sealed=False), "model.json"),
    "a declaration that is no JSON": (content("model.json", b"no"), "model.json"),
    "an empty declaration": (content("model.json", b"{}"), "model.json"),
    "a declaration of another encoding": (content("model.json", b"\xff\xfe{"), "model.json"),
    "a thousand million layers": (declared(layers=10**9), "model.json"),
    "wide": (declared(width=10**9), "model.json"),
    "no heads": (declared(heads=0), "model.json"),
    "a fraction of a layer": (declared(layers=1.5), "model.json"),
    "an unknown norm": (declared(norm={"kind": "group"}), "model.json"),
    "an unknown activation": (declared(activation={"kind": "swish"}), "model.json"),
    "an unknown key": (declared(depth=3), "model.json"),
    "weights of another length": (content("weights.safetensors", b"1234"), "weights.safetensors"),
    "weights without end": (content("weights.safetensors", b"\xff" * 8), "weights.safetensors"),
    "empty weights": (content("weights.safetensors", b""), "weights.safetensors"),
    "a tensor less": (weights(_rename), "weights.safetensors"),
    "a tensor of another shape": (weights(_reshape), "weights.safetensors"),
    "a tensor of doubles": (weights(_double), "weights.safetensors"),
    "tensors that overlap": (weights(_overlap), "weights.safetensors"),
    "no numbers": (weights(_infinite), "embed.token"),
}
"""What can be wrong with a model, and what the answer names."""

OF_A_MODEL: Mapping[str, Callable[[Path], list[object]]] = {
    "verify": lambda at: ["verify", "--model", at / "model", "--task", "quotes", "--out", at / "out"],
    "evaluate": lambda at: ["evaluate", "--model", at / "model", "--task", "quotes"],
    "radius": lambda at: ["radius", "--model", at / "model", "--task", "quotes"],
    "minimal": lambda at: [
        "minimal",
        "--model",
        at / "model",
        "--task",
        "quotes",
        "--most",
        1,
        "--out",
        at / "out",
    ],
    "extract": lambda at: ["extract", "--model", at / "model", "--task", "quotes", "--out", at / "out"],
    "model": lambda at: ["model", at / "model"],
}
"""Commands that read a model, each with all that it needs."""


def spoiled_models() -> Iterator[Case]:
    """Every fault of a model, met by every command that reads one."""
    for command, arguments in OF_A_MODEL.items():
        for name, (spoil, word) in MODELS.items():

            def make(at: Path, arguments=arguments, spoil=spoil) -> list[object]:
                spoil(at / "model")
                return arguments(at)

            yield Case(f"{command}: a model that is {name}", make, (word,))


def _circuit(**changes: Any) -> bytes:
    return json.dumps({**GOOD_CIRCUIT, **changes}).encode()


CIRCUITS: Mapping[str, bytes | None] = {
    "missing": None,
    "no JSON": b"{",
    "a list": b"[]",
    "of another encoding": b"\xff\xfe",
    "deep": b"[" * 100_000,
    "huge": _circuit(layers=10**9),
    "of huge layers": _circuit(heads=10**9),
    "of another graph": _circuit(layers=2),
    "without edges": _circuit(edges=[]),
    "with an unknown node": _circuit(edges=["embed -> neck 0.0", "head 0.0 -> logits"]),
    "with a node outside": _circuit(edges=["embed -> head 7.0", "head 7.0 -> logits"]),
    "with an edge backwards": _circuit(edges=["logits -> embed"]),
    "with an edge twice": _circuit(edges=["embed -> logits", "embed -> logits"]),
    "with a node without end": _circuit(edges=[f"embed -> head {'9' * 5000}.0", "head 0.0 -> logits"]),
    "with an edge to its own node": _circuit(edges=["head 0.0 -> head 0.0"]),
    "with an arrow of another kind": _circuit(edges=["embed → logits"]),
    "of a layer that is true": _circuit(layers=True),
    "without a way to the logits": _circuit(edges=["embed -> head 0.0"]),
    "of another ablation": _circuit(ablation="mean"),
    "with edges as numbers": _circuit(edges=[1, 2]),
    "with an unknown key": _circuit(color="red"),
    "with a repeated key": b'{"layers": 1, "layers": 1, "heads": 1, "ablation": "zero", "edges": []}',
}
OF_A_CIRCUIT: Mapping[str, Callable[[Path], list[object]]] = {
    "verify": lambda at: [*OF_A_MODEL["verify"](at), "--circuit", at / "circuit.json"],
    "radius": lambda at: [*OF_A_MODEL["radius"](at), "--circuit", at / "circuit.json"],
    "evaluate": lambda at: [*OF_A_MODEL["evaluate"](at), "--circuit", at / "circuit.json"],
    "cost": lambda at: ["cost", "--model", at / "model", "--task", "quotes", "--circuit", at / "circuit.json"],
    "queries": lambda at: [
        "queries", "--model", at / "model", "--task", "quotes", "--out", at / "out", "--circuit", at / "circuit.json"
    ],
}  # fmt: skip


def spoiled_circuits() -> Iterator[Case]:
    """Every fault of a circuit, met by every command that reads one."""
    for command, arguments in OF_A_CIRCUIT.items():
        for name, data in CIRCUITS.items():
            if command == "evaluate" and name in ("without edges", "without a way to the logits"):
                continue  # such circuits can be evaluated, they cannot be claimed

            def make(at: Path, arguments=arguments, data=data) -> list[object]:
                if data is not None:
                    (at / "circuit.json").write_bytes(data)
                return arguments(at)

            word = "may attend nowhere reaches logits" if name.startswith("without") else ""
            about = "layers" if name == "of another graph" else "circuit.json"
            yield Case(f"{command}: a circuit {name}", make, (word or about,))


def changed(text: str, before: str, after: str) -> bytes:
    """Return a text with a part replaced, which must be there."""
    assert before in text, before
    return text.replace(before, after).encode()


TASKS: Mapping[str, tuple[bytes | None, str]] = {
    "missing": (None, "task.toml"),
    "empty": (b"", "task.toml"),
    "no TOML": (b"name = ", "task.toml"),
    "of another encoding": (b"name = '\xff'", "task.toml"),
    "without candidates": (changed(GOOD_TASK, "candidates = [9, 10]\n", ""), "candidates"),
    "with one candidate": (changed(GOOD_TASK, "[9, 10]\nanswers", "[9]\nanswers"), "candidates"),
    "with a candidate twice": (changed(GOOD_TASK, "[9, 10]\nanswers", "[9, 9]\nanswers"), "candidates"),
    "with an unknown candidate": (changed(GOOD_TASK, "[9, 10]\nanswers", "[9, 99]\nanswers"), "99"),
    "with an unknown key": (GOOD_TASK.encode() + b"colour = 3\n", "colour"),
    "with an answer that is no candidate": (changed(GOOD_TASK, "[10, 10]]", "[10, 11]]"), "11"),
    "with an opener twice": (changed(GOOD_TASK, "[10, 10]]", "[9, 10]]"), "9"),
    "of an empty pattern": (changed(GOOD_TASK, "any{1..6} with", "any{0..0} with"), "pattern"),
    "of a pattern of too many tokens": (changed(GOOD_TASK, "{1..6}", "{1..99999}"), "tokens"),
    "of a pattern backwards": (changed(GOOD_TASK, "{1..6}", "{6..1}"), "pattern"),
    "of a pattern with two openers": (changed(GOOD_TASK, "exactly 1", "exactly 2"), "opener"),
    "of a pattern with an unknown set": (changed(GOOD_TASK, "any{1..6}", "some{1..6}"), "some"),
    "of a pattern that does not end": (changed(GOOD_TASK, "any{1..6}", "(any"), "pattern"),
    "of a pattern that is no text": (
        changed(GOOD_TASK, '"any{1..6} with exactly 1 of [9, 10]"', "7"),
        "pattern",
    ),
    "of no vocabulary": (changed(GOOD_TASK, "vocabulary = 32", "vocabulary = 0"), "vocabulary"),
    "of a huge vocabulary": (
        changed(GOOD_TASK, "vocabulary = 32", "vocabulary = 1000000000000"),
        "vocabulary",
    ),
    "listed without prompts": (changed(LISTED_TASK, '["a c", "b c"]', "[]"), "prompts"),
    "listed with a prompt twice": (changed(LISTED_TASK, '["a c", "b c"]', '["a c", "a c"]'), "prompt"),
    "listed with an unknown token": (changed(LISTED_TASK, '"b c"]', '"b d"]'), "d"),
    "listed with an empty prompt": (changed(LISTED_TASK, '"b c"]', '""]'), "prompt"),
    "listed with too few answers": (
        changed(LISTED_TASK, 'answers = ["a", "b"]', 'answers = ["a"]'),
        "answers",
    ),
    "with one name for two tokens": (GOOD_TASK.encode() + b'[names]\n9 = "q"\n10 = "q"\n', "'q'"),
    "with names of other tokens": (GOOD_TASK.encode() + b'[names]\n9 = "a"\n99 = "q"\n', "99"),
    "with a slot that is not used": (
        changed(TEMPLATED_TASK, "other = [", 'third = ["dog"], other = ['),
        "'third'",
    ),
    "with a slot that has no words": (changed(TEMPLATED_TASK, ", other =", ", third ="), "other"),
    "with a slot that must not matter twice": (
        changed(TEMPLATED_TASK, '["other"]', '["other", "other"]'),
        "twice",
    ),
    "with an unknown slot that must not matter": (changed(TEMPLATED_TASK, '["other"]', '["third"]'), "third"),
    "with an answer to an unknown word": (
        changed(TEMPLATED_TASK, "{ dog =", '{ cow = "run", dog ='),
        "'cow'",
    ),
    "with a template twice": (
        (TEMPLATED_TASK + TEMPLATED_TASK[TEMPLATED_TASK.index("[[") :]).encode(),
        "name",
    ),
    "without a name": (changed(LISTED_TASK, 'name = "letters"', 'name = ""'), "task.toml.name"),
    "with a name that rings": (changed(LISTED_TASK, "letters", "let\\u0007ters"), "task.toml.name"),
    "with an endless name": (changed(LISTED_TASK, "letters", "x" * 5000), "task.toml.name"),
    "with dates as classes": (
        changed(LISTED_TASK, 'classes = ["a", "b"]', "classes = [2020-01-01, 2020-01-02]"),
        "2020-01-01",
    ),
    "with a slot that is formatted": (changed(TEMPLATED_TASK, "{noun} near", "{noun!r} near"), "{noun}"),
    "with a slot that is padded": (changed(TEMPLATED_TASK, "{noun} near", "{noun:>9} near"), "{noun}"),
    "with one slot that is distinct": (TEMPLATED_TASK.encode() + b'distinct = ["other"]\n', "distinct"),
    "with answers from two slots": (
        changed(TEMPLATED_TASK, "answer = { noun", 'answer = { other = { dog = "run" }, noun'),
        "task.toml.templates[0].answer has tables for ['other', 'noun']",
    ),
    "with a missing answer": (changed(TEMPLATED_TASK, ', dogs = "run"', ""), "'dogs'"),
    "with a token that is true": (changed(LISTED_TASK, '"a c"', "[true]"), "prompts[0][0]"),
    "with a token that is negative": (changed(LISTED_TASK, '"a c"', "[-1]"), "none negative"),
    "with too large a token": (changed(LISTED_TASK, '"a c"', "[9]"), "token 9"),
    "of a deep pattern": (
        changed(GOOD_TASK, "any{1..6}", "(" * 3000 + "any{1..6}" + ")" * 3000),
        "nested more than 64 deep",
    ),
    "of a pattern with endless digits": (
        changed(GOOD_TASK, "{1..6}", f"{{1..{'9' * 5000}}}"),
        "a whole number",
    ),
    "of a pattern with an unknown token": (changed(GOOD_TASK, "of [9, 10]", "of [9, 40]"), "task.toml"),
    "with four right answers in a class": (
        b'name = "x"\nalphabet = ["a", "b", "c", "d"]\nprompts = [[0], [1], [2], [3]]\nanswers = [0, 1, 2, 3]\nclasses = [0, 0, 0, 0]\n',
        "class 0 has 4 right answers, a b c d",
    ),
    "listed with a name twice": (changed(LISTED_TASK, '["a", "b", "c"]', '["a", "b", "a"]'), "a"),
}
OF_A_TASK: Mapping[str, Callable[[Path], list[object]]] = {
    "task": lambda at: ["task", at / "task.toml"],
    "verify": lambda at: ["verify", "--model", at / "model", "--task", at / "task.toml", "--out", at / "out"],
}


def _swapped(at: Path) -> list[object]:
    """Return a claim about a task that calls the two quotation marks by each other's names."""
    (at / "task.toml").write_text(f"{GOOD_TASK}[names]\n9 = '\"'\n10 = \"'\"\n")
    return OF_A_TASK["verify"](at)


def other_alphabets() -> Iterator[Case]:
    """A model that was trained on bytes, or whose tokens have no names, met by every command with a task."""
    names = json.dumps([f"byte {place}" for place in range(40)]).encode()
    for command, arguments in OF_A_MODEL.items():
        if command == "model":
            continue
        for name, alphabet, words in (
            ("of bytes", names, ("alphabet", "'quotes'")),
            ("without names", b"null", ("40",)),
        ):

            def make(at: Path, arguments=arguments, alphabet=alphabet) -> list[object]:
                _enlarge(at / "model", alphabet)
                return arguments(at)

            yield Case(f"{command}: a model {name}", make, words)
    yield Case("verify: a task with swapped names", _swapped, ("token 9", "mend [names]"))


def _enlarge(directory: Path, alphabet: bytes) -> None:
    """Give a model 40 tokens in the place of 32, under other names or none."""

    def grow(header: dict[str, Any], data: bytearray) -> None:
        end = len(data)
        for name in ("embed.token", "logits.weight"):
            start, stop = header[name]["data_offsets"]
            rows, width = header[name]["shape"]
            data += bytes(data[start:stop]) + bytes(4 * width * (40 - rows))
            header[name] = {"dtype": "F32", "shape": [40, width], "data_offsets": [end, len(data)]}
            end = len(data)
        _compact(header, data)

    weights(grow)(directory)
    declared(vocabulary=40)(directory)
    content = json.loads((directory / "model.json").read_text())
    (directory / "model.json").write_text(json.dumps({**content, "alphabet": json.loads(alphabet)}))
    resealed(directory)


def _compact(header: dict[str, Any], data: bytearray) -> None:
    """Leave out the bytes of tensors that stand elsewhere now."""
    kept = bytearray()
    for entry in header.values():
        start, stop = entry["data_offsets"]
        entry["data_offsets"] = [len(kept), len(kept) + stop - start]
        kept += data[start:stop]
    data[:] = kept


def _zero(at: Path) -> None:
    weights(lambda _, data: data.__setitem__(slice(None), bytes(len(data))))(at / "model")


def zero_models() -> Iterator[Case]:
    """A model that decides nothing: no radius, no circuit, and nothing proved."""
    wanted = {"radius": ("", 1), "extract": ("there is no circuit to find", 3), "verify": ("", 1)}
    for command, (word, code) in wanted.items():

        def make(at: Path, command=command) -> list[object]:
            _zero(at)
            return OF_A_MODEL[command](at)[: None if command != "verify" else -2]

        yield Case(f"{command}: a model of zeros", make, (word,), code)


def _fill(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001  # every tensor alike
    data[:] = struct.pack("<f", 3e38) * (len(data) // 4)


def huge_models() -> Iterator[Case]:
    """Finite weights whose products no float holds: what measures in floats names the model."""
    for command in ("evaluate", "extract"):

        def make(at: Path, command=command) -> list[object]:
            weights(_fill)(at / "model")
            return OF_A_MODEL[command](at)

        yield Case(f"{command}: a model of huge weights", make, ("AT/model: ", "NaN or infinite"))


def _reported(at: Path) -> list[object]:
    (at / "out.report.json").touch()
    return OF_A_MODEL["extract"](at)


def spoiled_tasks() -> Iterator[Case]:
    """Every fault of a task file, told or verified."""
    for command, arguments in OF_A_TASK.items():
        for name, (data, word) in TASKS.items():

            def make(at: Path, arguments=arguments, data=data) -> list[object]:
                if data is not None:
                    (at / "task.toml").write_bytes(data)
                return arguments(at)

            yield Case(f"{command}: a task {name}", make, (word,))


OF_A_RECIPE = {
    "train": "toy.toml",
    "remove-norm": "toy-norm-free.toml",
    "localise": "toy-localisation.toml",
    "construct": "gpt2-openers.toml",
    "distill": "toy-programs.toml",
    "surrogate": "surrogate.toml",
}
"""Commands that read a recipe, and one that is shipped."""
_KEY = re.compile(r"([a-z_]+) = [^#\n]*", re.ASCII)


def spoiled_recipes() -> Iterator[Case]:
    """Every key of a shipped recipe with a value that fits none, and files that are no recipes."""
    for command, shipped in OF_A_RECIPE.items():
        lines = _shortened((RECIPES / shipped).read_text()).splitlines()
        for place, line in enumerate(lines):
            if found := _KEY.match(line):
                key = found[1]
                spoiled = [*lines[:place], f"{key} = [[]]", *lines[place + 1 :]]
                yield _recipe(command, f"with {key} in line {place + 1} of no use", "\n".join(spoiled), key)
        whole = "\n".join(lines)
        yield _recipe(command, "with an unknown key", f"colour = 3\n{whole}", "colour")
        yield _recipe(command, "with an unknown part", f"{whole}\n[colour]\nred = 3\n", "colour")
        yield _recipe(command, "with a name that leads outside", _named(lines, "../../escaped"), "name")
        yield _recipe(command, "with a name of two folders", _named(lines, "a/b"), "name")
        yield _recipe(command, "with an empty name", _named(lines, ""), "name")
        for epsilon in ("0", "-1/10", "1_0"):
            if re.search(r"^epsilon = ", whole, re.MULTILINE):
                text = re.sub(r'^epsilon = ".*"', f'epsilon = "{epsilon}"', whole, flags=re.MULTILINE)
                yield _recipe(command, f"with an epsilon of {epsilon}", text, "epsilon")
        yield _recipe(command, "that is empty", "", "recipe.toml")
        yield _recipe(command, "that is no TOML", "name = ", "recipe.toml")
        yield _recipe(command, "that is missing", None, "recipe.toml")


def spoiled_protocols() -> Iterator[Case]:
    """Values of a protocol that contradict each other, named with their file before anything is burned."""
    whole = (RECIPES / "toy-localisation.toml").read_text()
    for name, before, after, words in (
        ("of more agreement than all", "agreement = 1.0", "agreement = 2.0", ("recipe.toml.method: agreement",)),
        ("of a threshold twice", "[0.0001, 0.001,", "[0.001, 0.001,", ("recipe.toml.method: thresholds",)),
        ("of no thresholds", "[0.0001, 0.001, 0.01, 0.1, 1.0]", "[]", ("recipe.toml.method: no thresholds",)),
        ("of an unknown slot", "{first} {opener}", "{zeroth} {opener}", ("recipe.toml.tasks[0]: ", "zeroth")),
        ("of more prompts than there are", "gate = 64", "gate = 640", ("toy-localisation: splits", "ask for fewer")),
        ("of prompts that are not balanced", "gate = 64", "gate = 63", ("toy-localisation: a split of 63",)),
        ("of a generation called training", 'name = "B"', 'name = "training"', ("'training'", "another name")),
        ("of a LayerNorm model", "toy-band.toml", "toy.toml", ("LayerNorm has no exact value",)),
    ):  # fmt: skip
        yield _recipe("localise", name, changed(whole, before, after).decode(), *words)


def _shortened(text: str) -> str:
    """Return a recipe of prompts with one word for each slot: a fault is found as well among fewer."""
    one_word = re.sub(
        r'^(verb|name|place|body) = (\["[^"]*")(, "[^"]*")+\]', r"\1 = \2]", text, flags=re.MULTILINE
    )
    return one_word.replace("count = 1280", "count = 20")


def _named(lines: Sequence[str], name: str) -> str:
    return "\n".join(f'name = "{name}"' if line.startswith("name = ") else line for line in lines)


def _recipe(command: str, fault: str, text: str | None, *words: str) -> Case:
    def make(at: Path) -> list[object]:
        for file in RECIPES.glob("*.toml"):  # recipes name each other
            (at / file.name).symlink_to(file)
        if text is not None:
            (at / "recipe.toml").write_text(text)
        return [command, at / "recipe.toml", "--out", at / "out"]

    return Case(f"{command}: a recipe {fault}", make, words)


def _lost(tensors: Tensors) -> None:
    del tensors["h.1.ln_2.bias"]


def _turned(tensors: Tensors) -> None:
    tensors["wpe.weight"] = tensors["wpe.weight"].T.copy()


def _claimed(folder: Path) -> None:
    size = 300 * 10**9
    header = json.dumps({"wte.weight": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}})
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode())


HUGGING_FACE: Mapping[str, tuple[dict[str, Any], Callable[[Tensors], None], Callable[[Path], None], str]] = {
    "of a Llama": ({"model_type": "llama"}, lambda _: None, lambda _: None, "'llama'"),
    "of no model": ({"model_type": 3}, lambda _: None, lambda _: None, "model_type"),
    "of more layers than its tensors": ({"n_layer": 3}, lambda _: None, lambda _: None, "lacks tensor h.2."),
    "of another width": ({"n_embd": 8}, lambda _: None, lambda _: None, "wte.weight"),
    "of another activation": ({"activation_function": "silu"}, lambda _: None, lambda _: None, "'silu'"),
    "of too many layers": ({"n_layer": 10**9}, lambda _: None, lambda _: None, "layers"),
    "of too many tokens": ({"vocab_size": 10**12}, lambda _: None, lambda _: None, "vocabulary"),
    "of layers that scale otherwise": (
        {"scale_attn_by_inverse_layer_idx": True}, lambda _: None, lambda _: None, "scale_attn_by_inverse_layer_idx"
    ),
    "that lacks a tensor": ({}, _lost, lambda _: None, "lacks tensor h.1.ln_2.bias"),
    "with a tensor of another shape": ({}, _turned, lambda _: None, "wpe.weight has shape (6, 7)"),
    "that claims 300 GB": ({}, lambda _: None, _claimed, "model.safetensors"),
    "without tensors": ({}, lambda _: None, lambda at: (at / "model.safetensors").unlink(), "safetensors"),
    "without a configuration": ({}, lambda _: None, lambda at: (at / "config.json").unlink(), "config.json"),
    "with a configuration that is no JSON": (
        {}, lambda _: None, lambda at: (at / "config.json").write_text("{"), "config.json"
    ),
    "with a tokenizer that is none": (
        {}, lambda _: None, lambda at: (at / "tokenizer.json").write_text("[]"), "tokenizer.json"
    ),
}  # fmt: skip
"""What can be wrong with a Hugging Face directory: keys, tensors, files; and what the answer names."""


def spoiled_directories() -> Iterator[Case]:
    """Every fault of a Hugging Face directory."""
    for name, (keys, of_tensors, of_files, word) in HUGGING_FACE.items():

        def make(at: Path, keys=keys, of_tensors=of_tensors, of_files=of_files) -> list[object]:
            tensors = gpt2_tensors()
            of_tensors(tensors)
            of_files(write_gpt2(at / "gpt2", {**CONFIG, **keys}, tensors))
            return ["import-hf", at / "gpt2", "--out", at / "out"]

        yield Case(f"import-hf: a directory {name}", make, (word,))


def flags(*given: object, words: tuple[str, ...], code: int = 3) -> Case:
    """Return a case of `verify` on a good model with further flags."""

    def make(at: Path) -> list[object]:
        (at / "circuit.json").write_bytes(_circuit())
        return [*OF_A_CIRCUIT["verify"](at), *given]

    return Case(f"verify {' '.join(map(str, given))}", make, words, code)


def command(*given: str, words: tuple[str, ...], code: int = 3) -> Case:
    """Return a case of any command; AT stands for the folder."""
    name = ascii(" ".join(given))[1:-1]
    name = name if len(name) < 200 else f"{name[:150]}... ({len(name)} characters)"
    return Case(name, lambda at: [one.replace("AT", str(at)) for one in given], words, code)


def _without_the_head(at: Path) -> list[object]:
    (at / "circuit.json").write_bytes(_circuit(edges=["embed -> logits"]))
    given = [one.replace("AT", str(at)) for one in SYNTHESIS]
    return [*given, "--head", "0.0", "--scope", "circuit", "--circuit", at / "circuit.json"]


TOUR = str(ROOT / "src/circuitproof/reports/tour/bundle")
SYNTHESIS = ("synthesise", "--model", "AT/model", "--task", "quotes", "--out", "AT/out")
FLAGS = (
    flags("--epsilon", "0", words=("epsilon",), code=2),
    flags("--epsilon", "-1", words=("epsilon",), code=2),
    flags("--epsilon", "1/0", words=("epsilon",), code=2),
    flags("--epsilon", "nan", words=("epsilon",), code=2),
    flags("--epsilon", "inf", words=("epsilon",), code=2),
    flags("--epsilon", "1_000", words=("epsilon",), code=2),
    flags("--epsilon", "١", words=("epsilon",), code=2),  # noqa: RUF001  # a digit of another script
    flags("--epsilon", "", words=("epsilon",), code=2),
    flags("--epsilon", "1/10", "--at", "mlp 7 output", words=("mlp 7",), code=2),
    flags("--epsilon", "1/10", "--at", "nowhere", words=("nowhere",), code=2),
    flags("--epsilon", "1/10", "--at", "embed input", words=("embed",), code=2),
    flags("--epsilon", "1/10", "--at", "mlp 0 output", words=("mlp 0",)),
    flags("--epsilon", "1/10", "--at", "blocks.9.hook_mlp_out", words=("blocks.9",), code=2),
    flags("--epsilon", "1/10", "--at", "blocks.0.attn.hook_z", words=("inside attention", "'head 0.0 output'"), code=2),
    flags("--epsilon", "1/10", "--at", "blocks.0.hook_attn_out", words=("name a head, such as 'head 0.0 output'",), code=2),
    flags("--epsilon", "1/10", "--positions", "9999", words=("position",)),
    flags("--epsilon", "1/10", "--positions", "3,2", words=("position",), code=2),
    flags("--epsilon", "1/10", "--positions", "first", words=("position",), code=2),
    flags("--epsilon", "1/10", "--positions", "0", words=("reach",)),
    flags("--property", "robustness", words=("epsilon",), code=2),
    flags("--property", "minimum", words=("circuitproof minimal",), code=2),
    flags("--property", "lesion identity", words=("circuitproof construct",), code=2),
    flags("--property", "beauty", words=("beauty",), code=2),
    flags("--property", "equivalence", "--epsilon", "1", words=("robustness",), code=2),
    flags("--pattern", "any{1..2}", words=("pattern",), code=2),
    flags("--limits", words=("--limits",), code=2),
    flags("--at", "mlp 0 output", words=("--at does nothing here: there is no --epsilon",), code=2),
    flags("--positions", "all", words=("--positions does nothing here",), code=2),
    flags("--method", "branch", words=("--method does nothing here",), code=2),
    flags("--budget", "3", words=("--budget does nothing here",), code=2),
    flags("--epsilon", "1", "--budget", "3", words=("--budget does nothing here: without a norm, a formula",), code=2),
    flags("--epsilon", "1", "--method", "branch", words=("--method does nothing here: without a norm",), code=2),
    flags("--epsilon", "1", "--at", "mlp 0 output", "--method", "branch", "--budget", "3", words=("--budget does nothing here: --method branch",), code=2),
    command("radius", "--model", "AT/model", "--task", "quotes", "--budget", "3", words=("--budget does nothing here: without a norm",), code=2),
    flags("--anchors", "3", words=("--anchors does nothing here: no solver is asked",), code=2),
    flags("--seconds", "3", words=("--seconds does nothing here",), code=2),
    flags("--branches", "traced", words=("--branches does nothing here",), code=2),
    flags("--engine", "all", "--measure-floats", words=("--measure-floats does nothing here",), code=2),
    flags("--engine", "z3", "--epsilon", "1", "--budget", "3", words=("--budget does nothing here",), code=2),
    flags("--regions", "7", words=("--regions is given, but task 'quotes' lists its prompts",), code=2),
    flags("--listed", "7", words=("--listed is given, but task 'quotes' lists its prompts",), code=2),
    flags("--engine", "z3", words=("no evidence",), code=2),
    command("queries", "--model", "AT/model", "--task", "quotes", "--out", "AT/out", "--at", "mlp 0 input", words=("--at does nothing",), code=2),
    command("cost", "--model", "AT/model", "--task", "quotes", "--circuit", "AT/c", "--seconds", "3", words=("--seconds does nothing",), code=2),
    command("cost", "--model", "AT/model", "--task", "quotes", "--circuit", "AT/c", "--epsilon", "nan", words=("--epsilon is 'nan'",), code=2),
    command("cost", "--model", "AT/model", "--circuit", "AT/c", words=("--task",), code=2),
    command("evaluate", "--model", "AT/model", words=("--task",), code=2),
    command("minimal", "AT/model", "--task", "quotes", words=("--model",), code=2),
    flags("--regions", "0", words=("regions",), code=2),
    flags("--budget", "many", words=("budget",), code=2),
    flags("--seconds", "inf", "--engine", "all", words=("seconds",), code=2),
    flags("--seconds", "nan", "--engine", "all", words=("seconds",), code=2),
    flags("--seconds", "0", "--engine", "all", words=("seconds",), code=2),
    flags("--engine", "all", "--property", "subset minimality", words=("is not asked of solvers",), code=2),
    flags("--engine", "prolog", words=("engine",), code=2),
    flags("--colour", words=("--colour",), code=2),
    flags("--task", "nothing", words=("there is no task 'nothing'",), code=2),
    command("evaluate", "--model", "AT/model", "--task", "quote", words=("there is no task 'quote'",), code=2),
    command("verify", words=("--model",), code=2),
    command("verify", "--model", "AT/model", words=("--task",), code=2),
    command("dance", words=("dance",), code=2),
    command("task", "dance", words=("dance",), code=2),
    command("task", "AT", words=("AT",), code=2),
    command("task", "quotes", "--out", "AT/model", words=("already exists",)),
    command("circuit", "AT/none.json", words=("none.json",)),
    command("circuit", "AT", words=("",)),
    command("ledger", "AT/none", words=("none",)),
    command("ledger", "AT", words=("",)),
    command("import-release", "AT/none", "--out", "AT/out", words=("none",)),
    command("import-release", "AT/model", "--out", "AT/out", words=("model",)),
    command("import-hf", "AT/none", "--out", "AT/out", words=("none is not a directory",)),
    command("import-hf", "AT/model", "--out", "AT/out", words=("config.json",)),
    command("import-hf", "AT/model", "--out", "AT/model", words=("already exists",)),
    command("import-hf", "AT/model", "--revision", "main", "--out", "AT/out", words=("--revision",), code=2),
    command("import-tl", "AT/none", "--out", "AT/out", words=("none is not there",)),
    command("import-tl", "AT/model", "--out", "AT/out", words=("config.json",)),
    command("import-tl", "AT/model", "--config", "AT/model/model.json", "--out", "AT/out", words=("model.safetensors", "pickles")),
    command("import-tl", "AT/model/weights.safetensors", "--config", "AT/model/model.json", "--out", "AT/out", words=("neither embed.W_E",)),
    command("import-tl", "AT/model", "--out", "AT/model", words=("already exists",)),
    command("import-mingpt", "AT/none", "--out", "AT/out", words=("none",)),
    command("import-mingpt", "AT/model", "--out", "AT/out", words=("config.json",)),
    command("import-mingpt", "AT/model", "--out", "AT/model", words=("already exists",)),
    command("import-tracr", "AT/none", "--out", "AT/out", words=("neither a file nor one of the programs", "length")),
    command("import-tracr", "AT/model/model.json", "--out", "AT/out", words=("not a usable safetensors file",)),
    command("import-tracr", "AT/model/weights.safetensors", "--out", "AT/out", words=("no compiled program",)),
    command("import-tracr", "length", "--out", "AT/model", words=("already exists",)),
    command("export-hf", "--model", "AT/model", "--out", "AT/out", words=("GPT-2's format cannot hold this model",)),
    command("export-hf", "--model", "AT/none", "--out", "AT/out", words=("none",)),
    command("export-hf", "--model", "AT/model", "--out", "AT/model", words=("already exists",)),
    command("recheck", "AT/none", "--model", "AT/model", "--task", "quotes", words=("none",)),
    command("logits", "--model", "AT/model", words=("--prompt",), code=2),
    command("logits", "--model", "AT/model", "--prompt", "", words=("empty",), code=2),
    command("logits", "--model", "AT/model", "--prompt", "1 99", words=("99", "no token"), code=2),
    command("logits", "--model", "AT/model", "--tokens", "1 nought", words=("'nought' is no token",), code=2),
    command("logits", "--model", "AT/model", "--prompt", "1", "--candidates", " ", words=("candidate",), code=2),
    command("explain", "#128", "--bundle", TOUR, words=("there is no prompt #128: the bundle lists #0 to #127",), code=2),
    command("explain", "1 nought", "--bundle", TOUR, words=("'nought' is no token of this bundle",), code=2),
    command("explain", " ", "--bundle", TOUR, words=("the prompt has 0 tokens",), code=2),
    command("explain", "#3", "--bundle", "AT/none", words=("none",)),
    command("model", "AT/model", "--compare", "AT/none.json", words=("none.json",)),
    command("model", "AT/model", "--compare", "AT/model/model.json", words=("tokens",)),
    command("model", "AT/model", "--compare", "AT/model/weights.safetensors", words=("lacks logits",)),
    command("model", "AT/model", "--within", "1", words=("--compare",), code=2),
    command("minimal", "--model", "AT/model", "--task", "quotes", "--most", "0", words=("most",), code=2),
    command("radius", "--model", "AT/model", "--task", "brackets", "--at", "head 0.0", words=("head 0.0",), code=2),
    command("extract", "--model", "AT/model", "--task", "quotes", "--out", "AT/model", words=("already exists",)),
    Case("extract: a report that is there", _reported, ("AT/out.report.json already exists",)),
    command("localise", str(RECIPES / "toy-localisation.toml"), "--out", "AT/out", "--figure", "AT/model", words=("AT/model already exists",)),
    command("import-hf", "nobody/nothing", "--out", "AT/out", words=("nobody/nothing is no directory here", "name a directory")),
    command(
        "extract", "--model", "AT/model", "--task", "quotes", "--out", "AT/out", "--threshold", "-1", words=("threshold",), code=2
    ),
    command(
        "extract", "--model", "AT/model", "--task", "quotes", "--out", "AT/out", "--threshold", "nan", words=("threshold",), code=2
    ),
    command(*SYNTHESIS, "--head", "7.0", words=("7.0",), code=2),
    command(*SYNTHESIS, "--head", "mlp 0", words=("mlp 0",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--pair", "11", words=("--pair",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--pair", "11:99", words=("99",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--pair", "11:11", words=("11",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--scope", "circuit", words=("circuit",), code=2),
    Case("synthesise: a circuit without the head", _without_the_head, ("no circuit uses head 0.0",)),
    command(*SYNTHESIS, "--head", "0.0", "--circuit", "AT/a", "--circuit", "AT/b", words=("2 circuits for 1 tasks",), code=2),
    command("distill", str(RECIPES / "toy-programs.toml"), "--seed", "-1", "--out", "AT/out", words=("seeds[0] is -1",), code=2),
    command("localise", str(RECIPES / "toy-localisation.toml"), "--out", "AT/out", "--figure", "AT/x.txt", words=("want one that ends in .png or .svg",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--circuit", "AT/none.json", words=("none.json",)),
    command("cost", "--model", "AT/model", "--task", "quotes", "--circuit", "AT/none.json", words=("none.json",)),
    command("install", "--model", "AT/model", "--program", "0.0=AT/none", "--out", "AT/out", words=("none",)),
    command("verify", "--model", "AT/model", "--task", "quotes", "--out", "AT/model/model.json/x", words=("model.json",)),
    command("verify", "--model", "AT/model", "--task", "quotes", "--out", "/proc/x", words=("/proc/x",)),
    command("train", "AT/model/model.json", "--out", "AT/out", words=("model.json",)),
)  # fmt: skip


IDS_TASK = b'name = "ids"\nprompts = [[9, 1], [10, 1]]\nanswers = [9, 10]\nclasses = [0, 1]\n'
"""A list of numbers, which leaves the names to the model."""


def _fifo(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(path.name)


UNREADABLE_FILES: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "a pipe that nobody writes": (_fifo, "not a regular file"),
    "a link to itself": (_loop, "cannot read"),
    "a folder": (Path.mkdir, "Is a directory"),
    "a device without end": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
}
"""What can stand where a file is wanted, and what the answer says."""
OF_A_FILE: Mapping[str, tuple[str, list[str]]] = {
    "circuit": ("circuit.json", ["circuit", "FILE"]),
    "verify": ("circuit.json", ["verify", "--model", "AT/model", "--task", "quotes", "--circuit", "FILE", "--out", "AT/out"]),
    "task": ("task.toml", ["task", "FILE"]),
    "ledger": ("ledger.jsonl", ["ledger", "FILE"]),
    "recheck": ("certificate.json", ["recheck", "FILE", "--model", "AT/model", "--task", "quotes"]),
    "install": ("program.txt", ["install", "--model", "AT/model", "--program", "0.0=FILE", "--out", "AT/out"]),
    "train": ("recipe.toml", ["train", "FILE", "--out", "AT/out"]),
    "localise": ("recipe.toml", ["localise", "FILE", "--out", "AT/out"]),
    "run": ("recipe.toml", ["run", "FILE", "--out", "AT/out"]),
    "import-hf": ("config.json", ["import-hf", "AT", "--out", "AT/out"]),
    "import-tracr": ("compiled.safetensors", ["import-tracr", "FILE", "--out", "AT/out"]),
}  # fmt: skip
"""Commands that read one file, and its name."""


def unreadable_files() -> Iterator[Case]:
    """What is no file, met by every command that reads one: nobody waits for a pipe."""
    for command, (name, arguments) in OF_A_FILE.items():
        for kind, (put, word) in UNREADABLE_FILES.items():

            def make(at: Path, arguments=arguments, name=name, put=put) -> list[object]:
                put(at / name)
                return [one.replace("FILE", str(at / name)).replace("AT", str(at)) for one in arguments]

            is_link = command == "import-hf" and word != "Is a directory" and "pipe" not in kind
            yield Case(f"{command}: {kind} for {name}", make, (name, "is a link" if is_link else word))


def _with_file(name: str, data: bytes, *arguments: str, words: tuple[str, ...], code: int = 3) -> Case:
    """Return a case of a command and a file of this content."""

    def make(at: Path) -> list[object]:
        (at / name).write_bytes(data)
        return [one.replace("AT", str(at)) for one in arguments]

    return Case(f"{' '.join(arguments)[:80]} of {data[:30]!r}", make, words, code)


def _named_with_nul(at: Path) -> list[object]:
    text = changed((RECIPES / "toy-localisation.toml").read_text(), "toy-band.toml", "toy\\u0000band.toml")
    (at / "recipe.toml").write_bytes(text)
    return ["localise", at / "recipe.toml", "--out", at / "out"]


CANONICAL = b'{"name": "x", "candidates": [1, 2], "domain": {}, "relation": {}}'
OF_ANOTHER_KIND = (
    _with_file("x.json", CANONICAL, "circuit", "AT/x.json", words=("x.json is a task (--task), want a circuit (--circuit)",)),
    _with_file("x.json", json.dumps(GOOD_CIRCUIT).encode(), "task", "AT/x.json", words=("x.json is a circuit", "want a task")),
    _with_file("x.toml", LISTED_TASK.encode(), "train", "AT/x.toml", words=("x.toml is a task", "want a recipe of a training")),
    _with_file("x.json", b'{"files": {}}', "circuit", "AT/x.json", words=("is a manifest", "want a circuit")),
    command("circuit", "AT/model/model.json", words=("is a model's declaration", "want a circuit")),
    command("task", "AT/model/model.json", words=("is a model's declaration", "want a task")),
    command("train", str(RECIPES / "toy-localisation.toml"), "--out", "AT/out", words=("is a protocol (circuitproof localise)",)),
    command("localise", str(RECIPES / "toy.toml"), "--out", "AT/out", words=("is a recipe of a training (circuitproof train)",)),
    command("run", str(RECIPES / "toy-programs.toml"), "--out", "AT/out", words=("is a recipe of a distillation",)),
    command("recheck", "AT/model/model.json", "--model", "AT/model", "--task", "quotes", words=("want a certificate of unr",)),
)  # fmt: skip
VERIFY = ("verify", "--model", "AT/model", "--task", "quotes", "--out", "AT/out")
UNUSUAL = (
    command(*VERIFY, "--circuit", "AT/no\nsuch", words=("AT/no\\nsuch: No such file",)),
    command(*VERIFY, "--circuit", "AT/no\udcffsuch", words=("AT/no\\udcffsuch: No such file",)),
    command(*VERIFY, "--circuit", "AT/no\udcffsuch", "--json", words=("AT/no\\udcffsuch: No such file",)),
    command(*VERIFY, "--circuit", "AT/" + "x" * 300, words=("File name too long",)),
    command(*VERIFY[:-1], "AT/" + "x" * 300, words=("File name too long; names have at most 255 bytes",)),
    command(*VERIFY[:-1], "AT/" + "y/" * 3000, words=("File name too long",)),
    command("circuit", "AT/" + "x" * 5000, words=("characters): File name too long",)),
    command(*VERIFY, "--circuit", "", words=("--circuit is empty",), code=2),
    command(*VERIFY, "--out", "AT/new/../model", words=("already exists",)),
    command(*VERIFY, "--out", "/dev/null", words=("/dev/null already exists",)),
    command(*VERIFY, "--out", "", words=("--out is empty",), code=2),
    command(*VERIFY, "--circuit=", words=("--circuit= is empty",), code=2),
    command(*VERIFY, "--epsilon", "1/" + "9" * 5000, words=("epsilon", "(5004 characters),"), code=2),
    command(*VERIFY, "--epsilon", "1e999999", words=("epsilon",), code=2),
    command(*VERIFY, "--epsilon", "1", "--positions", "1" * 400, words=("position",)),
    command(*VERIFY, "--epsilon", "1", "--positions", "0,0", words=("distinct",), code=2),
    command(*VERIFY, "--deadline", "1e400", words=("deadline",), code=2),
    command("verify", "--model", "", "--task", "quotes", words=("--model is empty",), code=2),
    command("task", "x" * 5000, words=("there is no task", "(5002 characters);"), code=2),
    command("report", "/", "--out", "AT/page.html", words=("/ has no manifest.json",)),
    command("report", "/", words=("/ has no manifest.json",)),
    command("install", "--model", "AT/model", "--program", "0.0", "--out", "AT/out", words=("--program",), code=2),
    command("install", "--model", "AT/model", "--program", "9.9=x", "--out", "AT/out", words=("9.9",), code=2),
    command(*SYNTHESIS, "--head", "9" * 5000 + ".0", words=("--head",), code=2),
    command(*SYNTHESIS, "--head", "0.0", "--overlap", "nan", words=("overlap",), code=2),
    command("cost", "--model", "AT/model", "--task", "quotes", "--circuit", "AT/x", "--circuit", "AT/x", "--circuit", "AT/x", words=("3 circuits for 1 models",), code=2),
    Case("report: a link to itself", lambda at: (_loop(at / "loop"), ["report", at / "loop"])[1], ("is not a directory",)),
    Case("localise: a recipe that names a file with a null character", _named_with_nul, ("no file has such a name",)),
    _with_file("l.jsonl", b"", "ledger", "AT/l.jsonl", words=("l.jsonl is empty", "it is no ledger"), code=5),
    _with_file("t.toml", LISTED_TASK.encode(), *VERIFY, "--circuit", "AT/t.toml", words=("t.toml is not usable JSON",)),
    _with_file("t.json", _circuit(), "task", "AT/t.json", words=("t.json is a circuit (--circuit), want a task (--task)",)),
    command("circuit", f"{TOUR}/claim.json", words=("is the claim of a bundle (circuitproof check takes its directory), want a circuit",)),
    _with_file("c.json", b"", "circuit", "AT/c.json", words=("c.json",)),
    _with_file("c.json", b"\xef\xbb\xbf{}", "circuit", "AT/c.json", words=("c.json", "BOM")),
    _with_file("c.json", b'{"layers": NaN}', "circuit", "AT/c.json", words=("NaN is not a number",)),
    _with_file("c.json", b'{"layers": ' + b"9" * 5000 + b"}", "circuit", "AT/c.json", words=("value has 5000 digits",)),
    _with_file("t.toml", IDS_TASK, "task", "AT/t.toml", words=("t.toml.alphabet is not listed", "give a model")),
    _with_file("t.toml", b"name = " + b"9" * 5000, "task", "AT/t.toml", words=("value has 5000 digits",)),
    _with_file("t.toml", b'\xef\xbb\xbfname = "x"', "task", "AT/t.toml", words=("t.toml", "byte order mark (BOM)")),
    _with_file("p", b"\xef\xbb\xbfdefault 0", "install", "--model", "AT/model", "--program", "0.0=AT/p", "--out", "AT/out", words=("AT/p cannot be used", "BOM")),
    _with_file("p", b"default 0\n\xff", "install", "--model", "AT/model", "--program", "0.0=AT/p", "--out", "AT/out", words=("p is not UTF-8",)),
)  # fmt: skip


def _fewest(key: str) -> str:
    """Return claims the first of which is about the fewest edges, with one key more."""
    stated = CLAIMS.replace('robustness = "proved"', 'robustness = "proved"\nminimum = "proved"')
    return stated.replace("epsilon", f"{key}\nepsilon", 1)


def _identity(key: str) -> str:
    """Return claims the second of which is a lesion identity, with one key more."""
    return CLAIMS.replace("expected = { equiv", f'{key}\nexpected = {{ "lesion identity" = "proved", equiv')


_NO_CLAIMS = CLAIMS[: CLAIMS.index("[[claims]]")]
CLAIM_FAULTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "an empty file": ("", ("claims.toml.name is missing",)),
    "no TOML": ("name =", ("claims.toml is not usable TOML",)),
    "no claims": (_NO_CLAIMS, ("claims.toml.claims is missing",)),
    "an empty list of claims": (f"claims = []\n{_NO_CLAIMS}", ("claims.toml.claims is empty",)),
    "no models": ('name = "x"\nclaims = []', ("claims.toml.models is missing",)),
    "an unknown key": (CLAIMS.replace("path =", "patch ="), ("models.toy.patch is not a known key",)),
    "an unknown key of a claim": (CLAIMS.replace("circuit =", "circus ="), ("circus is not a known key",)),
    "two claims of a name": (CLAIMS.replace('"brackets"\nmodel', '"quotes"\nmodel'), ("two claims 'quotes'",)),
    "a name that is no folder's": (CLAIMS.replace('"brackets"\nmodel', '"../up"\nmodel'), ("'../up'", "names a folder")),
    "an unknown property": (CLAIMS.replace("necessity", "necesity"), ("necesity is no property", "necessity")),
    "an unknown verdict": (CLAIMS.replace('"refuted"', '"wrong"'), ("equivalence is 'wrong'", "'undecided'")),
    "no properties": (CLAIMS.replace('{ equivalence = "refuted" }', "{}"), ("expected is empty",)),
    "a minimum without a circuit": (CLAIMS.replace("{ equiv", '{ minimum = "proved", equiv'), ("claims[1]", "minimum wants a circuit")),
    "a minimum of nothing": (_fewest("minimum = []"), ("claim 'quotes'", "one or more circuits of one size")),
    "a minimum of other circuits": (_fewest('minimum = ["none.json"]'), ("claim 'quotes'", "none.json")),
    "a minimum of one circuit twice": (_fewest('minimum = ["circuit.json", "circuit.json"]'), ("claim 'quotes'", "each circuit once")),
    "a minimum that is no list": (_fewest('minimum = "circuit.json"'), ("claims[0].minimum",)),
    "a minimum beyond its budget": (_fewest("budget = 1"), ("claim 'quotes'", "more than 1 circuits of 2 edges", "larger budget")),
    "no operations": (CLAIMS.replace("epsilon", "operations = 0\nepsilon", 1), ("claims[0].operations is 0",)),
    "no budget": (_fewest("budget = 0"), ("claims[0].budget is 0",)),
    "circuits for no minimum": (CLAIMS.replace("epsilon", 'minimum = ["circuit.json"]\nepsilon', 1), ("claims[0].minimum is given", "minimum is not expected")),
    "a budget for no minimum": (CLAIMS.replace("epsilon", "budget = 3\nepsilon", 1), ("claims[0].budget is given", "leave it out")),
    "an epsilon beside a minimum alone": (_fewest("").replace('equivalence = "proved"\nnecessity = "proved"\nrobustness = "proved"\n', ""), ("claims[0]", "robustness is not among")),
    "a lesion identity without a base": (_identity(""), ("claims[1]", "lesion identity wants a base")),
    "agreement with nothing": (CLAIMS.replace("{ equiv", '{ agreement = "proved", equiv'), ("claims[1]", "agreement wants agrees_with, the file of another circuit")),
    "a circuit for no agreement": (CLAIMS.replace("epsilon", 'agrees_with = "circuit.json"\nepsilon', 1), ("claims[0].agrees_with is given", "agreement is not expected")),
    "agreement with itself": (CLAIMS.replace("epsilon", 'agrees_with = "circuit.json"\nepsilon', 1).replace('robustness = "proved"', 'robustness = "proved"\nagreement = "proved"'), ("claim 'quotes'", "a circuit of the same edges")),
    "an unknown base": (_identity('base = "tot"'), ("claims[1].base is 'tot'", "'toy'")),
    "a base that is not at hand": (_identity('base = "far"').replace("[[claims]]", "[models.far]\n[[claims]]", 1), ("claim 'brackets'", "not at hand", "--where")),
    "a base for nothing": (CLAIMS.replace("expected = {", 'base = "toy"\nexpected = {'), ("claims[1].base is given", "lesion identity is not expected")),
    "a model of which only the name is there": (CLAIMS.replace('path = "model"\nsha256 = "DIGEST"', ""), ("claim 'quotes'", "its model is not at hand")),
    "a path without a SHA-256": (CLAIMS.replace('sha256 = "DIGEST"', ""), ("models.toy.sha256 is missing",)),
    "an unknown model": (CLAIMS.replace('model = "toy"', 'model = "tot"', 1), ("model is 'tot'", "'toy'")),
    "a missing model": (CLAIMS.replace('"model"', '"models"'), ("claim 'quotes'", "cannot read", "weights.safetensors")),
    "another SHA-256": (CLAIMS.replace("DIGEST", "0" * 64), ("claim 'quotes'", "has SHA-256", "0" * 64)),
    "no SHA-256": (CLAIMS.replace("DIGEST", "xyz"), ("sha256", "64 lower-case hex digits")),
    "an unknown task": (CLAIMS.replace('task = "brackets"', 'task = "bracket"'), ("claim 'brackets'", "bracket")),
    "a missing task file": (CLAIMS.replace('task = "brackets"', 'task = "t.toml"'), ("claim 'brackets'", "t.toml")),
    "a missing circuit": (CLAIMS.replace('"circuit.json"', '"c.json"'), ("claim 'quotes'", "c.json")),
    "no epsilon": (CLAIMS.replace('epsilon = "1/100"', ""), ("claims[0]", "robustness wants an epsilon")),
    "an epsilon for nothing": (CLAIMS.replace('robustness = "proved"', ""), ("claims[0]", "robustness is not among")),
    "a negative epsilon": (CLAIMS.replace('"1/100"', '"-1"'), ("epsilon is -1",)),
    "an epsilon in floats": (CLAIMS.replace('"1/100"', "0.01"), ("epsilon", "a rational in a string")),
    "a place for nothing": (CLAIMS.replace("expected = {", 'at = "mlp 0 output"\nexpected = {'), ("at is given without an epsilon",)),
    "a place that is not there": (CLAIMS.replace('epsilon = "1/100"', 'epsilon = "1"\nat = "mlp 9 output"'), ("claim 'quotes'", "mlp 9")),
}  # fmt: skip


def spoiled_claims() -> Iterator[Case]:
    """Return claims files in which something is wrong; nothing is proved before all of them was read."""
    for fault, (text, words) in CLAIM_FAULTS.items():

        def make(at: Path, text: str = text) -> list[object]:
            return ["claims", "prove", write_claims(at, text), "--out", at / "proofs"]

        yield Case(f"claims: {fault}", make, words)
    good = write_claims
    yield Case(
        "claims: a claim that is not there",
        lambda at: ["claims", "check", good(at), "--only", "x"],
        ("no claim 'x'", "quotes"),
    )
    yield Case(
        "claims: proofs in a file",
        lambda at: ["claims", "prove", good(at), "--out", good(at)],
        ("is a file, want a folder",),
    )
    yield Case(
        "claims: proofs in a sealed folder",
        lambda at: ["claims", "prove", good(at), "--out", at / "model"],
        ("is a sealed folder",),
    )
    yield Case(
        "claims: an archive of nothing",
        lambda at: ["claims", "archive", good(at), "--proofs", at / "p", "--out", at / "a.tar.gz"],
        ("'quotes' is not proved",),
    )
    for spelled in ("toy", "toy=", "=model"):
        yield Case(
            f"claims: --where {spelled}",
            lambda at, spelled=spelled: ["claims", "check", good(at), "--where", spelled],
            ("--where", "NAME=DIR"),
            2,
        )
    yield Case(
        "claims: --where twice",
        lambda at: ["claims", "prove", good(at), "--where", "toy=a", "--where", "toy=b"],
        ("each name once",),
        2,
    )
    yield Case(
        "claims: --where of no name in the file",
        lambda at: ["claims", "table", good(at), "--where", "tot=model"],
        ("--where tot", "no such model", "toy"),
    )
    yield Case(
        "claims: --where beside --no-models",
        lambda at: ["claims", "check", good(at), "--where", "toy=model", "--no-models"],
        ("--where does nothing here",),
        2,
    )
    yield Case("claims: no jobs", lambda at: ["claims", "prove", good(at), "--jobs", "0"], ("--jobs",), 2)
    yield Case("gallery: no such row", lambda _: ["gallery", "sushi"], ("no row 'sushi'", "pizza"))
    yield Case(
        "gallery: weights of no row", lambda at: ["gallery", "--weights", at / "w"], ("the name of a row",), 2
    )
    yield Case(
        "gallery: no weights",
        lambda at: ["gallery", "pizza", "--weights", at / "w", "--out", at / "o"],
        ("cannot read", "AT/w"),
    )
    yield Case(
        "gallery: other weights",
        lambda at: ["gallery", "pizza", "--weights", at / "model" / "weights.safetensors", "--out", at / "o"],
        ("blocks.0.attn.W_V",),
    )
    yield Case(
        "gallery: a folder of something else",
        lambda at: ["gallery", "pizza", "--weights", at / "w", "--out", at / "model"],
        ("does not hold row 'pizza'",),
    )


PORTS: Mapping[str, tuple[dict[str, Any], tuple[str, ...], str]] = {
    "an edge into a whole head among ports": (
        {"edges": ["embed -> head 0.0 value", "embed -> head 0.0", "head 0.0 -> logits"]}, (), "embed -> head 0.0 feeds a whole head"
    ),
    "an edge into a port among heads": (
        {"granularity": "head", "edges": ["embed -> head 0.0 value", "head 0.0 -> logits"]}, (), "want port"
    ),
    "a query of an MLP": ({"edges": ["embed -> mlp 0 query", "mlp 0 -> logits"]}, (), "mlp 0 has no query; only heads have ports"),
    "a port that heads do not have": ({"edges": ["embed -> head 0.0 output"]}, (), "'head 0.0 output' is not a node"),
    "an output of a port": ({"edges": ["head 0.0 value -> logits"]}, (), "'head 0.0 value' is not a node"),
    "a granularity of its own": ({"granularity": "neuron"}, (), "granularity is 'neuron'"),
    "an input that is three": ({}, ("--epsilon", "1/10", "--at", "head 0.0 input"), "is three inputs where ports are told apart"),
    "a pattern": ({}, ("--task", "AT/task.toml"), "query, key and value are not told apart over patterns"),
}  # fmt: skip
"""What can be wrong with a circuit that tells ports apart, with options, and what the answer says."""


def _write_ports(at: Path, **changes: Any) -> None:
    edges = ["embed -> head 0.0 key", "embed -> head 0.0 value", "head 0.0 -> logits"]
    (at / "circuit.json").write_bytes(_circuit(**{"granularity": "port", "edges": edges, **changes}))
    (at / "task.toml").write_text(GOOD_TASK)


def spoiled_ports() -> Iterator[Case]:
    """Every fault of a circuit of ports, met by verify, and what other commands refuse of them."""
    for name, (changes, options, word) in PORTS.items():

        def make(at: Path, changes=changes, options=options) -> list[object]:
            _write_ports(at, **changes)
            given = [one.replace("AT", str(at)) for one in options]
            return [*OF_A_CIRCUIT["verify"](at), *given]

        yield Case(f"verify: ports with {name}", make, (word,))

    def searched(at: Path) -> list[object]:
        _write_ports(at)
        return [*OF_A_MODEL["minimal"](at), "--circuit", at / "circuit.json", "--granularity", "port"]

    yield Case("minimal: a granularity beside a circuit", searched, ("--granularity does nothing here",), 2)

    def of_a_program(at: Path) -> list[object]:
        _write_ports(at)
        model = json.loads((at / "model" / "model.json").read_text())
        model["programs"] = {"0.0": ["default 1", "otherwise self"]}
        (at / "model" / "model.json").write_text(json.dumps(model))
        weights(_neither_query_nor_key)(at / "model")
        return OF_A_CIRCUIT["evaluate"](at)

    yield Case("evaluate: a key of a program head", of_a_program, ("a program head has a value port only",))

    for name, (text, word) in DRAWINGS.items():

        def drawn(at: Path, text=text) -> list[object]:
            (at / "circuit.gv").write_text(text)
            return ["circuit", at / "circuit.gv"]

        yield Case(f"circuit: a drawing {name}", drawn, (word,))


def _neither_query_nor_key(header: dict[str, Any], data: bytearray) -> None:
    """Take the tensors away that a program head has not."""
    kept, old = bytearray(), dict(header)
    header.clear()
    for name, entry in sorted(old.items(), key=lambda item: item[1].get("data_offsets", [0])[0]):
        if name == "__metadata__" or ".query." in name or ".key." in name:
            continue
        begin, end = entry["data_offsets"]
        header[name] = {**entry, "data_offsets": [len(kept), len(kept) + end - begin]}
        kept += data[begin:end]
    data[:] = kept


DRAWINGS: Mapping[str, tuple[str, str]] = {
    "that keeps no edge": ('digraph { "<m0>" -> "<m1>" [style = "invis"]; }', "lays out 2 nodes and keeps no edge: 1 edges are drawn, all of them invisible"),
    "of no graph": ("{}", "is no directed graph"),
    "without end": ('digraph { "<embeds>" -> "<m0>"', "ends within its graph"),
    "with an unknown node": ('digraph { "<embeds>" -> "<x0>" }', "'<x0>' is not a node as ACDC names them"),
    "with an edge out of a port": ('digraph { "<a0.0_q>" -> "<m0>" }', "leaves a port, which feeds its own head only"),
    "with half of an embedding": ('digraph { "<tok_embeds>" -> "<m0>" }', "reads one of tok_embeds and pos_embeds"),
    "with ports and whole heads": ('digraph { "<embeds>" -> "<a0.0_q>"; "<embeds>" -> "<a0.1>" }', "feeds head 0.1 as a whole and ports of heads apart"),
    "with an edge backwards": ('digraph { "<m1>" -> "<m0>" }', "mlp 0 is not computed after mlp 1"),
    "with a subgraph": ('digraph { subgraph s { "<m0>" -> "<m1>" } }', "has a subgraph"),
    "with text that is none": ('digraph { "<m0>" ! "<m1>" }', "line 1 is not Graphviz text"),
}  # fmt: skip
"""What can be wrong with a drawing of ACDC's."""

QUOTE = [1, 2, 5, 9, 5, 5]
MEAN = {"kind": "mean", "over": "position", "prompts": [QUOTE]}
ABLATIONS: Mapping[str, tuple[object, tuple[str, ...], str, int]] = {
    "a word that is none": (MEAN, ("--ablation", "median"), "the ablation is 'median', want one of zero, mean, mean-all, or a .json file", 2),
    "no file": (MEAN, ("--ablation", "AT/none.json"), "none.json", 3),
    "a circuit": (GOOD_CIRCUIT, (), "is a circuit (--circuit), want what cut edges carry (--ablation)", 3),
    "no prompts": ({**MEAN, "prompts": []}, (), "a mean is taken over one or more prompts", 3),
    "a prompt twice": ({**MEAN, "prompts": [QUOTE, QUOTE]}, (), "one is listed twice", 3),
    "a token below 0": ({**MEAN, "prompts": [[-1]]}, (), "tokens are numbered from 0", 3),
    "a token that the model has not": ({**MEAN, "prompts": [[*QUOTE[:-1], 99]]}, (), "mean ablation: ", 3),
    "a name that the model has not": ({**MEAN, "prompts": ["A Z"]}, (), "prompts[0][1] is 'Z', want a token's number", 3),
    "a token that is no whole number": ({**MEAN, "prompts": [[1.5]]}, (), "prompts[0][0] is 1.5, want a token's number", 3),
    "prompts of other lengths": ({**MEAN, "prompts": [[1, 2]]}, (), "no prompt that the mean is taken over has", 3),
    "an unknown pooling": ({**MEAN, "over": "median"}, (), "over is 'median'", 3),
    "an unknown kind": ({**MEAN, "kind": "resample"}, (), "kind is 'resample', want one of 'mean', 'counterfactual'", 3),
    "pairs for a mean": ({"kind": "mean", "pairs": []}, (), "prompts is missing", 3),
    "a partner of another length": ({"kind": "counterfactual", "pairs": [[QUOTE, [1, 2]]]}, (), "has 6 tokens and its partner 2", 3),
    "three prompts in a pair": ({"kind": "counterfactual", "pairs": [[QUOTE, QUOTE, QUOTE]]}, (), "is 3 prompts, want a prompt and its partner", 3),
    "a prompt without a partner": ({"kind": "counterfactual", "pairs": [[QUOTE, QUOTE]]}, (), "has no partner", 3),
    "a place inside the circuit": (MEAN, ("--epsilon", "1/10", "--at", "head 0.0 output"), "cannot be perturbed under mean ablation", 3),
    "a pattern": (MEAN, ("--task", "AT/task.toml"), "is not known over patterns; list prompts, or cut to zero", 2),
}  # fmt: skip
"""What can be wrong with what cut edges carry: a file, options, what the answer says, and the exit code."""


def spoiled_ablations() -> Iterator[Case]:
    """Every fault of an ablation, met by verify, and some that other commands meet."""
    for name, (content, options, word, code) in ABLATIONS.items():

        def make(at: Path, content=content, options=options) -> list[object]:
            (at / "ablation.json").write_text(json.dumps(content))
            (at / "task.toml").write_text(GOOD_TASK)
            given = [one.replace("AT", str(at)) for one in options]
            chosen = [] if "--ablation" in given else ["--ablation", at / "ablation.json"]
            return [*OF_A_MODEL["verify"](at), *chosen, *given]

        yield Case(f"verify: an ablation of {name}", make, (word,), code)
    for name in ("evaluate", "extract", "minimal"):

        def asked(at: Path, name=name) -> list[object]:
            pairs = {"kind": "counterfactual", "pairs": [[QUOTE, QUOTE]]}
            (at / "ablation.json").write_text(json.dumps(pairs))
            return [*OF_A_MODEL[name](at), "--ablation", at / "ablation.json"]

        yield Case(f"{name}: a prompt without a partner", asked, ("has no partner",))


_OTHER = {**GOOD_CIRCUIT, "edges": ["embed -> head 0.0", "embed -> logits", "head 0.0 -> logits"]}
AGREEMENTS: Mapping[str, tuple[object, tuple[str, ...], str, int]] = {
    "no circuit": (None, ("--property", "agreement"), "agreement wants another circuit: give its file with --agrees-with", 2),
    "no file": (None, ("--agrees-with", "AT/none.json"), "none.json", 3),
    "two circuits": (_OTHER, ("--agrees-with", "AT/none.json"), "--agrees-with is given 2 times, and only the last would count; give it once", 2),
    "the same edges": (GOOD_CIRCUIT, (), "agreement is claimed with a circuit of the same edges", 3),
    "edges that lead nowhere": ({**GOOD_CIRCUIT, "edges": [*GOOD_CIRCUIT["edges"], "embed -> mlp 0"]}, (), "those that lead nowhere apart; give another circuit", 3),
    "a circuit of other sizes": ({**_OTHER, "layers": 2}, (), "agreement is claimed with: the circuit is of 2 layers of 1 heads", 3),
    "a circuit of ports": ({**_OTHER, "granularity": "port", "edges": ["embed -> logits"]}, (), "a circuit of granularity port, the claim's has head; give both the same", 3),
    "another ablation": ({**_OTHER, "ablation": MEAN}, (), "a circuit under mean ablation, the claim's is under zero ablation", 3),
    "a circuit that reads nothing": ({**_OTHER, "edges": ["mlp 0 -> logits"]}, (), "a circuit that reads no prompt", 3),
    "another property": (_OTHER, ("--property", "equivalence"), "--agrees-with is given, but agreement is not among the properties asked for", 2),
}  # fmt: skip
"""What can be wrong with a circuit that another is to agree with: a file, options, the answer, the exit code."""


def spoiled_agreements() -> Iterator[Case]:
    """Every fault of agreement, met by verify."""
    for name, (content, options, word, code) in AGREEMENTS.items():

        def make(at: Path, content=content, options=options) -> list[object]:
            (at / "circuit.json").write_bytes(_circuit())
            given = [one.replace("AT", str(at)) for one in options]
            if content is not None:
                (at / "other.json").write_text(json.dumps(content))
                given += ["--agrees-with", str(at / "other.json")]
            return [*OF_A_CIRCUIT["verify"](at), *given]

        yield Case(f"verify: agreement with {name}", make, (word,), code)


def cases() -> list[Case]:
    """Return every case."""
    spoiled = (
        spoiled_models,
        spoiled_circuits,
        spoiled_tasks,
        spoiled_recipes,
        spoiled_protocols,
        spoiled_directories,
        other_alphabets,
        zero_models,
        huge_models,
        unreadable_files,
        spoiled_claims,
        spoiled_ports,
        spoiled_ablations,
        spoiled_agreements,
    )
    return [*(case for make in spoiled for case in make()), *FLAGS, *OF_ANOTHER_KIND, *UNUSUAL]
