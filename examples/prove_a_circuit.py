# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # Prove a circuit that you found
#
# A search such as EAP-IG leaves a file of edges. What does the circuit do, exactly, on every prompt of a
# task? The model here closes tags; it has a few hundred weights and is trained in seconds.

# %%
import builtins
import json
import tempfile
from pathlib import Path

import circuitproof as cp
from circuitproof_lab.api import train

show = getattr(builtins, "display", print)  # a notebook draws what a script prints
work = Path(tempfile.mkdtemp())
recipes = next(one / "recipes" for one in (Path.cwd(), *Path.cwd().parents) if (one / "recipes").is_dir())
model = train(recipes / "own-closing-tags.toml", work / "run")
show(model)

# %% [markdown]
# The circuit as EAP-IG writes it: every edge of the graph, and whether it is kept. A head's query, key and
# value are kept together.

# %%
kept = {f"input->a0.h0<{role}>": {"in_graph": True} for role in "qkv"}
kept |= {
    "a0.h0->logits": {"in_graph": True},
    "a0.h0->m0": {"in_graph": False},
    "m0->logits": {"in_graph": False},
}
(work / "eap-ig.json").write_text(json.dumps({"cfg": {"n_layers": 1, "n_heads": 1}, "edges": kept}))
circuit = cp.load_circuit(work / "eap-ig.json")
show(circuit)

# %% [markdown]
# Equivalence, invariance, necessity and robustness, in exact arithmetic over the FP32 weights. A property is
# proved, refuted with a counterexample, or undecided with the reason.

# %%
task = cp.load_task(recipes / "tasks/closing-tags.toml")
answers = cp.verify(model, task, circuit, epsilon="1/100", out=work / "bundle")
show(answers)

# %% [markdown]
# The independent checker agrees, in a process of its own, with the standard library alone.

# %%
checked = cp.check(answers, against=model, task=task)
show(checked)

# %% [markdown]
# The page for others: one file that loads nothing. It also shows here.

# %%
page = cp.report(answers, against=model, out=work / "bundle.html")
show(page)
