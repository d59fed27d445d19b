seconds=5 seed=1
[ -z "$long" ] || seconds=60 seed=0  # 0: a new seed in each run
"$python" -P "$tests/tools/fuzz_dask.py" --seconds $seconds --seed $((seed ? 1000 : RANDOM * 1000))
"$python" -P -c "import atheris" 2> /dev/null || { left_out "atheris is not installed"; exit 0; }
for family in selection coordinates unique sets slices gather; do
    rm -rf corpus
    cp -r "$tests/tools/corpus/$family" corpus  # which grows
    logged fuzz "$python" -P "$tests/tools/fuzz.py" $family -seed=$seed -max_total_time=$seconds -max_len=600 corpus
    tail -1 fuzz.log
done
