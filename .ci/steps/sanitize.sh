sanitized() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so):$(gcc -print-file-name=libstdc++.so.6)" \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        run_tests --capture=sys "$@"  # a report ends the process: it would be lost among captured output
}
if [ "$long" ]; then
    # All tests but those of $hours once, and then, for 20 minutes, tests of what data and the system may do
    # to a call.
    sanitized "${suite[@]}" --hypothesis-profile=few -k "not ($hours)"
    faults=("$tests"/core/test_{fork,interrupts,written_meanwhile,out_of_memory,memory,hostile,bounds}.py
        "$tests"/core/test_{threads,gil,thread_counts,thread_rules,openmp,odd_arrays,odd_arguments}.py
        "$tests"/unique/test_{hash_table,hostile_keys}.py "$tests"/gather/test_gather_errors.py)
    stop=$((SECONDS + 1200))
    while [ $SECONDS -lt $stop ]; do
        FASTSEL_LONG=1 FASTSEL_HASH_SEED=$RANDOM sanitized "${faults[@]}" --hypothesis-profile=few
    done
else
    # Every layout, and what is written meanwhile.
    sanitized "${suite[@]}" \
        -k "layout or unaligned or out_ or meanwhile or replaced_after_hashing or corpus or tiles or long_rows or in_order or one_new_word"
fi
