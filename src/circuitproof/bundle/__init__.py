"""Bundles: a claim, its weights and domain, and the evidence, in the format of docs/certificate.md.

Names: `files.write_bundle`, `tensors.Extract`.
"""
