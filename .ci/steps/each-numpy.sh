fresh numpy "$(wheel)" "${tools[@]}" "scipy>=1.15"
for version in 2.1 2.2 2.3 2.4; do  # 2.0: see the step oldest
    "$python" -m pip install --quiet "numpy==$version.*"
    run_tests "$tests"/{positions,selection,gather,unique,core} --hypothesis-profile=few
done
