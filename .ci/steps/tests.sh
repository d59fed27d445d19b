run_tests "${suite[@]}"
