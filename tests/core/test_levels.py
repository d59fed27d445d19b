"""No result depends on the CPU level, on the CPU features that NumPy uses, on the seed of the hash
or on the number of threads."""

import json
from concurrent.futures import ThreadPoolExecutor

from numpy._core import _multiarray_umath as numpy_core

# The features of this CPU for which NumPy has kernels. On x86, NumPy 2.4 lists X86_V3 (AVX2), and
# then the features of AVX-512.
NUMPY_FEATURES = [
    name for name in numpy_core.__cpu_dispatch__ if numpy_core.__cpu_features__.get(name)
]


def test_every_level_gives_the_same_bytes(run_python):
    """Without FASTSEL_CPU, the best level of this CPU is used. Each level runs with its own seed,
    number of threads and features of NumPy."""

    def digests(case):
        level, disabled, number = case
        printed = run_python(
            "import runpy; runpy.run_module('result_digests', run_name='__main__')",
            FASTSEL_CPU=level,
            NPY_DISABLE_CPU_FEATURES=" ".join(disabled) or None,
            FASTSEL_HASH_SEED=number,
            FASTSEL_NUM_THREADS=number,
        )
        return json.loads(printed)

    cases = [("base", NUMPY_FEATURES, "1"), ("v3", NUMPY_FEATURES[1:], "2"), (None, [], "3")]
    with ThreadPoolExecutor() as executor:
        results = list(executor.map(digests, cases))
    assert results[0]
    assert [name for name in results[0] if len({each[name] for each in results}) > 1] == []
