"""gather_nd: copies of the slices that index rows address."""
