"""Several callers of fastsel at once."""

import threading


def in_threads(functions, timeout=600):
    """Run all at once, each in a thread of its own; the first error comes through. The time is for
    what hangs, not for what is slow."""
    errors, gate = [], threading.Barrier(len(functions))

    def run(function):
        try:
            gate.wait(timeout)
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
