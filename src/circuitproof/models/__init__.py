"""Models as data: architectures, operators, the declaration beside the weights, the tokenizer.

Names: `architecture.Architecture`, `architecture.tensor_shapes`, `operators.Norm`, `operators.Activation`,
`operators.Attention`, `declaration.Declaration`, `declaration.read_declaration`, `tokenizer.text_reader`.
"""
