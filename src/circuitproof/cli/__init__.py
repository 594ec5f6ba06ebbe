"""The command line: a command parses, calls one library function and prints its result."""
