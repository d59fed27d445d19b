"""How long does a call run after Ctrl-C? Milliseconds from the signal to the exception.

    python benchmarks/peers/interrupts.py
    python benchmarks/peers/interrupts.py --threads 1 --times 100

The arrays are so large that most calls are interrupted before they end; a call that ends is
repeated. Most arrays are views with stride 0, which need no memory. The limit is 200 ms; the exit
status is 1 if a call takes longer.
"""

import argparse
import os
import signal
import sys
import threading
import time

import numpy as np

import fastsel

LIMIT_MILLISECONDS = 200
FALSE = np.broadcast_to(False, 2**36)
CALLS = {
    "count_nonzero": lambda: fastsel.count_nonzero(np.broadcast_to(True, 2**40)),
    "count_nonzero, axis": lambda: fastsel.count_nonzero(FALSE.reshape(-1, 2), axis=0),
    "nonzero": lambda: fastsel.nonzero(FALSE.reshape(2**18, -1)),
    "extract": lambda: fastsel.extract(FALSE, FALSE),
    "boolean_mask": lambda: fastsel.boolean_mask(FALSE, FALSE),
    "gather_nd": lambda: fastsel.gather_nd(np.zeros((3, 0)), np.broadcast_to([[1]], (2**36, 1))),
    "unique": lambda: fastsel.unique(np.zeros(2**31, np.uint8), sorted=False),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=fastsel.get_num_threads())
    parser.add_argument(
        "--times", type=int, default=20, help="how often each call is interrupted; default: 20"
    )
    args = parser.parse_args()
    fastsel.set_num_threads(args.threads)
    print(f"{args.threads} threads; milliseconds\n{'':20} {'median':>8} {'longest':>8}")
    within_limit = True
    for name, call in CALLS.items():
        delays = [1e3 * delay(call) for _ in range(args.times)]
        print(f"{name:20} {np.median(delays):8.1f} {max(delays):8.1f}")
        within_limit &= max(delays) <= LIMIT_MILLISECONDS
    return 0 if within_limit else 1


def delay(call):
    """Seconds from a SIGINT during the call to its KeyboardInterrupt."""
    sent = 0.0

    def send():
        nonlocal sent
        sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(np.random.default_rng().uniform(0.2, 0.3), send)
    timer.start()
    try:
        while True:
            call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent
    finally:
        timer.join()


if __name__ == "__main__":
    sys.exit(main())
