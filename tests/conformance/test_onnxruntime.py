"""ONNX Runtime sessions in which fastsel computes the types that ONNX Runtime lacks."""

import importlib

import numpy as np
import pytest

import fastsel.onnx as fx

onnx = pytest.importorskip(
    "onnx", reason="needs pip install onnx onnxruntime onnxruntime-extensions"
)
pytest.importorskip(
    "onnxruntime_extensions", reason="needs pip install onnx onnxruntime onnxruntime-extensions"
)
TYPES_WITHOUT_KERNEL = importlib.import_module("fastsel.onnx._onnxruntime").TYPES_WITHOUT_KERNEL

TEXTS = np.array(["", "a", "é"], object)
SHAPES = ((7,), (3, 4), (), (0,), (0, 3), (3, 0))
CASES = [(operator, name) for operator, names in TYPES_WITHOUT_KERNEL.items() for name in names]


def array_of(type_name, shape):
    numbers = np.random.default_rng(3).integers(0, 3, shape)
    if type_name == "string":
        return np.asarray(TEXTS[numbers], object)
    return np.asarray(numbers).astype({"double": "float64"}.get(type_name, type_name))


def parsed_model(text):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 21]> graph {text}')


def session(model):
    return fx.onnxruntime_session(model, providers=["CPUExecutionProvider"])


def check(actual, expected):
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tolist() == theirs.tolist()


def test_inputs_that_are_initializers_or_outputs_of_the_graph_have_types():
    model = parsed_model(
        "(double[n] X) => (double[n] Y, int64[a, k] Z, int64[b, m] V)"
        " <double[3] W = {0.0, 2.0, 0.0}> { Y = Abs(X) Z = NonZero(Y) V = NonZero(W) }"
    )
    array = np.array([-1.0, 0.0, 3.0])
    outputs = session(model).run(None, {"X": array})
    check(outputs, [abs(array), fx.non_zero(array), np.array([[1]])])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("operator", "type_name"), CASES)
def test_types_that_onnx_runtime_lacks_have_the_outputs_of_fastsel(operator, type_name, shape):
    array = array_of(type_name, shape)
    sizes = "" if array.ndim == 0 else f"[{','.join('abc'[: array.ndim])}]"
    if operator == "NonZero":
        model = parsed_model(f"({type_name}{sizes} X) => (int64[r, n] Y) {{ Y = NonZero(X) }}")
        check(session(model).run(None, {"X": array}), [fx.non_zero(array)])
        return
    axes = [None, *range(-array.ndim, array.ndim)]
    for k, axis in enumerate(axes):
        sorted = (k + len(type_name)) % 2
        attributes = f"sorted = {sorted}" + ("" if axis is None else f", axis = {axis}")
        rank = 1 if axis is None else array.ndim
        outputs = f"{type_name}[{','.join('uvw'[:rank])}] Y, int64[p] i, int64[q] v, int64[r] c"
        node = f"Y, i, v, c = Unique<{attributes}>(X)"
        model = parsed_model(f"({type_name}{sizes} X) => ({outputs}) {{ {node} }}")
        check(session(model).run(None, {"X": array}), list(fx.unique(array, axis, sorted)))


def test_outputs_and_attributes_may_be_left_out():
    array = array_of("uint8", (9,))
    y, _, inverse, _ = fx.unique(array)
    model = parsed_model("(uint8[n] X) => (uint8[u] Y, int64[m] v) { Y, , v = Unique(X) }")
    check(session(model).run(None, {"X": array}), [y, inverse])
    model = parsed_model("(uint8[n] X) => (uint8[u] Y) { Y = Unique(X) }")
    check(session(model.SerializeToString()).run(None, {"X": array}), [y])


def test_other_nodes_and_the_model_stay_as_they_are():
    model = parsed_model(
        "(uint8[n] X) => (int64[r, h] rows, float[u] Y)"
        "{ rows = NonZero(X)\n"
        "  small = Unique(X)\n"
        "  real = Cast<to = 1>(small)\n"
        "  Y = Unique(real) }"
    )
    before = model.SerializeToString(deterministic=True)
    array = array_of("uint8", (9,))
    rows, y = session(model).run(None, {"X": array})
    check([rows, y], [fx.non_zero(array), np.unique(array).astype(np.float32)])
    assert model.SerializeToString(deterministic=True) == before


def test_model_may_be_a_file(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(parsed_model("(bool[n] X) => (bool[u] Y) { Y = Unique(X) }"), path)
    check(session(path).run(None, {"X": np.array([True, False])}), [np.array([False, True])])


@pytest.mark.parametrize(
    ("attributes", "error"),
    [("sorted = 2", ValueError), ("axis = 1", np.exceptions.AxisError)],
)
def test_bad_attributes_are_refused_before_the_session_is_made(attributes, error):
    """An error in a Python operator would end the process."""
    model = parsed_model(f"(uint8[n] X) => (uint8[u] Y) {{ Y = Unique<{attributes}>(X) }}")
    with pytest.raises(error):
        session(model)


@pytest.mark.parametrize("model", [None, 3.5, {}])
def test_what_is_no_model_is_refused(model):
    text = f"an onnx.ModelProto, a path or bytes, got {type(model).__name__}"
    with pytest.raises(TypeError, match=f"^model must be {text}$"):
        session(model)
