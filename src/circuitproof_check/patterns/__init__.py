"""Proofs about every prompt of a pattern."""
