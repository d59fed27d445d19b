"$python" -P -m mypy --strict --config-file "$here/pyproject.toml" "$tests/typing"
"$python" -P -m mypy.stubtest fastsel._unique._unique --ignore-missing-stub
"$bin/pyright" --pythonpath "$python" --project "$here/pyproject.toml"
"$python" -P "$tests/typing/beside_numpy.py"
