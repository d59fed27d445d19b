# Emulated CPUs are ten times as slow: each runs a third of these tests.
export PYTEST_ADDOPTS=--part=1/3
for cpu in aarch64 Nehalem Haswell; do
    commands=(qemu-x86_64-static)
    [ $cpu != aarch64 ] || commands=(apt-get dpkg-deb qemu-aarch64-static aarch64-linux-gnu-gcc)
    if type -P "${commands[@]}" > /dev/null; then
        PYTHON=$work/envs/build/bin/python "$tests/tools/emulated.sh" $cpu "$work/$cpu"
    else
        left_out "$cpu: needs ${commands[*]}"
    fi
done
