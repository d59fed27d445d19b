run_tests -vv "$conformance/test_onnx_backend.py"
run_tests -m "" "$conformance" --ignore "$conformance/test_onnx_backend.py"
