"""Loops over blocks of 64 items, once per CPU level, and the choice of the level."""
