"""Circuits: nodes, edges, and sets of kept edges. Standard library only."""
