"""Circuits: nodes, edges, and sets of kept edges. Standard library only.

Names: `graph.Head`, `graph.Mlp`, `graph.EMBED`, `graph.LOGITS`, `graph.Node`, `graph.Edge`, `graph.Graph`,
`circuit.Circuit`, `circuit.whole`, `spelling.load_circuit`, `spelling.parse_circuit`,
`readers.reads_prompt`, `smaller.circuits_of_size`.
"""
