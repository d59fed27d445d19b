# Kernels for small arrays serve these calls, too; then the tests run on fastsel as it is installed.
logged numpy "$python" -P "$conformance/numpy_suite.py"
sed -n '/tests that called fastsel/,$p' numpy.log
