"""Models that somebody else made, with claims about them that one command proves anew from their weights.

Names: `listed.ROWS`, `listed.find_row`, `rebuilding.rebuild`.
"""
