"""Tests of the second reader. They build vaults from the page with a writer of their own, below, that
shares nothing with the reader: whole ones, one for each class of damage, and a few thousand mutations.

    python -m unittest test_second_reader
"""

import contextlib
import copy
import io
import json
import os
import random
import struct
import tempfile
import unittest
from hashlib import blake2b

from nacl import bindings as sodium
from nacl.public import PublicKey, SealedBox

import second_reader as reader

MIB = 1 << 20
PASSPHRASE = "correct horse"
SLOT_KEY = bytes(range(32))
FILE_KEY = bytes(range(32, 64))
CODE = bytes(range(100, 116))
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def number(size):
    return lambda value: value.to_bytes(size, "little")


u8, u16, u32, u64 = number(1), number(2), number(4), number(8)


def ident(n):
    return bytes([n]) * 16


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return u32(len(raw)) + raw


def optional(raw):
    return b"\0" if raw is None else b"\1" + raw


def listed(items):
    return u32(len(items)) + b"".join(items)


def kdf(key, n, label):
    return sodium.crypto_generichash_blake2b_salt_personal(
        b"", digest_size=32, key=key, salt=u64(n) + bytes(8), person=label + bytes(8))


def seal(key, nonce, raw, data):
    return sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(raw, data, nonce, key)


def hash32(raw, key=b""):
    return blake2b(raw, digest_size=32, key=key).digest()


def times(a, b):
    """GF(32) by its logarithms: another way than the reader's."""
    powers = [1]
    for _ in range(30):
        doubled = powers[-1] << 1
        powers.append(doubled ^ 0b100101 if doubled & 32 else doubled)
    return powers[(powers.index(a) + powers.index(b)) % 31] if a and b else 0


def recovery_code(code):
    bits = "00" + "".join(f"{byte:08b}" for byte in code)
    symbols = [int(bits[at:at + 5], 2) for at in range(0, 130, 5)]
    division = symbols + [0, 0]
    for at in range(26):
        factor = division[at]
        division[at + 1] ^= times(factor, 6)
        division[at + 2] ^= times(factor, 8)
    printed = "".join(ALPHABET[symbol] for symbol in symbols + division[26:])
    return "-".join(printed[at:at + 4] for at in range(0, 28, 4))


def pad_value(value):
    n = 4 + len(value)
    if n <= 1024:
        p = next(p for p in range(128, 1025, 128) if p >= n)
    else:
        e = len(bin(n)) - 3
        unit = 2 ** (e - (len(bin(e)) - 2))
        p = (n + unit - 1) // unit * unit
    return u32(len(value)) + value + bytes(p - n)


class Slot:
    def __init__(self, n, kind, tier):
        self.id, self.kind, self.tier = ident(n), kind, tier
        self.derivation = {1: 1, 4: 2}.get(kind, 0)
        self.operations, self.memory = (1, 8 * MIB) if kind == 1 else (0, 0)
        self.salt = bytes(16) if kind in (2, 3) else ident(n + 100)
        self.zero, self.zeros, self.made_at = 0, bytes(64), 1_700_000_000_000
        self.passphrase = PASSPHRASE.encode()

    def kek(self):
        if self.kind == 1:
            return sodium.crypto_pwhash_alg(
                32, self.passphrase, self.salt, self.operations, self.memory, sodium.crypto_pwhash_ALG_ARGON2ID13)
        if self.kind == 4:
            return hash32(b"zgv1/recovery" + self.salt, CODE)
        return SLOT_KEY if self.kind == 2 else FILE_KEY

    def encode(self, vault):
        nonce = os.urandom(24)
        head = self.id + bytes([self.kind, self.tier, self.derivation, self.zero])
        head += u32(self.operations) + u64(self.memory) + self.salt + nonce
        tail = u64(self.made_at) + self.zeros
        key = vault.root if self.tier == 2 else vault.index_key
        try:
            kek = self.kek()
        except Exception:  # a cost that libsodium refuses
            kek = bytes(32)
        return head + seal(kek, nonce, key, b"zgv1/slot" + vault.id + head + tail) + tail


def scope(targets=1, environments=(), branch=None):
    return u8(targets) + listed([text(e) for e in environments]) + optional(branch and text(branch))


def attributes(kind=1, comment=None, **kept):
    return u8(kind) + scope(**kept) + optional(comment and text(comment))


class Version:
    def __init__(self, record, n, value, batch=1, sealed_name=None):
        self.record, self.number, self.value, self.batch, self.sealed_name = record, n, value, batch, sealed_name
        self.chunk = self.chunk_number = self.offset = self.checksum = self.padded = None


class Vault:
    """A vault as a model. `build` gives the file; the attributes that start with None are made there,
    unless a test has set them to something wrong."""

    def __init__(self):
        self.id, self.root = ident(0xAA), bytes(range(200, 232))
        self.format, self.zero, self.generation, self.epoch = 1, 0, 3, 1
        self.slots = [Slot(1, 1, 2), Slot(2, 2, 1), Slot(3, 3, 2), Slot(4, 4, 2)]
        self.public = self.count = self.file_length = self.index_length = self.header_length = None
        self.metadata = self.content = self.padded = self.end = None
        self.projects = [(ident(1), "alpha"), (ident(2), "beta")]
        # id: project, name, current, highest
        self.records = [[ident(10), ident(1), "API_KEY", 2, 2], [ident(11), ident(2), "DSN", 1, 1],
                        [ident(12), ident(2), "EMPTY", 0, 0]]
        self.current = [Version(ident(10), 2, b"second"), Version(ident(11), 1, b"x" * 5000, batch=2)]
        self.earlier = [Version(ident(10), 1, "früher".encode(), sealed_name=(ident(9), "OLD"))]
        self.batches = [(ident(1), 2), (ident(2), 1)]
        self.sections = {}
        self.checkpoint_code = self.checkpoint_generation = None
        self.batch_key, self.batch_names = {}, {}

    def name_of(self, version):
        if version.sealed_name:
            return version.sealed_name
        return next(((r[1], r[2]) for r in self.records if r[0] == version.record), (ident(0), ""))

    def chunk_of(self, version):
        project, name = self.name_of(version)
        name = name.encode()
        data = b"zgv1/value" + bytes(6) + self.id + ident(version.batch) + version.record
        data += u64(version.number) + u32(16) + project + u32(len(name)) + name
        nonce = os.urandom(24)
        padded = version.padded if version.padded is not None else pad_value(version.value)
        return nonce + seal(ident(version.batch) * 2, nonce, padded, data)

    def batch(self, batch_id, wrapping):
        key, names = self.batch_key.get(batch_id, batch_id * 2), self.batch_names.get(batch_id, self.id + batch_id)
        if wrapping == 1:
            return batch_id + u8(1) + SealedBox(PublicKey(self.pair[0])).encrypt(key + names)
        nonce = os.urandom(24)
        return batch_id + u8(wrapping) + nonce + seal(kdf(self.root, 2, b"zgv1root"), nonce, key, b"zgv1/batch" + names)

    def record(self, row):
        remote = text("env_1") + text("K") + text("team") + u64(1) + attributes(5, "c") + u64(1) + u64(2) + b"\1" + u64(3)
        return row[0] + row[1] + text(row[2]) + attributes(
            2, "a comment", targets=5, environments=["a", "b"], branch="main") + 2 * u64(7) + u64(0) + u64(
            row[3]) + u64(row[4]) + u64(0) + optional(remote if row[0] == ident(10) else None)

    def version(self, v):
        named = v.sealed_name and v.sealed_name[0] + text(v.sealed_name[1])
        return v.record + u64(v.number) + ident(v.batch) + u64(v.offset) + u32(len(v.chunk)) + (
            v.checksum or hash32(v.chunk)) + u64(9) + optional(named)

    def entries(self):
        return listed([row[0] + row[1] + text(row[2]) + u64(row[3]) + u8(2) + scope(5, ["a", "b"], "main") + (
            optional(text("env_1")) + optional(text("team")) if row[0] == ident(10) else b"\0\0")
            for row in self.records])

    def build(self):
        self.index_key = kdf(self.root, self.epoch, b"zgv1indx")
        self.pair = sodium.crypto_box_seed_keypair(kdf(self.root, 1, b"zgv1root"))
        chunks = b""
        for v in self.earlier + self.current:
            v.chunk = v.chunk if v.chunk is not None else self.chunk_of(v)
            if v.offset is None:
                v.offset = len(chunks)
            chunks += v.chunk
        slots = [slot.encode(self) for slot in self.slots]
        count = len(slots) if self.count is None else self.count
        public = self.public or self.pair[0]
        generation = self.generation if self.checkpoint_generation is None else self.checkpoint_generation
        entries = self.entries()
        code = self.checkpoint_code or hash32(
            b"zgv1/checkpoint\0" + self.id + u64(generation) + public + u32(self.epoch) + u32(count)
            + b"".join(slots) + entries, kdf(self.root, 3, b"zgv1root"))
        account = text("me") + text("https://api") + text("u") + text("n") + b"\0\0\1" + u64(1) + u64(0) + u8(1) + text("tok")
        parts = {
            "metadata": listed([u64(1) + ident(1), u64(2) + ident(2)]) + b"\1" + u64(4) + ident(4) + listed(
                [text("/home/x") + text("alpha") + text("") + ident(1)]),
            "projects": listed([i + text(n) + u64(1) + optional(
                text("o") + text("u") + b"\0" + b"\1" + text("slug") + text("p") + text("n") if i == ident(1) else None)
                + optional(text("dpl") + u64(5) if i == ident(1) else None) + u64(0) for i, n in self.projects]),
            "records": listed([self.record(row) for row in self.records]),
            "current": listed([self.version(v) for v in self.current]),
            "earlier": listed([self.version(v) for v in self.earlier]),
            "batches": listed([self.batch(*b) for b in self.batches]),
            "journal": listed([ident(1) + u8(77) + u64(1) + text("payload")]),
            "accounts": listed([account]),
            "logs": listed([ident(9) * 2, ident(8) * 2]),
            "checkpoint": b"\1" + u64(generation) + code + entries}
        for name, change in self.sections.items():
            parts[name] = change(parts[name]) if callable(change) else change
        content = b"".join(text(part) for part in parts.values())
        if self.content is not None:
            content = self.content(content)
        padded = u32(len(content)) + content
        padded += bytes(-len(padded) % 4096)
        if self.padded is not None:
            padded = self.padded(padded)
        index_length = len(padded) + 16
        header_length = 152 + 192 * len(slots)
        length = header_length + index_length + len(chunks)
        nonce = os.urandom(24)
        header = b"ZGVAULT\n" + u16(self.format) + u16(self.zero) + u32(
            header_length if self.header_length is None else self.header_length)
        header += u64(length if self.file_length is None else self.file_length) + self.id + u64(self.generation)
        header += u32(self.epoch) + public + u32(count) + b"".join(slots) + nonce
        header += u64(index_length if self.index_length is None else self.index_length)
        header += hash32(header)
        self.plain = content
        return header + seal(kdf(self.index_key, 1, b"zgv1sub_"), nonce, padded, b"zgv1/index" + header) + chunks


def resum(raw):
    """The file with its header's checksum made anew."""
    end = 152 + 192 * struct.unpack_from("<I", raw, 84)[0]
    return raw[:end - 32] + hash32(raw[:end - 32]) + raw[end:]


def put(raw, at, new):
    return raw[:at] + new + raw[at + len(new):]


BY_PASSPHRASE = {"passphrase": PASSPHRASE}
BY_SLOT_KEY = {"slotKey": SLOT_KEY.hex()}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "vault.zgv")

    def read(self, raw, secret=BY_SLOT_KEY, **kept):
        with open(self.path, "wb") as file:
            file.write(raw)
        return reader.check(self.path, reader.vector_secret(secret), **kept)

    def assertClass(self, word, raw, secret=BY_PASSPHRASE):
        found = self.read(raw, secret)
        self.assertEqual(found["class"], word, found.get("message"))

    def damage(self, word, secret=BY_PASSPHRASE, **changes):
        vault = Vault()
        for name, value in changes.items():
            setattr(vault, name, value)
        self.assertClass(word, vault.build(), secret)


class Whole(Case):
    def test_every_secret(self):
        raw = Vault().build()
        key_file = f"zg-env-key-1 {ident(0xAA).hex()} {ident(3).hex()} {FILE_KEY.hex()}\n"
        for secret in (BY_PASSPHRASE, {"recoveryCode": recovery_code(CODE)}, {"keyFile": key_file},
                       {"slotKey": FILE_KEY.hex(), "slot": ident(3).hex()}):
            found = self.read(raw, secret)
            self.assertEqual(found["class"], "ok", found)
            self.assertTrue(found["root"])
            self.assertEqual([r["value"] for r in found["records"]], ["second", "x" * 5000, None])
            self.assertEqual([(h["version"], h["value"]) for h in found["history"]], [(1, "früher")])
            self.assertEqual(found["changedSinceCheckpoint"], [])
            self.assertEqual(found["records"][0]["targets"], ["production", "development"])
        found = self.read(raw, BY_SLOT_KEY)
        self.assertEqual((found["class"], found["root"]), ("ok", False))
        self.assertEqual([r["value"] for r in found["records"]], [None] * 3)

    def test_empty_vault_and_tier_one_passphrase(self):
        vault = Vault()
        vault.projects, vault.records, vault.current, vault.earlier, vault.batches = [], [], [], [], []
        self.assertClass("ok", vault.build())
        vault.slots[0].tier = 1
        vault.slots[3].tier = 1
        self.assertClass("locked", vault.build())
        self.assertClass("locked", vault.build(), {"recoveryCode": recovery_code(CODE)})

    def test_lengths_of_values(self):
        for length in (0, 124, 125, 1020, 1021, 4092, 4093, 65_531, MIB - 1, MIB):
            vault = Vault()
            vault.current[0].value = b"v" * length
            self.assertEqual(self.read(vault.build(), BY_PASSPHRASE)["records"][0]["value"], "v" * length)
        vault = Vault()
        vault.current[0].value = b"\xff\0"
        self.assertEqual(self.read(vault.build(), BY_PASSPHRASE)["records"][0]["valueHex"], "ff00")

    def test_padme_is_the_page_s(self):
        for n, p in ((4, 128), (128, 128), (129, 256), (1024, 1024), (1025, 1088), (1088, 1088), (1089, 1152),
                     (2049, 2176), (65_537, 67_584), (MIB + 4, MIB + 32_768)):
            self.assertEqual(reader.padded_length(n), p, n)
            self.assertEqual(len(pad_value(bytes(n - 4))), p, n)

    def test_kdf_is_libsodium_s_blake2b(self):
        self.assertEqual(reader.kdf(bytes(range(32)), 258, b"KDF test"), kdf(bytes(range(32)), 258, b"KDF test"))

    def test_recovery_code(self):
        code = recovery_code(CODE)
        self.assertEqual(reader.RecoveryCode(code).code, CODE)
        self.assertEqual(reader.RecoveryCode(f" {code.lower().replace('0', 'o').replace('1', 'l')}\n").code, CODE)
        plain = code.replace("-", "")
        for first in range(28):
            for second in range(first, 28):
                typed = list(plain)
                for at, step in ((first, 1), (second, 7)):
                    typed[at] = ALPHABET[(ALPHABET.index(typed[at]) + step) % 32]
                with self.assertRaises(reader.Refused):
                    reader.RecoveryCode("".join(typed))
        for wrong in ("", plain[:-1], plain + "0", plain[:-1] + "U", plain[:-1] + "ı", "Z" + plain[1:]):
            with self.assertRaises(reader.Refused):
                reader.RecoveryCode(wrong)

    def test_checkpoint_shows_what_changed(self):
        vault = Vault()
        entries = vault.entries
        vault.entries = lambda: put(entries(), 4 + 32 + 4, b"API_OLD")
        self.assertEqual(self.read(vault.build(), BY_PASSPHRASE)["changedSinceCheckpoint"], [ident(10).hex()])
        vault.sections["checkpoint"] = b"\0"
        self.assertEqual(len(self.read(vault.build(), BY_PASSPHRASE)["changedSinceCheckpoint"]), 3)


class Header(Case):
    def test_order(self):
        raw = Vault().build()
        self.assertClass("truncated", b"")
        self.assertClass("truncated", raw[:15])
        self.assertClass("truncated", b"x" * 15)
        self.assertClass("magic", put(raw, 3, b"x"))
        self.assertClass("header", put(raw, 12, u32(151)))
        self.assertClass("header", put(raw, 12, u32(65_537)))
        self.assertClass("truncated", raw[:900])
        self.assertClass("checksum", put(raw, 8, u16(2)))
        self.assertClass("newer", resum(put(raw, 8, u16(2))))
        self.assertClass("newer", resum(put(put(raw, 8, u16(65_535)), 10, u16(1))))
        self.assertClass("truncated", raw[:-1])
        self.assertClass("extended", raw + b"\0")

    def test_fields(self):
        raw = Vault().build()
        for at, new in ((8, u16(0)), (10, u16(1)), (16, u64((1 << 32) + 1)), (16, u64(5000)), (40, u64(0)), (48, u32(0)),
                        (84 + 4 + 192 * 4 + 24, u64(16)), (84 + 4 + 192 * 4 + 24, u64(256 * MIB + 17)),
                        (84 + 4 + 192 * 4 + 24, u64((1 << 64) - 1)), (84 + 4 + 192 * 4 + 24, u64(256 * MIB))):
            self.assertClass("header", resum(put(raw, at, new)))
        self.damage("header", slots=[Slot(n, 3, 2) for n in range(17)])
        self.damage("header", slots=[Slot(n, 1, 2) for n in range(5)])
        self.damage("header", slots=[Slot(1, 1, 2), Slot(1, 2, 1)])
        self.damage("header", count=3)
        self.damage("locked", slots=[])
        self.damage("ok", slots=[Slot(n, 3, 2) for n in range(15)] + [Slot(15, 1, 2)])

    def test_slots(self):
        for change in ({"kind": 0}, {"kind": 5}, {"tier": 0}, {"tier": 3}, {"derivation": 0}, {"derivation": 3}, {"zero": 1},
                       {"zeros": bytes(63) + b"\1"}, {"operations": 0}, {"operations": 11}, {"memory": 8 * MIB - 1},
                       {"memory": 1024 * MIB + 1}, {"operations": 5, "memory": 1024 * MIB}):
            slot = Slot(9, 1, 2)
            kek, slot.kek = slot.kek, lambda: bytes(32)
            for name, value in change.items():
                setattr(slot, name, value)
            vault = Vault()
            vault.slots.append(slot)
            self.assertClass("slot", vault.build())
        slot = Slot(9, 2, 1)
        slot.operations = 1
        self.damage("slot", slots=[Slot(1, 1, 2), slot])
        slot = Slot(9, 3, 2)
        slot.salt = ident(3)
        self.damage("ok", slots=[Slot(1, 1, 2), slot])

    def test_locked(self):
        raw = Vault().build()
        for secret in ({"passphrase": ""}, {"passphrase": "p" * 1025}):
            self.assertClass("wrong-use", raw, secret)
        for secret in ({"passphrase": "wrong"}, {"slotKey": "00" * 32},
                       {"slotKey": "xyz"},
                       {"slotKey": SLOT_KEY.hex(), "slot": ident(3).hex()}, {"recoveryCode": "0000"}, {"recoveryCode": recovery_code(bytes(16))},
                       {"keyFile": "?"}, {"keyFile": f"zg-env-key-1 {ident(1).hex()} {ident(3).hex()} {FILE_KEY.hex()}"}):
            self.assertClass("locked", raw, secret)
        self.assertClass("locked", resum(put(raw, 88 + 120, b"\1")))  # a slot's time of making

    def test_exchanged_key_and_tag(self):
        raw = Vault().build()
        self.damage("exchanged-key", public=ident(7) * 2)
        self.damage("ok", BY_SLOT_KEY, public=ident(7) * 2)
        for point in (bytes(32), b"\1" + bytes(31), bytes(31) + b"\x80", b"\xed" + b"\xff" * 30 + b"\x7f"):
            self.damage("exchanged-key", BY_SLOT_KEY, public=point)
        self.assertClass("tag", resum(put(raw, 40, u64(4))))
        self.assertClass("tag", put(raw, 1000, bytes([raw[1000] ^ 1])))

    def test_step_one(self):
        raw = Vault().build()
        self.read(raw)
        os.chmod(self.path, 0o640)
        self.assertEqual(self.read(raw, guarded=True)["class"], "insecure")
        os.chmod(self.path, 0o600)
        self.assertEqual(self.read(raw, guarded=True)["class"], "ok")
        secret = reader.vector_secret(BY_SLOT_KEY)
        os.symlink(self.path, self.path + "-link")
        os.mkfifo(self.path + "-pipe")
        self.assertEqual(reader.check(self.path + "-link", secret)["class"], "insecure")
        self.assertEqual(reader.check(self.path + "-pipe", secret)["class"], "insecure")
        self.assertEqual(reader.check(self.folder, secret)["class"], "insecure")
        self.assertEqual(reader.check(self.path + "-none", secret)["class"], "not-found")


class Index(Case):
    def test_padding(self):
        self.damage("padding", padded=lambda p: p[:-1] + b"\1")
        self.damage("padding", padded=lambda p: p + bytes(4096))
        self.damage("padding", padded=lambda p: u32(len(p) - 3) + p[4:])
        self.damage("padding", padded=lambda p: p[:3])
        self.damage("padding", padded=lambda p: p[:-1])

    def sections(self, word, **sections):
        self.damage(word, BY_SLOT_KEY, sections=sections)

    def test_bounds(self):
        self.sections("bounds", projects=u32(10_001))
        self.sections("bounds", projects=u32(0xFFFFFFFF))
        self.sections("bounds", projects=lambda s: u32(3) + s[4:])
        self.sections("bounds", projects=listed([ident(1) + text("x" * 1025) + u64(0) + b"\0\0" + u64(0)]))
        self.sections("bounds", earlier=u32(0xFFFFFFFF))
        self.damage("bounds", records=[[ident(10), ident(1), "API_KEY", 2, 1]])
        self.sections("bounds", accounts=b"")
        self.sections("bounds", logs=u32(1001) + bytes(32 * 1001))
        self.sections("bounds", journal=listed([ident(1) + u8(1) + u64(1) + text(bytes(MIB + 1))]))
        self.sections("bounds", metadata=listed([u64(n) + ident(0) for n in range(1025)]) + b"\0" + u32(0))
        self.damage("bounds", content=lambda c: u32(1 << 31) + c[4:])
        self.damage("bounds", content=lambda c: c[:-1])

    def test_encoding(self):
        self.sections("encoding", projects=lambda s: s + b"\0")
        self.sections("encoding", projects=lambda s: u32(1) + s[4:])
        self.sections("encoding", projects=listed([ident(1) + text("") + u64(0) + b"\0\0" + u64(0)]))
        self.sections("encoding", projects=listed([ident(1) + text(b"\xc0\x80") + u64(0) + b"\0\0" + u64(0)]))
        self.sections("encoding", projects=listed([ident(1) + text(b"\xed\xa0\x80") + u64(0) + b"\0\0" + u64(0)]))
        self.sections("encoding", projects=listed([ident(1) + text("x") + u64(0) + b"\2\0" + u64(0)]))
        self.sections("encoding", checkpoint=b"\0\0")
        self.sections("encoding", checkpoint=b"\2")
        self.sections("encoding", records=lambda s: s.replace(b"API_KEY\2", b"API_KEY\6"))
        self.sections("encoding", records=lambda s: s.replace(b"API_KEY\2\5", b"API_KEY\2\x0d"))
        self.damage("encoding", batches=[(ident(1), 2), (ident(2), 3)])
        self.damage("encoding", content=lambda c: c + b"\0")

    def test_order(self):
        self.damage("order", projects=[(ident(2), "a"), (ident(1), "b")])
        self.damage("order", projects=[(ident(1), "a"), (ident(1), "b")])
        self.damage("order", batches=[(ident(2), 1), (ident(1), 2)])
        self.sections("order", metadata=listed([u64(2) + ident(0), u64(2) + ident(0)]) + b"\0" + u32(0))
        self.sections("order", records=lambda s: s.replace(text("a") + text("b"), text("b") + text("a")))
        vault = Vault()
        vault.current.reverse()
        self.assertClass("order", vault.build())
        self.sections("ok", logs=lambda s: listed([ident(1) * 2, ident(1) * 2]))

    def test_layout(self):
        self.damage("layout", projects=[(ident(1), "\u00e9"), (ident(2), "e\u0301")])
        self.damage("layout", projects=[(ident(1), "alpha")])
        self.damage("layout", batches=[(ident(1), 2)])
        def no_current(v): v.current.pop()
        def other_number(v): v.current[0].number = 1
        def no_length(v): v.current[1].chunk = b""
        def unknown_record(v): v.earlier[0].record = ident(99)
        def is_current(v): v.earlier[0].number = 2
        def number_zero(v): v.earlier[0].number = 0
        def number_high(v): v.earlier[0].number = 3
        def gap(v): v.current[1].offset = 10_000
        def huge(v): v.current[1].offset = (1 << 64) - 1
        def overlap(v): v.current[0].offset = 0
        for change in (no_current, other_number, no_length, unknown_record, is_current, number_zero, number_high,
                       gap, huge, overlap):
            vault = Vault()
            change(vault)
            self.assertClass("layout", vault.build(), BY_SLOT_KEY)
        vault = Vault()
        raw = vault.build()
        vault.file_length = len(raw) + 5
        self.assertClass("layout", vault.build() + b"12345")

    def test_too_many_earlier_versions(self):
        vault = Vault()
        vault.records[0][3:] = 10_002, 10_002
        vault.current[0].number = 10_002
        vault.earlier = [Version(ident(10), n, b"") for n in range(1, 10_002)]
        for version in vault.earlier:
            version.chunk = b"c"
        self.assertClass("layout", vault.build(), BY_SLOT_KEY)
        vault.earlier.pop()
        for version in vault.earlier + vault.current:
            version.offset = None
        self.assertClass("ok", vault.build(), BY_SLOT_KEY)

    def test_checkpoint(self):
        self.damage("checkpoint", checkpoint_code=bytes(32))
        self.damage("ok", BY_SLOT_KEY, checkpoint_code=bytes(32))
        self.damage("checkpoint", checkpoint_generation=0)
        self.damage("checkpoint", checkpoint_generation=4)
        self.damage("ok", checkpoint_generation=2)

    def test_batch(self):
        for change in ({"batch_names": {ident(1): ident(1) * 2}}, {"batch_names": {ident(2): ident(0xAA) + ident(1)}},
                       {"sections": {"batches": lambda s: s[:-1] + bytes([s[-1] ^ 1])}}):
            self.damage("batch", **change)
        self.damage("ok", BY_SLOT_KEY, batch_names={ident(1): bytes(32)})
        self.damage("value", batch_key={ident(1): bytes(32)})

    def test_chunk_and_value(self):
        raw = Vault().build()
        self.assertClass("chunk", raw[:-1] + bytes([raw[-1] ^ 1]))
        self.assertClass("chunk", raw[:-1] + bytes([raw[-1] ^ 1]), BY_SLOT_KEY)
        def short(v): v.current[0].chunk = b"c" * 39
        def moved(v): v.records[0][2] = "OTHER"
        def longer(v): v.current[0].padded = pad_value(b"second") + bytes(128)
        def odd(v): v.current[0].padded = u32(1) + b"x"
        def no_length(v): v.current[0].padded = b"abc"
        def not_zero(v): v.current[0].padded = pad_value(b"second")[:-1] + b"\1"
        def too_long(v): v.current[0].padded = u32(200) + bytes(124)
        def over_limit(v): v.current[0].padded = pad_value(bytes(MIB + 1))
        def enormous(v): v.current[0].chunk = bytes(9 * MIB)
        for change in (short, longer, odd, no_length, not_zero, too_long, over_limit, enormous):
            vault = Vault()
            change(vault)
            self.assertClass("value", vault.build())
            self.assertClass("ok", vault.build(), BY_SLOT_KEY)
        vault = Vault()
        vault.build()
        moved(vault)
        self.assertClass("value", vault.build())


class Hostile(Case):
    """What is random must give one of the words, and nothing else."""

    WORDS = {"ok", "newer", "locked", "truncated", "magic", "header", "checksum", "slot", "extended", "exchanged-key", "tag",
             "padding", "bounds", "encoding", "order", "layout", "checkpoint", "rotation", "batch", "chunk", "value"}

    def mutate(self, chance, raw):
        raw = bytearray(raw)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(len(raw))
            kind = chance.randrange(5)
            if kind == 0:
                raw[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                raw[at:at + 4] = chance.choice((bytes(4), b"\xff" * 4, u32(chance.randrange(1 << 32))))
            elif kind == 2:
                del raw[at:at + chance.randrange(1, 40)]
            elif kind == 3:
                raw[at:at] = chance.randbytes(chance.randrange(1, 40))
            else:
                other = chance.randrange(len(raw))
                raw[at:at + 16] = raw[other:other + 16]
            raw = raw or bytearray(1)
        return bytes(raw)

    def test_flips_are_damage_or_the_right_answer(self):
        raw = Vault().build()
        right = self.read(raw)
        chance = random.Random(1)
        for _ in range(1500):
            at = chance.randrange(len(raw))
            found = self.read(put(raw, at, bytes([raw[at] ^ 1 << chance.randrange(8)])))
            self.assertIn(found["class"], self.WORDS - {"newer", "locked", "ok"})
        self.assertEqual(self.read(raw), right)

    def test_mutations_of_the_file(self):
        raw = Vault().build()
        chance = random.Random(2)
        for _ in range(1500):
            self.assertIn(self.read(self.mutate(chance, raw))["class"], self.WORDS)

    def test_mutations_of_the_header_with_a_checksum(self):
        vault = Vault()
        raw = vault.build()
        end = 152 + 192 * 4 - 32
        chance = random.Random(3)
        for _ in range(1500):
            header = self.mutate(chance, raw[:end])[:end].ljust(end, b"\0")
            self.assertIn(self.read(header + hash32(header) + raw[end + 32:])["class"], self.WORDS)

    def test_mutations_of_the_sealed_content(self):
        seen = set()
        chance = random.Random(4)
        recovery = {"recoveryCode": recovery_code(CODE)}  # the root without Argon2id
        vault = Vault()
        vault.slots = vault.slots[1:]
        for turn in range(3000):
            vault.content = lambda content: self.mutate(chance, content)
            word = self.read(vault.build(), recovery if turn % 2 else BY_SLOT_KEY)["class"]
            seen.add(word)
            self.assertIn(word, self.WORDS)
        self.assertLessEqual({"bounds", "encoding", "order", "layout", "checkpoint", "batch", "chunk", "value"}, seen)


class Command(Case):
    def run_main(self, *arguments):
        output = io.StringIO()
        argv, reader.sys.argv = reader.sys.argv, ["second_reader.py", *arguments]
        try:
            with contextlib.redirect_stdout(output):
                return reader.main(), output.getvalue()
        finally:
            reader.sys.argv = argv

    def test_command(self):
        raw = Vault().build()
        passphrase = os.path.join(self.folder, "passphrase")
        for content, change, code, word in ((PASSPHRASE + "\n", raw, 0, "ok"), (PASSPHRASE, raw, 0, "ok"), ("no", raw, 3, "locked"),
                                            ("", raw[:-1], 8, "truncated"), ("", resum(put(raw, 8, u16(2))), 1, "newer")):
            with open(passphrase, "w", encoding="utf-8") as file:
                file.write(content)
            self.read(change)
            found, output = self.run_main(self.path, "--passphrase-file", passphrase)
            self.assertEqual((found, json.loads(output)["class"]), (code, word))
        self.read(raw)
        self.assertEqual(self.run_main(self.path, "--slot-key", SLOT_KEY.hex())[0], 0)

    def test_vectors(self):
        self.read(Vault().build())
        values = reader.vector_values(self.read(Vault().build(), BY_PASSPHRASE))
        self.assertIn({"project": "beta", "key": "DSN", "type": "encrypted", "targets": ["production", "development"],
                       "customEnvironments": ["a", "b"], "branch": "main", "comment": "a comment", "removed": False,
                       "version": 1, "current": True, "value": "x" * 5000}, values)
        vector = {"file": "vault.zgv", "secret": BY_PASSPHRASE, "class": "ok", "exit": 0, "values": values}
        for change, code in (({}, 0), ({"class": "tag"}, 1), ({"exit": 8}, 1), ({"values": values[1:]}, 1),
                             ({"values": [*values, values[0]]}, 1), ({"values": [{**values[0], "value": "x"}, *values[1:]]}, 1)):
            with open(os.path.join(self.folder, "vectors.json"), "w", encoding="utf-8") as file:
                json.dump([{**copy.deepcopy(vector), **change}], file)
            self.assertEqual(self.run_main("--vectors", self.folder)[0], code)


if __name__ == "__main__":
    unittest.main()
