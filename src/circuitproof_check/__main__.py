"""Run the checker: `python -I -m circuitproof_check BUNDLE`, or `python -I -S src/circuitproof_check BUNDLE`.

Nothing is imported from a directory that is to be judged: only modules that Python itself carries are used
before that is known.
"""

import os
import sys

if not __package__:  # the directory itself was run: nothing is installed and this is the only entry
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120  # no further import

for _argument in sys.argv[1:]:
    _is_option = _argument.startswith("-") and "=" in _argument  # --against=MODEL
    _name = _argument.partition("=")[2] if _is_option else _argument
    if any(os.path.realpath(_path) == os.path.realpath(_name) for _path in sys.path):
        print(f"failure: {_name!r} is on Python's path and could replace its modules; use python -I")
        sys.exit(3)

from circuitproof_check.main import main  # noqa: E402  # only now

main()
