"""Pages of runs: what stands in a run folder, read by the records of its stages and shown without torch.

Names: `reporting.look_at`, `folder.read_run`, `folder.RunView`, `parts.RUN_PARTS`.
"""
