from fastsel._simd.blocks cimport fs_level_t

cdef const fs_level_t *level      # the level in use, for all kernels
