"""What is asked of what, as data: architectures, operators, circuits, programs and tasks.

May use: text.
Names: `architecture.Architecture`, `architecture.read_architecture`, `architecture.tensor_shapes`,
`operators.Norm`, `operators.Activation`, `operators.Attention`, `operators.slope_of`, `operators.band_of`.
"""
