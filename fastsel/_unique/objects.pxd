"""What string_runs.pyx shares."""

cdef enum:
    ROUND = 1 << 13     # strings between two checks for signals: a millisecond or two
