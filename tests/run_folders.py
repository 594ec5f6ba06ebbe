"""A run folder with a file of every kind that a page shows, all of whose names are hostile."""

import json
import shutil
from pathlib import Path

import viewed
from page_reader import EVIL

GATE = {"kl": 0.1, "agreed": 15, "prompts": 16, "worst_margin": -0.25}
CIRCUIT = {"layers": 1, "heads": 1, "ablation": "zero", "edges": ["embed -> logits"]}
POINT = {"origin": EVIL, "circuit": CIRCUIT, "development": GATE, "gate": GATE, "missed": {EVIL: 1}}
AUDIT = {
    "heads": ["head 0.0", EVIL],
    "prompts": 8,
    "model": 6,
    "circuit": 7,
    "without_heads": 1,
    "without_each": [4, 5],
    "circuit_without_each": [2, 3],
    "circuit_without_heads": 1,
    "without_circuit": 2,
    "backup": [0],
    "wrong": [0, 7],
    "lesion_digest": "0" * 64,
}
LOSSES = {"model": 2.0, "without_heads": 2.5, "without_each": [2.25, 1e9], "without_circuit": 5.0}
STATE = {
    "task": "quotes",
    "name": EVIL,
    "audit": AUDIT,
    "radius": 0.5,
    "losses": LOSSES,
    "seconds": 1.5,
    "passes": True,
    "aim": "relative radius",
}
VIABILITY = {
    "task": EVIL,
    "strata": [
        {"name": "kept", "prompts": 4, "right": 4},
        {"name": EVIL, "prompts": 6, "right": 5},
        {"name": "thin", "prompts": 2, "right": 2},
    ],
    "kept": ["kept"],
    "left": 4,
    "wanted": 3,
    "narrowing": "strata",
    "least": 3,
}
FOUND = {"layer": 0, "index": 1, "program": ["default 0", EVIL], "overlap": 0.5, "mean_support": 2.0}
SEARCHED = {"meanings": 52, "tried": 17, "seconds": 1.5}
HEALED = {
    "task": "quotes",
    "steps": 100,
    "audit": AUDIT,
    "loss": 2.5,
    "within_budget": False,
    "uses_programs": True,
}
LIMITS = {
    "task": "quotes",
    "pattern": EVIL,
    "prompts": "9" * 5000,
    "verdicts": {"equivalence": "refuted", EVIL: "proved"},
    "cells": 783,
    "failing": 2,
    "proved_parts": [EVIL],
    "seconds": 0.75,
}
LESION = {"where": "model", "silenced": ["head 0.0"], "kl": 1.0, "unchanged": 3, "right": 3, "prompts": 8}
BEHAVIOUR = {
    "task": EVIL,
    "fate": "held",
    "survives": False,
    "idle": {"model": [], "circuit": [EVIL]},
    "arrived": [],
    "new_nodes": [EVIL],
    "lost_nodes": [],
    "declared": ["embed -> logits"],
    "found": ["embed -> logits"],
    "lesions": [{**LESION, "worst_margin": -1.0}] * 2,
}
ROUND = {
    "round": EVIL,
    "fate": "held",
    "model": EVIL,
    "programs": {"head 0.0": EVIL},
    "scoring_parameters": 3,
    "scoring_parameters_before": 8,
    "behaviours": [BEHAVIOUR],
}
COSTS = {"largest_error": 1e-7, "relative_error": 1e-8, "agreement": 1.0, "loss_change": 1e-9}
FOLD = {
    "limits": COSTS,
    "error": {**COSTS, "positions": 1536},
    "unties": True,
    "adds_biases": False,
    "adds_logit_bias": True,
    "source": {"step": 0, "measures": {EVIL: 0.5}},
    "folded": {"step": 10, "measures": {EVIL: 0.75}},
}
SCHEDULE = {"order": ["mlp", "attention", "logits"], "begin": 1, "fade": 1, "interval": 1, "window": 1}
REMOVAL = {
    "recipe": EVIL,
    "recipe_digest": "0" * 64,
    "schedule": SCHEDULE,
    "norms": [{"norm": EVIL, "first": 1, "last": 2, "deviation": 0.1}],
    "evaluations": [{"step": 10, "measures": {EVIL: 0.75}}],
}
EXPLAINED = {
    "name": EVIL,
    "basis": "listed",
    "teacher_digest": "0" * 64,
    "surrogate_digest": "0" * 64,
    "words": 39,
    "surrogate_agreed": 39,
    "data": 12,
    "explanation": {
        "template": EVIL,
        "choices": {EVIL: EVIL},
        "program": [EVIL],
        "data_agreed": 12,
        "verdict": "refuted",
        "replies": {EVIL: EVIL},
        "counterexample": {
            "tokens": [2, 0, 2],
            "text": EVIL,
            "program": EVIL,
            "surrogate": [EVIL],
            "teacher": EVIL,
        },
    },
    "repair": None,
    "closed": [{"template": EVIL, "programs": 128, "meanings": None, "leaves": 13}],
    "given_up": [{"template": EVIL, "choices": {EVIL: EVIL}, "tokens": [0]}],
    "open_template": None,
    "verdict": "refuted",
}
SPREAD = {"mean": 0.5, "least": 0.25, "most": 1.0}
VARIANT = {
    "name": EVIL,
    "runs": [{"seed": 1, "parameters": 9, "corpus": None, "measures": {"loss": 0.5}}],
    "measures": {"loss": SPREAD},
    "changes": {"loss": SPREAD},
    "paper": None,
    "paper_changes": {},
}
ABOVE = {"name": EVIL, "loss": SPREAD}
COMPARED = {
    "rows": [VARIANT, VARIANT],
    "gate": {"name": EVIL, "source": ABOVE, "control": ABOVE, "gate": ABOVE},
    "unfinished": [{"seed": 2, "missing": [EVIL]}],
}
REGRESSION = {
    "task": EVIL,
    "prompts": 8,
    "head_edges": 2,
    "block_edges": 4,
    "heads": 1,
    "block_heads": 2,
    "agreed": 7,
    "right": 8,
    "block_right": 7,
    "largest_difference": 0.5,
}
DECLARED = {
    "task": EVIL,
    "prompts": 8,
    "development": 4,
    "gates": 4,
    "apart": [1, 3],
    "filled": 2,
    "classes": {EVIL: 2, "token": 4},
    "manifest": "0" * 64,
}
FILES = {
    "comparison.json": COMPARED,
    "explained/study.json": EXPLAINED,
    "fold.json": FOLD,
    "run.json": {"recipe": EVIL, "recipe_digest": "0" * 64},
    "A/quotes/gate.result.json": {
        "generation": EVIL,
        "task": EVIL,
        "points": [POINT],
        "nested": [POINT],
        "selected": 0,
        "apart": [1, 3],
        "programs": {"heads": 3, "found": 2, "edges": 4, "right": 5, "right_apart": 1},
        "ledger_head": "0" * 64,
    },
    "quotes/exact.json": STATE,
    "quotes/chosen.json": {"record": EVIL, "why": f"{EVIL} is of record"},
    "base.json": {"loss": 1.5, "budget": 2.0},
    "quotes/viability.json": VIABILITY,
    "quotes/declared.json": DECLARED,
    "quotes/blocks.json": REGRESSION,
    "quotes/program.0.1.json": {**FOUND, **SEARCHED},
    "quotes/program.0.0.json": {**FOUND, **SEARCHED, "index": 0, "program": None, "overlap": None},
    "quotes/circuit.json": {**CIRCUIT, "edges": ["embed -> head 0.0", "embed -> head 0.1"]},
    "quotes/accepted.json": {"exact": 7, "prompts": 8, "bits": 64},
    "quotes/programs.circuit.json": {**CIRCUIT, "edges": ["embed -> head 0.1", "head 0.1 -> logits"]},
    "quotes/healing/healed.json": HEALED,
    "quotes/limits/limits.json": LIMITS,
    "brackets/limits/no-limits.json": {"task": EVIL, "why": EVIL},
    "seed-0/healed/migration.json": ROUND,
    "attenuated/removal.json": REMOVAL,
}


def write_run(folder: Path) -> Path:
    """Write the folder, with a bundle."""
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    shutil.copytree(viewed.bundle_of(viewed.seeds()[0]), folder / "proof" / "bundle")
    return folder
