fresh lint ruff cython-lint zizmor
cd "$here"
"$bin/ruff" check .
"$bin/ruff" format --check --diff .
PATH=$bin:$PATH cython-lint fastsel
"$bin/zizmor" --offline --quiet .github
