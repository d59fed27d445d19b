"""The plan, which chooses the algorithm for the keys; the maximum size and number of tables."""

import numpy as np
import pytest
from callers import before_line

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
# Each case: the facts that differ from FACTS, the estimated number of groups (None if the plan does
# not need an estimate), and the algorithm.
CASES = {
    "narrow range": ({"range_bits": 17}, None, "dense"),
    "wide range, many groups": ({"range_bits": 24, "entries": 1 << 24}, 100_000, "dense"),
    "wide range, few groups": ({"range_bits": 24, "entries": 1 << 24}, 1000, "tables"),
    "range too wide for the table": ({"range_bits": 18}, 1000, "tables"),
    "no direct-address table": ({"entries": 0}, 1000, "tables"),
    "very many keys of few groups": ({"size": 1 << 32}, 25, "tables"),
    "few groups": ({}, 25, "tables"),
    "groups few enough for a table of each thread": (
        {"threads": 4, "ascending": False},
        15_000,
        "tables",
    ),
    "groups too many for a table of each thread": (
        {"threads": 4, "ascending": False},
        50_000,
        "partitions",
    ),
    "groups that fit one table, first occurrences": ({"ascending": False}, 50_000, "tables"),
    "many groups, first occurrences": ({"ascending": False}, 300_000, "partitions"),
    "many groups, ascending": ({}, 300_000, "sorting"),
    "fewer groups, ascending": ({}, 60_000, "tables"),
    "distinct, first occurrences": ({"ascending": False}, LARGE, "partitions"),
    "many groups, all outputs": ({"extras": True}, 100_000, "sorting"),
    "many groups of 4 bytes": ({"extras": True, "width": 4, "range_bits": 32}, 100_000, "sorting"),
}


@pytest.mark.parametrize("name", CASES)
def test_plan_chooses_the_algorithm_and_estimates_only_if_needed(name):
    changed, groups, expected = CASES[name]
    estimates = []

    def estimate():
        estimates.append(groups)
        return groups

    facts = {"size": LARGE} | FACTS | changed
    assert _plan.plan(**facts, groups=estimate).algorithm == expected
    assert len(estimates) == (groups is not None)


def test_each_algorithm_gives_way_to_others_and_at_last_to_comparison():
    for algorithm in set(_algorithms.ALGORITHMS) - {"dense"}:  # after dense, the plan chooses again
        algorithms = [algorithm]
        while algorithms[-1] in _plan.GIVES_WAY_TO:
            algorithms.append(_plan.GIVES_WAY_TO[algorithms[-1]].algorithm)
            assert len(algorithms) <= len(_algorithms.ALGORITHMS)
        assert algorithms[-1] == "comparison"


@pytest.mark.parametrize("threads", [1, 2, 128])
@pytest.mark.parametrize("counts", [True, False])
def test_tables_of_all_threads_keep_the_memory_rule(counts, threads):
    """All tables together have at most twice the bytes of the keys, or 8 MB if that is more. Tables
    of bits have more entries."""
    for size in (1000, 100_000, 10_000_000):
        for width in (1, 2, 4, 8):
            arguments = size, size * width, threads
            entries = _plan.max_entries(
                *arguments, first_positions=True, group_ids=counts, counts=counts
            )
            nbytes = entries * (threads * (9 if counts else 1) + 4 * counts)
            assert 0 < nbytes <= max(2 * size * width, 1 << 23)
            entries_of_bits = _plan.max_entries(*arguments, first_positions=False)
            assert entries < entries_of_bits <= 8 * max(2 * size * width, 1 << 23) // threads


def test_fewer_threads_have_a_table_if_the_keys_have_many_groups():
    assert _plan.table_count(8_000_000, 1000, 4) == 4
    assert _plan.table_count(8_000_000, 20_000, 4) == 3
    assert _plan.table_count(8_000_000, 1_000_000, 4) == 1
    assert _plan.table_count(8, 0, 4) == 4


def test_the_watcher_gets_each_algorithm_and_its_reason(monkeypatch):
    notes = []
    monkeypatch.setattr(_plan, "watcher", lambda *chosen: notes.append(chosen))
    keys = np.random.default_rng(1).permutation(100_000) * 1_000_003
    fastsel.unique(keys)
    fastsel.unique(np.sort(keys))
    fastsel.unique(keys % 100)
    fastsel.unique(keys[:10])
    fastsel.unique(keys[:10] + 1j)
    algorithms = [algorithm for algorithm, _ in notes]
    assert algorithms == ["sorting", "presorted", "dense", "small", "NumPy"]
    assert all(reason for _, reason in notes)


def test_plan_small_is_none_for_unserved_dtypes_few_strings_and_forced_algorithms(monkeypatch):
    assert _plan.plan_small(10, True, False) is _plan.SMALL
    assert _plan.plan_small(10, False, False) is None
    assert _plan.plan_small(_plan.TINY_STRINGS, True, True) is None
    assert _plan.plan_small(_plan.TINY_STRINGS + 1, True, True) is _plan.SMALL
    token = _plan.FORCED.set("tables")
    try:
        assert _plan.plan_small(10, True, False) is None
    finally:
        _plan.FORCED.reset(token)


@pytest.mark.thread_unsafe(reason="replaces the watcher of the process")
@pytest.mark.parametrize("line", range(8))
def test_a_watcher_that_another_thread_removes_is_not_called_any_more(line, monkeypatch):
    for function, arguments in ((_plan.note, _plan.NUMPY), (_plan.plan_small, (10, True, False))):
        monkeypatch.setattr(_plan, "watcher", lambda *chosen: None)
        with before_line(line, lambda: setattr(_plan, "watcher", None)):
            function(*arguments)
