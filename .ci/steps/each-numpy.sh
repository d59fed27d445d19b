fresh numpy "$(wheel)" "${tools[@]}" "scipy>=1.15"
# Each version has a fourth of the tests.
for version in 2.1 2.2 2.3 2.4; do  # 2.0: see the step oldest
    "$python" -m pip install --quiet "numpy==$version.*"
    run_tests "$tests"/{positions,selection,gather,unique,core} --part="${version#2.}/4" --hypothesis-profile=few
done
