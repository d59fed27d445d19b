"""The selected items: compress, extract, boolean_mask."""
