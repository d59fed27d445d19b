"""The number of threads: the rule that decides, invalid values, and the quota of a cgroup."""

import argparse
import asyncio
import os

import pytest
from grids import slow

import fastsel
from fastsel._cli import _commands
from fastsel._core import _threads, parallel

HAS_AFFINITY = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system has no CPU affinity"
)

RULE = """
import os
{before}
import fastsel
{after}
config = fastsel.show_config(mode="dicts")
print(config["threads"], config["threads set by"], sep=";")
"""
ALL_VARIABLES = {"FASTSEL_NUM_THREADS": "5", "OMP_NUM_THREADS": "6", "FASTSEL_FORK_THREADS": "4"}
IN_CHILD = """
if os.fork():
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
# name: environment, code before the import, code after it, start of the output.
RULES = {
    "with": (
        ALL_VARIABLES,
        "",
        "fastsel.set_num_threads(2); limit = fastsel.threads(3); limit.__enter__()",
        "3;with",
    ),
    "set": (ALL_VARIABLES, "", "fastsel.set_num_threads(2)", "2;fastsel.set_num_threads"),
    "unset": (
        ALL_VARIABLES,
        "",
        "fastsel.set_num_threads(2); fastsel.set_num_threads(None)",
        "5;FASTSEL",
    ),
    "fastsel_variable": (ALL_VARIABLES, "", "", "5;FASTSEL_NUM_THREADS"),
    "omp_variable": ({"OMP_NUM_THREADS": "6"}, "", "", "6;OMP_NUM_THREADS"),
    "omp_nesting_levels": ({"OMP_NUM_THREADS": "3,2"}, "", "", "3;OMP_NUM_THREADS"),
    "omp_variable_of_a_child": ({"OMP_NUM_THREADS": "6"}, "", IN_CHILD, "1;a child made by fork"),
    "fork": ({"FASTSEL_NUM_THREADS": "5"}, "", IN_CHILD, "1;a child made by fork"),
    "fork_variable": (ALL_VARIABLES, "", IN_CHILD, "4;a child made by fork"),
    "set_in_a_child": (ALL_VARIABLES, "", IN_CHILD + "fastsel.set_num_threads(3)", "3;fastsel.set"),
}


def rule(run_forked, before="", after="", **variables):
    unset = {"FASTSEL_NUM_THREADS": "", "OMP_NUM_THREADS": None, "FASTSEL_FORK_THREADS": ""}
    return run_forked(RULE.format(before=before, after=after), **unset | variables).strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("name", RULES)
def test_the_strongest_setting_decides(name, run_forked):
    variables, before, after, expected = RULES[name]
    assert rule(run_forked, before, after, **variables).startswith(expected)


@HAS_AFFINITY
def test_affinity_decides(run_forked):
    first = "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])"
    assert rule(run_forked, before=first) == "1;CPUs of this process (affinity, cgroup quota)"


INVALID_OR_LARGE = ["0", "-1", "abc", "2.5", "1e5", "²", "4;2", ",", "inf", "9" * 30, "100000"]
IMPORT_AND_CALL = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import fastsel
assert fastsel.flatnonzero([0, 3] * 100_000).tolist() == [*range(1, 200_000, 2)]
print(fastsel.get_num_threads(), len(caught))
"""


@pytest.mark.thread_unsafe(reason="sets an environment variable of the process")
@pytest.mark.parametrize("name", ["FASTSEL_NUM_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize("text", INVALID_OR_LARGE)
def test_an_invalid_variable_warns_and_a_large_count_of_openmp_is_reduced(text, name, monkeypatch):
    monkeypatch.setenv(name, text)
    if text.isdecimal() and int(text) > 0 and name == "OMP_NUM_THREADS":
        assert _threads._from_environment(name) == _threads.MAX_THREADS
    else:
        with pytest.warns(RuntimeWarning, match=f"^{name} must be a whole number"):
            assert _threads._from_environment(name) is None


@pytest.mark.parametrize("name", ["FASTSEL_NUM_THREADS", "OMP_NUM_THREADS"])
@pytest.mark.parametrize(
    "text",
    [*("abc", "9" * 30, "100000"), *map(slow, ("0", "-1", "2.5", "1e5", "²", "4;2", ",", "inf"))],
)
def test_calls_ignore_an_invalid_variable_and_reduce_a_large_count_of_openmp(
    name, text, run_forked
):
    if name == "OMP_NUM_THREADS" and "gomp" not in str(parallel.openmp()[1] or "gomp"):
        pytest.skip("libomp turns an invalid OMP_NUM_THREADS into a random count, or exits")
    variables = {"FASTSEL_NUM_THREADS": "", "OMP_NUM_THREADS": None, name: text}
    threads, warnings = map(int, run_forked(IMPORT_AND_CALL, **variables).split())
    is_number = text.isdecimal() and int(text) > 0 and name == "OMP_NUM_THREADS"
    assert warnings == (not is_number)
    if is_number and parallel.is_threaded():
        is_number = text == "100000"  # OpenMP ignores numbers beyond its integers
    assert threads == (_threads.MAX_THREADS if is_number else _threads._cpus())


def test_an_invalid_count_of_openmp_is_ignored(monkeypatch):
    """libomp reports counts like these if OMP_NUM_THREADS is no number."""
    monkeypatch.setattr(_threads, "_openmp_asked", False)
    for count in (0, -979347401):
        assert _threads._unlimited_count_and_rule(count)[0] == _threads._available


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("text", ["0", "abc", "100000"])
def test_an_invalid_variable_is_ignored_after_a_fork(text, run_forked):
    decided = rule(
        run_forked,
        after="import warnings; warnings.simplefilter('ignore')" + IN_CHILD,
        FASTSEL_FORK_THREADS=text,
    )
    assert int(decided.split(";")[0]) == 1


@pytest.mark.parametrize("limit", [fastsel.threads, fastsel.set_num_threads])
@pytest.mark.parametrize("value", [True, False, 2.0, "2"])
def test_what_is_no_number_is_refused(limit, value):
    with pytest.raises(TypeError, match=f"^n must be an integer, got {type(value).__name__}$"):
        limit(value)


@pytest.mark.parametrize("number", [_threads.MAX_THREADS + 1, 10**30])
def test_more_than_max_threads_are_refused(number):
    """threads, set_num_threads and the command line refuse the same numbers."""
    message = f"from 1 to {_threads.MAX_THREADS}"
    for limit in (fastsel.threads, fastsel.set_num_threads):
        with pytest.raises(ValueError, match=f"^n must be {message}, got {number}$"):
            limit(number)
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{number} is not {message}$"):
        _commands.thread_count(str(number))
    assert _commands.thread_count(str(_threads.MAX_THREADS)) == _threads.MAX_THREADS
    with fastsel.threads(_threads.MAX_THREADS):
        assert fastsel.get_num_threads() <= _threads.MAX_THREADS


def test_each_thread_has_at_least_256_kib_or_fewer_bytes_of_a_higher_cost():
    with fastsel.threads(64):
        max_threads = fastsel.get_num_threads()
        for threads in (1, 2, 3, 10, max_threads, max_threads + 1):
            for step in (-1, 0, 1):
                nbytes = threads * 2**18 + step
                expected = max(1, min(nbytes // 2**18, max_threads))
                assert _threads.for_bytes(nbytes) == expected
                assert _threads.for_bytes(nbytes // 4, cost=4) == expected
        assert _threads.for_bytes(0) == 1


def test_threads_holds_for_an_asyncio_task():
    """The number holds while the task waits and other tasks run with other numbers."""

    async def task(number):
        with fastsel.threads(number):
            for _ in range(3):
                await asyncio.sleep(0)
                assert fastsel.get_num_threads() == number
        await asyncio.sleep(0)
        assert fastsel.get_num_threads() == before

    async def tasks():
        await asyncio.gather(*map(task, (1, 2, 3)))
        assert fastsel.get_num_threads() == before

    with fastsel.threads(5):
        before = fastsel.get_num_threads()
        asyncio.run(tasks())


# The quota of a cgroup.

QUOTAS = {
    "v2": ({"cpu.max": "150000 100000\n"}, 1.5),
    "v2_unlimited": ({"cpu.max": "max 100000\n"}, None),
    "v2_empty": ({"cpu.max": "\n"}, None),
    "v2_of_no_period": ({"cpu.max": "100000 0\n"}, None),
    "v1": ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0.5),
    "v1_unlimited": ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
    "v1_of_no_period": ({"cpu/cpu.cfs_quota_us": "50000\n"}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize("name", QUOTAS)
def test_quota_of_each_version_of_cgroups_is_read(name, tmp_path):
    files, expected = QUOTAS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert _threads._quota(tmp_path) == expected


@pytest.mark.parametrize(("quota", "expected"), [(0.1, 1), (1.0, 1), (1.5, 2), (64, 4), (None, 4)])
def test_quota_is_rounded_up_and_never_more_than_the_affinity(quota, expected, monkeypatch):
    monkeypatch.setattr(_threads, "_quota", lambda: quota)
    monkeypatch.setattr(parallel, "processors", lambda: 4)
    assert _threads._cpus() == expected
