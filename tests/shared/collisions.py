"""Keys made to collide in fastsel's hash tables if SEEDS are the (seed, factor) of the hash."""

import numpy as np

SEEDS = (0x243F6A8885A308D2, 0x13198A2E03707345)


def hash_words(words):
    """fastsel's hash of keys of 8 bytes: both halves of the 128-bit product (word ^ seed) * factor,
    combined by exclusive or."""
    seed, factor = (np.uint64(k) for k in SEEDS)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a = words ^ seed
    a0, a1, b0, b1 = a & low, a >> half, factor & low, factor >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    high = a1 * b1 + (middle >> half) + (a0 * b1 + (middle & low) >> half)
    return (a * factor) ^ high


def colliding(count, bits=10):
    """`count` keys whose hashes have the same `bits` upper bits. In a table that skips no bits of
    the hash, and has at most 2**bits slots, all of them have the same first slot."""
    rng, found = np.random.default_rng(7), []
    while sum(map(len, found)) < count:
        words = rng.integers(0, 2**64, 1 << 20, dtype=np.uint64)
        found.append(words[hash_words(words) >> np.uint64(64 - bits) == 5])
    return np.concatenate(found)[:count]
