run_tests -n 2 "${suite[@]}"
