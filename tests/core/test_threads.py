"""No result depends on the number of threads; callers and writers may run concurrently."""

import threading
from functools import partial

import numpy as np
import pytest
from arrays import WORD_DTYPES, choose, make
from callers import before_line, run_in_threads
from comparison import assert_same, outcome
from concurrent_writer import while_writing
from forcing import force
from operators import SET_FUNCTION_NAMES

import fastsel


def operations(size, name="int32"):
    """Calls of each function of positions, selection and gather on an array of shape (size, 3):
    name -> function without arguments."""
    array = make(name, (size, 3), 0.3)
    mask = choose(size, 0.4, np.random.default_rng(size))
    rows = (
        np.random.default_rng(size).integers(-size, size, (size, 1))
        if size
        else np.zeros((0, 1), np.int64)
    )
    return {
        "nonzero": lambda: fastsel.nonzero(array),
        "nonzero_dtype": lambda: fastsel.nonzero(array, dtype=np.int32),
        "flatnonzero_dtype": lambda: fastsel.flatnonzero(array, dtype=np.uint32),
        "flatnonzero": lambda: fastsel.flatnonzero(array),
        "argwhere": lambda: fastsel.argwhere(array),
        "count_nonzero": lambda: fastsel.count_nonzero(array),
        "first_nonzero": lambda: fastsel.first_nonzero(array[size // 2 :, ::-1]),
        "first_nonzero_axis": lambda: fastsel.first_nonzero(array, axis=0),
        "compress": lambda: fastsel.compress(mask, array, axis=0),
        "compress_flat": lambda: fastsel.compress(mask, array),
        "extract": lambda: fastsel.extract(array, array),
        "boolean_mask": lambda: fastsel.boolean_mask(array, mask),
        "gather_nd": lambda: fastsel.gather_nd(array, rows),
        "nonzero_coordinates": lambda: tuple(fastsel.nonzero_coordinates(array)),
    }


OPERATORS = tuple(operations(1))


# No result depends on the number of threads or of chunks.


@pytest.mark.parametrize("operator", OPERATORS)
def test_num_threads_agnosticism(operator, forced_kernels):
    for name in WORD_DTYPES:
        for size in (0, 1, 63, 64, 65, 130, 1000, 4097):
            call = operations(size, name)[operator]
            with fastsel.threads(1):
                expected = call()
            for number in (2, 3, 7, 16):
                with fastsel.threads(number):
                    assert_same(call(), expected)


@pytest.mark.parametrize("operator", OPERATORS)
def test_chunk_count_agnosticism(operator, forced_kernels, monkeypatch):
    for size in (0, 1, 65, 1000, 4097):
        call = operations(size)[operator]
        with fastsel.threads(1):
            expected = call()
        with fastsel.threads(7):
            for min_bytes in (1, 8, 100, 1000, 2**40):
                monkeypatch.setattr("fastsel._core._threads.MIN_CHUNK_BYTES", min_bytes)
                assert_same(call(), expected)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_path_of_tiny_arrays_has_the_result_of_the_kernels(operator, monkeypatch):
    tiny = fastsel._core._gate.TINY_ITEMS
    sizes = {1, 50, *(tiny // 3 + k for k in (-1, 0, 1)), *(tiny + k for k in (-1, 0, 1))}
    for size in sorted(size for size in sizes if size >= 0):
        call = operations(size)[operator]
        monkeypatch.undo()
        expected = call()
        monkeypatch.setattr("fastsel._core._gate.TINY_ITEMS", 0)
        assert_same(call(), expected)


def test_sizes_around_multiples_of_min_chunk_bytes_equal_numpy():
    """At some of these sizes a call gets its second or third thread; no threshold is changed."""
    min_bytes = fastsel._core._threads.MIN_CHUNK_BYTES
    for chunks in (1, 2, 3):
        for size in (chunks * min_bytes - 1, chunks * min_bytes, chunks * min_bytes + 1):
            array = choose(size, 0.1, np.random.default_rng(size))
            assert_same(fastsel.nonzero(array), np.nonzero(array))
            assert_same(fastsel.boolean_mask(array, array), array[array])
            assert fastsel.count_nonzero(array) == np.count_nonzero(array)


# The settings.


@pytest.mark.thread_unsafe(reason="sets the number of threads of the process")
def test_get_num_threads_returns_the_number_that_is_set():
    try:
        for number in (1, 2, 5):
            fastsel.set_num_threads(number)
            assert fastsel.get_num_threads() == number
    finally:
        fastsel.set_num_threads(None)


def test_threads_restores_the_number():
    before = fastsel.get_num_threads()
    with fastsel.threads(before + 1):
        assert fastsel.get_num_threads() == before + 1
        with fastsel.threads(1):
            assert fastsel.get_num_threads() == 1
        assert fastsel.get_num_threads() == before + 1
    assert fastsel.get_num_threads() == before


def test_threads_restores_the_number_after_an_error():
    before = fastsel.get_num_threads()
    with pytest.raises(KeyError), fastsel.threads(before + 2):
        raise KeyError
    assert fastsel.get_num_threads() == before


@pytest.mark.parametrize(
    ("number", "error"),
    [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)],
    ids=repr,
)
def test_an_invalid_number_of_threads_raises_and_changes_nothing(number, error):
    before = fastsel.get_num_threads()
    with pytest.raises(error):
        fastsel.set_num_threads(number)
    with pytest.raises(error), fastsel.threads(number):
        pass
    assert fastsel.get_num_threads() == before


@pytest.mark.thread_unsafe(reason="sets the number of threads of the process")
def test_set_num_threads_holds_in_every_python_thread():
    seen, before = [], fastsel.get_num_threads()
    fastsel.set_num_threads(before + 2)
    try:
        run_in_threads([lambda: seen.append(fastsel.get_num_threads())] * 2)
    finally:
        fastsel.set_num_threads(None)
    assert seen == [before + 2] * 2


def test_threads_holds_for_the_calling_thread_only():
    barrier = threading.Barrier(3)

    def caller(number):
        with fastsel.threads(number):
            for _ in range(20):
                barrier.wait(600)
                assert fastsel.get_num_threads() == number

    run_in_threads([lambda number=number: caller(number) for number in (1, 2, 5)])


def test_the_environment_sets_the_number_of_threads(run_python):
    code = "import fastsel; print(fastsel.get_num_threads())"
    assert run_python(code, FASTSEL_NUM_THREADS="3").split() == ["3"]
    assert int(run_python(code, FASTSEL_NUM_THREADS="")) >= 1


def test_show_config_prints_text_or_returns_a_dict(capsys):
    fastsel.show_config()
    assert "thread" in capsys.readouterr().out.lower()
    assert isinstance(fastsel.show_config(mode="dicts"), dict)
    assert capsys.readouterr().out == ""


# Several callers at once.


@pytest.mark.parametrize("size", [65, 5000])
def test_concurrent_callers(size, forced_kernels):
    calls = operations(size)
    expected = {operator: call() for operator, call in calls.items()}

    def caller(first):
        with fastsel.threads(3):
            for k in range(30):
                operator = OPERATORS[(first + k) % len(OPERATORS)]
                assert_same(calls[operator](), expected[operator])

    run_in_threads([lambda first=first: caller(first) for first in range(6)])


def test_concurrent_errors_are_those_of_their_call(forced_kernels):
    """The error names the bad index of its own call."""
    data = np.zeros(10, np.int8)

    def caller(bad):
        indices = np.zeros((500, 1), np.int64)
        indices[bad] = 10 + bad
        with fastsel.threads(3):
            for _ in range(50):
                with pytest.raises(IndexError, match=rf"{10 + bad} at position \({bad}, 0\)"):
                    fastsel.gather_nd(data, indices)

    run_in_threads([lambda bad=bad: caller(bad) for bad in (0, 100, 250, 499)])


@pytest.mark.thread_unsafe(reason="sets the number of threads of the process")
def test_settings_that_change_meanwhile_change_no_result(forced_kernels):
    calls = operations(2000)
    expected = {operator: call() for operator, call in calls.items()}

    def change():
        for k in range(200):
            fastsel.set_num_threads(1 + k % 5)

    def caller():
        for _ in range(10):
            for operator, call in calls.items():
                assert_same(call(), expected[operator])

    try:
        run_in_threads([change, caller, caller])
    finally:
        fastsel.set_num_threads(None)


@pytest.mark.thread_unsafe(reason="sets the number of threads of the process")
@pytest.mark.parametrize("line", range(12))
def test_a_call_sees_the_old_or_the_new_number_of_threads(line):
    """Another thread may reset the number before any line of fastsel."""
    default = fastsel.get_num_threads()
    fastsel.set_num_threads(default + 1)
    with before_line(line, lambda: fastsel.set_num_threads(None)):
        number = fastsel.get_num_threads()
    assert number in (default, default + 1)
    assert fastsel.get_num_threads() == default


@pytest.mark.thread_unsafe(reason="sets the number of threads of the process")
def test_eight_threads_that_share_all_state_get_right_results(forced_kernels):
    """The threads share cached memory, the number of threads, NumPy's functions while they are
    patched, and strings whose hash is not computed yet. All are used at the same time."""
    random = np.random.default_rng(8)
    few, many = random.integers(0, 300, 20_000), random.integers(0, 2**60, 20_000)
    mask, ones = few > 200, np.ones((1 << 22) + 64, bool)  # positions of `ones` use cached memory
    rows = random.integers(-20_000, 20_000, (20_000, 1))
    texts = [np.array([f"{step} {k}" for k in few[:500]], object) for step in range(10)]
    numbers, positions = np.arange(ones.size), np.flatnonzero(mask)

    def unique(array):
        values, index, inverse, counts = fastsel.unique(array, True, True, True, sorted=False)
        assert (array[index] == values).all()
        assert (values[inverse] == array).all()
        assert counts.sum() == array.size

    def large_result(step):
        assert (fastsel.nonzero(ones)[0] == numbers).all()

    def settings(step):
        fastsel.set_num_threads(1 + step % 5)
        with fastsel.threads(3):
            assert fastsel.get_num_threads() == 3

    def patch(step):
        with fastsel.patched():
            assert_same(np.flatnonzero(mask), positions)

    calls = [
        lambda step: unique(few),
        lambda step: unique(many),
        lambda step: unique(texts[step]),
        lambda step: unique(texts[step]),
        large_result,
        large_result,
        lambda step: (settings(step), patch(step)),
        lambda step: (patch(step), assert_same(fastsel.gather_nd(few, rows), few[rows[:, 0]])),
    ]
    try:
        run_in_threads([lambda call=call: list(map(call, range(10))) for call in calls])
    finally:
        fastsel.set_num_threads(None)


def test_out_of_compress_is_filled_or_refused_while_the_condition_changes(kernels_with_few_threads):
    """`out` is filled or refused; nothing is written outside of it."""
    mask = np.zeros(20_000, bool)
    buffer = np.full(20_000, -1)
    out = buffer[5000:15_000]
    array = np.arange(20_000)
    mask[:10_000] = True
    random = np.random.default_rng(0)

    def write():
        mask[:] = random.permutation(mask)
        mask[:100] ^= True  # the count changes as well

    def check():
        ours = outcome(fastsel.compress, mask, array, out=out)
        assert (buffer[:5000] == -1).all()
        assert (buffer[15_000:] == -1).all()
        if ours[0] == "raises":
            assert ours[1] is ValueError
        else:
            assert ours[1] is out
            assert (np.diff(out) > 0).all()

    while_writing(write, check)


@pytest.mark.parametrize("algorithm", [None, "tables", "partitions"])
def test_concurrent_callers_of_sets_and_groups_get_the_same_results(
    algorithm, forced_kernels, monkeypatch
):
    force(monkeypatch, algorithm)
    first, second = np.random.default_rng(1).integers(0, 900, (2, 5000)) * 1_000_003
    rows, other_rows = first.reshape(-1, 2) % 7, second.reshape(-1, 2)[:50] % 7
    calls = [
        lambda: tuple(fastsel.group_indices(first)),
        lambda: tuple(fastsel.group_indices(rows, 0, sorted=False)),
    ]
    for name in [*SET_FUNCTION_NAMES, "index_in"]:
        calls.append(partial(getattr(fastsel, name), first, second))
        calls.append(partial(getattr(fastsel, name), rows, other_rows, axis=0))
    expected = [call() for call in calls]

    def caller(start):
        with fastsel.threads(3):
            for k in range(2 * len(calls)):
                number = (start + k) % len(calls)
                assert_same(calls[number](), expected[number])

    run_in_threads([lambda start=start: caller(start) for start in range(6)])


def test_threads_without_with_has_no_effect():
    before = fastsel.get_num_threads()
    limit = fastsel.threads(before + 1)
    assert fastsel.get_num_threads() == before
    del limit
