"""From a recipe to finished work: what a command calls."""
