"""Fixtures of the tests of `fastsel bench`: a run of the command, and arrays in files."""

import json

import numpy as np
import pytest

from fastsel.__main__ import main
from fastsel._cli import _bench


@pytest.fixture
def one_call_per_block(monkeypatch):
    """Time one call in each block, instead of several calls."""
    monkeypatch.setattr(_bench, "BLOCK_CALLS", 1)
    monkeypatch.setattr(_bench, "BLOCK_NANOSECONDS", 0)


@pytest.fixture
def bench(tmp_path, one_call_per_block):
    """Function that runs ``fastsel bench`` and returns its exit status and its JSON report."""

    def run(*arguments):
        report = tmp_path / "report.json"
        status = main(["bench", *map(str, arguments), "--seconds", "0", "--json", str(report)])
        return status, json.loads(report.read_text())

    return run


@pytest.fixture
def save(tmp_path):
    """Function that saves an array as an .npy file and returns the path."""

    def write(name, array, **options):
        path = tmp_path / f"{name}.npy"
        np.save(path, array, **options)
        return path

    return write
