"""Where circuits come from: models in floats, training, discovery, distillation, surrogates, and runs."""
