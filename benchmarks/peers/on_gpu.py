"""Does it pay to copy arrays to a GPU? fastsel on one thread and on all, NumPy, torch and polars on
the CPU, and torch on a CUDA device.

    python benchmarks/peers/on_gpu.py
    python benchmarks/peers/on_gpu.py --size 1e7 1e8 --seconds 2

`gpu_resident` has its data in the memory of the GPU; `gpu_with_copies` copies it there, from pinned
memory, and the result back. Times are medians; the number in brackets is the time divided by that
of fastsel on all threads. Peers that are not installed are left out, and so is the GPU where there
is no CUDA device. The peers need not return items in the order of fastsel.
"""

import argparse
import importlib.util
import statistics
import time

import numpy as np

import fastsel

SEED = 20260101


def main():
    options = arguments().parse_args()
    cpus = fastsel.get_num_threads()
    torch, polars = (load(name) for name in ("torch", "polars"))
    on_gpu = torch is not None and torch.cuda.is_available()
    gpu = (
        torch.cuda.get_device_name() if on_gpu else "no CUDA device: the GPU's columns are left out"
    )
    config = fastsel.show_config(mode="dicts")
    print(
        "# {cpu}, {cpus} CPUs, kernels {kernels}; NumPy {numpy}".format(**config), "; ", gpu, sep=""
    )
    for size in options.size:
        print(f"\n## {size:.0e} items")
        for name, forms in cells(int(size), torch, polars, on_gpu).items():
            print(f"{name:26}", end="", flush=True)
            all_threads = None
            for form, call in forms.items():
                threads = 1 if form == "fastsel1" else cpus
                with fastsel.threads(threads):
                    milliseconds = median(call, options.seconds)
                all_threads = all_threads or milliseconds
                label = f"fastsel{cpus}" if form == "fastsel" else form
                print(
                    f"  {label} {milliseconds:.2f}ms({milliseconds / all_threads:.2f})",
                    end="",
                    flush=True,
                )
            print()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--size", type=float, nargs="+", default=[1e7], help="default: 1e7")
    parser.add_argument("--seconds", type=float, default=1, help="of each time; default: 1")
    return parser


def load(name):
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def median(call, seconds):
    """The median time of a call in milliseconds, of three calls or more."""
    call()
    times, stop = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def cells(size, torch, polars, on_gpu):
    """For each cell: its forms, in the order of the columns, fastsel first."""
    rng = np.random.default_rng(SEED)
    mask = rng.random(size) < 0.3
    floats = rng.random(size) * mask
    few, many = rng.integers(0, 5000, size) * 1_000_003, rng.integers(0, size // 3, size)
    tests, positions = rng.integers(0, size // 3, 100_000), rng.integers(0, size, size)

    def forms(arrays, ours, numpys=None, torchs=None, polarss=None):
        found = {"fastsel": lambda: ours(*arrays), "fastsel1": lambda: ours(*arrays)}
        if numpys:
            found["numpy"] = lambda: numpys(*arrays)
        if torchs and torch:
            tensors = [*map(torch.from_numpy, arrays)]
            found["torch"] = lambda: torchs(*tensors)
        if polarss and polars:
            series = [*map(polars.Series, arrays)]
            found["polars"] = lambda: polarss(*series)
        if torchs and on_gpu:
            found |= gpu_forms(torch, tensors, torchs)
        return found

    def unique(**outputs):
        return lambda a: fastsel.unique(a, **outputs)

    everything = {"return_index": True, "return_inverse": True, "return_counts": True}
    return {
        "nonzero f8 30%": forms(
            [floats],
            fastsel.nonzero,
            np.nonzero,
            lambda a: a.nonzero(),
            lambda a: (a != 0).arg_true(),
        ),
        "nonzero bool 30%": forms(
            [mask], fastsel.nonzero, np.nonzero, lambda a: a.nonzero(), lambda a: a.arg_true()
        ),
        "a[mask] f8 30%": forms(
            *([floats, mask], fastsel.boolean_mask, lambda a, m: a[m], lambda a, m: a[m]),
            lambda a, m: a.filter(m),
        ),
        "count_nonzero f8": forms(
            [floats], fastsel.count_nonzero, np.count_nonzero, lambda a: a.count_nonzero()
        ),
        "unique few sorted": forms(
            [few], unique(), None, lambda a: a.unique(), lambda a: a.unique().sort()
        ),
        "unique few all outputs": forms(
            *([few], unique(**everything), None),
            lambda a: a.unique(return_inverse=True, return_counts=True),
        ),
        "unique many sorted": forms(
            [many], unique(), None, lambda a: a.unique(), lambda a: a.unique().sort()
        ),
        "unique many first": forms(
            [many], unique(sorted=False), None, None, lambda a: a.unique(maintain_order=True)
        ),
        "isin 1e5 tests": forms(
            *([many, tests], fastsel.isin, None),
            *(lambda a, t: torch.isin(a, t), lambda a, t: a.is_in(t.implode())),
        ),
        "gather random f8": forms(
            *([floats, positions], lambda a, k: fastsel.gather_nd(a, k[:, None])),
            *(lambda a, k: a[k], lambda a, k: a[k], lambda a, k: a.gather(k)),
        ),
    }


def gpu_forms(torch, tensors, call):
    resident = [tensor.cuda() for tensor in tensors]
    pinned = [tensor.pin_memory() for tensor in tensors]

    def on_resident():
        call(*resident)
        torch.cuda.synchronize()

    def with_copies():
        result = call(*(tensor.cuda(non_blocking=True) for tensor in pinned))
        for output in result if isinstance(result, tuple) else (result,):
            output.cpu() if hasattr(output, "cpu") else output
        torch.cuda.synchronize()

    return {"gpu_resident": on_resident, "gpu_with_copies": with_copies}


if __name__ == "__main__":
    main()
