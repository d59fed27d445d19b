"""The operators, for tests that hold for each of them, or for a family."""

from fastsel._core._operators import OPERATORS


def of_family(family):
    """The names of the operators of a family, as NumPy has them."""
    return [name for name, op in OPERATORS.items() if op.family == family and op.in_numpy]


# With NumPy's names. Operators of one array take nothing else; the others take two arrays.
OF_NUMPY = [name for name, op in OPERATORS.items() if op.in_numpy]
OF_ONE_ARRAY = [name for name in OF_NUMPY if len(OPERATORS[name].arrays) == 1]
OF_TWO_ARRAYS = [name for name in OF_NUMPY if name not in OF_ONE_ARRAY]
SETS = of_family("sets")
