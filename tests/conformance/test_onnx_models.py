"""ONNX models of one node, for every operator, version and tensor type, in onnx's evaluator.

Outputs of NonZero and Unique are compared with the reference. Outputs of the other operators, and
those of Unique where onnx is right, are compared with onnx's own operators.
"""

import importlib
import itertools

import numpy as np
import pytest
import reference
from arrays import make
from comparison import assert_same
from grids import covering

import fastsel
import fastsel.onnx

onnx = pytest.importorskip("onnx", reason="needs pip install onnx")
ReferenceEvaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
TensorProto, helper = onnx.TensorProto, onnx.helper

TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "complex64", "complex128", "string"),
)
VERSIONS = {
    "NonZero": (9, 13),
    "Compress": (9, 11, 28),
    "Unique": (11, 28),
    "GatherND": (11, 12, 13),
}
UNIQUE_OUTPUTS = ("Y", "indices", "inverse_indices", "counts")
OPSET = max(itertools.chain(*VERSIONS.values()))


def is_allowed(operator, version, dtype):
    """Whether this version of the operator accepts tensors of the dtype."""
    schema = onnx.defs.get_schema(operator, version)
    types = next(t for t in schema.type_constraints if t.type_param_str == "T")
    names = {"float32": "float", "float64": "double"}
    return f"tensor({names.get(dtype, dtype)})" in types.allowed_type_strs


CASES = [
    (operator, version, dtype)
    for operator, versions in VERSIONS.items()
    for version in versions
    for dtype in TYPES
    if is_allowed(operator, version, dtype)
]


def array_of(dtype, shape):
    """An array with repeated items and, where the type has them, NaN and zeros of both signs."""
    if dtype == "string":
        items = np.array(["", "b", "a", "é", "ab", " "], object)
    else:
        items = np.concatenate([make(dtype, 4, 0), make(dtype, 5, 1)])
        if dtype == "bool":
            items = items.view(np.uint8) != 0  # makes each byte 0 or 1
        if np.dtype(items.dtype).kind in "fc" or dtype == "bfloat16":
            items[-2:] = np.array([np.nan, 1.5], items.dtype)
    size = int(np.prod(shape))
    return items[np.random.default_rng(size).integers(len(items), size=size)].reshape(shape)


def element_type(array):
    if array.dtype == object:
        return TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def make_model(operator, inputs, outputs, version=OPSET, **attributes):
    """A model with one node; `inputs` are arrays by name."""
    input_infos = [
        helper.make_tensor_value_info(name, element_type(array), array.shape)
        for name, array in inputs.items()
    ]
    first = next(iter(inputs.values()))
    element = TensorProto.INT64 if operator == "NonZero" else element_type(first)
    shape = None
    if operator in ("Compress", "Unique"):
        shape = ["n"] * (first.ndim if "axis" in attributes else 1)
    output_infos = [helper.make_tensor_value_info(outputs[0], element, shape)]
    for name in filter(None, outputs[1:]):
        output_infos.append(helper.make_tensor_value_info(name, TensorProto.INT64, ["n"]))
    graph = helper.make_graph(
        [helper.make_node(operator, list(inputs), list(outputs), **attributes)],
        "graph",
        input_infos,
        output_infos,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    model = onnx.shape_inference.infer_shapes(model)  # gives the first output a rank
    onnx.checker.check_model(model)
    return model


def run(operator, inputs, outputs, version=OPSET, new_ops=None, **attributes):
    """The outputs of a model with one node, by onnx's evaluator with the operators `new_ops`."""
    model = make_model(operator, inputs, outputs, version, **attributes)
    return ReferenceEvaluator(model, new_ops=new_ops).run(None, inputs)


def ours(*args, **kwargs):
    """The outputs of fastsel's operator."""
    return run(*args, new_ops=fastsel.onnx.OPS, **kwargs)


def check(actual, expected):
    assert len(actual) == len(expected)
    for our, their in zip(actual, expected, strict=True):
        if our.dtype == object:
            assert (our.shape, our.tolist()) == (their.shape, their.tolist())
        else:
            assert_same(np.asarray(our), np.asarray(their))


def check_type(operator, version, dtype):
    """Check that models of an operator return the expected outputs for arrays of a dtype. Version
    and dtype decide which half of the shapes is tested."""
    scalar = [()] if operator in ("NonZero", "Unique") else []
    shapes = ((7,), (2, 3, 4), (4, 5), (0, 3), (0,), *scalar)
    first = VERSIONS[operator].index(version) + TYPES.index(dtype)
    for shape in shapes[first % 2 :: 2]:
        array = array_of(dtype, shape)
        if operator == "NonZero":
            check(ours("NonZero", {"X": array}, ["Y"], version), [reference.argwhere(array).T])
        elif operator == "Compress":
            for axis in (None, *range(-len(shape) if version > 9 else 0, len(shape))):
                length = array.size if axis is None else shape[axis]
                condition = make("bool", (max(length - 1, 0),))
                attributes = {} if axis is None else {"axis": axis}
                inputs = {"input": array, "condition": condition.view("u1") != 0}
                expected = run("Compress", inputs, ["output"], version, **attributes)
                check(ours("Compress", inputs, ["output"], version, **attributes), expected)
        elif operator == "GatherND":
            for depth in range(1, len(shape) + 1):
                rows = 6 if array.size else 0
                rng = np.random.default_rng(depth)
                bounds = np.maximum(shape[:depth], 1)
                indices = rng.integers(-bounds, bounds, (rows, depth))
                inputs = {"data": array, "indices": indices}
                expected = run("GatherND", inputs, ["output"], version)
                check(ours("GatherND", inputs, ["output"], version), expected)
        else:
            check_unique(array, version)


def check_unique(array, version):
    """Check that Unique returns the expected outputs, for each axis and order."""
    for axis in (None, *range(-array.ndim, array.ndim)):
        for order in (0, 1):
            attributes = {"sorted": order} | ({} if axis is None else {"axis": axis})
            actual = ours("Unique", {"X": array}, UNIQUE_OUTPUTS, version, **attributes)
            values, index, inverse, counts = unique_by_reference(array, axis, bool(order))
            check(actual, [values, index, inverse.reshape(-1), counts])
            if evaluator_is_right(array, axis, order):
                expected = run("Unique", {"X": array}, UNIQUE_OUTPUTS, version, **attributes)
                check(actual, expected)


def evaluator_is_right(array, axis, order):
    """Whether onnx's Unique is right. With sorted=0 it is wrong for most arrays and axes. It
    refuses strings with an axis, and does not sort bfloat16. Of equal floats with different bits,
    it returns NumPy's choice."""
    if order == 0 or array.dtype.name == "bfloat16":
        return False
    if array.dtype == object:
        return axis is None
    return array.dtype.kind not in "fc"


def unique_by_reference(array, axis, sorted):
    """The outputs of the reference. With an axis, strings become `U2`, in which they have the same
    order."""
    if array.dtype != object or axis is None:
        return reference.unique_outputs(array, axis, sorted=sorted)
    outputs = reference.unique_outputs(array.astype("U2"), axis, sorted=sorted)
    return outputs[0].astype(object), *outputs[1:]


@covering(case=CASES, threads=[1, 3])
def test_every_type_of_every_version_returns_the_expected_outputs(case, threads, forced_kernels):
    with fastsel.threads(threads):
        check_type(*case)


@pytest.mark.parametrize("operator", VERSIONS)
def test_every_type_of_the_newest_version_is_tested(operator):
    schema = onnx.defs.get_schema(operator)
    assert schema.since_version == VERSIONS[operator][-1]
    types = next(t for t in schema.type_constraints if t.type_param_str == "T")
    tested = [c for c in CASES if c[:2] == (operator, VERSIONS[operator][-1])]
    assert len(tested) == len(types.allowed_type_strs) == 16


@pytest.mark.parametrize("operator", VERSIONS)
def test_every_version_is_tested(operator):
    schemas = onnx.defs.get_all_schemas_with_history()
    versions = sorted(s.since_version for s in schemas if s.name == operator and s.domain == "")
    assert versions == list(VERSIONS[operator])


# Outputs of Unique that a node does not name.


@pytest.mark.parametrize(
    "outputs",
    [
        ("Y",),
        ("Y", "indices"),
        ("Y", "indices", "inverse"),
        ("Y", "", "inverse"),
        ("Y", "", "inverse", ""),
        ("Y", "", "", "counts"),
        ("Y", "indices", "", "counts"),
        ("Y", "", "", ""),
    ],
    ids=str,
)
@pytest.mark.parametrize("attributes", [{}, {"sorted": 0}, {"axis": 1}, {"axis": 0, "sorted": 0}])
@pytest.mark.parametrize("dtype", ["float32", "string"])
def test_unique_returns_the_named_outputs_alone(outputs, attributes, dtype):
    array = array_of(dtype, (3, 4))
    all_outputs = ours("Unique", {"X": array}, UNIQUE_OUTPUTS, **attributes)
    expected = [output for output, name in zip(all_outputs, outputs, strict=False) if name]
    check(ours("Unique", {"X": array}, outputs, **attributes), expected)


def test_absent_output_is_not_the_absent_input_of_another_node():
    """An output without a name must not become the value of inputs without a name."""
    nodes = [
        helper.make_node("Unique", ["X"], ["Y", "", "inverse"]),
        helper.make_node("Clip", ["Y", "", "max"], ["clipped"]),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None])],
        [helper.make_tensor_value_info("clipped", TensorProto.FLOAT, [None])],
        [helper.make_tensor("max", TensorProto.FLOAT, [], [2.0])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    x = np.array([-3, 5, -3], np.float32)
    (clipped,) = ReferenceEvaluator(model, new_ops=fastsel.onnx.OPS).run(None, {"X": x})
    assert clipped.tolist() == [-3, 2]


# The evaluator's errors, and the Backend.


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "error"),
    [
        ("Unique", {"X": np.zeros(3)}, {"sorted": 2}, ValueError),
        ("Compress", {"input": np.zeros(2), "condition": np.ones(3, bool)}, {}, IndexError),
        ("Compress", {"input": np.zeros(2), "condition": np.ones((1, 2), bool)}, {}, ValueError),
        ("GatherND", {"data": np.zeros(2), "indices": np.array([[2]])}, {}, IndexError),
        ("GatherND", {"data": np.zeros((2, 0)), "indices": np.array([[5]])}, {}, IndexError),
        ("GatherND", {"data": np.zeros(2), "indices": np.zeros((2, 0), int)}, {}, ValueError),
        (
            "GatherND",
            {"data": np.zeros((2, 2, 2)), "indices": np.zeros((4, 1), int)},
            {"batch_dims": 1},
            ValueError,
        ),
    ],
)
def test_errors_reach_the_caller(operator, inputs, attributes, error):
    outputs = UNIQUE_OUTPUTS if operator == "Unique" else ("output",)
    with pytest.raises(error):
        ours(operator, inputs, outputs, **attributes)


@pytest.mark.parametrize(
    ("operator", "inputs", "text"),
    [
        (
            "Compress",
            {"input": np.zeros(3), "condition": np.ones(3)},
            "condition must be an array of bool, got dtype float64",
        ),
        (
            "GatherND",
            {"data": np.zeros(2), "indices": np.zeros((1, 1))},
            "indices must be an array of integers, got dtype float64",
        ),
    ],
)
def test_errors_of_dtypes_have_the_text_of_a_direct_call(operator, inputs, text):
    """onnx's own TypeError names neither the input nor the dtypes."""
    with pytest.raises(TypeError, match=text):
        ours(operator, inputs, ("output",))


def test_backend_runs_a_model_and_refuses_another_device_and_too_many_inputs():
    array = np.array([[1, 0], [1, 1]], np.uint16)
    model = make_model("NonZero", {"X": array}, ["Y"])
    backend = fastsel.onnx.Backend
    expected = [[[0, 1, 1], [0, 0, 1]]]
    assert [y.tolist() for y in backend.run_model(model, [array])] == expected
    assert [y.tolist() for y in backend.prepare(model).run({"X": array})] == expected
    assert [y.tolist() for y in backend.run_node(model.graph.node[0], [array])] == expected
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")
    with pytest.raises(ValueError, match="device must be 'CPU'"):
        backend.prepare(model, "CUDA:0")
    with pytest.raises(ValueError):
        backend.prepare(model).run([array, array])


def test_backend_refuses_an_invalid_model():
    model = make_model("NonZero", {"X": np.zeros(3)}, ["Y"])
    model.graph.node[0].op_type = "NoSuchOperator"
    with pytest.raises(onnx.checker.ValidationError):
        fastsel.onnx.Backend.prepare(model)


def test_inputs_with_a_default_may_be_left_out():
    """Old models list their constants, which are defaults, among their inputs."""
    inputs = {"data": np.zeros(3), "indices": np.zeros((1, 1), int)}
    model = make_model("GatherND", inputs, ["output"])
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[2]]), "indices"))
    (output,) = fastsel.onnx.Backend.run_model(model, [np.array([5.0, 6.0, 7.0])])
    assert output.tolist() == [7.0]
