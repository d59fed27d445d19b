"""Marks of tests that need a feature of the system or of the build, or that use signalling NaN."""

import os

import pytest

from fastsel._core import parallel

HAS_OPENMP = pytest.mark.skipif(not parallel.is_threaded(), reason="a build without OpenMP")
HAS_PROC = pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="counts threads in /proc, which this system lacks"
)
NEEDS_CACHE = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="a build with AddressSanitizer caches no memory",
)
# NumPy warns when it compares or casts a signalling NaN, also in the reference. Unlike np.errstate,
# the mark has an effect in each thread of a test.
SIGNALLING_NANS = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
