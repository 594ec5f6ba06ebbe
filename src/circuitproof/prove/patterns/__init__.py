"""Proofs over every prompt of a pattern: cells, minima over them, and evidence."""
