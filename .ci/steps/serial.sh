# The tests that take longest are left out: they run on the wheel. The short check also leaves out project,
# tools, dask, typing, and the families, which the checked build tests on the same NumPy.
without=("$tests/cli")
also=()
if [ ! "$long" ]; then
    without+=("$tests"/{positions,selection,gather,unique,sets,project,tools,dask,typing})
    also=(--ignore-glob="*/test_"{out_of_memory,levels,fork,thread_counts,size_classes,hostile,bounds,references,conduct,results,numbers_with_fields}.py)
fi
run_tests "${suite[@]}" "${without[@]/#/--ignore=}" --hypothesis-profile=few \
    --ignore-glob="*/test_"{unique,tables,presorted,dense,sorting,few,huge,interrupts,memory,written_meanwhile}.py \
    "${also[@]}"
FASTSEL_CPU=base run_tests "$tests"/*/test_{positions,count_nonzero,few_tests,small}.py
