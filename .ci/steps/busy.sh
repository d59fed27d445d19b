busy=()
trap 'kill "${busy[@]}"' EXIT
for _ in 1 2 3 4; do
    while :; do :; done &
    busy+=($!)
done
suites=()
pytest "${suite[@]}" > as-usual.log 2>&1 &
suites+=($!)
(taskset -cp 0 $BASHPID > /dev/null && pytest "${suite[@]}") > on-one-cpu.log 2>&1 &
suites+=($!)
(ulimit -v $((12 << 20)) && pytest "${suite[@]}") > little-memory.log 2>&1 &
suites+=($!)
for process in "${suites[@]}"; do wait "$process" || failed=1; done
for log in as-usual on-one-cpu little-memory; do
    [ -z "$failed" ] || tail -50 $log.log
    tail -n 1 $log.log
done
