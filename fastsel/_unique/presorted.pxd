"""The function of presorted.pyx for small_unique.pyx."""
cpdef tuple presorted(keys, int threads)
