"""The loops that are compiled once per CPU level, and the choice of the level."""
