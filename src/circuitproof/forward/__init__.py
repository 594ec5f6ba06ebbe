"""What a circuit computes, said once: frozen weights, cells, and one forward pass over any arithmetic.

May use: text, declare, exact.
Names: `declaration.Declaration`, `declaration.read_declaration`, `declaration.ProgramHeads`,
`frozen.Frozen`, `frozen.open_model`, `cells.Cells`, `forward.Forward`, `interface.Interface`,
`reach.refuse_unreached_prompts`, `tokenizer.FileTokenizer`, `tokenizer.text_reader`.
"""
