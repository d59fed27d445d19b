# A report ends the process: it would be lost among captured output.
tested() {  # BUILD OPTION...
    under_sanitizers "$1" run_tests --capture=sys --hypothesis-profile=few "${@:2}"
}
if [ ! "$long" ]; then
    tested sanitized "${suite[@]}" --one-of=5 -k "not ($hours)"
    exit
fi
tested sanitized "${suite[@]}" -k "not ($hours)"
# For 20 minutes, tests of what data and the system may do to a call. Each allocation may fail in them, but
# for those that checks of indices need.
build faults "$in_place" FASTSEL_SANITIZE=1
faults=("$tests"/core/test_{fork,interrupts,written_meanwhile,out_of_memory,memory,hostile,bounds}.py
    "$tests"/core/test_{threads,gil,thread_counts,thread_rules,openmp,odd_arrays,odd_arguments}.py
    "$tests"/unique/test_{hash_table,hostile_keys}.py "$tests"/gather/test_gather_errors.py)
stop=$((SECONDS + 1200))
while [ $SECONDS -lt $stop ]; do
    FASTSEL_LONG=1 FASTSEL_HASH_SEED=$RANDOM tested faults "${faults[@]}"
done
