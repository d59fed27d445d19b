"""fastsel's use of files, processes, environment variables and fork handlers, and the protection of
its kernels by compiler and linker."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastsel
from fastsel._core import parallel

CALLS = """
import numpy as np
import fastsel

def calls():
    rng = np.random.default_rng(1)
    array = rng.integers(0, 3, (1000, 8))
    for a in (array, array.astype("f4")[::2], array.astype("U3"), array.astype(object),
              array.astype("c8"), array.astype("M8[s]")):
        if a.dtype.kind != "M":
            fastsel.nonzero(a), fastsel.argwhere(a), fastsel.count_nonzero(a, axis=0)
            fastsel.nonzero_coordinates(a), fastsel.extract(a, a)
        fastsel.compress(a[:, 0] == a[0, 0], a, axis=0), fastsel.boolean_mask(a, a == a[0, 0])
        fastsel.unique(a, True, True, True), fastsel.unique(a, sorted=False)
        fastsel.unique_all(a), fastsel.gather_nd(a, [[0], [1]])
        fastsel.isin(a, a[0]), fastsel.intersect1d(a, a[0]), fastsel.union1d(a, a[0])
        fastsel.flatnonzero(a, dtype="i4"), fastsel.first_nonzero(a), fastsel.first_nonzero(a, 0)
        fastsel.group_indices(a), fastsel.index_in(a, a[0])
        fastsel.setdiff1d(a, a[0]), fastsel.setxor1d(a, a[0])
        if a.dtype != object:
            fastsel.unique(a, axis=0), fastsel.group_indices(a, 0)
            fastsel.isin(a, a[:9], axis=0), fastsel.index_in(a, a[:9], axis=0)
    try:
        fastsel.gather_nd(array, [[10**6]])
    except IndexError:
        pass
    large = rng.integers(0, 10**6, 1_000_000)
    fastsel.nonzero(large), fastsel.unique(large), fastsel.gather_nd(large, large[:, None])
    fastsel.group_indices(large), fastsel.index_in(large, large[:100_000])
    fastsel.isin(large, large)
    fastsel.show_config(), fastsel.show_config(mode="dicts")
"""
AUDIT = """
import sys

# fastsel and NumPy import these modules; they are imported before the hook listens.
import contextlib, contextvars, math, operator, os, platform, random, threading, warnings
import numpy as np, numpy.lib.array_utils

FORBIDDEN = ("socket.", "subprocess.", "pickle.", "os.system", "os.exec",
             "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.mkdir", "urllib.",
             "ctypes.dlopen", "shutil.", "tempfile.", "webbrowser.")
events, opened = [], []

def listen(event, arguments):
    if event.startswith(FORBIDDEN):
        events.append((event, arguments))
    elif event == "open":
        opened.append((str(arguments[0]), arguments[1]))

sys.addaudithook(listen)
import fastsel
for path, mode in opened:
    inside = os.path.realpath(path).startswith(os.path.dirname(os.path.realpath(fastsel.__file__)))
    imported = path.startswith(tuple(os.path.dirname(m.__file__) for m in (os, np)))
    assert inside or imported or path.startswith(("/sys/fs/cgroup/", "/proc/cpuinfo")), path
    assert mode in ("r", "rb", None), (path, mode)
assert not events, events
"""
CALLS_OPEN_NOTHING = """
calls()  # NumPy imports a few modules when they are first needed
opened.clear()
calls()
assert {path for path, mode in opened} <= {"/proc/cpuinfo"}, opened  # by show_config
assert not events, events
"""


def test_calls_open_no_file_start_no_process_and_unpickle_nothing(run_python):
    # With these settings Python writes no compiled files, and reads none from another folder.
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": None}
    run_python(AUDIT + CALLS + CALLS_OPEN_NOTHING, **settings)


WATCHED = """
import os

class Watched(dict):
    "The environment of this process; appends the names that are read to `read`."

    def __getitem__(self, name):
        read.append(name)
        return super().__getitem__(name)

    def get(self, name, default=None):
        read.append(name)
        return super().get(name, default)

def openmp_and_fastsel_names_read():
    return {name for name in read if name.startswith(("OMP_", "FASTSEL_"))}

read = []
os.environ = Watched(os.environ)
import fastsel
assert "FASTSEL_NUM_THREADS" in openmp_and_fastsel_names_read()
read.clear()
"""


def test_python_reads_the_environment_at_import_and_not_during_calls(run_python):
    """Only names that begin with OMP_ or FASTSEL_ are checked. The tests of the compiled kernels
    show which variables C reads."""
    code = "calls()\nassert openmp_and_fastsel_names_read() == set(), read"
    run_python(WATCHED + CALLS + code)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_reads_one_variable(run_python):
    code = """
if os.fork():
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
assert openmp_and_fastsel_names_read() == {"FASTSEL_FORK_THREADS"}, read
"""
    run_python(WATCHED + code)


def test_a_variable_set_after_the_import_changes_no_setting(run_python):
    code = """
import os
import fastsel
before = fastsel.show_config(mode="dicts")
for name in ("FASTSEL_NUM_THREADS", "FASTSEL_KEEP_MB", "OMP_NUM_THREADS"):
    os.environ[name] = "7"  # os.environ sets it for C as well
os.environ["FASTSEL_CPU"] = "base"
assert fastsel.show_config(mode="dicts") == before
"""
    run_python(code, FASTSEL_NUM_THREADS="3")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_import_registers_three_fork_handlers_in_python(run_python):
    """In a build with OpenMP, C registers fork handlers, too, by pthread_atfork."""
    code = """
import os
import numpy

def register(**handlers):
    for when, handler in handlers.items():
        if handler.__module__.startswith("fastsel"):
            print(when, handler.__module__)
    original(**handlers)

original, os.register_at_fork = os.register_at_fork, register
import fastsel
"""
    assert sorted(run_python(code).splitlines()) == [
        "after_in_child fastsel._core._memory",
        "after_in_child fastsel._core._threads",
        "after_in_child fastsel._patch",
    ]


# The compiled kernels.

KERNELS = sorted(
    path for end in ("so", "pyd") for path in Path(fastsel.__file__).parent.glob(f"*/*.{end}")
)
HAS_READELF = pytest.mark.skipif(
    not sys.platform.startswith("linux")
    or not shutil.which("readelf")
    or any(
        name in KERNELS[0].read_bytes() for name in (b"__asan_init", b"__tsan_init", b"__gcov_init")
    ),
    reason="needs Linux, readelf, and a build without sanitizers and gcov, which add flags",
)


def readelf(kernel, *options):
    command = ["readelf", "--wide", *options, str(kernel)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@HAS_READELF
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name.split(".")[0])
def test_each_kernel_is_hardened(kernel):
    dynamic, segments = readelf(kernel, "--dynamic"), readelf(kernel, "--segments")
    paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    assert all(path.startswith("$ORIGIN/") for path in paths)  # a wheel contains its OpenMP library
    assert dynamic.count("PATH)") == len(paths)
    assert "BIND_NOW" in dynamic
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.* RW ", segments)
    assert "RWE" not in segments
    assert ".debug_info" not in readelf(kernel, "--sections")
    assert str(Path(fastsel.__file__).parent).encode() not in kernel.read_bytes()


@HAS_READELF
def test_kernels_with_buffers_on_the_stack_guard_them():
    names = {k.name.split(".")[0] for k in KERNELS if "__stack_chk_fail" in readelf(k, "--symbols")}
    assert {"bitmask", "coordinates", "gather", "selected_items", "partitions"} <= names


def kernels_that_call(function):
    """The names of the kernels that have a dynamic symbol whose name ends with `function`."""
    return {
        kernel.name.split(".")[0]
        for kernel in KERNELS
        if re.search(rf"{function}(@|$)", readelf(kernel, "--dyn-syms"), re.MULTILINE)
    }


@HAS_READELF
def test_only_two_kernels_read_the_environment_and_one_handles_forks():
    """`levels` reads FASTSEL_CPU once. `parallel` reads the size of stacks when it makes threads
    as a trial, and has fork handlers; in a serial build it does neither."""
    assert kernels_that_call("getenv") in ({"levels", "parallel"}, {"levels"})
    assert kernels_that_call("atfork") == ({"parallel"} if parallel.is_threaded() else set())


@pytest.mark.skipif(
    b"__gcov_init" in KERNELS[0].read_bytes(),
    reason="in a build for line coverage, each kernel calls getenv",
)
def test_kernels_that_read_the_environment_name_three_variables():
    names = {
        kernel.name.split(".")[0]: {*re.findall(rb"\b(?:FASTSEL|OMP|GOMP|KMP)_[A-Z_]+(?=\0)", data)}
        for kernel in KERNELS
        if b"getenv" in (data := kernel.read_bytes())
    }
    assert names.pop("levels") == {b"FASTSEL_CPU"}
    # A linker may store OMP_STACKSIZE as the end of GOMP_STACKSIZE; a serial build has neither.
    assert names in (
        {"parallel": {b"OMP_STACKSIZE", b"GOMP_STACKSIZE"}},
        {"parallel": {b"GOMP_STACKSIZE"}},
        {},
    )


def test_the_seed_is_new_in_every_process_unless_the_environment_sets_it(run_python, monkeypatch):
    monkeypatch.delenv("FASTSEL_HASH_SEED")
    code = "from fastsel._unique import _keys; print(_keys.SEEDS)"
    assert len({run_python(code) for _ in range(3)}) == 3
    assert len({run_python(code, FASTSEL_HASH_SEED="7") for _ in range(2)}) == 1
