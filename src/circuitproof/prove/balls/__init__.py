"""Robustness: perturbations of a ball, parted into regions on which the circuit is affine."""
