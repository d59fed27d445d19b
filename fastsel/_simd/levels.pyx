"""The CPU level in use (levels.h). It is chosen once, at import, and all kernels share it."""
from fastsel._simd.blocks cimport fs_level_t

cdef extern from "levels.h":
    const fs_level_t *fs_best_level() noexcept

level = fs_best_level()


def level_name():
    """The name of the CPU level in use: base, neon (AArch64), v3 (AVX2) or v4 (AVX-512 with VBMI2).
    """
    return level.name.decode()
