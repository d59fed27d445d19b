"""OPERATORS: the public functions that work on arrays. Other modules make their lists from it.

`tests/project/test_operators.py` lists the parts that an operator lacks, by the recipe in
CONTRIBUTING.md.
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
    adds: tuple[str, ...] = ()  # the arguments that NumPy's function of the name lacks
    form_of: str = ""  # the operator whose kernels and tests it shares


OPERATORS = {
    "nonzero": Operator("positions", ("a",), adds=("dtype",)),
    "flatnonzero": Operator("positions", ("a",), adds=("dtype",)),
    "argwhere": Operator("positions", ("a",), adds=("dtype",)),
    "count_nonzero": Operator("positions", ("a",)),
    "first_nonzero": Operator("positions", ("a",), in_numpy=False),
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
    "isin": Operator("sets", ("element", "test_elements"), adds=("axis",)),
    "index_in": Operator("sets", ("element", "test_elements"), in_numpy=False),
    "intersect1d": Operator("sets", ("ar1", "ar2"), adds=("axis",)),
    "union1d": Operator("sets", ("ar1", "ar2"), adds=("axis",)),
    "setdiff1d": Operator("sets", ("ar1", "ar2"), adds=("axis",)),
    "setxor1d": Operator("sets", ("ar1", "ar2"), adds=("axis",)),
    "gather_nd": Operator("gather", ("data", "indices", "out"), in_numpy=False),
}
