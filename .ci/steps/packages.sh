fresh packages packaging
# Older versions of pip mistake their own Python for the one that is asked for.
"$python" -m pip install --quiet --upgrade pip
runners=(ubuntu-24.04 ubuntu-24.04-arm)
[ -z "$long" ] || runners=()  # all
"$python" "$tests/tools/platforms.py" --extra wheel-test "${runners[@]}"
