"""The compiled kernels: bytes in, bytes out; no dtype, no validation (fastsel._gate does both)."""
