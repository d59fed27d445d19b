# The short check leaves the largest grids out.
if [ "$long" ]; then
    run_tests -m slow --hypothesis-profile=few "${suite[@]}"
else
    run_tests -m slow --hypothesis-profile=few "${suite[@]}" -k "not ($slow_hours)" \
        --ignore "$tests/unique" --ignore "$tests/sets" --ignore "$tests/dask"
fi
