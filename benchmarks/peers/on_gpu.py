"""When does a copy to the GPU pay? fastsel beside NumPy, torch, polars, and torch on CUDA.

    python benchmarks/peers/on_gpu.py
    python benchmarks/peers/on_gpu.py --size 1e7 1e8 --op nonzero isin

A row has the median times of a call on the same arrays, and in brackets the time divided by the
time of fastsel on all threads. The number behind a name is its number of threads. `gpu_resident` is
a call on arrays in the memory of the GPU. `gpu_with_copies` also copies the arrays there, from
pinned memory, and the result back. Of several ways to call a peer, the fastest one is shown.
Without a CUDA device, the two columns are missing. Every result is compared with NumPy's first.
"""

import argparse
import datetime
import functools
import sys
from importlib.metadata import version

from cases import arrays, build, operator_call
from cells import combine
from compare import admit, steady_timings
from implementations import NUMPY
from peers import limit_threads, missing_packages, tensor
from registry import OPPONENTS, Opponent
from report import RAISED, Result

import fastsel

PEERS = ("numpy", "torch", "polars")
# name of a row -> operator, and the parts of its cell that differ from the default
ROWS = {
    "nonzero f8 30%": ("nonzero", {"density": 0.3}),
    "nonzero bool 30%": ("nonzero", {"dtype": "bool", "density": 0.3}),
    "a[mask] f8 30%": ("boolean_mask", {"density": 0.3}),
    "count_nonzero f8": ("count_nonzero", {"density": 0.3}),
    "unique few sorted": ("unique_sorted", {"dtype": "int64", "groups": 5000}),
    "unique few all outputs sorted": ("unique_all", {"dtype": "int64", "groups": 5000}),
    "unique many sorted": ("unique_sorted", {"dtype": "int64", "groups": "n/3"}),
    "unique many first": ("unique_first", {"dtype": "int64", "groups": "n/3"}),
    "unique many all outputs sorted": ("unique_all", {"dtype": "int64", "groups": "n/3"}),
    "unique distinct sorted": ("unique_sorted", {"dtype": "int64", "groups": "n"}),
    "isin 1e5 tests": ("isin", {"dtype": "int64", "tests": 1e5}),
    "gather random f8": ("gather_nd", {"dtype": "float64"}),
}
# operator -> its call on the GPU, with tensors of the arrays of the case
ON_GPU = {
    "nonzero": lambda torch, x: torch.nonzero(x, as_tuple=True),
    "boolean_mask": lambda torch, x, mask: x[mask],
    "count_nonzero": lambda torch, x: torch.count_nonzero(x),
    "unique_sorted": lambda torch, x: torch.unique(x),
    "unique_all": lambda torch, x: torch.unique(x, return_inverse=True, return_counts=True),
    "isin": lambda torch, x, tests: torch.isin(x, tests),
    "gather_nd": lambda torch, x, indices: x[indices.unbind(-1)],
}


def main():
    args = arguments().parse_args()
    threads = fastsel.get_num_threads()
    limit_threads(threads)  # before torch and polars are imported
    present = [peer for peer in PEERS if not missing_packages(peer)]
    print("\n".join(conditions(present)))
    problems = []
    for size in map(int, args.size):
        print(f"\n## {size:.0e} items".replace("e+0", "e"))
        for name, (op, parts) in ROWS.items():
            if op in args.op:
                result = measure(cell_of(op, size, parts), present, threads, args.seconds)
                print(f"{name:34} {row(result, threads)}", flush=True)
                problems += [f"{name}: {each} is wrong" for each in result.wrong]
                problems += [
                    f"{name}: {each} {why}"
                    for each, why in result.refusals.items()
                    if why.startswith(RAISED)
                ]
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr)
    return 1 if problems else 0


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    operators = sorted({op for op, _ in ROWS.values()})
    parser.add_argument("--size", type=float, nargs="+", default=[1e7], help="items")
    parser.add_argument(
        "--op", nargs="+", choices=operators, default=operators, help="some of the operators"
    )
    parser.add_argument("--seconds", type=float, default=3, help="for one row; default: 3")
    return parser


def conditions(present):
    """The lines that name the machine, the versions, and the peers that are missing."""
    config = fastsel.show_config(mode="dicts")
    versions = [f"{name} {version(name)}" for name in ("fastsel", *present)]
    missing = [peer for peer in PEERS if peer not in present]
    gpu = gpu_name()
    yield f"# fastsel beside NumPy, torch, polars and a GPU; {datetime.date.today()}"
    yield f"# {config['cpu']}, {config['cpus']} CPUs; {gpu or 'no GPU'}; {', '.join(versions)}"
    if missing:
        yield f"# Not installed: {', '.join(missing)}."
    if gpu is None:
        yield "# torch has no CUDA device here, so only the CPU is measured."
    yield "# Median time of a call; in brackets: divided by the time of fastsel on all threads."


def gpu_name():
    """The name of the CUDA device of torch, or None."""
    if missing_packages("torch"):
        return None
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def cell_of(op, size, parts):
    """The cell of a row; "n/3" groups are a third of the items."""
    groups = parts.get("groups", 1000)
    parts = {**parts, "size": size, "groups": size // 3 if groups == "n/3" else groups}
    (cell,) = combine(op, {part: [value] for part, value in parts.items()})
    return cell


def measure(cell, present, threads, seconds):
    """Check and time all calls of a cell."""
    case = build(cell)
    expected = arrays(operator_call(NUMPY, case)())
    result = Result(cell)
    calls = {
        each.name: admit(each, case, expected, result)
        for each in contenders(cell.op, present, threads)
    }
    result.timings = steady_timings({k: call for k, call in calls.items() if call}, seconds)
    return result


def contenders(op, present, threads):
    """fastsel, the peers that return results in NumPy's order, and the GPU if there is one."""
    for count in dict.fromkeys([threads, 1]):
        yield Opponent("fastsel", f"fastsel{count}", functools.partial(fastsel_call, count))
    for each in OPPONENTS[op]:
        if each.peer in present and each.counts and not each.any_order:
            yield each
    if gpu_name() and op in ON_GPU:
        finish = without_index if op == "unique_all" else on_cpu
        yield Opponent("gpu", "gpu_resident", resident_call, finish)
        yield Opponent("gpu", "gpu_with_copies", copying_call, finish)


def fastsel_call(count, case):
    call = operator_call(fastsel, case)

    def with_threads():
        with fastsel.threads(count):
            return call()

    return with_threads


def resident_call(case):
    import torch

    tensors = [a.cuda() for a in tensors_of(case)]

    def call():
        result = ON_GPU[case.cell.op](torch, *tensors)
        torch.cuda.synchronize()
        return result

    return call


def copying_call(case):
    import torch

    pinned = [a.pin_memory() for a in tensors_of(case)]

    def call():
        tensors = [a.cuda(non_blocking=True) for a in pinned]
        return on_cpu(ON_GPU[case.cell.op](torch, *tensors))

    return call


def tensors_of(case):
    arrays_of_case = (case.x, case.mask, case.indices, case.tests)
    return [tensor(a) for a in arrays_of_case if a is not None]


def on_cpu(result):
    """The same tensors in the memory of the CPU, when the GPU has finished."""
    return tuple(a.cpu() for a in result) if isinstance(result, tuple) else result.cpu()


def without_index(result):
    """The outputs of torch.unique among NumPy's outputs: torch has no index."""
    values, inverse, counts = on_cpu(result)
    return values, None, inverse, counts


def row(result, threads):
    """The cells of a row: the fastest call of each peer, and its time over fastsel's."""
    times = {name: timing.median for name, timing in result.timings.items()}
    ours = times[f"fastsel{threads}"]
    shown = {}
    for name, seconds in times.items():
        peer = name.split()[0]
        label = f"{peer}{threads}" if peer in ("torch", "polars") else peer
        shown[label] = min(seconds, shown.get(label, seconds))
    return "  ".join(f"{k} {t * 1e3:.2f}ms({t / ours:.2f})" for k, t in shown.items())


if __name__ == "__main__":
    sys.exit(main())
