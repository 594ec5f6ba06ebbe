"""Reports: results as figures. What they show is computed elsewhere.

May use: text.
Names: `frontier.draw_frontier`, `lesions.draw_lesions`, `changes.draw_changes`.
"""
