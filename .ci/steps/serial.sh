# The tests that take longest are left out: they run on the wheel. The short check also leaves out project,
# tools, dask, typing, and the families, which the checked build tests on the same NumPy.
without=("$tests/cli")
[ "$long" ] || without+=("$tests"/{positions,selection,gather,unique,sets,project,tools,dask,typing})
run_tests "${suite[@]}" "${without[@]/#/--ignore=}" --hypothesis-profile=few \
    --ignore-glob="*/test_"{unique,tables,presorted,dense,sorting,few,huge,interrupts,memory,written_meanwhile}.py
