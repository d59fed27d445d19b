cd "$here"
asv() { PATH=$bin:$PATH "$bin/asv" "$@" --config benchmarks/asv/asv.conf.json; }
asv check -E existing
asv machine --yes
# Every benchmark that has small inputs, and the speed-ups of cells of KEY (cells.py) with 1e4 or 1e5 items.
logged asv asv run --python=same --quick --dry-run -b '[(, ](100|10000|4096)[,)]' -b 'SpeedUp.*1e[45]'
if grep -nE "failed|Traceback" "$work/asv.log"; then exit 1; fi
tail -3 "$work/asv.log"
