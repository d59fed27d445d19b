"""What has small arrays handled as large ones are: names in fastsel, and their values."""

# No array is too small for a kernel of its own, nor for several chunks.
TUNING = (
    ("fastsel._core._threads.MIN_CHUNK_BYTES", 1),
    ("fastsel._core._gate.TINY_ITEMS", 0),
    ("fastsel._core._gate.SMALL_ITEMS", 0),
    ("fastsel._unique._plan.TINY_ITEMS", 0),
    ("fastsel._unique._plan.SMALL_ITEMS", 0),
    ("fastsel._gather._gather.SMALL_ITEMS", 0),
)
