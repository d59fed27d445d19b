"""gather_nd: the slices that index rows address."""
