"""The laboratory's commands, which join those of `circuitproof` through an entry point."""

from circuitproof.cli.table import CommandEntry, HelpPanel

COMMANDS = {
    "train": CommandEntry(
        "circuitproof_lab.commands.training",
        HelpPanel.IN,
        "circuitproof train recipes/toy-band.toml --out run",
        resumes=True,
    ),
    "localise": CommandEntry(
        "circuitproof_lab.commands.localisation",
        HelpPanel.FIND,
        "circuitproof localise recipes/toy-localisation.toml --out found",
        resumes=True,
    ),
    "synthesise": CommandEntry(
        "circuitproof_lab.commands.synthesis",
        HelpPanel.FIND,
        "circuitproof synthesise --model run/model --task quotes --head 0.0 --out program.txt",
    ),
    "run": CommandEntry(
        "circuitproof_lab.commands.study",
        HelpPanel.FIND,
        "circuitproof run recipes/code-lm.toml",
        resumes=True,
    ),
    "variants": CommandEntry(
        "circuitproof_lab.commands.variants",
        HelpPanel.CHANGE,
        "circuitproof variants recipes/code-lm-variants.toml --seed 1",
        resumes=True,
    ),
    "remove-norm": CommandEntry(
        "circuitproof_lab.commands.norms",
        HelpPanel.CHANGE,
        "circuitproof remove-norm recipes/toy-norm-free.toml --out norm-free",
        resumes=True,
    ),
    "distill": CommandEntry(
        "circuitproof_lab.commands.distillation",
        HelpPanel.CHANGE,
        "circuitproof distill recipes/toy-programs.toml --seed 0",
        resumes=True,
    ),
    "construct": CommandEntry(
        "circuitproof_lab.commands.construction",
        HelpPanel.CHANGE,
        "circuitproof construct recipes/gpt2-openers.toml",
        resumes=True,
    ),
    "surrogate": CommandEntry(
        "circuitproof_lab.commands.surrogate",
        HelpPanel.CHANGE,
        "circuitproof surrogate recipes/surrogate.toml --out surrogates",
        resumes=True,
    ),
    "ledger": CommandEntry(
        "circuitproof_lab.commands.localisation", HelpPanel.LOOK, "circuitproof ledger found/ledger.jsonl"
    ),
    "figures": CommandEntry(
        "circuitproof_lab.commands.figures", HelpPanel.SHARE, "circuitproof figures run bundle --out figures"
    ),
    "recheck": CommandEntry(
        "circuitproof_lab.commands.synthesis",
        HelpPanel.SHARE,
        "circuitproof recheck program.unrealisable.json --model run/model --task quotes",
    ),
}
