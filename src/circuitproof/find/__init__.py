"""Finding the circuit of a model that does a task, in floats, and choosing among those found.

Names: `choices.Objective`, `objective.Meter`, `attribute.scores_of`, `attribute.arrange`, `sweep.sweep`,
`selection.select`, `extraction.extract`.
"""
