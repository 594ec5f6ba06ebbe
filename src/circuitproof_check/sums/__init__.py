"""Claims of enclosed arithmetic about patterns: sums over positions, whose least is a cheapest path."""
