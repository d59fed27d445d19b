fresh order "$(wheel)[test]" pytest-randomly
run_tests -n 4 "${suite[@]}"
