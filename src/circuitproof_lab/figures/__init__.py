"""Reports: results as figures, found in run folders, bundles and accounts; nothing is computed here.

May use: text, errors, declare, prove, bundle, view, lab.records.
Names: `gallery.write_figures`, `gallery.KINDS`, `style.write_drawing`, `style.Drawing`.
"""
