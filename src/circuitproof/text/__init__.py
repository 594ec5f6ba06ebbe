"""What is read and written: canonical JSON, typed fields, words of a line, sealed folders."""
