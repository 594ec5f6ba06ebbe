"""Proofs about every perturbation in a ball."""
