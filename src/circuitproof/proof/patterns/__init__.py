"""Proofs over every prompt of a pattern: cells, minima over them, and evidence.

May use: text, declare, exact, forward, prove.
Names: `answers.answer_pattern`, `cover.Cover`, `rows.row_machine`, `minimum.Least`, `frontier.frontier`.
"""
