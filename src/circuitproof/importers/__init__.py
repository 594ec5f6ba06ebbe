"""Models of others as model directories: Hugging Face's GPT-2, Tracr's programs, the paper's release.

Names: `hugging_face.import_hf`, `tracr.import_tracr`, `release.import_release`.
"""
