# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # Where it breaks: counterexamples, radii, the fewest edges
#
# A verb agrees with its subject, whatever stands nearer to it. How far does the circuit carry?

# %%
import builtins
import tempfile
from pathlib import Path

import circuitproof as cp
from circuitproof_lab.api import train

show = getattr(builtins, "display", print)  # a notebook draws what a script prints
work = Path(tempfile.mkdtemp())
recipes = next(one / "recipes" for one in (Path.cwd(), *Path.cwd().parents) if (one / "recipes").is_dir())
task = cp.load_task(recipes / "tasks/subject-verb.toml")
model = train(recipes / "own-subject-verb.toml", work / "run")
circuit = cp.extract(model, task, objective="program").circuit
show(circuit)

# %% [markdown]
# How large must a perturbation of the final residual be to change a decision? Exactly, for every prompt.

# %%
radii = cp.radius(model, task, circuit)
show(radii)

# %% [markdown]
# Beyond the least radius robustness is refuted: a perturbation is shown, and it replays.

# %%
beyond = int(radii.proved or 0) + 1
answers = cp.verify(
    model, task, circuit, properties=["equivalence", "robustness"], epsilon=beyond, out=work / "bundle"
)
show(answers)

# %% [markdown]
# The bundle of a refuted claim is checked like any other.

# %%
checked = cp.check(answers, against=model)
show(checked)

# %% [markdown]
# One prompt: its cell, where heads look, what each edge brings to the margin, what would flip it.

# %%
explanation = cp.explain(answers, "the dog near the cars")
show(explanation)

# %% [markdown]
# All circuits of the fewest edges that decide the task, with a proof that nothing smaller does.

# %%
fewest = cp.minimal(model, task, most=2)
show(fewest)
