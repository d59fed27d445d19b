"""The targets of fuzz.py on random bytes of a fixed seed, and on its corpus."""

from pathlib import Path

import fuzz
import numpy as np
import pytest

CORPUS = Path(__file__).with_name("corpus")


@pytest.fixture(autouse=True)
def _settings_as_before(monkeypatch):
    for name in (
        "_selection.TINY_ITEMS",
        "_distinct.TINY_ITEMS",
        "_distinct.SORTED_ITEMS",
        "_distinct.PLACED_ITEMS",
        "_threads.MIN_SLICE_BYTES",
    ):
        monkeypatch.setattr(f"fastsel.{name}", 0)
    monkeypatch.setattr("fastsel._engines.FORCE_ENGINE", None)
    monkeypatch.setattr("fastsel._ascending.NUMPY_SORTS_FAST", False)
    monkeypatch.setattr("fastsel._engines.SEEDS", (1, 1))


@pytest.mark.parametrize("family", fuzz.FAMILIES)
def test_random_bytes(family):
    rng = np.random.default_rng(len(family))
    for _ in range(500):
        data = rng.bytes(int(rng.integers(8, 400)))
        try:
            fuzz.run(family, data)
        except BaseException as error:
            error.add_note(f"fuzz.run({family!r}, {data!r})")
            raise


@pytest.mark.parametrize("family", fuzz.FAMILIES)
def test_corpus(family):
    paths = sorted(CORPUS.joinpath(family).iterdir())
    assert paths
    for path in paths:
        fuzz.run(family, path.read_bytes())
