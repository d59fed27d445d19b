"""A thread that writes to an array while the calling thread reads it."""

import threading
import time


def while_writing(write, check, seconds=0.05):
    """Call `check` again and again for `seconds`, at least once, while another thread calls `write`
    again and again."""
    stop = threading.Event()

    def writer():
        while not stop.is_set():
            write()

    thread = threading.Thread(target=writer, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + seconds
        check()
        while time.monotonic() < end:
            check()
    finally:
        stop.set()
        thread.join()
