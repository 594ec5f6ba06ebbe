# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
# # The largest of four: three models that look right, and what a proof says of them
#
# One softmax head learns to name the largest of four tokens, as in Gross et al. (2024), "Compact proofs of
# model performance via mechanistic interpretability". There are 64⁴ = 16,777,216 sequences. Are the models
# right?

# %%
import builtins
import tempfile
from pathlib import Path

import torch

import circuitproof as cp
from circuitproof.nn.checkpoint import load_model
from circuitproof_lab.api import train

show = getattr(builtins, "display", print)  # a notebook draws what a script prints
work = Path(tempfile.mkdtemp())
recipes = next(one / "recipes" for one in (Path.cwd(), *Path.cwd().parents) if (one / "recipes").is_dir())
task = cp.load_task(recipes / "tasks/maximum.toml")
show(task)

# %% [markdown]
# Three models: one is trained on sequences drawn uniformly, of which hardly any has a small maximum; two,
# with other seeds, on sequences whose tokens come from a range that is drawn first.


# %%
def trained(recipe: str, *changes: tuple[str, str]) -> cp.Model:
    """Train a model of a recipe that is changed a little."""
    text = (recipes / recipe).read_text()
    for old, new in changes:
        text = text.replace(old, new)
    path = work / f"{len(list(work.iterdir()))}.toml"
    path.write_text(text)
    return train(path, path.with_suffix(""))


models = {
    "uniform": trained("max-of-four.toml"),
    "ranges": trained("max-of-four-ranges.toml", ("seed = 1", "seed = 3")),
    "other ranges": trained("max-of-four-ranges.toml"),
}
show(models["uniform"])

# %% [markdown]
# First by sampling: a million sequences, drawn at random. What they miss, they miss: a model that is wrong
# on four of the 16,777,216 gets through a million with probability (1 − 4/16,777,216)^1,000,000 = 0.79.


# %%
def sampled_errors(model: cp.Model, count: int = 1_000_000) -> int:
    """Return how many of so many random sequences a model gets wrong, in floats."""
    computed, wrong, every = load_model(model.path).model, 0, range(64)
    with torch.no_grad():
        for _ in range(0, count, 20_000):
            tokens = torch.randint(64, (20_000, 4))
            logits = computed.residual_logits(computed.final_residual(tokens), every)
            wrong += int((logits.argmax(1) != tokens.amax(1)).sum())
    return wrong


torch.manual_seed(0)
sampled = {name: sampled_errors(model) for name, model in models.items()}
show(sampled)

# %% [markdown]
# Then by proof. Nothing is drawn: the weights are followed through every sequence at once, and the number
# of wrong ones is exact. Sampling can tell that a model is wrong; that it is right, or how often it is not,
# only this tells.

# %%
proofs = {
    name: cp.verify(model, task, properties=["accuracy"], out=work / f"{name}.bundle")
    for name, model in models.items()
}
show(proofs["uniform"])

# %%
show(proofs["ranges"])

# %%
show(proofs["other ranges"])

# %% [markdown]
# A stranger checks the bundle of each with the standard library alone; more operations are allowed than for
# small claims, as the number of sequences asks for.

# %%
answers = proofs["ranges"]
checked = cp.check(answers, against=models["ranges"], operations=10**10)
show(checked)
