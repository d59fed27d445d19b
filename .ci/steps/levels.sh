# NumPy's own levels are limited, too: to its lowest for base, and to the next one for v3. Then tests of
# fastsel's best level run beside NumPy's lowest.
read -ra numpy_levels < <("$python" -P -c "
from numpy._core import _multiarray_umath as core
print(*(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)))")
for level in base v3; do
    [ $level = base ] && without=${numpy_levels[*]} || without=${numpy_levels[*]:1}
    export NPY_DISABLE_CPU_FEATURES=$without FASTSEL_CPU=$level
    run_tests "$tests"/*/test_{positions,count_nonzero,tiles,compress,coordinates,coordinates_directml,few_tests,gather,small,hash_table,decimals}.py --part="$(first_of 3)"
    run_tests "$tests"/*/test_{tables,presorted,dense}.py -k "in_order or few_groups or one_new_word or each_byte or recent"
done
unset FASTSEL_CPU
export NPY_DISABLE_CPU_FEATURES=${numpy_levels[*]}
run_tests "$tests"/unique/test_{sorting,ascending,few}.py
