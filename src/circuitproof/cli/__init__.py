"""The command line: a command parses, calls one function and prints its result.

Names: `main.main`, `table.COMMANDS`.
"""
