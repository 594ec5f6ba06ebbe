"""The trainable twin of a circuit: one transformer in torch for every scale."""
