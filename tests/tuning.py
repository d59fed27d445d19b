"""What makes small arrays take the road of large ones: names in fastsel, and their values."""

# No array is too small for a kernel of its own, nor for several slices.
TUNING = (
    ("fastsel._threads.MIN_SLICE_BYTES", 1),
    ("fastsel._selection.TINY_ITEMS", 0),
    ("fastsel._selection.SMALL_ITEMS", 0),
    ("fastsel._distinct.TINY_ITEMS", 0),
    ("fastsel._small.MOST_BYTES", 0),
    ("fastsel._gather.SMALL_ITEMS", 0),
)
