"""The distinct items: unique and the array-API functions."""
