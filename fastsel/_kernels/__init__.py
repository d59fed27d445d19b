"""The compiled kernels: bytes in, bytes out; no dtype, no validation (fastsel._gate does both)."""

import os

# How often a waiting thread of libgomp looks for work before it sleeps. By default it looks for
# about 5 ms, in which it takes a CPU from whoever has work to do, this very call included: on a
# machine where something else runs, or whose kernel wakes threads on the caller's CPU, a call of
# 0.5 ms then takes 24 (`fastsel bench --op nonzero` beside `GOMP_SPINCOUNT=300000 fastsel bench
# --op nonzero`). 1000 looks are about 15 us, more than lie between the two passes of one call.
# libgomp reads the variable once, when the first kernel loads it; the user's own choice stands.
_LOOKS = "GOMP_SPINCOUNT"

if _LOOKS in os.environ or "OMP_WAIT_POLICY" in os.environ:
    from fastsel._kernels import slices
else:
    os.environ[_LOOKS] = "1000"
    try:
        from fastsel._kernels import slices
    finally:
        del os.environ[_LOOKS]

__all__ = ["slices"]
