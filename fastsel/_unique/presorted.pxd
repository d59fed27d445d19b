"""A function that small_unique.pyx calls; see presorted.pyx."""
cpdef tuple presorted(keys, int threads)
