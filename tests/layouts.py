"""Transformers in plain torch in two usual layouts: fused projections, and separate ones."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

VOCABULARY, CONTEXT, LAYERS, HEADS, WIDTH, INNER = 11, 7, 2, 4, 8, 32


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Return causal softmax attention over [prompt, head, position, head width]."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ value


def cut(rows: Tensor) -> Tensor:
    """Return [prompt, position, width] as [prompt, head, position, head width]."""
    return rows.unflatten(-1, (HEADS, -1)).transpose(1, 2)


class FusedAttention(nn.Module):
    """Queries, keys and values of all heads in one matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, rows: Tensor) -> Tensor:
        mixed = attend(*(cut(one) for one in self.c_attn(rows).split(WIDTH, dim=-1)))
        return self.c_proj(mixed.transpose(1, 2).flatten(-2))


class FusedBlock(nn.Module):
    """A block as minGPT names its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.ln_1, self.ln_2, self.attn = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), FusedAttention()
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(WIDTH, INNER), "c_proj": nn.Linear(INNER, WIDTH)})

    def forward(self, rows: Tensor) -> Tensor:
        rows = rows + self.attn(self.ln_1(rows))
        return rows + self.mlp["c_proj"](gelu(self.mlp["c_fc"](self.ln_2(rows))))


class Fused(nn.Module):
    """A model as minGPT names its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(VOCABULARY, WIDTH),
                "wpe": nn.Embedding(CONTEXT, WIDTH),
                "h": nn.ModuleList(FusedBlock() for _ in range(LAYERS)),
                "ln_f": nn.LayerNorm(WIDTH),
            }
        )
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        parts = self.transformer
        rows = parts["wte"](tokens) + parts["wpe"](torch.arange(tokens.shape[1]))
        for block in parts["h"]:
            rows = block(rows)
        return self.lm_head(parts["ln_f"](rows))


class SeparateBlock(nn.Module):
    """A block with a projection for each role."""

    def __init__(self) -> None:
        super().__init__()
        roles = ("query", "key", "value", "output")
        self.attention = nn.ModuleDict({role: nn.Linear(WIDTH, WIDTH) for role in roles})
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, INNER), nn.GELU(), nn.Linear(INNER, WIDTH))

    def forward(self, rows: Tensor) -> Tensor:
        read = self.norm_1(rows)
        mixed = attend(*(cut(self.attention[role](read)) for role in ("query", "key", "value")))
        rows = rows + self.attention["output"](mixed.transpose(1, 2).flatten(-2))
        return rows + self.mlp(self.norm_2(rows))


class Separate(nn.Module):
    """A model with a projection for each role."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position_embedding = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(SeparateBlock() for _ in range(LAYERS))
        self.final_norm, self.unembedding = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        rows = self.token_embedding(tokens) + self.position_embedding(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            rows = block(rows)
        return self.unembedding(self.final_norm(rows))


LAYOUTS = {"fused": Fused, "separate": Separate}


def drawn(layout: str) -> nn.Module:
    """Return a model of a layout with every number drawn at random, norms and biases included."""
    model, generator = LAYOUTS[layout](), torch.Generator().manual_seed(5)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.normal_(0, 0.7, generator=generator)
    return model
