run_tests -m slow --hypothesis-profile=few "${suite[@]}"
