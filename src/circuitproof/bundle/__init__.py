"""Bundles: a claim, its weights and domain, and the evidence, in the format of docs/certificate.md.

May use: text, declare, forward, prove.
Names: `files.write_bundle`, `tensors.Extract`.
"""
