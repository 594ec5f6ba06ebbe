"""Figures of what runs and bundles hold; nothing is computed here.

Names: `gallery.write_figures`, `gallery.KINDS`, `style.write_drawing`, `style.Drawing`.
"""
