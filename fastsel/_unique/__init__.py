"""One of each: unique and its array-API kin."""
