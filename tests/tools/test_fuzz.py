"""The targets of fuzz.py on random bytes of a fixed seed, and its corpus; seeds of fuzz_dask.py."""

from pathlib import Path

import fuzz
import numpy as np
import pytest
from forcing import force
from grids import slow

from fastsel._core import _gate, _threads
from fastsel._core.parallel import THRESHOLDS
from fastsel._unique import _keys, _plan, _unique

CORPUS = Path(__file__).with_name("corpus")


@pytest.fixture(autouse=True)
def _restored_settings(monkeypatch):
    """Restore the constants of these modules, some of which the fuzzer sets."""
    for module in (_unique, _gate, _keys, _plan, _threads):
        for name, value in vars(module).items():
            if name.isupper():
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(THRESHOLDS, "small_items", THRESHOLDS.small_items)
    force(monkeypatch, None)


@pytest.mark.parametrize("target", fuzz.TARGETS)
@pytest.mark.parametrize("rounds", [80, slow(500)])
def test_random_bytes_find_no_difference(rounds, target):
    rng = np.random.default_rng(len(target) + rounds)
    for _ in range(rounds):
        data = rng.bytes(int(rng.integers(8, 400)))
        try:
            fuzz.run(target, data)
        except BaseException as error:
            error.add_note(f"fuzz.run({target!r}, {data!r})")
            raise


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_corpus_finds_no_difference(target):
    paths = sorted(CORPUS.joinpath(target).iterdir())
    assert paths
    for path in paths:
        fuzz.run(target, path.read_bytes())


@pytest.mark.thread_unsafe(reason="sets constants of modules")
def test_calls_of_fastsel_dask_equal_calls_of_fastsel(monkeypatch):
    pytest.importorskip("dask.array", reason='needs pip install "dask[array]"')
    import fuzz_dask

    monkeypatch.setattr(fuzz_dask._blocks, "MIN_BAND_BYTES", fuzz_dask._blocks.MIN_BAND_BYTES)
    monkeypatch.setattr(fuzz_dask._groups, "MIN_SAMPLES", fuzz_dask._groups.MIN_SAMPLES)
    with fuzz_dask.quiet():
        for seed in range(100):
            fuzz_dask.run(seed)
