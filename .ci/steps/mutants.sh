build mutants "$in_place"
cd builds/mutants
# As in run_tests, without the plugin that warns of its settings.
PYTEST_ADDOPTS="-p no:asyncio" "$python" tests/tools/mutate.py --sample 60 --seed $RANDOM
