"""The parts of a page, each a pure function from what there is to tell to a tree of elements."""
