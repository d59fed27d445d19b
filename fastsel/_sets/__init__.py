"""Arrays as sets: which items are in both, in either, in one alone."""
