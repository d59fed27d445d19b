"""Which items are non-zero: counts, first positions, the bitmask, and what is written from it."""
