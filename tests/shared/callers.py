"""Calls of fastsel from several threads at once."""

import threading


def run_in_threads(functions, timeout=600):
    """Run all functions at once, each in its own thread, and raise the first error. The timeout is
    for functions that hang, not for slow functions."""
    errors, barrier = [], threading.Barrier(len(functions))

    def run(function):
        try:
            barrier.wait(timeout)
            function()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(function,), daemon=True) for function in functions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        assert not thread.is_alive(), "hangs"
    if errors:
        raise errors[0]
