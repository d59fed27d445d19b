"""The targets of fuzz.py on random bytes of a fixed seed, and on its corpus."""

from pathlib import Path

import fuzz
import numpy as np
import pytest

from fastsel import _ascending, _distinct, _engines, _gather, _selection, _small, _threads

CORPUS = Path(__file__).with_name("corpus")


@pytest.fixture(autouse=True)
def _settings_as_before(monkeypatch):
    """Whatever the fuzzer sets: constants of these modules."""
    for module in (_ascending, _distinct, _engines, _gather, _selection, _small, _threads):
        for name, value in vars(module).items():
            if name.isupper():
                monkeypatch.setattr(module, name, value)


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
