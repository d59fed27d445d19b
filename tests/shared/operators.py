"""Lists of the operators that are also NumPy functions, by number of arrays and by family."""

from fastsel._core._operators import OPERATORS


def numpy_names_of_family(family):
    """The names of the operators of a family that are also NumPy functions."""
    return [name for name, op in OPERATORS.items() if op.family == family and op.in_numpy]


# Operators with the name of a NumPy function. They have one or two arrays as required arguments.
NUMPY_NAMES = [name for name, op in OPERATORS.items() if op.in_numpy]
ONE_ARRAY_NAMES = [name for name in NUMPY_NAMES if len(OPERATORS[name].arrays) == 1]
TWO_ARRAY_NAMES = [name for name in NUMPY_NAMES if name not in ONE_ARRAY_NAMES]
SET_FUNCTION_NAMES = numpy_names_of_family("sets")
