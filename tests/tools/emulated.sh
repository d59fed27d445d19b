#!/usr/bin/env bash
# Run the kernels' tests on another CPU, which qemu emulates; for Debian:
#
#     tests/tools/emulated.sh CPU FOLDER [arguments of pytest]
#
# CPU is aarch64, or an x86-64 that qemu-x86_64 -cpu knows, such as Nehalem, which has neither AVX
# nor BMI, or Haswell, which has AVX2. FOLDER gets NumPy, pytest, hypothesis and ml_dtypes by pip, a
# copy of the source, built for that CPU, and, for AArch64, Debian's Python, unpacked but not
# installed. A later run with the same FOLDER copies and builds only the source again. The script
# needs qemu-user-static and a python3 with pip, Cython, setuptools and NumPy, for AArch64 also
# gcc-aarch64-linux-gnu. The tests take up to half an hour for each CPU level.
set -euo pipefail
cd "$(dirname "$0")/../.."
cpu=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- tests/positions tests/selection tests/gather tests/unique/test_{unique,keys,complex,tables,partitions,presorted,dense}.py tests/core/test_threads.py
root=$work/root site=$work/site source=$work/source
python3=$(command -v "${PYTHON:-python3}")

if [ "$cpu" = aarch64 ]; then
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
    version=$(basename "$(readlink "$root/usr/bin/python3")")  # such as python3.11
    home=$root/usr program=$root/usr/bin/$version levels="base neon"
    qemu=(qemu-aarch64-static -L "$root")
    for_target=(--only-binary=:all: --implementation cp --python-version "${version#python}"
        --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64)
    build_env=(CC=aarch64-linux-gnu-gcc LDSHARED="aarch64-linux-gnu-gcc -shared"
        CFLAGS="-I$root/usr/include/$version -I$site/numpy/_core/include -idirafter $root/usr/include"
        _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=".cpython-${version//[!0-9]}-aarch64-linux-gnu.so")
else
    home=$("$python3" -c "import sys; print(sys.base_prefix)")
    program=$(readlink -f "$python3") levels=v4  # a CPU without v4 runs its best level
    qemu=(qemu-x86_64-static -cpu "$cpu")
    export OPENBLAS_CORETYPE=$cpu  # OpenBLAS by itself takes an emulated CPU for a later one
    for_target=() build_env=()
fi

# The emulated Python as one program, which tests start, too.
{
    echo "#!/bin/sh"
    printf 'PYTHONHOME=%q exec' "$home"
    printf ' %q' "${qemu[@]}"
    printf ' -0 "$0" %q "$@"\n' "$program"
} > "$work/python"
chmod +x "$work/python"

if [ ! -e "$site" ]; then
    "$python3" -m pip install --quiet --target "$work/packages" "${for_target[@]}" \
        numpy pytest hypothesis ml_dtypes
    mv "$work/packages" "$site"
fi

rm -rf "$source"
mkdir "$source"
cp -r fastsel tests setup.py pyproject.toml LICENSE README.md "$source"
cd "$source"
rm -f fastsel/*/*.so
env "${build_env[@]}" "$python3" setup.py -q build_ext --inplace

export PYTHONPATH=$source:$site
if [ "$cpu" != aarch64 ]; then  # without NumPy's CPU features: its argsort for AVX2 is wrong on qemu 7
    NPY_DISABLE_CPU_FEATURES=$("$work/python" -P -c "
from numpy._core import _multiarray_umath as core
print(*(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)))")
    export NPY_DISABLE_CPU_FEATURES
fi
for level in $levels; do
    FASTSEL_CPU=$level "$work/python" -P -m fastsel info
    FASTSEL_CPU=$level "$work/python" -P -m pytest -q -p no:cacheprovider --hypothesis-profile=few "$@"
done
