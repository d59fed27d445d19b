fresh packages packaging
# Older versions of pip mistake their own Python for the one that is asked for.
"$python" -m pip install --quiet --upgrade pip
"$python" "$tests/tools/platforms.py" --extra wheel-test
