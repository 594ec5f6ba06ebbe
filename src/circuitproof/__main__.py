"""Run the command line with `python -m circuitproof`."""

from circuitproof.cli.main import main

main()
