"""Which items are non-zero: the bitmask, and the positions and items written from it."""
