"""The hash table: it gives up on keys that need too many probes, and never confuses a key with an
empty slot. The seeds are fixed, so that keys can be made to collide."""

import itertools

import numpy as np
import pytest
import reference
from collisions import SEEDS, colliding
from forcing import ALGORITHMS, force
from unique_kernels import make_tables

import fastsel
from fastsel._unique import _keys


def floods():
    chain = colliding(3000)
    rng = np.random.default_rng(8)
    random_keys = rng.integers(0, 2**64, 2, dtype=np.uint64)
    return {
        "new_keys": np.concatenate((chain, chain)),
        # Lookups of random keys raise the budget of probes, so that 500 keys of the chain can be
        # added. Repeated lookups of its last keys exceed the budget.
        "found_keys": np.concatenate(
            (np.tile(random_keys, 5000), chain[:500], np.tile(chain[436:500], 500))
        ),
        # These keys also collide in the table of one part.
        "one_part": np.tile(colliding(200, 16), 2),
    }


@pytest.fixture(scope="module", params=["new_keys", "found_keys", "one_part"])
def flood(request):
    return floods()[request.param]


@pytest.fixture
def fixed_seeds(monkeypatch):
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", SEEDS)


@pytest.mark.parametrize("seed", ["0", "1", "108", "234", "560", "1209"])
def test_keys_in_equal_steps_do_not_flood(seed, monkeypatch):
    """Some factors of the hash would flood the table: `_seeds` draws another factor instead. The
    first factor of seed 1209 is an example, with the keys np.arange(4096) << 40."""
    monkeypatch.setenv("FASTSEL_HASH_SEED", seed)
    seeds = _keys._seeds()
    for keys in (np.arange(4096), np.arange(60_000), np.arange(4096) << 40, np.arange(4096.0)):
        assert make_tables(keys, seeds=seeds).find()


def tables_succeed(keys, chunks=1, max_groups=1 << 16):
    """Do the tables not give up? With a bitmask of keys that equal no other, although no key is one
    of them, no filter of recent keys saves lookups."""
    unequal = np.zeros(len(keys) // 64 + 1, np.uint64)
    tables = make_tables(keys, unequal=unequal, max_groups=max_groups, inverse=True, threads=chunks)
    return tables.find()


def test_tables_give_up_on_collisions(flood):
    assert not tables_succeed(flood)


def test_tables_give_up_on_lookups_of_keys_that_they_have():
    keys = floods()["found_keys"]
    added = keys[: 2 * 5000 + 500]
    assert {*added.tolist()} == {*keys.tolist()}
    assert tables_succeed(added)
    assert not tables_succeed(keys)


def test_tables_hold_as_many_keys_that_do_not_collide(flood):
    rng = np.random.default_rng(9)
    keys = rng.integers(0, 2**64, len(np.unique(flood)), dtype=np.uint64)
    assert tables_succeed(rng.choice(keys, len(flood)))


def test_merged_tables_give_up_on_collisions():
    """No chunk has too many keys that collide; all chunks together have too many."""
    chunks = colliding(1800).reshape(30, 60)
    chunks = np.pad(chunks, ((0, 0), (0, 68)), "edge")  # each chunk has two blocks
    assert all(tables_succeed(keys) for keys in chunks)
    assert not tables_succeed(chunks.ravel(), chunks=30)


@pytest.mark.parametrize("max_groups", [256, 257, 511, 512, 513, 1000])
def test_tables_give_up_before_they_grow_for_more_groups_than_allowed(max_groups):
    """The number of slots is a power of two; `max_groups` need not be one."""
    for keys in (np.arange(2 * max_groups + 1), np.arange(4 * max_groups + 2).reshape(-1, 2)):
        for dtype in ("u4", "u8"):
            assert tables_succeed(keys.astype(dtype)[:max_groups], max_groups=max_groups)
            assert not tables_succeed(keys.astype(dtype), max_groups=max_groups)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_keys_that_collide_give_the_right_result(flood, algorithm, fixed_seeds, monkeypatch):
    force(monkeypatch, algorithm)
    for in_order in (True, False):
        outputs = fastsel.unique(flood, True, True, True, sorted=in_order)
        expected = reference.unique(flood, True, True, True, sorted=in_order)
        for ours, theirs in zip(outputs, expected, strict=True):
            assert np.array_equal(ours, theirs)
        assert np.array_equal(fastsel.unique(flood, sorted=in_order), expected[0])


@pytest.mark.parametrize("seeds", [SEEDS, (1, 1), (0, 1), (2**63, 3), (5, 2**64 - 1)])
@pytest.mark.parametrize("algorithm", ["sorting", "tables", "partitions"])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_words_that_look_like_empty_slots_equal_the_reference(
    dtype, algorithm, seeds, forced_kernels, monkeypatch
):
    """A slot holds word ^ seed, or 0 if it is empty, so the seed looks like an empty slot. unique
    returns 0 and the seed only if these are among the keys."""
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", seeds)
    force(monkeypatch, algorithm)
    even = seeds[0] & ~1  # the kernels clear the last bit
    words = np.array([0, even, even + 1, even ^ 1 << 31], np.uint64).astype(dtype).tolist()
    for count in range(1, 5):
        for k, chosen in enumerate(itertools.permutations(dict.fromkeys(words), count)):
            # 600 equal keys are more than a batch.
            for keys_before in (0, 600) if count < 2 else (600 * (k % 2),):
                keys = np.array([17] * keys_before + [*chosen] * 300, dtype)
                outputs = fastsel.unique(keys, True, True, True, sorted=False)
                expected = reference.unique(keys, True, True, True, sorted=False)
                for ours, theirs in zip(outputs, expected, strict=True):
                    assert np.array_equal(ours, theirs)
                assert np.array_equal(fastsel.unique(keys, sorted=False), expected[0])
