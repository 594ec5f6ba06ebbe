# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # A task of your own, from nothing to a checked bundle
#
# What is asked is data: the tokens, the prompts, the right answer to each, and what must not matter.

# %%
import builtins
import tempfile
from pathlib import Path

import circuitproof as cp
from circuitproof_lab.api import train

show = getattr(builtins, "display", print)  # a notebook draws what a script prints
work = Path(tempfile.mkdtemp())
recipes = next(one / "recipes" for one in (Path.cwd(), *Path.cwd().parents) if (one / "recipes").is_dir())
letters = "a", "b", "c"
task = cp.declare_task(
    "first-of-two",
    alphabet=[*letters, "?"],
    slots={"first": letters, "second": letters},
    templates=[
        {"name": "two", "text": "{first} {second} ?", "answer": "{first}", "irrelevant": ["second"]},
        {"name": "one", "text": "{first} ?", "answer": "{first}"},
    ],
)
show(task)

# %% [markdown]
# A model that learns it. The recipe says how to train; tokens and context follow from the task.

# %%
model = train(recipes / "own-first-letter.toml", work / "run", tasks=[task])
show(model)

# %% [markdown]
# A circuit that gives the right answers, found in floats. The selected one is drawn.

# %%
found = cp.extract(model, task, objective="program", out=work / "circuit.json")
show(found)

# %% [markdown]
# What is true of it, exactly.

# %%
answers = cp.verify(model, task, found.circuit, epsilon="1/100", deadline=60, out=work / "bundle")
show(answers)

# %% [markdown]
# And judged by the independent checker, which is given the model and the declaration to compare.

# %%
checked = cp.check(answers, against=model, task=task)
show(checked)
