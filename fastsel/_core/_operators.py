"""OPERATORS: the public functions that work on arrays. Other modules make their lists from it.

`tests/project/test_operators.py` lists what an operator lacks, by the recipe in CONTRIBUTING.md.
"""

from typing import NamedTuple


class Operator(NamedTuple):
    """Facts about a public function."""

    family: str  # the group in `fastsel bench`
    arrays: tuple[
        str, ...
    ]  # the arguments that may be arrays; first the array whose items are returned
    in_numpy: bool = True  # NumPy has a function of this name: it is patched
    in_dask: bool = True  # fastsel.dask has it
    form_of: str = ""  # the operator whose kernels and tests it shares


OPERATORS = {
    "nonzero": Operator("positions", ("a",)),
    "flatnonzero": Operator("positions", ("a",)),
    "argwhere": Operator("positions", ("a",)),
    "count_nonzero": Operator("positions", ("a",)),
    "nonzero_coordinates": Operator("coordinates", ("x",), in_numpy=False),
    "compress": Operator("selection", ("a", "condition", "out")),
    "extract": Operator("selection", ("arr", "condition")),
    "boolean_mask": Operator("selection", ("a", "mask"), in_numpy=False),
    "unique": Operator("distinct", ("ar",)),
    "unique_all": Operator("distinct", ("x",), form_of="unique"),
    "unique_counts": Operator("distinct", ("x",), form_of="unique"),
    "unique_inverse": Operator("distinct", ("x",), form_of="unique"),
    "unique_values": Operator("distinct", ("x",), form_of="unique"),
    "group_indices": Operator("distinct", ("ar",), in_numpy=False),
    "isin": Operator("sets", ("element", "test_elements")),
    "index_in": Operator("sets", ("element", "test_elements"), in_numpy=False),
    "intersect1d": Operator("sets", ("ar1", "ar2")),
    "union1d": Operator("sets", ("ar1", "ar2")),
    "setdiff1d": Operator("sets", ("ar1", "ar2")),
    "setxor1d": Operator("sets", ("ar1", "ar2")),
    "gather_nd": Operator("gather", ("data", "indices", "out"), in_numpy=False),
}
