run_tests --doctest-modules --pyargs fastsel
