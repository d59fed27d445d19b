"""Which functions of other libraries become faster with NumPy patched?

    python benchmarks/libraries.py
    python benchmarks/libraries.py --rounds 15 --markdown benchmarks/results/libraries.md

Each function is called in turns with NumPy's functions and with NumPy patched, as `fastsel run` and
`fastsel.patched()` do it; the results have to be equal. Times are medians. Libraries that are not
installed are left out.
"""

import argparse
import contextlib
import gc
import importlib.util
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import fastsel

ROWS = 1_000_000


def main():
    options = arguments().parse_args()
    lines = ["| library | call | with NumPy | patched | times as fast |", "|---|---|---|---|---|"]
    for package, calls in LIBRARIES.items():
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed", file=sys.stderr)
            continue
        for name, call in calls().items():
            plain, patched = measure(name, call, options.rounds)
            times = f"{1e3 * plain:.1f} ms | {1e3 * patched:.1f} ms | {plain / patched:.2f}"
            lines.append(f"| {package} | `{name}` | {times} |")
            print(lines[-1], file=sys.stderr)
    config = fastsel.show_config(mode="dicts")
    conditions = "{cpu}, {cpus} CPUs, kernels {kernels}; fastsel {fastsel}, NumPy {numpy}"
    table = "\n".join([*lines, "", f"{conditions.format(**config)}; medians."])
    print(table)
    if options.markdown:
        options.markdown.write_text(f"{table}\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="of each function (default: 7)")
    parser.add_argument("--markdown", type=Path, help="write the table to this file, too")
    return parser


def measure(name, call, rounds):
    """The medians of the times with NumPy and with NumPy patched."""
    times = {False: [], True: []}
    results = {}
    for _ in range(rounds + 1):  # the first round warms up
        for patch in times:
            gc.collect()  # otherwise it takes place in some calls
            with fastsel.patched() if patch else contextlib.nullcontext():
                start = time.perf_counter()
                results[patch] = call()
                times[patch].append(time.perf_counter() - start)
        if not are_equal(*results.values()):
            raise AssertionError(f"{name} has another result with NumPy patched")
    return [statistics.median(times[patch][1:]) for patch in times]


def are_equal(one, other):
    """Are two results equal: arrays, tables, or lists, tuples and dicts of these?"""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_equal(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(are_equal, one, other))
    if hasattr(one, "equals"):
        return one.equals(other)
    if hasattr(one, "nnz"):
        return (one != other).nnz == 0
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


def integers(stop, seed=1):
    return np.random.default_rng(seed).integers(0, stop, ROWS)


def scikit_learn():
    from sklearn import metrics, model_selection, preprocessing
    from sklearn.utils.multiclass import type_of_target, unique_labels

    labels, predicted = integers(20), integers(20, 2)
    words, table = integers(1000).astype("U8"), integers(50).reshape(-1, 5)
    column = np.zeros((ROWS, 1), np.int8)
    folds = model_selection.StratifiedKFold(5)
    split = model_selection.StratifiedShuffleSplit(1, random_state=0)
    return {
        "LabelEncoder().fit_transform(int64)": lambda: preprocessing.LabelEncoder().fit_transform(
            labels
        ),
        "LabelEncoder().fit_transform(U8)": lambda: preprocessing.LabelEncoder().fit_transform(
            words
        ),
        "OrdinalEncoder().fit_transform": lambda: preprocessing.OrdinalEncoder().fit_transform(
            table
        ),
        "OneHotEncoder().fit_transform": lambda: preprocessing.OneHotEncoder().fit_transform(table),
        "LabelBinarizer().fit_transform": lambda: preprocessing.LabelBinarizer(
            sparse_output=True
        ).fit_transform(labels),
        "type_of_target": lambda: type_of_target(labels),
        "unique_labels": lambda: unique_labels(labels, predicted),
        "StratifiedKFold(5).split": lambda: list(folds.split(column, labels)),
        "StratifiedShuffleSplit(1).split": lambda: list(split.split(column, labels)),
        "confusion_matrix": lambda: metrics.confusion_matrix(labels, predicted),
        "accuracy_score": lambda: metrics.accuracy_score(labels, predicted),
        "f1_score": lambda: metrics.f1_score(labels, predicted, average="macro"),
        "adjusted_rand_score": lambda: metrics.adjusted_rand_score(labels, predicted),
    }


def scipy():
    from scipy import ndimage, sparse, stats

    image = integers(5000).reshape(1000, 1000)
    dense = (integers(100) == 0).reshape(1000, 1000) * 1.0
    return {
        "stats.mode": lambda: tuple(stats.mode(integers(1000))),
        "stats.rankdata": lambda: stats.rankdata(integers(1000)),
        "stats.contingency.crosstab": lambda: tuple(
            stats.contingency.crosstab(integers(20), integers(20, 2))
        ),
        "ndimage.mean": lambda: ndimage.mean(image * 1.0, image, np.arange(5000)),
        "ndimage.value_indices": lambda: ndimage.value_indices(image),
        "sparse.csr_array(dense)": lambda: sparse.csr_array(dense),
    }


def scikit_image():
    from skimage import measure, segmentation, util

    image = np.repeat(np.repeat(integers(2500)[:2500].reshape(50, 50), 20, axis=0), 20, axis=1)
    old, new = np.arange(2500), np.arange(2500)[::-1].copy()
    return {
        "segmentation.relabel_sequential": lambda: np.asarray(
            segmentation.relabel_sequential(image + 1)[0]
        ),
        "segmentation.join_segmentations": lambda: segmentation.join_segmentations(
            image, image.T.copy()
        ),
        "segmentation.clear_border": lambda: segmentation.clear_border(image),
        "measure.label": lambda: measure.label(image),
        "util.map_array": lambda: util.map_array(image, old, new),
    }


def pandas_calls():
    import pandas

    numbers, words = pandas.Series(integers(1000)), pandas.Series(integers(1000).astype(str))
    return {
        "Series.value_counts": lambda: numbers.value_counts(),
        "factorize": lambda: pandas.factorize(words),
        "cut": lambda: pandas.cut(numbers, 20),
        "get_dummies": lambda: pandas.get_dummies(numbers[:100_000] % 50),
        "crosstab": lambda: pandas.crosstab(numbers % 20, numbers % 7),
    }


def networkx_calls():
    import networkx

    edges = np.stack([integers(3000)[:50_000], integers(3000, 2)[:50_000]], axis=1)
    graph = networkx.from_edgelist(edges.tolist())
    matrix = networkx.to_numpy_array(graph)
    return {
        "to_scipy_sparse_array": lambda: networkx.to_scipy_sparse_array(graph),
        "from_numpy_array": lambda: sorted(networkx.from_numpy_array(matrix).edges)[:100],
    }


LIBRARIES = {
    "sklearn": scikit_learn,
    "scipy": scipy,
    "skimage": scikit_image,
    "pandas": pandas_calls,
    "networkx": networkx_calls,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
