"""One example for the help of every command."""

EXAMPLES = {
    "task": "circuitproof task quotes --out quotes-task.json",
    "model": "circuitproof model run/model",
    "circuit": "circuitproof circuit quotes.json --live",
    "import-release": "circuitproof import-release release/norm_free --out released",
    "import-hf": "circuitproof import-hf gpt2 --out imported --compare",
    "train": "circuitproof train recipes/toy-band.toml --out run",
    "variants": "circuitproof variants recipes/code-lm-variants.toml --seeds 1",
    "evaluate": "circuitproof evaluate --model run/model --task quotes",
    "extract": "circuitproof extract --model run/model --task quotes --out quotes.json",
    "localise": "circuitproof localise recipes/toy-localisation.toml --out found",
    "synthesise": "circuitproof synthesise --model run/model --task quotes --head 0.0 --out program.txt",
    "run": "circuitproof run recipes/code-lm.toml",
    "verify": "circuitproof verify --model run/model --task quotes --circuit quotes.json "
    "--epsilon 1/1000 --out bundle",
    "verify-pattern": "circuitproof verify-pattern --model run/model --task-file "
    "recipes/toy-quotes-pattern.toml --circuit quotes.json",
    "radius": "circuitproof radius --model run/model --task quotes --circuit quotes.json",
    "minimal": "circuitproof minimal --model run/model --task quotes --out bundle",
    "cost": "circuitproof cost --model run/model --task quotes --circuit quotes.json",
    "install": "circuitproof install --model run/model --program 0.0=program.txt --out installed",
    "remove-norm": "circuitproof remove-norm recipes/toy-norm-free.toml --out norm-free",
    "distill": "circuitproof distill recipes/toy-programs.toml --seed 0",
    "construct": "circuitproof construct recipes/gpt2-openers.toml",
    "surrogate": "circuitproof surrogate recipes/surrogate.toml --out surrogates",
    "show": "circuitproof show bundle",
    "explain": 'circuitproof explain "#3" --bundle bundle',
    "ledger": "circuitproof ledger found/ledger.jsonl",
    "report": "circuitproof report bundle --against run/model",
    "figures": "circuitproof figures run bundle --out figures",
    "check": "circuitproof check bundle --against run/model",
    "recheck": "circuitproof recheck program.unrealisable.json --model run/model --task quotes",
    "queries": "circuitproof queries --model run/model --task quotes --circuit quotes.json --out queries",
    "export-hf": "circuitproof export-hf --model run/model --out gpt2",
}
"""By the command's name; each is a whole command line."""
