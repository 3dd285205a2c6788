"""Another text with the same tag of XChaCha20-Poly1305, for someone who has its key.

A tag proves that its maker has the key, and nothing to others who have it too: Poly1305 is a
polynomial, so a few free bytes give any text any tag. This is why the vault's proof covers a hash of
the index (docs/vault-format.md, section 5.9), and why a reader may not take an index for the one that
it knows because the tag is the same.
"""

import os
import struct

PRIME = (1 << 130) - 5
# Of Ed25519.
GROUP_ORDER = 2 ** 252 + 27742317777372353535851937790883648493


def rotated(value, by):
    return (value << by | value >> 32 - by) & 0xFFFFFFFF


def rounds(state):
    """The twenty rounds of ChaCha20, without the addition at the end."""
    state = list(state)

    def quarter(a, b, c, d):
        for target, source, by in ((a, d, 16), (c, b, 12), (a, d, 8), (c, b, 7)):
            other = b if target == a else d
            state[target] = (state[target] + state[other]) & 0xFFFFFFFF
            state[source] = rotated(state[source] ^ state[target], by)
    for _ in range(10):
        for at in range(4):
            quarter(at, at + 4, at + 8, at + 12)
        for at in range(4):
            quarter(at, 4 + (at + 1) % 4, 8 + (at + 2) % 4, 12 + (at + 3) % 4)
    return state


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def one_time_key(key, nonce):
    """The Poly1305 key of one sealing: r as it is used, and s."""
    out = rounds(CONSTANTS + struct.unpack("<12I", key + nonce[:16]))
    inner = struct.pack("<8I", *out[:4], *out[12:])
    state = CONSTANTS + struct.unpack("<12I", inner + bytes(8) + nonce[16:])
    block = [(one + other) & 0xFFFFFFFF for one, other in zip(state, rounds(state))]
    raw = struct.pack("<8I", *block[:8])
    clamp = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    return int.from_bytes(raw[:16], "little") & clamp, int.from_bytes(raw[16:], "little")


def blocks(data, sealed):
    """What Poly1305 takes, as numbers."""
    text = b"".join((
        data, bytes(-len(data) % 16), sealed, bytes(-len(sealed) % 16),
        struct.pack("<QQ", len(data), len(sealed))))
    return [int.from_bytes(text[at:at + 16], "little") + (1 << 128) for at in range(0, len(text), 16)]


def polynomial(numbers, r):
    value = 0
    for number in numbers:
        value = (value + number) * r % PRIME
    return value


def tag(key, nonce, data, sealed):
    r, s = one_time_key(key, nonce)
    return ((polynomial(blocks(data, sealed), r) + s) & ((1 << 128) - 1)).to_bytes(16, "little")


def forge(key, nonce, data, sealed, text, free=96):
    """A sealed text that begins with `text`, with the tag of `sealed` under the same associated data.
    The last `free` bytes are those that make it so."""
    old, wanted = sealed[:-16], sealed[-16:]
    r, _ = one_time_key(key, nonce)
    from nacl import bindings as sodium
    stream = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(bytes(len(old)), data, nonce, key)
    # An aligned block in the free bytes, and one before it to try with.
    at = (len(old) - 16) // 16 * 16
    start = len(old) - free
    new = bytearray(one ^ other for one, other in zip(text, stream))
    new += os.urandom(free)
    assert len(new) == len(old) and at - 16 >= start
    target = polynomial(blocks(data, old), r)
    following = len(blocks(data, old)) - len(blocks(data, b"")) + 1 - at // 16  # with the lengths
    inverse = pow(pow(r, following, PRIME), -1, PRIME)
    while True:
        new[at - 16:at] = os.urandom(16)
        new[at:at + 16] = bytes(16)
        missing = (target - polynomial(blocks(data, bytes(new)), r)) * inverse % PRIME
        if missing < 1 << 128:
            new[at:at + 16] = missing.to_bytes(16, "little")
            break
    assert tag(key, nonce, data, bytes(new)) == wanted
    return bytes(new) + wanted
