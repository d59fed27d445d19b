"""Which algorithm is for what: one decision without side effects."""

import numpy as np
import pytest

import fastsel
from fastsel._unique import _algorithms, _plan

LARGE = 1_000_000
FACTS = {
    "width": 8,
    "ascending": True,
    "extras": False,
    "range_bits": 64,
    "entries": 1 << 17,
    "threads": 1,
}
# What differs from FACTS, the groups that are expected (None: nobody asks), and the algorithm.
CASES = {
    "narrow range": ({"range_bits": 17}, None, "dense"),
    "wide range, many groups": ({"range_bits": 24, "entries": 1 << 24}, 100_000, "dense"),
    "wide range, few groups": ({"range_bits": 24, "entries": 1 << 24}, 1000, "tables"),
    "range too wide for the table": ({"range_bits": 18}, 1000, "tables"),
    "no words": ({"entries": 0}, 1000, "tables"),
    "very many keys of few groups": ({"size": 1 << 32}, 25, "tables"),
    "few groups": ({}, 25, "tables"),
    "groups for whose table each thread has keys": (
        {"threads": 4, "ascending": False},
        15_000,
        "tables",
    ),
    "groups for a table that some threads would not have": (
        {"threads": 4, "ascending": False},
        50_000,
        "partitions",
    ),
    "groups that fit one table, first occurrences": ({"ascending": False}, 50_000, "tables"),
    "many groups, first occurrences": ({"ascending": False}, 300_000, "partitions"),
    "many groups, ascending": ({}, 300_000, "sorting"),
    "fewer groups are sorted after they are found": ({}, 60_000, "tables"),
    "distinct, first occurrences": ({"ascending": False}, LARGE, "partitions"),
    "many groups, all outputs": ({"extras": True}, 100_000, "sorting"),
    "many groups of 4 bytes": ({"extras": True, "width": 4, "range_bits": 32}, 100_000, "sorting"),
}


@pytest.mark.parametrize("name", CASES)
def test_plan(name):
    changed, groups, expected = CASES[name]
    asked = []

    def estimate():
        asked.append(groups)
        return groups

    facts = {"size": LARGE} | FACTS | changed
    assert _plan.plan(**facts, groups=estimate).algorithm == expected
    assert len(asked) == (groups is not None)


def test_each_algorithm_gives_way_to_another_and_in_the_end_comparison_serves():
    for algorithm in set(_algorithms.ALGORITHMS) - {"dense"}:  # which has the plan choose again
        seen = [algorithm]
        while seen[-1] in _plan.GIVES_WAY_TO:
            seen.append(_plan.GIVES_WAY_TO[seen[-1]].algorithm)
            assert len(seen) <= len(_algorithms.ALGORITHMS)
        assert seen[-1] == "comparison"


@pytest.mark.parametrize("threads", [1, 2, 128])
@pytest.mark.parametrize("counts", [True, False])
def test_tables_of_all_threads_keep_the_memory_rule(counts, threads):
    """Twice the keys' bytes, or 8 MB; of bits, with more entries."""
    for size in (1000, 100_000, 10_000_000):
        for width in (1, 2, 4, 8):
            limits = size, size * width, threads
            entries = _plan.max_entries(
                *limits, first_positions=True, group_ids=counts, counts=counts
            )
            nbytes = entries * (threads * (9 if counts else 1) + 4 * counts)
            assert 0 < nbytes <= max(2 * size * width, 1 << 23)
            of_bits = _plan.max_entries(*limits, first_positions=False)
            assert entries < of_bits <= 8 * max(2 * size * width, 1 << 23) // threads


def test_as_many_tables_as_there_are_keys_for():
    assert _plan.table_count(8_000_000, 1000, 4) == 4
    assert _plan.table_count(8_000_000, 20_000, 4) == 3
    assert _plan.table_count(8_000_000, 1_000_000, 4) == 1
    assert _plan.table_count(8, 0, 4) == 4


def test_whoever_watches_sees_each_algorithm_and_its_reason():
    seen = []
    token = _plan.WATCHER.set(lambda *chosen: seen.append(chosen))
    try:
        keys = np.random.default_rng(1).permutation(100_000) * 1_000_003
        fastsel.unique(keys)
        fastsel.unique(np.sort(keys))
        fastsel.unique(keys % 100)
    finally:
        _plan.WATCHER.reset(token)
    assert [algorithm for algorithm, _ in seen] == ["sorting", "presorted", "dense"]
    assert all(reason for _, reason in seen)
