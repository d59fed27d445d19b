"""Signal handlers and forks while patch_numpy or unpatch_numpy replaces functions."""

import os

import pytest

from fastsel._core import _numpy

# Python calls `at_step` before each replacement of the code of a function.
STEPS = """
import inspect, os, signal, sys, threading
import numpy as np
import fastsel
from fastsel import _patch
from fastsel._core import _numpy

def at_step():
    pass

def audit(event, arguments):
    if event == "object.__setattr__" and arguments[1] == "__code__":
        at_step()

def state():
    \"\"\"Whether NumPy is patched, which all functions must agree on.\"\"\"
    functions = [inspect.unwrap(getattr(np, name)) for name in _numpy.NAMES]
    (patched,) = {"_fastsel" in function.__code__.co_names for function in functions}
    assert patched == _patch.is_patched()
    return patched

sys.addaudithook(audit)
"""
EXCEPTION_AT_EACH_STEP = """
def at_step():
    global left
    left -= 1
    if left == 0:
        raise KeyboardInterrupt

for step in range(1, len(_numpy.NAMES) + 1):
    left = 0
    {before}
    left = step
    try:
        {call}
    except KeyboardInterrupt:
        print(state())
"""
HANDLER_PATCHES = """
def handle(*_):
    with fastsel.patched():
        print(state(), end=" ")

def at_step():
    global left
    left -= 1
    if left == 0:
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, handle)
for step in range(1, len(_numpy.NAMES) + 1):
    left = step
    fastsel.patch_numpy()
    print(state(), end=" ")
    left = step
    fastsel.unpatch_numpy()
    print(state())
"""
FORK_AT_A_STEP = """
half_way, forked, steps = threading.Event(), threading.Event(), []

def at_step():
    if threading.current_thread() is patching:
        steps.append(1)
        if len(steps) == 5:
            half_way.set()
            forked.wait()

patching = None
{before}
patching = threading.Thread(target=fastsel.{function})
patching.start()
half_way.wait()
if (child := os.fork()) == 0:
    signal.alarm(60)  # ends a child that hangs
    before = state()
    with fastsel.patched():
        print(before, state())
    print(state(), flush=True)
    os._exit(0)
forked.set()
patching.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.parametrize(
    ("before", "call"),
    [("", "fastsel.patch_numpy()"), ("fastsel.patch_numpy()", "fastsel.unpatch_numpy()")],
    ids=["patch", "unpatch"],
)
def test_an_exception_of_a_signal_handler_leaves_numpy_unpatched(before, call, run_python):
    code = STEPS + EXCEPTION_AT_EACH_STEP.format(before=before, call=call)
    assert run_python(code) == "False\n" * len(_numpy.NAMES)


def test_a_signal_handler_may_patch_while_numpy_is_patched_or_unpatched(run_python):
    printed = run_python(STEPS + HANDLER_PATCHES, timeout=60)
    assert printed == "True True True False\n" * len(_numpy.NAMES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize(
    ("before", "function", "patched"),
    [("", "patch_numpy", True), ("fastsel.patch_numpy()", "unpatch_numpy", False)],
    ids=["patch", "unpatch"],
)
def test_a_child_of_a_fork_while_another_thread_patches(before, function, patched, run_python):
    """The child does not wait for the thread, and all functions agree in it."""
    code = STEPS + FORK_AT_A_STEP.format(before=before, function=function)
    assert run_python(code).split() == [str(patched), "True", str(patched)]
