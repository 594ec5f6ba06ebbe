"""Models of others as model directories: Hugging Face's, TransformerLens's, minGPT's, Tracr's, the paper's.

Names: `hugging_face.import_hf`, `transformer_lens.import_tl`, `min_gpt.import_mingpt`, `tracr.import_tracr`,
`release.import_release`. A model on its way is a `foreign.Foreign`: declaration, tensors, and notes.
"""
