"""No result depends on the CPU, on what of it NumPy uses, on the hash seed or on the threads."""

import json
from concurrent.futures import ThreadPoolExecutor

from numpy._core import _multiarray_umath as numpy_core

# What NumPy has kernels for, and this CPU runs: AVX2 first (X86_V3), then kinds of AVX-512.
NUMPY_LEVELS = [
    name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)
]


def test_every_level_gives_the_same_bytes(run_python):
    """The variable of the best level is not set."""

    def digests(case):
        level, without, number = case
        printed = run_python(
            "import runpy; runpy.run_module('result_digests', run_name='__main__')",
            FASTSEL_CPU=level,
            NPY_DISABLE_CPU_FEATURES=" ".join(without) or None,
            FASTSEL_HASH_SEED=number,
            FASTSEL_NUM_THREADS=number,
        )
        return json.loads(printed)

    cases = [("base", NUMPY_LEVELS, "1"), ("v3", NUMPY_LEVELS[1:], "2"), (None, [], "3")]
    with ThreadPoolExecutor() as executor:
        found = list(executor.map(digests, cases))
    assert found[0]
    assert [name for name in found[0] if len({each[name] for each in found}) > 1] == []
