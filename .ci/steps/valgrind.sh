type -P valgrind > /dev/null || { left_out "valgrind is not installed"; exit 0; }
# In short pieces: NumPy's sort for AVX2 is so long without a branch that valgrind has no room for it.
PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 valgrind -q --vex-guest-max-insns=25 --num-callers=40 \
    --log-file=valgrind.log "$python" -P "$tests/tools/smoke.py"
# Python itself and the dynamic linker have reports of their own.
if grep -B30 -A30 "fastsel/_" valgrind.log; then exit 1; fi
