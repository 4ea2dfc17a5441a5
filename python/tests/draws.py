"""The draws of a run, by independent code: Philox 4x32-10 of (seed, replication, name, ordinal)."""

from __future__ import annotations

_MASK = 2**32 - 1


def hashed(data: bytes) -> int:
    """FNV-1a of 64 bits (Fowler, Noll, Vo)."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = ((found ^ byte) * 0x100000001B3) % 2**64
    return found


def uniforms(name: str, ordinal: int, seed: int = 1, replication: int = 0) -> tuple[float, float]:
    """Return the two uniform numbers of decision `ordinal` of the entity called `name`."""
    entity = hashed(name.encode() + replication.to_bytes(8, "little"))
    counter = [ordinal & _MASK, ordinal >> 32, entity & _MASK, entity >> 32]
    key = [seed & _MASK, seed >> 32]
    for turn in range(10):
        if turn:
            key = [(key[0] + 0x9E3779B9) & _MASK, (key[1] + 0xBB67AE85) & _MASK]
        low, high = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (high >> 32) ^ counter[1] ^ key[0],
            high & _MASK,
            (low >> 32) ^ counter[3] ^ key[1],
            low & _MASK,
        ]
    first, second = (counter[0] << 32 | counter[1]), (counter[2] << 32 | counter[3])
    return (first >> 11) / 2**53, (second >> 11) / 2**53
