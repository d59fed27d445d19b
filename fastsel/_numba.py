"""Make fastsel's functions callable from code that numba compiles (``numba.extending``).

numba itself calls `register`, through its entry point for extensions. A call of a fastsel function
switches from compiled code to Python (``numba.objmode``), which acquires the GIL; this takes
longer than a call from Python. Compiled code may call nonzero, flatnonzero, argwhere,
count_nonzero and unique with one array, and remap with three arrays, each of at least one
dimension. For another call, the compiler raises TypingError, which names these functions.
"""

import functools
import inspect

import fastsel


@functools.cache
def register():
    """Tell numba which functions compiled code may call, and the types of their results."""
    import numba
    from numba import types
    from numba.extending import overload

    def positions(a):
        return types.Array(types.intp, 1, "C")

    # nonzero returns contiguous arrays; layout "A" also accepts arrays that are not.
    columns = types.Array(types.intp, 1, "A")
    type_of_result = {
        fastsel.nonzero: lambda a: types.UniTuple(columns if a.ndim > 1 else positions(a), a.ndim),
        fastsel.flatnonzero: positions,
        fastsel.argwhere: lambda a: types.Array(types.intp, 2, "F"),
        fastsel.count_nonzero: lambda a: types.intp,
        fastsel.unique: lambda a: types.Array(a.dtype, 1, "C"),
        fastsel.remap: lambda a, keys, values: types.Array(
            values.dtype, a.ndim + values.ndim - 1, "C"
        ),
    }
    served = ", ".join(function.__name__ for function in type_of_result)

    def register_one(function):
        @overload(function, strict=False)  # `call` has other parameter names
        def of_arguments(*args, **options):
            are_arrays = all(isinstance(arg, types.Array) and arg.ndim > 0 for arg in args)
            num_arrays = 3 if function is fastsel.remap else 1
            is_served = function in type_of_result and len(args) == num_arrays
            if options or not (is_served and are_arrays):
                types_of_options = (f"{name}={kind}" for name, kind in options.items())
                signature = ", ".join([*map(str, args), *types_of_options])
                raise numba.TypingError(
                    f"compiled code cannot call fastsel.{function.__name__}({signature}): "
                    f"it may call {served} of fastsel, each with one array of at least one "
                    "dimension, and remap with three. Make other calls from Python, or in a block "
                    "of numba.objmode"
                )
            result_type = type_of_result[function](*args)

            def call(a):
                with numba.objmode(result=result_type):
                    result = function(a)
                return result

            def call_with_three(a, keys, values):
                with numba.objmode(result=result_type):
                    result = function(a, keys, values)
                return result

            return call if num_arrays == 1 else call_with_three

    for name in fastsel.__all__:
        if inspect.isfunction(function := getattr(fastsel, name)):
            register_one(function)
