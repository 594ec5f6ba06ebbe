"""GPT-2-small's shape with seeded weights in Hugging Face's files, and two prompts that a circuit decides.

`python benchmarks/gpt2_shape.py FOLDER CIRCUIT` writes FOLDER/weights, imports it into FOLDER/model, and
writes FOLDER/two.toml: two prompts of 15 tokens that share five, and two candidates of 400 between which
model and circuit are surest, in FP64. What to time is `circuitproof verify`, as docs/howto-gpt2.md says.
"""

import json
import random
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import save_file

import circuitproof as cp
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import task_logits

WIDTH, VOCABULARY, CONTEXT, LAYERS = 768, 50257, 1024, 12
TOKENS, SHARED, TRIED = 15, 5, 400
CONFIG = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-05,
    "n_ctx": CONTEXT,
    "n_positions": CONTEXT,
    "n_embd": WIDTH,
    "n_head": 12,
    "n_layer": LAYERS,
    "vocab_size": VOCABULARY,
}


def shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Return GPT-2's tensors with their shapes, in order."""
    yield from (("wte.weight", (VOCABULARY, WIDTH)), ("wpe.weight", (CONTEXT, WIDTH)))
    maps = {"attn.c_attn": (1, 3), "attn.c_proj": (1, 1), "mlp.c_fc": (1, 4), "mlp.c_proj": (4, 1)}
    for layer in range(LAYERS):
        for norm, names in (("ln_1", ("attn.c_attn", "attn.c_proj")), ("ln_2", ("mlp.c_fc", "mlp.c_proj"))):
            yield from ((f"h.{layer}.{norm}.{kind}", (WIDTH,)) for kind in ("weight", "bias"))
            for name in names:
                read, written = (WIDTH * times for times in maps[name])
                yield from (
                    (f"h.{layer}.{name}.weight", (read, written)),
                    (f"h.{layer}.{name}.bias", (written,)),
                )
    yield from ((f"ln_f.{kind}", (WIDTH,)) for kind in ("weight", "bias"))


def write_weights(folder: Path) -> None:
    """Write them with deviation 0.02, the scales of norms around 1."""
    draw, tensors = np.random.default_rng(0), dict[str, npt.NDArray[np.float32]]()
    for name, shape in shapes():
        is_scale = ".ln_" in f".{name}" and name.endswith("weight")
        tensors[name] = (0.02 * draw.standard_normal(shape)).astype(np.float32) + np.float32(is_scale)
    folder.mkdir(parents=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))


def write_task(model: Path, circuit: Path, file: Path) -> None:
    """Write two prompts with the candidates that tell them apart most, in the circuit and in the model."""
    draw = random.Random(0)  # noqa: S311  # prompts, not secrets
    shared, *ends = (
        [draw.randrange(VOCABULARY) for _ in range(count)] for count in (SHARED, *[TOKENS - SHARED] * 2)
    )
    prompts = [shared + end for end in ends]
    tried = draw.sample(range(VOCABULARY), TRIED)
    task = cp.declare_task(
        "two", model=model, prompts=prompts, answers=tried[:2], classes=[0, 1], candidates=tried
    )
    floats = load_model(model).model.double()
    found = torch.stack(
        [task_logits(floats, task)[0], task_logits(floats, task, [cp.load_circuit(circuit)])[0]]
    )
    first, second = found[:, 0], found[:, 1]

    def sureness(pair: tuple[int, int]) -> float:
        one, other = pair
        leads = (first[:, one] - first[:, other], second[:, other] - second[:, one])
        return min(float(lead.min()) for lead in leads)

    one, other = (tried[place] for place in max(permutations(range(TRIED), 2), key=sureness))
    file.write_text(
        f'name = "two prompts"\nprompts = {prompts}\nanswers = [{one}, {other}]\n'
        f'classes = ["a", "b"]\ncandidates = [{one}, {other}]\n'
    )


def main() -> None:
    """Write weights, model and task."""
    folder, circuit = map(Path, sys.argv[1:3])
    write_weights(folder / "weights")
    cp.import_hf(folder / "weights", folder / "model")
    write_task(folder / "model", circuit, folder / "two.toml")


if __name__ == "__main__":
    main()
