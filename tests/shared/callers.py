"""Calls of fastsel from several threads at once, and changes in the middle of a call."""

import contextlib
import sys
import threading

TIMEOUT = 600  # seconds; for functions that hang, not for slow functions


def run_in_threads(functions):
    """Run all functions at once, each in its own thread, and raise the first error."""
    errors, barrier = [], threading.Barrier(len(functions))

    def run(function):
        try:
            barrier.wait(TIMEOUT)
            function()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(function,), daemon=True) for function in functions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive(), "hangs"
    if errors:
        raise errors[0]


@contextlib.contextmanager
def before_line(line, change):
    """In the block, call `change`, in place of another thread, before Python runs line number
    `line` of fastsel's modules, counted from 0; or at the end of the block, if there are fewer."""
    left = [line]

    def trace(frame, event, _):
        if event == "line" and frame.f_globals["__name__"].startswith("fastsel."):
            left[0] -= 1
            if left[0] == -1:
                sys.settrace(None)
                change()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        if left[0] >= 0:
            change()
