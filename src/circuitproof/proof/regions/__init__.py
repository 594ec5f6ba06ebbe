"""Robustness: perturbations of a ball, parted into regions on which the circuit is affine.

Names: `disturbed.Question`, `disturbed.disturb`, `search.search_ball`, `search.BranchAndBound`,
`radius.find_radius`, `regions.BranchTree`, `regions.tree_to_json`, `robustness.radii`,
`relax.settled_radius`, `attack.attack`.
"""
