"""What a circuit computes, said once: frozen weights, cells, cut edges, one forward pass over any arithmetic.

Names: `frozen.Frozen`, `frozen.open_model`, `cells.Cells`, `substitutes.SubstitutedBinding`,
`forward.Forward`, `interface.Interface`, `reach.refuse_unreached_prompts`.
"""
