"""NumPy's time, and the time of a loop that only reads and writes memory, over fastsel's time. The
two sides of a ratio are timed in turns within one benchmark.

For these benchmarks more is better, but asv assumes that less is better. Therefore asv.conf.json
leaves these benchmarks out of the search for regressions.
"""

from cases import arrays, build, operator_call
from cells import KEY, Cell, choose
from implementations import NUMPY
from timing import parallel_loop, race

import fastsel

SECONDS = 0.3
NUM_THREADS = 2
KEY_CELLS = {cell.name: cell for cell in choose(["all"], {}, KEY)}


class SpeedUp:
    """NumPy's median time divided by fastsel's, for the cells that regress.py times."""

    params = (tuple(KEY_CELLS),)
    param_names = ("cell",)
    unit = "times as fast as NumPy"

    def setup(self, name):
        fastsel.set_num_threads(NUM_THREADS)
        case = build(KEY_CELLS[name])
        self.calls = {
            "numpy": operator_call(NUMPY, case),
            "fastsel": operator_call(fastsel, case),
        }

    def track_speed_up(self, _):
        times = race(self.calls, SECONDS)
        return times["numpy"].median / times["fastsel"].median


class Limit:
    """fastsel's speed, divided by the speed of a parallel loop that reads the inputs and writes as
    many bytes as the outputs have."""

    params = (
        ("nonzero", "compress"),
        ("bool", "float64"),
        (10_000_000, 100_000_000),
        (0.01, 0.5),
    )
    param_names = ("operator", "dtype", "n", "density")
    unit = "share of the limit"

    def setup(self, op, dtype, n, density):
        fastsel.set_num_threads(NUM_THREADS)
        case = build(Cell(op, dtype, n, density=density))
        call = operator_call(fastsel, case)
        written = sum(a.nbytes for a in arrays(call()))
        self.calls = {"fastsel": call, "limit": parallel_loop(case.buffers, written, NUM_THREADS)}

    def track_share_of_limit(self, *_):
        times = race(self.calls, SECONDS)
        return times["limit"].median / times["fastsel"].median
