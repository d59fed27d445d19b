# A chunk that writes beyond a view fails a test, and is reported from each thread. Cython reports the
# IndexError as unraisable; pytest makes it a warning, and each warning an error.
planted sanitized planted-index 's/^\( *\)self\.counts\[k\] = pack_blocks/\1self.counts[self.chunks + 1] = 0\n&/' \
    FASTSEL_SANITIZE=1 FASTSEL_CHECKED=1 FASTSEL_ONLY=bitmask
status=0
under_sanitizers planted-index pytest "$tests/positions/test_count_nonzero.py" -k intp_scalar > planted-index.log 2>&1 ||
    status=$?
[ $status = 1 ] && grep -m1 "PytestUnraisableExceptionWarning.*PackItems.chunk" planted-index.log ||
    { tail -30 planted-index.log; exit 1; }
logged planted-index under_sanitizers planted-index "$python" -P -c '
import sys, threading, time, numpy as np, fastsel
fastsel.set_num_threads(4)
threads = set()
sys.unraisablehook = lambda error: threads.add(error.exc_type is IndexError and threading.get_ident())
array = np.ones(4_000_000)
stop = time.monotonic() + 60  # late regions make calls serial for a while
while len(threads) < 2 and time.monotonic() < stop:
    fastsel.count_nonzero(array)
assert len(threads) > 1 and all(threads), threads
'
