"$tests/tools/free_threaded.sh" "$work/free-threaded" "$work"/dist/*.tar.gz ${long:+all}
