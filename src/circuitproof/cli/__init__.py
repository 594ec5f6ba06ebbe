"""The command line: a command parses, calls one function of verbs or lab.runs and prints its result.

May use: every room.
Names: `main.main`.
"""
