"""OPERATORS: the public functions that work on arrays. Other modules make their lists from this
table.

The table "Add an operator" in CONTRIBUTING.md says what else each operator needs;
`tests/project/test_operators.py` lists what is missing.
"""

from typing import NamedTuple


class Operator(NamedTuple):
    """Facts about a public function."""

    family: str  # `fastsel bench` prints one geometric mean for the operators of a family
    # The arguments that may be arrays. `fastsel run` reports the number of items of the first one.
    arrays: tuple[str, ...]
    in_numpy: bool = True  # NumPy has a function of this name: it is patched
    in_dask: bool = True  # fastsel.dask has it
    extra_arguments: tuple[str, ...] = ()  # the arguments that NumPy's function of the name lacks
    variant_of: str = ""  # the operator whose kernels and tests it shares


OPERATORS = {
    "nonzero": Operator("positions", ("a",), extra_arguments=("dtype",)),
    "flatnonzero": Operator("positions", ("a",), extra_arguments=("dtype",)),
    "argwhere": Operator("positions", ("a",), extra_arguments=("dtype",)),
    "count_nonzero": Operator("positions", ("a",)),
    "first_nonzero": Operator("positions", ("a",), in_numpy=False),
    "nonzero_coordinates": Operator("coordinates", ("x",), in_numpy=False),
    "compress": Operator("selection", ("a", "condition", "out")),
    "extract": Operator("selection", ("arr", "condition")),
    "boolean_mask": Operator("selection", ("a", "mask"), in_numpy=False),
    "unique": Operator("distinct", ("ar",), extra_arguments=("inverse_dtype",)),
    "unique_all": Operator("distinct", ("x",), variant_of="unique"),
    "unique_counts": Operator("distinct", ("x",), variant_of="unique"),
    "unique_inverse": Operator("distinct", ("x",), variant_of="unique"),
    "unique_values": Operator("distinct", ("x",), variant_of="unique"),
    "group_indices": Operator("distinct", ("ar",), in_numpy=False),
    "isin": Operator("sets", ("element", "test_elements"), extra_arguments=("axis",)),
    "index_in": Operator("sets", ("element", "test_elements"), in_numpy=False),
    "remap": Operator("sets", ("a", "keys", "values", "default", "out"), in_numpy=False),
    "intersect1d": Operator("sets", ("ar1", "ar2"), extra_arguments=("axis",)),
    "union1d": Operator("sets", ("ar1", "ar2"), extra_arguments=("axis",)),
    "setdiff1d": Operator("sets", ("ar1", "ar2"), extra_arguments=("axis",)),
    "setxor1d": Operator("sets", ("ar1", "ar2"), extra_arguments=("axis",)),
    "gather_nd": Operator("gather", ("data", "indices", "out"), in_numpy=False),
}
