"""The hash table: it gives up on keys that take too many probes, and no key is taken for an empty
slot. The seeds are known, so that keys can be made to collide."""

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
    cheap = rng.integers(0, 2**64, 2, dtype=np.uint64)
    return {
        "new_keys": np.concatenate((chain, chain)),
        # Found keys buy no budget: the end of the chain is looked up over and over.
        "found_keys": np.concatenate((np.tile(cheap, 5000), chain, np.tile(chain[-64:], 500))),
        # In the table of one part, too.
        "one_part": np.tile(colliding(200, 16), 2),
    }


@pytest.fixture(scope="module", params=["new_keys", "found_keys", "one_part"])
def flood(request):
    return floods()[request.param]


@pytest.fixture
def known_seeds(monkeypatch):
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", SEEDS)


@pytest.mark.parametrize("seed", ["0", "1", "108", "234", "560", "1209"])
def test_keys_in_equal_steps_do_not_flood(seed, monkeypatch):
    """One factor of a few hundred, such as the first that these seeds draw, would flood the
    table."""
    monkeypatch.setenv("FASTSEL_HASH_SEED", seed)
    seeds = _keys._seeds()
    for keys in (np.arange(4096), np.arange(60_000), np.arange(4096) << 40, np.arange(4096.0)):
        assert make_tables(keys, seeds=seeds).find()


def by_tables(keys, chunks=1, max_groups=1 << 16):
    return make_tables(keys, max_groups=max_groups, counts=True, threads=chunks).find()


def test_tables_give_up_on_collisions(flood):
    assert not by_tables(flood)


def test_tables_serve_as_many_keys_that_do_not_collide(flood):
    rng = np.random.default_rng(9)
    keys = rng.integers(0, 2**64, len(np.unique(flood)), dtype=np.uint64)
    assert by_tables(rng.choice(keys, len(flood)))


def test_merged_tables_give_up_on_collisions():
    """Each chunk has few enough of the keys that collide; all chunks together have too many."""
    chunks = colliding(1800).reshape(30, 60)
    chunks = np.pad(chunks, ((0, 0), (0, 68)), "edge")  # to two blocks
    assert all(by_tables(keys) for keys in chunks)
    assert not by_tables(chunks.ravel(), chunks=30)


@pytest.mark.parametrize("max_groups", [256, 257, 511, 512, 513, 1000])
def test_tables_give_up_before_they_grow_for_more_groups_than_allowed(max_groups):
    """Slots are a power of two; the limit of groups need not be."""
    for keys in (np.arange(2 * max_groups + 1), np.arange(4 * max_groups + 2).reshape(-1, 2)):
        for dtype in ("u4", "u8"):
            assert by_tables(keys.astype(dtype)[:max_groups], max_groups=max_groups)
            assert not by_tables(keys.astype(dtype), max_groups=max_groups)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_answer_is_right(flood, algorithm, known_seeds, monkeypatch):
    force(monkeypatch, algorithm)
    for in_order in (True, False):
        found = fastsel.unique(flood, True, True, True, sorted=in_order)
        expected = reference.unique(flood, True, True, True, sorted=in_order)
        for ours, theirs in zip(found, expected, strict=True):
            assert np.array_equal(ours, theirs)
        assert np.array_equal(fastsel.unique(flood, sorted=in_order), expected[0])


@pytest.mark.parametrize("seeds", [SEEDS, (1, 1), (0, 1), (2**63, 3), (5, 2**64 - 1)])
@pytest.mark.parametrize("algorithm", ["sorting", "tables", "partitions"])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
def test_words_that_look_like_empty_slots(dtype, algorithm, seeds, forced_kernels, monkeypatch):
    """An empty slot holds 0, as if it were the seed: neither is taken for a key, and as keys both
    are found."""
    monkeypatch.setattr("fastsel._unique._keys.SEEDS", seeds)
    force(monkeypatch, algorithm)
    even = seeds[0] & ~1  # as the kernels take it
    words = np.array([0, even, even + 1, even ^ 1 << 31], np.uint64).astype(dtype).tolist()
    for count in range(1, 5):
        for k, chosen in enumerate(itertools.permutations(dict.fromkeys(words), count)):
            for before in (0, 600) if count < 2 else (600 * (k % 2),):  # a batch of other keys
                keys = np.array([17] * before + [*chosen] * 300, dtype)
                found = fastsel.unique(keys, True, True, True, sorted=False)
                expected = reference.unique(keys, True, True, True, sorted=False)
                for ours, theirs in zip(found, expected, strict=True):
                    assert np.array_equal(ours, theirs)
                assert np.array_equal(fastsel.unique(keys, sorted=False), expected[0])
