# Each call of these tests is compared with NumPy's.
logged libraries "$python" -P "$conformance/library_suites.py"
sed -n '/calls that were compared/,$p' libraries.log
