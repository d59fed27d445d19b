# Two busy processes on two CPUs. The suite has three parts, each of which runs under one condition.
busy=()
trap 'kill "${busy[@]}"' EXIT
for _ in 1 2; do
    while :; do :; done &
    busy+=($!)
done
part() { pytest "${suite[@]}" --part="$1/3"; }
parts=()
part 1 > as-usual.log 2>&1 &
parts+=($!)
(taskset -cp 0 $BASHPID > /dev/null && part 2) > on-one-cpu.log 2>&1 &
parts+=($!)
(ulimit -v $((12 << 20)) && part 3) > little-memory.log 2>&1 &
parts+=($!)
for process in "${parts[@]}"; do wait "$process" || failed=1; done
for log in as-usual on-one-cpu little-memory; do
    [ -z "$failed" ] || tail -50 $log.log
    tail -n 1 $log.log
done
