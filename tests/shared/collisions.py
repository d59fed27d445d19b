"""Keys made to collide, for the hash of fastsel with known seeds."""

import numpy as np

SEEDS = (0x243F6A8885A308D2, 0x13198A2E03707345)


def mixed(words):
    """The hash of 8 byte keys: the halves of (word ^ seed) * factor, folded together."""
    seed, factor = (np.uint64(k) for k in SEEDS)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a = words ^ seed
    a0, a1, b0, b1 = a & low, a >> half, factor & low, factor >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    high = a1 * b1 + (middle >> half) + (a0 * b1 + (middle & low) >> half)
    return (a * factor) ^ high


def colliding(count, bits=10):
    """Different keys whose hashes share that many upper bits: one cluster in any table."""
    rng, found = np.random.default_rng(7), []
    while sum(map(len, found)) < count:
        words = rng.integers(0, 2**64, 1 << 20, dtype=np.uint64)
        found.append(words[mixed(words) >> np.uint64(64 - bits) == 5])
    return np.concatenate(found)[:count]
