"""What is read and written: canonical JSON, typed fields, words of a line, sealed folders, folders of runs.

Names: `canonical.Json`, `canonical.Digest`, `canonical.canonical_json`, `canonical.readable_json`,
`canonical.digest_json`, `canonical.write_file`, `reading.Fields`, `reading.reading`, `reading.read_json`,
`reading.read_toml`, `reading.write_rational`, `words.Reader`, `sealed.write_sealed`, `sealed.read_manifest`,
`sealed.check_seal`, `replacing.replacing`, `printing.printable`, `locked.locked`, `locked.claimed`,
`canonical.refuse_existing`, `run.begin_run`, `run.Run`, `records.read_record`.
"""
