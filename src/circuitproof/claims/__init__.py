"""Claims files: all claims of a paper, a gallery or a run, each with the verdict that is expected of it.

Names: `file.load_claims`, `proving.prove_claims`, `checking.check_claims`, `tables.claims_table`,
`archive.write_archive`.
"""
