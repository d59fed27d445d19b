need serial  # for its environment, which has the oldest NumPy
use serial
chosen=("$tests"/{positions,selection,gather}
    "$tests"/*/test_{keys,dense,tables,partitions,sorting,presorted,few,group_indices,sets,slices,index_in,remap}.py)
[ -z "$long" ] || chosen=("${suite[@]}" -k "not ($hours)")
PYTHONPATH=$work/builds/checked run_tests "${chosen[@]}" --hypothesis-profile=few
