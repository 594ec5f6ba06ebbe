"""Training: one loop for every scale, deterministic, and resumable at any moment.

Names: `loop.TrainingPlan`, `measures.Evaluation`, `loop.Watcher`, `loop.train`, `data.TaskData`,
`data.CorpusData`, `tokenised.open_corpus`, `norm_schedule.Schedule`, `remove_norm.make_fading`,
`remove_norm.fix_norms`, `fold_norm.fold`.
"""
