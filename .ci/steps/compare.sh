# No -P: the script imports modules of its own folder, which must be on the path. The source folder is not.
compare() { "$python" "$here/benchmarks/peers/compare.py" --size 1e4 --seconds 0.02 "$@"; }
compare --tests 1000 > compare.md
tail -5 compare.md
compare --op dask > dask.md
tail -5 dask.md
