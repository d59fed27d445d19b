"""The distinct items: unique, the array-API functions and group_indices."""
