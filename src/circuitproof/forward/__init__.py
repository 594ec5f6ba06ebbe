"""What a circuit computes, said once: frozen weights, cells, and one forward pass over any arithmetic.

Names: `frozen.Frozen`, `frozen.open_model`, `cells.Cells`, `forward.Forward`, `interface.Interface`,
`reach.refuse_unreached_prompts`.
"""
