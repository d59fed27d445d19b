build mutants "$in_place"
cd builds/mutants
"$python" tests/tools/mutate.py --sample 60 --seed $RANDOM
