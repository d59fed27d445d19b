fresh coverage "numpy!=2.5.0" "${tools[@]}" "scipy>=1.15" onnx
build coverage "$in_place" FASTSEL_COVERAGE=1
PYTHONPATH=$work/builds/coverage run_tests "$tests"/{core,positions,selection,gather,unique,sets,onnx,adapters/test_sparse.py} \
    --hypothesis-profile=few
"$python" builds/coverage/tests/tools/uncovered.py
