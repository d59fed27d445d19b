fresh parallel "$(wheel)[test]" pytest-run-parallel
run_tests --parallel-threads=4 --hypothesis-profile=few "${suite[@]}"
