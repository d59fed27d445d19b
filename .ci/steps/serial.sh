FASTSEL_CPU=base run_tests "${suite[@]}" --hypothesis-profile=few -k "not ($hours)"
