"""The targets of fuzz.py on random bytes of a fixed seed, and on its corpus."""

from pathlib import Path

import fuzz
import numpy as np
import pytest
from forcing import force
from grids import slow

from fastsel._core import _gate, _threads
from fastsel._core.parallel import THRESHOLDS
from fastsel._unique import _distinct, _keys, _plan

CORPUS = Path(__file__).with_name("corpus")


@pytest.fixture(autouse=True)
def _restored_settings(monkeypatch):
    """Restore the constants of these modules, some of which the fuzzer sets."""
    for module in (_distinct, _gate, _keys, _plan, _threads):
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
