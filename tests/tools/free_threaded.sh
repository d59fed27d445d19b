#!/usr/bin/env bash
# Build fastsel on a free-threaded Python, and run tests there without the GIL:
#
#     tests/tools/free_threaded.sh FOLDER [PACKAGE] [all]
#
# FOLDER, which is made, gets the environments. PACKAGE is the source that pip builds: an sdist or a
# folder, by default this one. The Python is python3.14t or python3.13t on the PATH, or 3.13t in
# ~/.cache/fastsel. Without such a Python, the script says so and succeeds.
#
# `all` runs the whole suite, all tests in four threads at once, and the tests of threads under
# ThreadSanitizer; otherwise some tests of threads, writers and patches run. With `all`, a missing
# Python is built in ~/.cache/fastsel from Debian's sources (some minutes, once). This needs
# apt-get, gcc, make, libssl-dev, libffi-dev and zlib1g-dev.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fastsel
mkdir -p "$1"
work=$(cd "$1" && pwd)
package=${2:-$here}
all=${3:-}
unset PYTHON_GIL

find_python() {
    local found
    for found in python3.14t python3.13t "$cache/python3.13t/bin/python3.13t"; do
        # A command of pyenv may exist without its Python.
        if "$found" -c "import ssl, sys, venv; sys.exit(sys._is_gil_enabled())" 2> /dev/null; then
            type -P "$found"
            return
        fi
    done
}

build_python() {
    local folder=$cache/building
    rm -rf "$folder"
    mkdir -p "$folder"/{sources,lists/partial,cache/archives/partial,source}
    cd "$folder"
    # The archive and its key are those from which this system installs its packages.
    printf '%s\n' "Types: deb-src" "Suites: trixie" "Components: main" \
        "URIs: $(apt-get indextargets --format '$(SITE)' "Created-By: Packages" "Component: main" | head -1)" \
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg" > sources/trixie.sources
    debian() {
        apt-get -q -y -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$folder/sources" \
            -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache" "$@"
    }
    debian update
    debian source --download-only --tar-only python3.13
    tar -xf python3.13_*.orig.tar.* -C source --strip-components=1
    cd source
    ./configure --disable-gil --prefix="$cache/python3.13t"
    make -j"$(nproc)"
    make install
    rm -rf "$folder"
}

free=$(find_python)
if [ -z "$free" ] && [ "$all" ] && type -P apt-get gcc make > /dev/null; then
    (build_python) > "$work/python.log" 2>&1 || { tail -20 "$work/python.log"; exit 1; }
    free=$(find_python)
fi
if [ -z "$free" ]; then
    echo "LEFT OUT: no python3.14t or python3.13t"
    exit
fi
"$free" -VV
"$free" -m venv "$work/free"
python=$work/free/bin/python

# Other packages are not built here: pip chooses versions that have a wheel.
export PIP_PREFER_BINARY=1 PIP_QUIET=1
"$python" -m pip install "$package" pytest hypothesis ml_dtypes "scipy>=1.15" pytest-run-parallel
cd "$work"
"$python" -P -W error -c "import fastsel, sys; sys.exit(sys._is_gil_enabled())"

run_tests() {
    # A warning that an import enables the GIL is an error, too.
    "$python" -P -m pytest -q -c "$here/pyproject.toml" --rootdir "$here" -p no:cacheprovider "$@"
}
if [ -z "$all" ]; then
    run_tests "$here"/tests/core/test_{threads,gil,written_meanwhile,adapters,results}.py \
        "$here"/tests/adapters/test_patch.py --hypothesis-profile=few
    exit
fi
suite=("$here/tests" --ignore "$here/tests/conformance" --ignore "$here/tests/project")
run_tests "${suite[@]}"
run_tests --parallel-threads=4 --hypothesis-profile=few "${suite[@]}"

runtime=$(gcc -print-file-name=libtsan.so)
if [ -e "$runtime" ]; then
    # The package under ThreadSanitizer shadows the installed one. The sanitizer crashes each process
    # that has random addresses. setarch turns them off; LD_PRELOAD is for Python alone.
    FASTSEL_SANITIZE=thread "$python" -m pip install --no-deps --target "$work/race" "$package"
    setarch -R env LD_PRELOAD="$runtime" PYTHONPATH="$work/race" \
        TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66" \
        "$python" -P -m pytest -q -c "$here/pyproject.toml" --rootdir "$here" -p no:cacheprovider \
        "$here"/tests/core/test_{threads,gil}.py
else
    echo "LEFT OUT: this gcc has no ThreadSanitizer"
fi
