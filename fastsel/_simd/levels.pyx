"""The best CPU level for this CPU (levels.h), which all kernels share."""
from fastsel._simd.blocks cimport fs_level_t

cdef extern from "levels.h":
    const fs_level_t *fs_best_level() noexcept

level = fs_best_level()


def level_name():
    """The CPU level whose block loops are in use: base, neon (AArch64), v3 (AVX2) or v4 (AVX-512
    with VBMI2)."""
    return level.name.decode()
