"""fastsel's functions in code that numba compiles, by numba's public interface.

numba itself calls `register`, through its entry point for extensions. Each call switches from
compiled code to Python (``numba.objmode``): it takes the interpreter lock, and a microsecond more
than a call from Python.
"""

import functools

import fastsel


@functools.cache
def register():
    """Tell numba which functions it may call, and the types of what they return."""
    import numba
    from numba import types
    from numba.extending import overload

    def positions(a):
        return types.Array(types.intp, 1, "C")

    # NumPy, which serves tiny arrays, returns columns that are not contiguous.
    columns = types.Array(types.intp, 1, "A")
    type_of_result = {
        fastsel.nonzero: lambda a: types.UniTuple(columns if a.ndim > 1 else positions(a), a.ndim),
        fastsel.flatnonzero: positions,
        fastsel.argwhere: lambda a: types.Array(types.intp, 2, "F"),
        fastsel.count_nonzero: lambda a: types.intp,
        fastsel.unique: lambda a: types.Array(a.dtype, 1, "C"),
    }

    def register_one(function, type_of):
        @overload(function)
        def of_array(a):
            if not isinstance(a, types.Array) or a.ndim == 0:
                return None
            result_type = type_of(a)

            def call(a):
                with numba.objmode(result=result_type):
                    result = function(a)
                return result

            return call

    for function, type_of in type_of_result.items():
        register_one(function, type_of)
