"""Pages of runs: what stands in a run folder, read by the records of its stages and shown without torch.

May use: text, errors, declare, forward, view, lab.records, lab.runs; of the last only `lab.runs.run`.
Names: `reporting.look_at`, `folder.read_run`, `folder.RunView`, `parts.RUN_PARTS`.
"""
