"""The page people look at: a bundle or a run as data, the data as parts, the parts as HTML or as text."""
