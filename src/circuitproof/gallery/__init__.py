"""Models that somebody else made, with claims about them that one command proves anew from their weights.

May use: every room below it. It holds claims files and converters of layouts, and no weights.
Names: `listed.ROWS`, `listed.find_row`, `rebuilding.rebuild`.
"""
