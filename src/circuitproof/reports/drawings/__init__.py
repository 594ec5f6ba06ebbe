"""Drawings in plain SVG, one kind in each module. They are made of elements, as everything on a page is."""
