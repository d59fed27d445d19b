fresh oldest "$(wheel)" "numpy==2.0.*" "${tools[@]}" "scipy>=1.15"
FASTSEL_CPU=base run_tests "${suite[@]}" --part="$(first_of 10)" --hypothesis-profile=few -k "not ($hours)"
