# test_build BUILD OPTION...: --capture=sys, because a report ends the process, and would be lost among
# captured output.
test_build() {
    under_sanitizers "$1" run_tests --capture=sys --hypothesis-profile=few "${@:2}"
}
test_build sanitized "${suite[@]}" --part="$(first_of 5)" -k "not ($hours)"
[ "$long" ] || exit 0
# For 10 minutes, tests of what data and the system may do to a call. They let each allocation fail, also
# those that a check of an index needs, so this build has no checks.
build faults "$in_place" FASTSEL_SANITIZE=1
faults=("$tests"/core/test_{fork,interrupts,written_meanwhile,out_of_memory,memory,hostile,bounds}.py
    "$tests"/core/test_{threads,gil,thread_counts,thread_rules,openmp,odd_arrays,odd_arguments}.py
    "$tests"/unique/test_{hash_table,hostile_keys}.py "$tests"/gather/test_gather_errors.py)
stop=$((SECONDS + 600))
while [ $SECONDS -lt $stop ]; do
    FASTSEL_LONG=1 FASTSEL_HASH_SEED=$RANDOM test_build faults "${faults[@]}"
done
