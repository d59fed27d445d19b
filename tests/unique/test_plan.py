"""The plan, which chooses the algorithm for the keys; the maximum size and number of tables."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from callers import before_line
from comparison import assert_same
from forcing import numpy_sorts_whole
from unique_kernels import integers, search_for

import fastsel
from fastsel._unique import _keys, _plan
from fastsel._unique.groups import Request, Search
from fastsel._unique.sorting import sorts_at_once

LARGE = 1_000_000


class Facts(SimpleNamespace):
    """What the plan reads of a Search. `expected` counts how often it is read."""

    reads = 0

    @property
    def expected(self):
        self.reads += 1
        return self.groups


def facts_of(**changed):
    given = {
        "size": LARGE,
        "nbytes": 8 * LARGE,
        "ascends": True,
        "by_position": True,
        "needs_group_ids": True,
        "request": Request(),
        "rows": np.empty(0),
        "keys": True,
        "windows": ((0, 0),) * 4,
        "scale": 0,
        "only_ascending_values": False,
        "majority_share": 0.0,
        "mostly_repeated": False,
        "has_heavy_tail": False,
        "threads": 1,
        "copy_threads": 1,
        "groups": 25,
    }
    return Facts(**given | changed)


def whole(entries):
    return {"windows": ((7, entries),) * 4}


# Each case: the facts that differ from the defaults, and the algorithms after `presorted`.
CASES = {
    "narrow range": ({"ascends": False} | whole(1 << 17), ["dense", "tables"]),
    "range too wide for the table": (whole(1 << 26), ["tables"]),
    "a typo": ({"windows": ((7, 10**9), (7, 10**9), (7, 1000), (7, 900))}, ["dense", "tables"]),
    "a narrow window of a range that fits": (
        {"windows": ((7, 10**6), (7, 10**6), (7, 10**4), (7, 10**4))},
        ["dense", "tables"],
    ),
    "mostly one key, few groups": ({"majority_share": 0.9}, ["tables"]),
    "mostly one key, counts of few groups": (
        {"majority_share": 0.9, "request": Request(counts=True)},
        ["without_majority", "tables"],
    ),
    "mostly one key, an inverse": (
        {"majority_share": 0.9, "request": Request(inverse=True)},
        ["without_majority", "tables"],
    ),
    "mostly one key, first occurrences": (
        {"majority_share": 0.9, "groups": 3000, "ascends": False},
        ["without_majority", "tables"],
    ),
    "mostly one key, grouped positions": (
        {"majority_share": 0.9, "request": Request(inverse=True, grouped=True)},
        ["tables"],
    ),
    "mostly one key, more groups": (
        {"majority_share": 0.9, "groups": 3000},
        ["without_majority", "tables"],
    ),
    "mostly one key, a window of most of the others": (
        {"majority_share": 0.9, "windows": ((7, 10**9), (7, 10**9), (7, 1000), (7, 900))},
        ["without_majority", "dense", "tables"],
    ),
    "mostly one key of 2 bytes": (
        {"majority_share": 0.9, "groups": 3000, "nbytes": 2 * LARGE},
        ["tables"],
    ),
    "mostly one key, a window of all": (whole(64) | {"majority_share": 0.9}, ["dense", "tables"]),
    "half one key, many groups": (
        {"majority_share": 0.6, "groups": 300_000},
        ["without_majority", "sorting"],
    ),
    "half one key, few groups": ({"majority_share": 0.6, "groups": 3000}, ["tables"]),
    "decimals, values of few groups": (whole(1 << 10) | {"scale": 10}, ["tables"]),
    "decimals, values of many groups": (
        whole(1 << 12) | {"scale": 10, "groups": 3000},
        ["decimals", "tables"],
    ),
    "decimals, counts of few groups": (
        whole(1 << 10) | {"scale": 10, "request": Request(counts=True)},
        ["decimals", "tables"],
    ),
    "very many keys of few groups": ({"size": 1 << 32, "nbytes": 1 << 35}, ["tables"]),
    "few groups": ({}, ["tables"]),
    "groups few enough for a table of each thread": (
        {"threads": 4, "ascends": False, "groups": 15_000},
        ["tables"],
    ),
    "groups too many for a table of each thread": (
        {"threads": 4, "ascends": False, "groups": 50_000},
        [],
    ),
    "groups that fit one table, first occurrences": (
        {"ascends": False, "groups": 50_000},
        ["tables"],
    ),
    "many groups, first occurrences": ({"ascends": False, "groups": 300_000}, []),
    "many groups, ascending": ({"groups": 300_000}, ["sorting"]),
    "fewer groups, ascending": ({"groups": 60_000}, ["tables"]),
    "heavy tail": (
        {"groups": 200_000, "only_ascending_values": True, "mostly_repeated": True},
        ["tables"],
    ),
    "heavy tail, all outputs": ({"groups": 100_000, "mostly_repeated": True}, ["tables"]),
    "heavy tail, all outputs, on several threads": (
        {"groups": 100_000, "mostly_repeated": True, "threads": 2},
        ["sorting"],
    ),
    "heavy tail of many groups": (
        {"groups": 300_000, "only_ascending_values": True, "mostly_repeated": True},
        ["sorting"],
    ),
    "distinct, first occurrences": ({"ascends": False, "groups": LARGE}, []),
}


@pytest.fixture
def sorts_in_pieces(monkeypatch):
    monkeypatch.setattr(_plan, "sorts_at_once", lambda search: False)


@pytest.mark.thread_unsafe(reason="replaces a function of the plan")
@pytest.mark.usefixtures("sorts_in_pieces")
@pytest.mark.parametrize("name", CASES)
def test_plans_name_the_algorithms_in_their_order(name):
    changed, expected = CASES[name]
    algorithms = [plan.algorithm for plan in _plan.plans(facts_of(**changed))]
    assert algorithms == ["presorted", *expected, "partitions", "comparison"]


@pytest.mark.thread_unsafe(reason="replaces a function of the plan")
def test_one_thread_sorts_the_values_of_a_heavy_tail_of_decimals(monkeypatch):
    monkeypatch.setattr(_plan, "sorts_at_once", lambda search: True)
    tail = {"scale": 10, "groups": 300_000, "only_ascending_values": True, "mostly_repeated": True}
    for changed, expected in [
        ({}, ["sorting"]),
        ({"copy_threads": 2}, ["decimals", "sorting"]),
        ({"mostly_repeated": False}, ["decimals", "sorting"]),
        ({"request": Request(counts=True)}, ["decimals", "sorting"]),
    ]:
        facts = facts_of(**whole(1 << 12) | tail | changed)
        algorithms = [plan.algorithm for plan in _plan.plans(facts)]
        assert algorithms == ["presorted", *expected, "partitions", "comparison"]


@pytest.mark.thread_unsafe(reason="replaces a function of the plan")
def test_one_sort_finds_the_values_of_a_heavy_tail_that_fits_the_cache(monkeypatch):
    monkeypatch.setattr(_plan, "sorts_at_once", lambda search: True)
    narrow = {"windows": ((7, 10**9), (7, 10**9), (7, 1000), (7, 900))}
    tail = {"only_ascending_values": True, "has_heavy_tail": True}
    fits = {"nbytes": 1 << 18}
    for changed, expected in [
        (tail | narrow | fits, ["sorting", "tables"]),
        (tail | fits, ["sorting", "tables"]),
        (tail | narrow, ["dense", "tables"]),
        (tail | narrow | {"majority_share": 0.9}, ["without_majority", "dense", "tables"]),
        (tail | narrow | fits | {"majority_share": 0.9}, ["sorting", "tables"]),
        (tail | {"majority_share": 0.6, "groups": 300_000}, ["sorting"]),
        (tail | fits | whole(1 << 10), ["dense", "tables"]),
        (tail | narrow | fits | {"has_heavy_tail": False}, ["dense", "tables"]),
        (tail | narrow | fits | {"only_ascending_values": False}, ["dense", "tables"]),
    ]:
        algorithms = [plan.algorithm for plan in _plan.plans(facts_of(**changed))]
        assert algorithms == ["presorted", *expected, "partitions", "comparison"]
    monkeypatch.setattr(_plan, "sorts_at_once", lambda search: False)
    algorithms = [plan.algorithm for plan in _plan.plans(facts_of(**tail | narrow | fits))]
    assert algorithms == ["presorted", "dense", "tables", "partitions", "comparison"]


def test_the_number_of_groups_is_not_estimated_before_it_is_needed():
    facts = facts_of(**whole(1 << 12))
    algorithms = [plan.algorithm for plan in itertools.islice(_plan.plans(facts), 2)]
    assert algorithms == ["presorted", "dense"]
    assert facts.reads == 0
    assert facts.window == (7, 1 << 12)


def test_the_densest_window_is_chosen_if_the_whole_range_has_many_more_entries_and_is_not_cheap():
    windows = (5, 8000), (5, 8000), (6, 1000), (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 10_000) == (5, 8000)
    windows = (4, 9000), (5, 8000), (6, 1000), (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 10_000) == (5, 8000)
    windows = (5, 8001), (5, 8001), (6, 1000), (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 10_000) == (6, 1000)
    assert _plan.fitting_window(facts_of(windows=windows), 4 * 8001) == (5, 8001)
    assert _plan.fitting_window(facts_of(windows=windows), 999) == (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 9) is None
    windows = (4, 1 << 19), (5, 1 << 13), (6, 1000), (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 1 << 22) == (5, 1 << 13)
    windows = (4, _plan.L2_BYTES), (5, 1 << 13), (6, 1000), (7, 10)
    assert _plan.fitting_window(facts_of(windows=windows), 1 << 22) == (4, _plan.L2_BYTES)
    assert _plan.fitting_window(facts_of(windows=((0, 0),) * 4), 999) is None


def test_the_window_does_not_contain_a_sentinel_far_from_the_other_keys():
    """1 to 4 % of the keys have the sentinel, so the window of 99 % may contain it."""
    for share in (0.01, 0.02, 0.04):
        rng = np.random.default_rng(1)
        keys = np.where(rng.random(1_000_000) < share, -(10**6), rng.integers(0, 500, 1_000_000))
        for outputs in ({"counts": True}, {"inverse": True}):
            assert _plan.window(search_for(integers(keys), **outputs))[1] <= 1 << 10


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
            nbytes = entries * (threads * (5 if counts else 1) + 4 * counts)
            assert 0 < nbytes <= max(2 * size * width, 1 << 23)
            entries_of_bits = _plan.max_entries(*arguments, first_positions=False)
            assert 0 < entries_of_bits <= 8 * max(4 * size, 1 << 23)


def test_fewer_threads_have_a_table_if_the_keys_have_many_groups():
    assert _plan.table_count(8_000_000, 1000, 4) == 4
    assert _plan.table_count(8_000_000, 20_000, 4) == 3
    assert _plan.table_count(8_000_000, 1_000_000, 4) == 1
    assert _plan.table_count(8, 0, 4) == 4


@pytest.mark.parametrize("threads", [2, 16, 64])
@pytest.mark.parametrize("width", [4, 8])
def test_the_work_of_tables_grows_little_with_the_threads(width, threads):
    """Each table may get all groups, and is merged into another: this makes two insertions for each
    group and table, at most an eighth of the number of keys."""
    size = 1_000_000
    for groups in 2 ** np.arange(20):
        tables = _plan.table_count(size * width, groups, threads)
        assert 1 <= tables <= threads
        assert tables == 1 or 2 * groups * tables <= size // 8


def test_the_watcher_gets_each_algorithm_and_its_reason(monkeypatch):
    notes = []
    monkeypatch.setattr(_plan, "watcher", lambda *chosen: notes.append(chosen))
    keys = np.random.default_rng(1).permutation(100_000) * 1_000_003
    fastsel.unique(keys)
    fastsel.unique(np.sort(keys))
    fastsel.unique(keys % 100)
    fastsel.unique(keys[:10])
    fastsel.unique(np.sort(keys[:1000]))
    fastsel.unique(keys[:10] + 1j)
    algorithms = [algorithm for algorithm, _ in notes]
    assert algorithms == ["sorting", "presorted", "dense", "sorting", "presorted", "NumPy"]
    notes.clear()
    fastsel.unique(keys[:0])
    strings = keys[:1000].astype(str).astype(object)
    fastsel.unique(strings)
    fastsel.unique(np.sort(strings))
    fastsel.unique([1, "a", None] * 300, sorted=False)
    algorithms = [algorithm for algorithm, _ in notes]
    assert algorithms == ["no_items", "tables", "hashed_strings", "string_runs", "hashed_objects"]
    assert all(reason for _, reason in notes)


@pytest.mark.thread_unsafe(reason="replaces the watcher of the process")
def test_items_of_1_and_2_bytes_have_narrow_tables_and_are_sorted_if_they_are_few(monkeypatch):
    notes = []
    monkeypatch.setattr(_plan, "watcher", lambda *chosen: notes.append(chosen[0]))
    labels = np.random.default_rng(1).integers(0, 300, 2 * _plan.UNSAMPLED_ITEMS + 1, np.int16)
    with fastsel.threads(1):
        for flags in ({"return_index": True}, {"return_counts": True}, {"return_inverse": True}):
            fastsel.unique(labels, **flags)
        fastsel.unique(labels, return_inverse=True, sorted=False)
        fastsel.group_indices(labels)
        assert notes == ["dense"] * 5
        notes.clear()
        for few in (labels[:10], labels[:10].astype(np.uint8), labels[:1000].astype(np.float16)):
            fastsel.group_indices(few)
        assert notes == ["sorting"] * 3


@pytest.mark.thread_unsafe(reason="replaces the watcher of the process")
@pytest.mark.parametrize("line", range(8))
def test_a_watcher_that_another_thread_removes_is_not_called_any_more(line, monkeypatch):
    monkeypatch.setattr(_plan, "watcher", lambda *chosen: None)
    with before_line(line, lambda: setattr(_plan, "watcher", None)):
        _plan.note(*_plan.NUMPY)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("size", [3000, 30_000])
def test_few_groups_are_counted_by_a_sort_where_it_is_fast(whole, size, monkeypatch):
    chosen = []
    monkeypatch.setattr(_plan, "watcher", lambda algorithm, reason: chosen.append(algorithm))
    items = np.random.default_rng(size).integers(0, 20, size) / 7
    with numpy_sorts_whole(whole), fastsel.threads(1):
        outputs = fastsel.unique(items, return_counts=True)
        fastsel.unique(items)
        fastsel.unique(items, return_inverse=True, return_counts=True)
    assert_same(outputs, np.unique(items, return_counts=True))
    counted = "sorting" if whole else "tables"
    assert chosen == [counted, counted if size < 16_000 else "tables", "tables"]


def heavy_tail(rng, size):
    return rng.zipf(1.3, size) % 60_000 / 7


def even_groups(rng, size):
    return rng.integers(0, size // 5, size) / 7


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
@pytest.mark.parametrize(
    ("make", "threads", "most"),
    [
        (even_groups, 1, 1_000_000),
        (even_groups, 2, 30_000),
        (even_groups, 8, 30_000),
        (heavy_tail, 1, 1_000_000),
        (heavy_tail, 2, 1_000_000),
        (heavy_tail, 8, 100_000),
    ],
)
def test_one_call_sorts_more_keys_if_few_groups_have_most_of_them(make, threads, most):
    for size in (256, 257, 30_000, 100_000, 1_000_000):
        items = make(np.random.default_rng(1), size)
        search = Search(_keys.keys_of(items, True), items, Request(), threads, threads)
        with numpy_sorts_whole(True):
            assert sorts_at_once(search) == (size <= most)
        with numpy_sorts_whole(False):
            assert sorts_at_once(search) == (size <= 256)


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
@pytest.mark.parametrize(("threads", "most"), [(1, 140_000), (2, 131_072), (3, 65_536)])
def test_one_call_sorts_more_keys_of_4_bytes(threads, most):
    for size in (65_536, 65_537, 131_072, 131_073, 140_000):
        items = even_groups(np.random.default_rng(1), size).astype("f4")
        search = Search(_keys.keys_of(items, True), items, Request(), threads, threads)
        with numpy_sorts_whole(True):
            assert sorts_at_once(search) == (size <= most)


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
@pytest.mark.parametrize(
    ("groups", "least"), [(3, 40_000), (32, 40_000), (300, 40_000), (1500, 131_072)]
)
def test_tables_count_few_groups_where_one_call_would_sort_them(groups, least):
    """The filter of recent keys makes tables faster. One thread sorts up to 2^15 keys at once, and
    more if many groups have only one key in the sample."""
    for size in (30_000, 40_000, 100_000, 131_072, 200_000, 1_000_000):
        items = np.random.default_rng(1).integers(0, groups, size) / 7
        search = Search(_keys.keys_of(items, True), items, Request(counts=True), 1, 1)
        with numpy_sorts_whole(True):
            assert sorts_at_once(search) == (size < least)


@pytest.mark.thread_unsafe(reason="sets the answer for all threads")
def test_one_call_sorts_a_heavy_tail_whose_groups_are_counted():
    items = np.random.default_rng(1).zipf(1.5, 100_000) / 7
    search = Search(_keys.keys_of(items, True), items, Request(counts=True), 1, 1)
    with numpy_sorts_whole(True):
        assert sorts_at_once(search)


@pytest.mark.parametrize("seed", range(5))
def test_a_heavy_tail_has_a_table_for_most_of_its_keys(seed):
    """95 % of the keys have too wide a range for counts, 90 % have not."""
    keys = np.minimum(np.random.default_rng(seed).zipf(1.2, 1_500_000), 2**40)
    search = search_for(integers(keys), counts=True)
    *_, most, fewer = (entries for _, entries in search.windows)
    assert _plan.window(search)[1] == fewer < most
    assert_same(fastsel.unique(keys, return_counts=True), np.unique(keys, return_counts=True))
