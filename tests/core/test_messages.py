"""Texts for users: error messages, docstrings and the configuration for a bug report."""

import inspect
import os
import re

import numpy as np
import pytest

import fastsel

scipy = pytest.importorskip("scipy", reason="needs pip install scipy")
import fastsel.sparse  # noqa: E402

TABLE = np.arange(12.0).reshape(3, 4)
FUNCTIONS = [
    *(value for name in fastsel.__all__ if inspect.isfunction(value := getattr(fastsel, name))),
    fastsel.sparse.from_dense,
]
ARRAYS = {"a", "ar", "ar1", "arr", "data", "element", "x"}  # names of parameters

# name: (call, class of the error, a part of its message or of one of its notes)
ERROR_TEXTS = {
    "float_indices": (
        lambda: fastsel.gather_nd(TABLE, [[0.0, 1.0]]),
        TypeError,
        "indices must be an array of integers, got dtype float64 (astype(int) converts them)",
    ),
    "mask_as_indices": (
        lambda: fastsel.gather_nd(TABLE, TABLE > 1),
        TypeError,
        "indices must be an array of integers, got dtype bool (boolean_mask takes masks)",
    ),
    "uneven_lists_of_indices": (
        lambda: fastsel.gather_nd(TABLE, [[0], [1, 1]]),
        ValueError,
        "indices cannot be converted to an array",
    ),
    "uneven_lists_of_data": (
        lambda: fastsel.gather_nd([[0], [1, 1]], [[0]]),
        ValueError,
        "data cannot be converted to an array",
    ),
    "uneven_lists_of_coordinates": (
        lambda: fastsel.nonzero_coordinates([[0], [1, 1]]),
        ValueError,
        "x cannot be converted to an array",
    ),
    "uneven_lists_of_a_dense_array": (
        lambda: fastsel.sparse.from_dense([[0], [1, 1]]),
        ValueError,
        "a cannot be converted to an array",
    ),
    "set_of_tests": (
        lambda: fastsel.index_in([1, 2], {1}),
        TypeError,
        "test_elements must be an array_like, got set (use list(test_elements))",
    ),
    "frozenset_of_items": (
        lambda: fastsel.index_in(frozenset({1}), [1, 2]),
        TypeError,
        "element must be an array_like, got frozenset (use list(element))",
    ),
    "keys_of_a_dict_as_groups": (
        lambda: fastsel.group_indices({1: 2}.keys()),
        TypeError,
        "ar must be an array_like, got dict_keys (use list(ar))",
    ),
    "dict_to_find_in": (
        lambda: fastsel.first_nonzero({1: 2}),
        TypeError,
        "a must be an array_like, got dict (use list(a))",
    ),
    "generator_of_coordinates": (
        lambda: fastsel.nonzero_coordinates(k for k in range(3)),
        TypeError,
        "x must be an array_like, got generator (use list(x))",
    ),
    "sparse_array": (
        lambda: fastsel.group_indices(scipy.sparse.csr_array(TABLE)),
        TypeError,
        "ar must be an array_like, got csr_array (use ar.toarray())",
    ),
    "indices_of_a_vector": (
        lambda: fastsel.gather_nd([1, 2, 3], [2, 0]),
        ValueError,
        "indices has shape (2,); indices[..., numpy.newaxis] has a row for each index",
    ),
    "set_of_indices": (
        lambda: fastsel.gather_nd(TABLE, {1}),
        TypeError,
        "indices must be an array_like, got set (use list(indices))",
    ),
    "batches_that_differ": (
        lambda: fastsel.gather_nd(TABLE, [[0], [1]], batch_dims=1),
        ValueError,
        "equal in the first 1 of their dimensions (batch_dims=1), got shapes (3, 4) and (2, 1)",
    ),
    "float_batch_dims": (
        lambda: fastsel.gather_nd(TABLE, [[0]], 1.0),
        TypeError,
        "batch_dims must be an integer, got float",
    ),
    "positions_as_mask": (
        lambda: fastsel.boolean_mask(TABLE, [1, 0, 1]),
        IndexError,
        "got dtype int64 (a.take(mask) takes positions, mask != 0 compares)",
    ),
    "float_mask": (
        lambda: fastsel.boolean_mask(TABLE, [1.0, 0.0, 1.0]),
        IndexError,
        "mask must be a boolean array, got dtype float64 (mask != 0 compares)",
    ),
    "mask_and_array_swapped": (
        lambda: fastsel.boolean_mask(TABLE > 1, TABLE),
        IndexError,
        "mask must be a boolean array, got dtype float64",
    ),
    "no_mask": (
        lambda: fastsel.boolean_mask(TABLE, None),
        IndexError,
        "mask must be a boolean array, got dtype object",
    ),
    "float_axis": (
        lambda: fastsel.unique(TABLE, axis=1.0),
        TypeError,
        "axis must be an integer or None, got 1.0",
    ),
    "two_axes": (
        lambda: fastsel.unique(TABLE, axis=(0, 1)),
        ValueError,
        "axis must be an integer or None, got (0, 1)",
    ),
    "objects_without_an_order": (
        lambda: fastsel.unique([3, "a", None]),
        TypeError,
        "sorted=False needs no order: values come in order of first occurrence",
    ),
    "float_number_of_threads": (
        lambda: fastsel.set_num_threads(2.0),
        TypeError,
        "n must be an integer, got float",
    ),
    "format_in_a_list": (
        lambda: fastsel.sparse.from_dense(TABLE, ["csr"]),
        ValueError,
        "format must be 'coo', 'csr' or 'csc', got ['csr']",
    ),
}


@pytest.mark.parametrize("name", ERROR_TEXTS)
def test_an_error_says_what_is_wrong_or_what_to_do(name):
    call, error, text = ERROR_TEXTS[name]
    with pytest.raises(error) as caught:
        call()
    lines = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert any(text in line for line in lines), lines


def test_objects_that_have_no_order_are_unique_with_sorted_false():
    assert fastsel.unique([3, "a", None, "a"], sorted=False).tolist() == [3, "a", None]


def test_an_error_without_advice_has_no_notes():
    with pytest.raises(np.exceptions.AxisError) as caught:
        fastsel.unique(TABLE, axis=5)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_misspelt_keyword_is_named(function):
    with pytest.raises(TypeError, match=rf"{function.__name__}\(\).* 'axsi'") as caught:
        function(TABLE, axsi=0)
    assert "unexpected keyword argument" in str(caught.value)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_help_has_every_section(function):
    """All functions have Examples, and functions with parameters have Parameters. Functions with a
    parameter in ARRAYS also have Returns, Notes and shapes."""
    text = inspect.getdoc(function)
    parameters = inspect.signature(function).parameters
    if parameters:
        assert "Parameters\n----------" in text
    for name in parameters:
        assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", text, re.MULTILINE), name
    assert "Examples\n--------\n>>> import fastsel" in text
    if not ARRAYS.isdisjoint(parameters):
        assert "Returns\n-------" in text
        assert "Notes\n-----" in text
        assert "shape" in text


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_help_shows_types_by_their_names(function):
    """Signatures have types, and show ArrayLike instead of the unions that it stands for."""
    signature = inspect.signature(function)
    assert "_typing" not in str(signature)
    annotations = [p.annotation for p in signature.parameters.values()]
    assert inspect.Parameter.empty not in [*annotations, signature.return_annotation]


def test_help_of_unique_tells_shapes_dtypes_order_and_cost():
    text = inspect.getdoc(fastsel.unique)
    for answer in ("shape (groups,)", "Any dtype", "order of first occurrence", "NaN and NaT last"):
        assert answer in text
    for cost in ("Expected time is linear", "Extra memory"):
        assert cost in text


def test_show_config_has_the_system_the_cpu_and_the_environment(run_python):
    run_python(
        """
import platform
import fastsel
config = fastsel.show_config(mode="dicts")
assert config["system"] == f"{platform.system()} {platform.release()}"
assert config["cpu"]
assert {"OMP_NUM_THREADS=2", "FASTSEL_FORK_THREADS=3"} <= {*config["environment"].split()}, config
""",
        FASTSEL_FORK_THREADS="3",
        OMP_NUM_THREADS="2",
    )


def test_show_config_says_that_no_variable_is_set(run_python, monkeypatch):
    for name in list(os.environ):
        if name == "OMP_NUM_THREADS" or name.startswith("FASTSEL_"):
            monkeypatch.delenv(name)
    run_python(
        "import fastsel; assert fastsel.show_config(mode='dicts')['environment'] == 'nothing set'"
    )
