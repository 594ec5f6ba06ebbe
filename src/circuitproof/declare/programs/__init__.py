"""Programs: rules over tokens and positions that say exactly where a head attends. Standard library only."""
