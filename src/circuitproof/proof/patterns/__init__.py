"""Proofs over every prompt of a pattern: cells, minima over them, and evidence.

Names: `answers.answer_pattern`, `cover.Cover`, `rows.row_machine`, `minimum.Least`, `limits.find_limits`.
"""
