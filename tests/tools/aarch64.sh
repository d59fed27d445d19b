#!/usr/bin/env bash
# The kernels' tests on AArch64, emulated by qemu, on a Debian of another architecture:
#
#     tests/tools/aarch64.sh FOLDER [arguments of pytest]
#
# FOLDER gets all it takes: Debian's Python, unpacked but not installed, NumPy and pytest by pip, and
# a copy of the source, built for AArch64. Only the last is made anew each time. It needs qemu-user,
# gcc-aarch64-linux-gnu and a python3 with Cython, setuptools and NumPy. A quarter of an hour and
# more for the default tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- tests/positions tests/selection tests/gather tests/unique/test_{distinct,distinct_values,dense}.py tests/core/test_threads.py
root=$work/root site=$work/site source=$work/source
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
python3=$(command -v "${PYTHON:-python3}")

if [ ! -e "$root" ]; then
    rm -rf "$work/apt" "$work/unpacked"
    mkdir -p "$work"/apt/{state/lists,cache/archives}/partial "$work/unpacked"
    : > "$work/apt/installed"
    arm_apt() {
        apt-get -q -y -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
            -o Dir::State="$work/apt/state" -o Dir::State::status="$work/apt/installed" \
            -o Dir::Cache="$work/apt/cache" -o Debug::NoLocking=1 "$@"
    }
    arm_apt update
    arm_apt install --download-only --no-install-recommends python3-dev libgomp1 libstdc++6
    for package in "$work"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$work/unpacked"; done
    mv "$work/unpacked" "$root"
fi

# Tests start it by this name, too.
version=$(basename "$(readlink "$root/usr/bin/python3")")  # such as python3.11
printf '#!/bin/sh\nPYTHONHOME=%q exec %q -L %q -0 "$0" %q "$@"\n' \
    "$root/usr" "$qemu" "$root" "$root/usr/bin/$version" > "$work/python"
chmod +x "$work/python"

if [ ! -e "$site" ]; then
    "$python3" -m pip install --quiet --target "$work/packages" --only-binary=:all: \
        --python-version "${version#python}" --implementation cp \
        --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 \
        numpy pytest hypothesis ml_dtypes
    mv "$work/packages" "$site"
fi

rm -rf "$source"
mkdir "$source"
cp -r fastsel tests setup.py pyproject.toml LICENSE README.md "$source"
cd "$source"
rm -f fastsel/*/*.so
CC=aarch64-linux-gnu-gcc LDSHARED="aarch64-linux-gnu-gcc -shared" \
    CFLAGS="-I$root/usr/include/$version -I$site/numpy/_core/include -idirafter $root/usr/include" \
    _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=.cpython-${version//[!0-9]}-aarch64-linux-gnu.so \
    "$python3" setup.py -q build_ext --inplace

export PYTHONPATH=$source:$site
for level in base neon; do
    FASTSEL_CPU=$level "$work/python" -P -m fastsel info
    FASTSEL_CPU=$level "$work/python" -P -m pytest -q -p no:cacheprovider --hypothesis-profile=few "$@"
done
