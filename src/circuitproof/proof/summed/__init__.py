"""Softmax heads over whole patterns: least leads as cheapest paths, in numbers that are known up to a radius.

Names: `cover.LeadCover`, `outline.outline`, `tables.LengthTable`, `lattice.Lattice`, `least.leasts`.
"""
