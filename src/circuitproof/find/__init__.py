"""Discovery: finding the circuit of a model that does a task, and choosing among those found.

May use: text, declare, prove, lab.model.
Names: `choices.Objective`, `choices.Order`, `choices.Search`, `choices.Rule`, `measure.Measure`,
`objective.Meter`, `attribute.arrange`, `sweep.sweep`, `selection.select`.
"""
