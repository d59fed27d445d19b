"""Check that a wheel has OpenMP and that a call starts a thread; cibuildwheel runs this script on
each wheel."""

import os
import subprocess
import sys

import numpy as np

import fastsel


def count_threads():
    """The number of threads of this process."""
    if sys.platform == "linux":
        return len(os.listdir("/proc/self/task"))
    if sys.platform == "win32":
        query = f"(Get-Process -Id {os.getpid()}).Threads.Count"
        return int(subprocess.check_output(["powershell", "-NoProfile", "-Command", query]))
    lines = subprocess.check_output(["ps", "-M", "-p", str(os.getpid())]).splitlines()
    return len(lines) - 1  # the first line is a heading


def main():
    config = fastsel.show_config(mode="dicts")
    if not config["threads by"].startswith("OpenMP"):
        raise SystemExit(f"this wheel has no OpenMP, but a {config['threads by']}")
    fastsel.set_num_threads(2)
    array = np.arange(2_000_000) % 3
    expected = np.count_nonzero(array)
    before = count_threads()
    count = fastsel.count_nonzero(array)
    after = count_threads()  # OpenMP keeps its threads for the next call
    if count != expected or after <= before:
        raise SystemExit(f"{before} threads before a call, {after} after it, {count} items")
    print(f"{config['threads by']}: {before} threads before a call, {after} after it")


if __name__ == "__main__":
    main()
