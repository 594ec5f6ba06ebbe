"""Reports: results as figures and pages. What they show is computed elsewhere."""
