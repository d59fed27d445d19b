use build
files_of() { "$python" -m zipfile -l "$1"; }
# The wheel has modules, stubs and kernels, and nothing else.
diff <(cd "$here" && { find fastsel -name "*.py" -o -name "*.pyi" -o -name py.typed
        find fastsel -name "*.pyx" | sed 's/pyx$/so/'
        echo fastsel/_core/_cyutility.so; } | sort) \
    <(files_of dist/*.whl | sed -n 's/^\(fastsel\/[^ ]*\) .*/\1/p' | sed 's/\..*\.so$/.so/' | sort)
# The wheel has an OpenMP runtime of its own, and an SBOM of auditwheel (PEP 770), which names this runtime.
files_of "$(wheel)" | grep "fastsel.libs/libgomp"
files_of "$(wheel)" | grep "dist-info/sboms/auditwheel.cdx.json"
"$bin/twine" check --strict dist/* wheels/*
"$bin/check-wheel-contents" wheels
ls -l dist wheels
# A call starts a thread.
fresh threads "$(wheel)"
"$python" -P "$tests/tools/wheel_threads.py"
