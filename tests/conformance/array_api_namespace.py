"""NumPy's namespace with fastsel's functions in place of some of NumPy's functions. These commands
run the tests of the array API standard on it:

git clone --recurse-submodules https://github.com/data-apis/array-api-tests
cd array-api-tests && pip install -r requirements.txt
export ARRAY_API_TESTS_MODULE=array_api_namespace.xp ARRAY_API_TESTS_VERSION=2025.12
PYTHONPATH=<this folder> pytest array_api_tests -k "nonzero or unique_ or isin"
"""

from types import ModuleType

import numpy as np

import fastsel

NAMES = (
    *("nonzero", "count_nonzero", "isin"),
    *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
)

xp = ModuleType("fastsel_on_numpy")
vars(xp).update({name: getattr(np, name) for name in np.__all__})
vars(xp).update({name: getattr(np, name) for name in dir(np) if name.startswith("__array_")})
vars(xp).update({name: getattr(fastsel, name) for name in NAMES})
