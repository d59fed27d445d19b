# Every chunk writes its count to the same place.
thread_sanitizer || { left_out "this gcc has no ThreadSanitizer"; exit 0; }
planted race planted-race 's/self\.counts\[k\] = pack_blocks/self.counts[0] = pack_blocks/' FASTSEL_SANITIZE=thread
under_thread_sanitizer planted-race
status=0
TSAN_OPTIONS="$TSAN_OPTIONS halt_on_error=1" "$python" -P -c '
import time, numpy as np, fastsel
fastsel.set_num_threads(4)
array = np.ones(4_000_000)
stop = time.monotonic() + 60  # late regions make calls serial for a while
while time.monotonic() < stop:
    fastsel.count_nonzero(array)
' > planted-race.log 2>&1 || status=$?
[ $status = 66 ] && grep -m1 "data race.*PackItems" planted-race.log || { tail -30 planted-race.log; exit 1; }
