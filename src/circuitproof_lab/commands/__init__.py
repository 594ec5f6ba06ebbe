"""The laboratory's commands, which join those of `circuitproof` through an entry point."""

from circuitproof.cli.table import Entry, Panel

COMMANDS = {
    "train": Entry(
        "circuitproof_lab.commands.training",
        Panel.IN,
        "circuitproof train recipes/toy-band.toml --out run",
        resumes=True,
    ),
    "localise": Entry(
        "circuitproof_lab.commands.localisation",
        Panel.FIND,
        "circuitproof localise recipes/toy-localisation.toml --out found",
        resumes=True,
    ),
    "synthesise": Entry(
        "circuitproof_lab.commands.synthesis",
        Panel.FIND,
        "circuitproof synthesise --model run/model --task quotes --head 0.0 --out program.txt",
    ),
    "run": Entry(
        "circuitproof_lab.commands.study",
        Panel.FIND,
        "circuitproof run recipes/code-lm.toml",
        resumes=True,
    ),
    "variants": Entry(
        "circuitproof_lab.commands.variants",
        Panel.CHANGE,
        "circuitproof variants recipes/code-lm-variants.toml --seeds 1",
        resumes=True,
    ),
    "remove-norm": Entry(
        "circuitproof_lab.commands.norms",
        Panel.CHANGE,
        "circuitproof remove-norm recipes/toy-norm-free.toml --out norm-free",
        resumes=True,
    ),
    "distill": Entry(
        "circuitproof_lab.commands.distillation",
        Panel.CHANGE,
        "circuitproof distill recipes/toy-programs.toml --seed 0",
        resumes=True,
    ),
    "construct": Entry(
        "circuitproof_lab.commands.construction",
        Panel.CHANGE,
        "circuitproof construct recipes/gpt2-openers.toml",
        resumes=True,
    ),
    "surrogate": Entry(
        "circuitproof_lab.commands.surrogate",
        Panel.CHANGE,
        "circuitproof surrogate recipes/surrogate.toml --out surrogates",
        resumes=True,
    ),
    "ledger": Entry(
        "circuitproof_lab.commands.localisation", Panel.LOOK, "circuitproof ledger found/ledger.jsonl"
    ),
    "figures": Entry(
        "circuitproof_lab.commands.figures", Panel.SHARE, "circuitproof figures run bundle --out figures"
    ),
    "recheck": Entry(
        "circuitproof_lab.commands.synthesis",
        Panel.SHARE,
        "circuitproof recheck program.unrealisable.json --model run/model --task quotes",
    ),
}
