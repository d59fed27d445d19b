"""Marks: what a test needs of the system, or of the build."""

import os

import pytest

from fastsel._core import parallel

HAS_OPENMP = pytest.mark.skipif(not parallel.is_threaded(), reason="a build without OpenMP")
HAS_PROC = pytest.mark.skipif(
    not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc"
)
# NumPy warns where it compares or casts one; so may the reference, and what goes to NumPy's
# function. Unlike np.errstate, this holds in each thread of a test.
SIGNALLING_NANS = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
