"""Tests of the second reader. They take vaults of `vault_writer.py`, which shares nothing with the
reader: whole ones, one for each class of damage, and a few thousand mutations.

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
import unicodedata
import unittest

import second_reader as reader
import vault_writer as writer
from vault_writer import (
    CODE, FILE_KEY, MIB, ROOT, SLOT_KEY, TEXT, U8, U16, U32, U64, hash32, ident, pad_value,
    recovery_code, sample)

PASSPHRASE = writer.PASSPHRASE.decode()
BY_PASSPHRASE = {"passphrase": PASSPHRASE}
BY_CODE = {"recoveryCode": recovery_code(CODE)}  # the root without Argon2id
BY_SLOT_KEY = {"slotKey": SLOT_KEY.hex()}
KEY = writer.index_key(ROOT)
OTHER_ROOT = bytes(range(32))
BY_INDEX_KEY = {"indexKey": KEY.hex()}


def listed(items):
    return U32.put(len(items)) + b"".join(items)


def resum(raw):
    """The file with its header's checksum recomputed."""
    end = 152 + 192 * struct.unpack_from("<I", raw, 84)[0]
    return raw[:end - 32] + hash32(raw[:end - 32]) + raw[end:]


def put(raw, at, new):
    return raw[:at] + new + raw[at + len(new):]


def flip(raw, at):
    return put(raw, at, bytes([raw[at] ^ 1]))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "vault.zgv")

    def read(self, raw, secret=BY_CODE, **kept):
        with open(self.path, "wb") as file:
            file.write(raw)
        return reader.check(self.path, reader.vector_secret(secret), **kept)

    def assertClass(self, word, raw, secret=BY_CODE):
        found = self.read(raw, secret)
        self.assertEqual(found["class"], word, found.get("message"))
        return found

    def damage(self, word, *edits, secret=BY_CODE, **wrong):
        """A sample that a holder of the root wrote with these edits, and with errors in the file."""
        vault = sample()
        for edit in edits:
            edit(vault)
        vault.wrong.update(wrong)
        return self.assertClass(word, vault.write(ROOT), secret)


class Whole(Case):
    def test_every_secret(self):
        raw = sample().write(ROOT)
        line = f"zg-env-key-1 {ident(0xAA).hex()} {ident(3).hex()} {FILE_KEY.hex()}"
        for secret in (
                BY_PASSPHRASE, BY_CODE, {"passphrase": recovery_code(CODE)}, {"keyFile": line},
                {"keyFile": f"zg-env-key-1 x\n{line}\n"},
                {"slotKey": FILE_KEY.hex(), "slot": ident(3).hex()}):
            found = self.assertClass("ok", raw, secret)
            self.assertTrue(found["root"])
            self.assertEqual([r["value"] for r in found["records"]],
                             ["third", "x" * 5000, None, "gone", "here", "spare"])
            self.assertEqual([(h["version"], h["value"]) for h in found["history"]],
                             [(1, "first"), (2, "früher")])
            self.assertEqual(found["records"][0]["targets"], ["production", "development"])
            self.assertEqual([a["token"] for a in found["accounts"]], ["open", "open"])
        for secret in (BY_SLOT_KEY, BY_INDEX_KEY):
            found = self.assertClass("ok", raw, secret)
            self.assertFalse(found["root"])
            self.assertEqual([r["value"] for r in found["records"]], [None] * 6)
            self.assertEqual([a["token"] for a in found["accounts"]], ["open", "protected"])

    def test_reading_and_writing_gives_the_same_bytes(self):
        vault = sample()
        raw = vault.write(ROOT)
        again = writer.Vault.load(raw, KEY)
        self.assertEqual(again.content(), vault.content())
        self.assertEqual(again.chunks(), vault.chunks())
        self.assertEqual(again.proof, vault.proof)
        for entry in again.index["journal"][1:]:
            payload = writer.PAYLOADS[entry["kind"]]
            read = payload.get(writer.Reader(entry["payload"]))
            self.assertEqual(payload.put(read), entry["payload"])

    def test_empty_vault_and_tier_one(self):
        vault = writer.Vault(ident(0xAA), writer.pair(ROOT)[0])
        vault.add_slot(ident(4), 4, 2, ROOT, CODE)
        self.assertClass("ok", vault.write(ROOT))
        vault.slots = []
        for kind, secret in ((1, writer.PASSPHRASE), (4, CODE)):
            vault.add_slot(ident(kind), kind, 1, KEY, secret, kind % 4, (kind % 4) * 8 * MIB)
        raw = vault.write(ROOT)
        self.assertClass("locked", raw, BY_PASSPHRASE)
        self.assertClass("locked", raw, BY_CODE)

    def test_lengths_of_values(self):
        for length in (0, 124, 125, 1020, 1021, 4092, 4093, 65_531, MIB - 1, MIB):
            self.assertEqual(self.value_of(b"v" * length)["value"], "v" * length)
        self.assertEqual(self.value_of(b"\xff\0")["valueHex"], "ff00")

    def value_of(self, value):
        vault = sample(slots=(4,))
        item, old = vault.index["records"][4], vault.index["current"][3]
        key = bytes(32)
        batch = vault.batch(key, ROOT)
        vault.index["current"][3] = vault.version(item, old["number"], batch, key, value)
        vault.sort()
        return self.assertClass("ok", vault.write(ROOT))["records"][4]

    def test_padme_is_the_page_s(self):
        for n, p in ((4, 128), (128, 128), (129, 256), (1024, 1024), (1025, 1088), (1088, 1088),
                     (1089, 1152), (2049, 2176), (65_537, 67_584), (MIB + 4, MIB + 32_768)):
            self.assertEqual(reader.padded_length(n), p, n)
            self.assertEqual(len(pad_value(bytes(n - 4))), p, n)

    def test_kdf_is_libsodium_s_blake2b(self):
        key = bytes(range(32))
        self.assertEqual(reader.kdf(key, 258, b"KDF test"), writer.kdf(key, 258, b"KDF test"))

    def test_recovery_code(self):
        code = recovery_code(CODE)
        self.assertEqual(recovery_code(bytes(range(1, 17))), "0108-1G81-860W-40J2-GB1G-6GW3-RGH3")
        self.assertEqual(reader.RecoveryCode(code).code, CODE)
        typed = f" {code.lower().replace('0', 'o').replace('1', 'l')}- "
        self.assertEqual(reader.RecoveryCode(typed).code, CODE)
        plain = code.replace("-", "")
        for first in range(28):
            for second in range(first, 28):
                wrong = list(plain)
                for at, step in ((first, 1), (second, 7)):
                    wrong[at] = writer.ALPHABET[(writer.ALPHABET.index(wrong[at]) + step) % 32]
                with self.assertRaises(reader.Refused):
                    reader.RecoveryCode("".join(wrong))
        for wrong in ("", plain[:-1], plain + "0", plain[:-1] + "U", plain[:-1] + "ı",
                      "Z" + plain[1:], code + "\n", "\t" + code):
            with self.assertRaises(reader.Refused):
                reader.RecoveryCode(wrong)


class Header(Case):
    SLOTS_END = 88 + 192 * 4

    def test_order(self):
        raw = sample().write(ROOT)
        self.assertClass("truncated", b"")
        self.assertClass("truncated", raw[:15])
        self.assertClass("truncated", b"x" * 15)
        self.assertClass("magic", put(raw, 3, b"x"))
        self.assertClass("header", put(raw, 12, U32.put(151)))
        self.assertClass("header", put(raw, 12, U32.put(65_537)))
        self.assertClass("truncated", raw[:900])
        self.assertClass("checksum", put(raw, 8, U16.put(4)))
        self.assertClass("newer", resum(put(raw, 8, U16.put(4))))
        self.assertClass("newer", resum(put(put(raw, 8, U16.put(65_535)), 10, U16.put(1))))
        for number in (1, 2):
            self.assertClass("pre-release", resum(put(put(raw, 8, U16.put(number)), 10, U16.put(1))))
        self.assertClass("truncated", raw[:-1])
        self.assertClass("extended", raw + b"\0")

    def test_fields(self):
        raw = sample().write(ROOT)
        length_at = self.SLOTS_END + 24
        for at, new in (
                (8, U16.put(0)), (10, U16.put(1)), (16, U64.put((1 << 32) + 1)),
                (16, U64.put(5000)), (40, U64.put(0)), (48, U32.put(0)), (length_at, U64.put(112)),
                (length_at, U64.put(256 * MIB + 113)), (length_at, U64.put((1 << 64) - 1)),
                (length_at, U64.put(256 * MIB))):
            self.assertClass("header", resum(put(raw, at, new)))
        self.damage("header", lambda v: [self.file_slot(v, n) for n in range(20, 33)])
        self.damage("ok", lambda v: [self.file_slot(v, n) for n in range(20, 32)])
        self.damage("header", lambda v: v.slots.extend(
            {**v.slots[0], "id": ident(n)} for n in range(20, 24)))
        self.damage("header", lambda v: v.slots.append(v.slots[0]))
        self.damage("header", count=3)
        self.damage("locked", lambda v: v.slots.clear())

    @staticmethod
    def file_slot(vault, n):
        vault.add_slot(ident(n), 3, 2, ROOT, FILE_KEY)

    def test_slots(self):
        for wrong in (
                {"kind": 0}, {"kind": 5}, {"tier": 0}, {"tier": 3}, {"derivation": 0},
                {"derivation": 3}, {"zero": 1}, {"zeros": bytes(63) + b"\1"}, {"operations": 0},
                {"operations": 11}, {"memory": 8 * MIB - 1}, {"memory": 1024 * MIB + 1},
                {"operations": 5, "memory": 1024 * MIB}):
            self.damage("slot", lambda v: v.slots[0].update(wrong))
        self.damage("slot", lambda v: v.slots[1].update(operations=1))
        self.damage("ok", lambda v: v.slots[1].update(salt=ident(3)))

    def test_locked(self):
        raw = sample().write(ROOT)
        for passphrase in ("", "p" * 1025):
            self.assertClass("wrong-use", raw, {"passphrase": passphrase})
        good = f"zg-env-key-1 {ident(0xAA).hex()} {ident(3).hex()} {FILE_KEY.hex()}"
        key_files = ["?", good.replace(" ", "  ", 1), good + "\r", good + " ", good.upper(),
                     good.replace("aa", "ab"), good.replace("0303", "0304")]
        for secret in (
                {"passphrase": "wrong"}, {"slotKey": "00" * 32}, {"slotKey": "xyz"},
                {"slotKey": SLOT_KEY.hex(), "slot": ident(3).hex()}, {"recoveryCode": "0000"},
                {"recoveryCode": recovery_code(bytes(16))},
                *({"keyFile": content} for content in key_files)):
            self.assertClass("locked", raw, secret)
        made_at = self.SLOTS_END - 192 + 120
        self.assertClass("locked", resum(put(raw, made_at, b"\1")))

    def test_tag(self):
        raw = sample().write(ROOT)
        self.assertClass("tag", resum(put(raw, 40, U64.put(4))))
        self.assertClass("tag", resum(put(raw, 52, ident(7) * 2)))
        self.assertClass("tag", resum(flip(raw, self.SLOTS_END)))
        self.assertClass("tag", flip(raw, 1000))
        self.assertClass("tag", raw, {"indexKey": bytes(32).hex()})

    def test_step_one(self):
        raw = sample().write(ROOT)
        self.read(raw)
        os.chmod(self.path, 0o640)
        self.assertEqual(self.read(raw, guarded=True)["class"], "insecure")
        os.chmod(self.path, 0o600)
        self.assertEqual(self.read(raw, guarded=True)["class"], "ok")
        secret = reader.vector_secret(BY_SLOT_KEY)
        os.symlink(self.path, self.path + "-link")
        os.mkfifo(self.path + "-pipe")
        for path, word in ((self.path + "-link", "insecure"), (self.path + "-pipe", "insecure"),
                           (self.folder, "insecure"), (self.path + "-none", "not-found")):
            self.assertEqual(reader.check(path, secret)["class"], word)


class Index(Case):
    def test_padding(self):
        for padded in (
                lambda p: p[:-1] + b"\1", lambda p: p + bytes(4096), lambda p: p[:3], lambda p: p[:1],
                lambda p: U32.put(len(p) - 3) + p[4:], lambda p: p[:-1]):
            self.damage("padding", padded=padded)

    def test_groups(self):
        self.damage("newer", lambda v: vars(v).update(groups=1))
        self.damage("newer", lambda v: vars(v).update(groups=1), content=lambda c: c[:1])
        self.damage("encoding", lambda v: vars(v).update(groups=2))
        self.damage("bounds", content=lambda c: b"")

    def section(self, word, **sections):
        self.damage(word, secret=BY_INDEX_KEY, **sections)

    @staticmethod
    def project(name):
        raw = ident(1) + TEXT.put(name) + U64.put(0) + b"\0\0" + U64.put(0)
        return listed([raw])

    def test_bounds(self):
        self.section("bounds", projects=U32.put(10_001))
        self.section("bounds", projects=U32.put(0xFFFFFFFF))
        self.section("bounds", projects=lambda s: U32.put(4) + s[4:])
        self.section("bounds", projects=self.project("x" * 1025))
        self.section("bounds", earlier=U32.put(0xFFFFFFFF))
        self.section("bounds", accounts=b"")
        self.section("bounds", log_keys=U32.put(1001) + bytes(32 * 1001))
        self.section("bounds", journal=listed(
            [ident(1) + U8.put(1) + U64.put(1) + TEXT.put(bytes(MIB + 1))]))
        for kind, size, word in ((9, MIB + 1, "bounds"), (9, MIB, "ok"), (5, MIB + 1, "ok"),
                                 (8, 64 * MIB, "ok"), (5, 64 * MIB + 1, "bounds")):
            self.section(word, journal=listed(
                [ident(1) + U8.put(kind) + U64.put(1) + TEXT.put(bytes(size))]))
        self.section("bounds", metadata=listed(
            [U64.put(n) + ident(0) for n in range(1025)]) + b"\0" + bytes(8))
        settings = writer.List(writer.SETTING).put(sample().index["metadata"]["settings"])
        front = -len(settings)
        self.section("bounds", metadata=lambda s: s[:front] + U32.put(1001) + settings[4:])
        self.section("bounds", metadata=lambda s: s[:front])
        self.section("bounds", content=lambda c: c[:1] + U32.put(1 << 31) + c[5:])
        self.section("bounds", content=lambda c: c[:-1])
        self.damage("bounds", lambda v: v.index["records"][0].update(highest=2))

    def test_encoding(self):
        self.section("encoding", projects=lambda s: s + b"\0")
        self.section("encoding", projects=lambda s: U32.put(1) + s[4:])
        for name in ("", b"\xc0\x80", b"\xed\xa0\x80"):
            self.section("encoding", projects=self.project(name))
        self.section("encoding", projects=put(self.project("x"), 4 + 16 + 5 + 8, b"\2"))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2", b"API_KEY\6", 1))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2\5", b"API_KEY\2\x0d", 1))
        self.section("encoding", earlier=lambda s: s.replace(
            b"\1" + TEXT.put("OLD"), b"\2" + TEXT.put("OLD")))
        self.section("encoding", earlier=lambda s: s.replace(b"OLD", b"O\xffD"))
        self.section("encoding", content=lambda c: c + b"\0")
        self.damage("encoding", lambda v: v.index["records"][0].update(name=""))

    def test_order(self):
        def turned(name, first=0):
            def edit(vault):
                items = vault.index[name]
                items[first], items[first + 1] = items[first + 1], items[first]
            return edit

        def doubled(name):
            return lambda vault: vault.index[name].insert(0, copy.deepcopy(vault.index[name][0]))
        for name in ("projects", "records", "current", "earlier", "batches", "journal", "accounts"):
            for edit in (turned(name), doubled(name)):
                self.damage("order", edit, secret=BY_INDEX_KEY)
        for name in ("generations", "directories", "settings"):
            self.damage("order", lambda v: v.index["metadata"][name].reverse())
        self.section("order", records=lambda s: s.replace(
            TEXT.put("a") + TEXT.put("b"), TEXT.put("b") + TEXT.put("a")))
        self.section("ok", log_keys=listed([ident(1) * 2, ident(1) * 2]))

    def test_layout(self):
        def no_current(v): v.index["current"].pop()
        def other_number(v): v.index["current"][0]["number"] = 1
        def no_length(v): v.index["current"][1]["chunk"] = b""
        def unknown_record(v): v.index["earlier"][1]["record"] = ident(99)
        def is_current(v): v.index["earlier"][1]["number"] = 3
        def number_zero(v): v.index["earlier"][0]["number"] = 0
        def number_high(v): v.index["earlier"][1]["number"] = 4
        def gap(v): v.index["current"][1]["wrong"] = {"offset": 10_000}
        def huge(v): v.index["current"][1]["wrong"] = {"offset": (1 << 64) - 1}
        def overlap(v): v.index["current"][1]["wrong"] = {"offset": 0}
        def no_project(v): v.index["records"][0]["project"] = ident(99)
        def no_batch(v): v.index["batches"].pop()
        for edit in (no_current, other_number, no_length, unknown_record, is_current, number_zero,
                     number_high, gap, huge, overlap, no_project, no_batch):
            self.damage("layout", edit, secret=BY_INDEX_KEY)
        names = ("\u00e9", unicodedata.normalize("NFD", "\u00e9"))
        self.damage("layout", lambda v: [
            project.update(name=name) for project, name in zip(v.index["projects"], names)])
        vault = sample()
        length = len(vault.write(ROOT))
        vault.wrong["file_length"] = length + 5
        self.assertClass("layout", vault.write(ROOT) + b"12345")

    def test_relays(self):
        def relays(*origins):
            return lambda v: v.index.update(journal=[
                writer.journal(ident(n), 4, writer.relay_payload(origin))
                for n, origin in enumerate(origins)])
        self.damage("ok", relays(*(f"https://{n}" for n in range(16))))
        self.damage("layout", relays(*(f"https://{n}" for n in range(17))))
        self.damage("layout", relays("https://a", "https://a"))
        self.damage("encoding", relays(""))

    def payload(self, word, kind, **changes):
        """One entry of the journal with another payload."""
        def edit(vault):
            entry = next(entry for entry in vault.index["journal"] if entry["kind"] == kind)
            of = writer.PAYLOADS[kind]
            content = of.get(writer.Reader(entry["payload"]))
            entry["payload"] = of.put({**content, **changes})
        self.damage(word, edit)

    def test_payloads(self):
        self.payload("encoding", 1, action=4)
        self.payload("encoding", 1, action=1)
        self.payload("encoding", 1, target=None)
        self.payload("ok", 1, action=1, target=None)
        self.payload("encoding", 2, ended_at=1)
        self.payload("encoding", 3, ended_at=0)
        self.payload("encoding", 2, policy=3)
        self.payload("encoding", 2, failure={"kind": 20, "reason": ""})
        self.payload("encoding", 4, device="")
        self.payload("encoding", 4, token=b"." * 43)
        self.payload("encoding", 4, accounts=[])
        self.payload("bounds", 4, accounts=["a"] * 65)
        self.payload("encoding", 2, members=[], progress=[])
        self.payload("ok", 2, failed_member=1)
        self.payload("encoding", 2, failed_member=2)
        self.payload("bounds", 2, apply="x" * 16_385)

    def test_too_many_earlier_versions(self):
        vault = sample()
        item = vault.index["records"][0]
        item["current"] = item["highest"] = vault.index["current"][0]["number"] = 10_002
        one = vault.index["earlier"][0]
        vault.index["earlier"] = [
            {**one, "number": n, "chunk": b"c"} for n in range(1, 10_002)]
        self.assertClass("layout", vault.write(ROOT), BY_SLOT_KEY)
        del vault.index["earlier"][-1]
        self.assertClass("ok", vault.write(ROOT), BY_SLOT_KEY)


class Proof(Case):
    """What someone with the index key can make of a vault, and the wrong proofs that they have."""

    def attack(self, edit=None, with_proof=None, **kept):
        vault = writer.Vault.load(sample().write(ROOT), KEY)
        if edit:
            edit(vault)
        return vault.reseal(KEY, vault.proof if with_proof is None else with_proof, **kept)

    def refused(self, raw, with_root="signature", locked="signature"):
        """What a reader with the root says, and a locked one."""
        self.assertClass(with_root, raw)
        self.assertClass(locked, raw, BY_INDEX_KEY)
        self.assertClass(locked, raw, BY_SLOT_KEY)

    def test_a_holder_of_the_root_changes_anything(self):
        vault = writer.Vault.load(sample().write(ROOT), KEY)
        vault.next_generation()
        record = vault.index["records"][0]
        vault.set(record, b"fourth", ROOT)
        vault.rename(record, "RENAMED")
        vault.index["accounts"].append(writer.account(vault, "third", 2, b"token"))
        vault.sort()
        found = self.assertClass("ok", vault.write(ROOT))
        self.assertEqual((found["generation"], found["records"][0]["value"]), (4, "fourth"))
        self.assertEqual([item["token"] for item in found["accounts"]], ["open"] * 3)
        self.assertEqual([item["value"] for item in found["history"]][:3],
                         ["first", "früher", "third"])
        self.assertClass("ok", self.path_bytes(), BY_INDEX_KEY)

    def path_bytes(self):
        with open(self.path, "rb") as file:
            return file.read()

    def test_the_page_s_bytes(self):
        """The proof, computed here once more from section 5.9."""
        vault = sample()
        raw = vault.write(ROOT)
        length = 152 + 192 * 4
        self.assertEqual(vault.header, raw[:length])
        text = (b"zgv3/signed" + bytes(5)).ljust(16, b"\0")
        digest = reader.blake2b(text + raw[:length] + vault.padded, digest_size=64).digest()
        code = reader.blake2b(
            text + digest, digest_size=32, key=reader.kdf(ROOT, 3, b"zgv3root")).digest()
        self.assertEqual(vault.proof[:32], code)
        public, secret = reader.sodium.crypto_sign_seed_keypair(reader.kdf(ROOT, 1, b"zgv3root"))
        self.assertEqual(vault.proof[32:], reader.sodium.crypto_sign(text + digest, secret)[:64])
        self.assertEqual((len(vault.proof), raw[52:84]), (96, public))

    def test_nothing_changed(self):
        """The control: with the same nonce the file is the same; with another one it is not."""
        raw = sample().write(ROOT)
        vault = writer.Vault.load(raw, KEY)
        nonce = raw[88 + 192 * 4:][:24]
        self.assertEqual(vault.reseal(KEY, vault.proof, nonce), raw)
        self.assertClass("ok", raw)
        self.refused(self.attack())

    def test_one_change(self):
        """Each kind of field, with the proof kept."""
        def generation(v): v.generation += 1
        def setting(v): v.index["metadata"]["settings"][0].update(value="off")
        def origin(v): v.index["accounts"][0].update(origin="https://evil.example")
        def comment(v): v.index["records"][0]["attributes"].update(comment="x")
        def log_key(v): v.index["log_keys"].pop()
        def dropped(v): v.index["accounts"].pop()
        def slot(v): v.slots[2].update(salt=ident(3))
        def slots(v): v.slots.reverse()
        def wrapped(v): v.index["batches"][0].update(wrapped=bytes(72))
        def chunk(v): v.index["current"][0].update(chunk=bytes(168))
        for edit in (generation, setting, origin, comment, log_key, dropped, slot, slots, wrapped,
                     chunk):
            with self.subTest(edit.__name__):
                self.refused(self.attack(edit))

    def test_wrong_proofs(self):
        vault = sample()
        older = vault.write(ROOT)
        old_proof = vault.proof
        vault.next_generation()
        vault.set(vault.index["records"][0], b"fourth", ROOT)
        raw = vault.write(ROOT)
        other = sample(OTHER_ROOT)
        other.write(OTHER_ROOT)
        new = writer.Vault.load(raw, KEY)
        for wrong in (bytes(96), b"\xff" * 96, os.urandom(96), old_proof, other.proof,
                      new.proof[32:] + new.proof[:32], writer.proof(OTHER_ROOT, b"", b"")):
            self.refused(new.reseal(KEY, wrong))
        # An older file as it is opens; the older index as a new generation does not.
        self.assertClass("ok", older)
        old = writer.Vault.load(older, KEY)
        old.next_generation()
        self.refused(old.reseal(KEY, old_proof))
        old.index["metadata"]["generations"] = new.index["metadata"]["generations"]
        old.generation = new.generation
        self.refused(old.reseal(KEY, new.proof))

    def test_own_root(self):
        """By another key: its vk in the header, and its code and signature."""
        def exchange(v): v.public = writer.pair(OTHER_ROOT)[0]
        vault = writer.Vault.load(sample().write(ROOT), KEY)

        def built(prove):
            return vault.build(KEY, prove)
        own = built(lambda *signed: writer.proof(OTHER_ROOT, *signed))
        self.refused(own)  # the header still has the vault's vk
        exchange(vault)
        self.refused(vault.reseal(KEY, vault.proof), "exchanged-key")
        # A locked reader without a guard trusts the vk that it finds.
        self.refused(built(lambda *signed: writer.proof(OTHER_ROOT, *signed)), "exchanged-key", "ok")
        # A slot can be kept, so that the passphrase opens the root.
        self.assertClass("exchanged-key", self.path_bytes(), BY_PASSPHRASE)
        # The vault's own vk, signed by it, but with the code of another.
        vault = writer.Vault.load(sample().write(ROOT), KEY)
        self.refused(built(lambda *signed: writer.proof(OTHER_ROOT, *signed)[:32]
                           + writer.proof(ROOT, *signed)[32:]), "signature", "ok")
        self.refused(built(lambda *signed: writer.proof(ROOT, *signed)[:32]
                           + writer.proof(OTHER_ROOT, *signed)[32:]))

    def test_each_byte_of_the_proof(self):
        raw = sample().write(ROOT)
        vault = writer.Vault.load(raw, KEY)
        nonce = raw[88 + 192 * 4:][:24]
        for at in range(96):
            raw = vault.reseal(KEY, flip(vault.proof, at), nonce)
            vault.proof = flip(vault.proof, at)
            self.assertClass("signature", raw)
            self.assertClass("ok" if at < 32 else "signature", raw, BY_INDEX_KEY)

    def test_one_signature_has_one_form(self):
        """Ed25519: S + L is the same scalar, and not a second valid signature."""
        raw = sample().write(ROOT)
        vault = writer.Vault.load(raw, KEY)
        order = 2 ** 252 + 27742317777372353535851937790883648493
        scalar = int.from_bytes(vault.proof[64:], "little") + order
        second = vault.proof[:64] + scalar.to_bytes(32, "little")
        raw = vault.reseal(KEY, second, raw[88 + 192 * 4:][:24])
        self.refused(raw)

    LOW_ORDER = [bytes.fromhex(point) for point in (
        "00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "00" * 31 + "80",
        "01" + "00" * 30 + "80", "ee" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85")]

    def test_vk_of_low_order(self):
        """Under such a key, R = vk or the identity with S = 0 would be a signature of any text."""
        for point in self.LOW_ORDER:
            for r in (b"\1" + bytes(31), point):
                raw = self.attack(lambda v: setattr(v, "public", point),
                                  bytes(32) + r + bytes(32))
                self.refused(raw, "exchanged-key")

    def test_wrong_bytes_are_not_decoded(self):
        """The proof comes before everything in the index."""
        for wrong in ({"projects": U32.put(10_001)}, {"content": lambda c: c + b"\0"},
                      {"padded": lambda p: p[:3]}, {"padded": lambda p: p[:-1] + b"\1"},
                      {"metadata": b""}):
            self.refused(self.attack(lambda v: v.wrong.update(wrong)))
        self.refused(self.attack(lambda v: vars(v).update(groups=1)))
        # By another key, a locked reader without a guard decodes it.
        vault = writer.Vault.load(sample().write(ROOT), KEY)
        vault.public = writer.pair(OTHER_ROOT)[0]
        vault.groups = 1
        raw = vault.build(KEY, lambda *signed: writer.proof(OTHER_ROOT, *signed))
        self.refused(raw, "exchanged-key", "newer")

    def test_another_vault_s_index(self):
        """Two vaults of one root: neither's index opens in the other."""
        vault, other = sample(), sample()
        vault.write(ROOT)
        other.vault_id = ident(0xBB)
        other.slots = []
        other.add_slot(ident(4), 4, 2, ROOT, CODE)
        other.write(ROOT)
        moved = writer.Vault.load(other.write(ROOT), KEY)
        moved.vault_id, moved.slots = vault.vault_id, vault.slots
        self.refused(moved.reseal(KEY, moved.proof))
        self.refused(moved.reseal(KEY, vault.proof))

    def test_protected_tokens(self):
        def token(origin=writer.ORIGIN, name="safe", vault=ident(0xAA), token=b"t", root=ROOT):
            def edit(v):
                v.index["accounts"][1]["secret"] = writer.protected(
                    vault, origin, name, token, root)
            found = self.damage("ok", edit)
            return found["accounts"][1]["token"]
        self.assertEqual(token(), "open")
        for wrong in ({"origin": "https://evil.example"}, {"name": "me"}, {"vault": ident(1)},
                      {"root": OTHER_ROOT}):
            self.assertEqual(token(**wrong), "damaged")
        for secret in (b"", b"x" * 39, sample().index["accounts"][1]["secret"][:-1]):
            found = self.damage("ok", lambda v: v.index["accounts"][1].update(secret=secret))
            self.assertEqual(found["accounts"][1]["token"], "damaged")

    def test_anchor(self):
        vault = sample()
        older = vault.write(ROOT)
        tag, public = vault.tag, vault.public
        vault.next_generation()
        vault.set(vault.index["records"][0], b"x", ROOT)
        raw = vault.write(ROOT)

        def line(generation=3, of=tag, key=public, vault_id=ident(0xAA)):
            return (f"zg-env-anchor-3 {vault_id.hex()} {generation} {of.hex()} {key.hex()}\n").encode()
        for anchor, secret, word in (
                (line(), BY_CODE, "ok"), (line(4, vault.tag), BY_CODE, "ok"),
                (line(5), BY_CODE, "anchor"), (line(4), BY_CODE, "anchor"),
                (line(of=ident(1)), BY_CODE, "anchor"), (line(2, ident(2)), BY_CODE, "ok"),
                (line(2), BY_CODE, "anchor"), (line(5, vault_id=ident(1)), BY_CODE, "ok"),
                (line(key=ident(1) * 2), BY_CODE, "ok"),
                (line(key=ident(1) * 2), BY_INDEX_KEY, "anchor"), (b"nonsense", BY_CODE, "ok"),
                (line()[:-1], BY_INDEX_KEY, "ok"), (line(5).upper(), BY_INDEX_KEY, "ok"),
                (line(5)[:-1] + b" 5\n", BY_INDEX_KEY, "ok"), (line(), BY_INDEX_KEY, "ok")):
            found = self.read(raw, secret, anchor=anchor)
            self.assertEqual(found["class"], word, (anchor, found.get("message")))
        # An older file opens where no guard is.
        self.assertClass("ok", older)
        for secret in (BY_CODE, BY_INDEX_KEY):
            found = self.read(older, secret, anchor=line(4, vault.tag))
            self.assertEqual(found["class"], "anchor")
        # A whole vault by another key: only the guard detects it without the root.
        vault.public = writer.pair(OTHER_ROOT)[0]
        raw = vault.build(KEY, lambda *signed: writer.proof(OTHER_ROOT, *signed))
        self.assertClass("ok", raw, BY_INDEX_KEY)
        self.assertEqual(self.read(raw, BY_INDEX_KEY, anchor=line())["class"], "anchor")

    def test_a_file_forgets(self):
        """7.2: the guard's generation is one of those that a file no longer remembers."""
        def ahead(vault, first):
            vault.index["metadata"]["generations"] = [
                {"generation": n, "tag": ident(n % 256)} for n in range(first, first + 1024)]
            vault.generation = first + 1024
        vault = sample()
        line = f"zg-env-anchor-3 {'aa' * 16} 3 {'ff' * 16} {vault.public.hex()}\n".encode()
        for first, word in ((4, "ok"), (3, "anchor"), (1, "anchor")):
            ahead(vault, first)
            self.assertEqual(self.read(vault.write(ROOT), anchor=line)["class"], word)
        del vault.index["metadata"]["generations"][0]
        self.assertEqual(self.read(vault.write(ROOT), anchor=line)["class"], "anchor")


class Values(Case):
    def test_batch(self):
        def wrong_id(v): v.index["batches"][0].update(id=ident(0))
        def other_root(v):
            del v.index["batches"][0]
            v.batch(ident(1) * 2, OTHER_ROOT, ident(1)), v.sort()
        def other_vault(v):
            sealed = writer.seal(writer.kdf(ROOT, 2, b"zgv3root"), bytes(32),
                                 b"zgv3/batch" + ident(1) + ident(9))
            v.index["batches"].append({"id": ident(9), "wrapped": sealed})
        def exchanged(v):
            one, other = v.index["batches"]
            one["wrapped"], other["wrapped"] = other["wrapped"], one["wrapped"]
        def unneeded(v):
            v.batch(bytes(32), ROOT), v.sort()
        def unneeded_and_wrong(v):
            v.index["batches"].append({"id": ident(9), "wrapped": bytes(72)})
        self.damage("layout", wrong_id)
        for edit in (other_root, other_vault, exchanged, unneeded_and_wrong):
            self.damage("batch", edit)
            self.damage("ok", edit, secret=BY_SLOT_KEY)
        self.damage("ok", unneeded)

    def test_chunk_and_value(self):
        raw = sample().write(ROOT)
        for secret in (BY_CODE, BY_SLOT_KEY):
            self.assertClass("chunk", flip(raw, len(raw) - 1), secret)

        def chunk(padded):
            def edit(v):
                version, item = v.index["current"][0], v.index["records"][0]
                version["chunk"] = v.chunk(item, version, bytes([2]) * 32, b"", padded)
            return edit

        def put_chunk(raw):
            return lambda v: v.index["current"][0].update(chunk=raw)
        for edit in (
                put_chunk(b"c" * 39), put_chunk(bytes(9 * MIB)),
                chunk(pad_value(b"second") + bytes(128)), chunk(U32.put(1) + b"x"), chunk(b"abc"),
                chunk(pad_value(b"second")[:-1] + b"\1"), chunk(U32.put(200) + bytes(124)),
                chunk(pad_value(bytes(MIB + 1)))):
            self.damage("value", edit)
            self.damage("ok", edit, secret=BY_SLOT_KEY)

    def test_seal_covers(self):
        """6: vault, record and version; a chunk that was moved does not open."""
        def version_id(v): v.index["current"][0].update(id=ident(5))
        def batch(v): v.index["current"][0].update(batch=ident(1))

        def records(v):
            one, other = v.index["current"][0], v.index["current"][1]
            one["chunk"], other["chunk"] = other["chunk"], one["chunk"]

        def versions(v):
            one, other = v.index["earlier"][:2]  # of one record, in one batch
            one["chunk"], other["chunk"] = other["chunk"], one["chunk"]

        def record_and_version(v):
            """All that a version has, at another record."""
            one, other = v.index["current"][3], v.index["current"][4]
            for name in ("id", "batch", "chunk"):
                one[name], other[name] = other[name], one[name]

        def other_vault(v):
            """With the same keys and ids."""
            v.vault_id = ident(0xBB)
            item, version = v.index["records"][0], v.index["current"][0]
            version["chunk"] = v.chunk(item, version, bytes([2]) * 32, b"third")
            v.vault_id = ident(0xAA)
        for edit in (version_id, batch, records, versions, record_and_version, other_vault):
            with self.subTest(edit.__name__):
                self.damage("value", edit)
                self.damage("ok", edit, secret=BY_SLOT_KEY)

    def test_seal_does_not_cover(self):
        """The rest is the index's, which is signed."""
        def name(v): v.index["records"][0].update(name="OTHER")
        def project(v): v.index["records"][1].update(project=ident(1))
        def former_name(v): v.index["earlier"][0].update(former_name=None)
        def same_name(v): v.index["current"][0].update(former_name="API_KEY")
        def empty_name(v): v.index["current"][0].update(former_name="")

        def number(v):
            v.index["current"][1].update(number=2)
            v.index["records"][1].update(current=2, highest=2)

        def same_ids(v):
            """8.2: each chunk opens as the version whose id it has."""
            one, other = v.index["earlier"][:2]
            for name in ("id", "chunk"):
                one[name] = other[name]
        for edit in (name, project, former_name, same_name, empty_name, number, same_ids):
            with self.subTest(edit.__name__):
                self.damage("ok", edit)
        self.damage("bounds", lambda v: v.index["current"][0].update(former_name="x" * 1025))


class Hostile(Case):
    """Random input must yield one of the words, and nothing else."""

    WORDS = {"ok", "newer", "pre-release", "locked", "truncated", "magic", "header", "checksum",
             "slot", "extended", "exchanged-key", "tag", "padding", "bounds", "encoding", "order",
             "layout", "signature", "batch", "chunk", "value"}

    def mutate(self, chance, raw):
        raw = bytearray(raw)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(len(raw))
            kind = chance.randrange(5)
            if kind == 0:
                raw[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                raw[at:at + 4] = chance.choice(
                    (bytes(4), b"\xff" * 4, U32.put(chance.randrange(1 << 32))))
            elif kind == 2:
                del raw[at:at + chance.randrange(1, 40)]
            elif kind == 3:
                raw[at:at] = chance.randbytes(chance.randrange(1, 40))
            else:
                other = chance.randrange(len(raw))
                raw[at:at + 16] = raw[other:other + 16]
            raw = raw or bytearray(1)
        return bytes(raw)

    def test_flips_and_cuts_are_damage(self):
        raw = sample().write(ROOT)
        right = self.read(raw)
        chance = random.Random(1)
        for _ in range(1500):
            at = chance.randrange(len(raw))
            found = self.read(put(raw, at, bytes([raw[at] ^ 1 << chance.randrange(8)])))
            self.assertIn(found["class"], self.WORDS - {"newer", "pre-release", "locked", "ok"})
        for _ in range(200):
            found = self.read(raw[:chance.randrange(len(raw))])
            self.assertEqual(found["class"], "truncated")
        self.assertEqual(self.read(raw), right)

    def test_mutations_of_the_file(self):
        raw = sample().write(ROOT)
        chance = random.Random(2)
        for _ in range(1500):
            self.assertIn(self.read(self.mutate(chance, raw), BY_SLOT_KEY)["class"], self.WORDS)

    def test_mutations_of_the_header_with_a_checksum(self):
        raw = sample(slots=(2, 3, 4)).write(ROOT)
        end = 152 + 192 * 3 - 32
        chance = random.Random(3)
        for _ in range(1500):
            header = self.mutate(chance, raw[:end])[:end].ljust(end, b"\0")
            found = self.read(header + hash32(header) + raw[end + 32:])
            self.assertIn(found["class"], self.WORDS)

    def test_mutations_of_the_sealed_content(self):
        seen = set()
        chance = random.Random(4)
        vault = sample()
        vault.wrong["content"] = lambda content: self.mutate(chance, content)
        for turn in range(3000):
            found = self.read(vault.write(ROOT), BY_CODE if turn % 2 else BY_SLOT_KEY)
            seen.add(found["class"])
            self.assertIn(found["class"], self.WORDS)
        self.assertLessEqual(
            {"bounds", "encoding", "order", "layout", "batch", "chunk", "value"}, seen)

    def test_mutations_without_the_root(self):
        """The same, of someone who cannot make the proof: all are damage of one class."""
        chance = random.Random(5)
        whole = sample()
        whole.write(ROOT)
        content = whole.content()
        vault = sample()
        for turn in range(600):
            changed = self.mutate(chance, content)
            vault.wrong["content"] = lambda _, changed=changed: changed
            raw = vault.reseal(KEY, whole.proof)
            self.assertClass("signature", raw, BY_CODE if turn % 2 else BY_SLOT_KEY)


class Command(Case):
    def run_main(self, *arguments):
        output = io.StringIO()
        argv, reader.sys.argv = reader.sys.argv, ["second_reader.py", *arguments]
        try:
            with contextlib.redirect_stdout(output):
                return reader.main(), output.getvalue()
        finally:
            reader.sys.argv = argv

    def secret_file(self, content):
        path = os.path.join(self.folder, "secret")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        return path

    def test_command(self):
        raw = sample().write(ROOT)
        newer, older = (resum(put(raw, 8, U16.put(number))) for number in (4, 2))
        for content, given, code, word in (
                (PASSPHRASE + "\n", raw, 0, "ok"), (PASSPHRASE, raw, 0, "ok"),
                (PASSPHRASE + "\n\n", raw, 3, "locked"), ("no", raw, 3, "locked"),
                ("", raw[:-1], 8, "truncated"), ("", newer, 1, "newer"),
                ("", older, 1, "pre-release")):
            self.read(given)
            found, output = self.run_main(
                self.path, "--passphrase-file", self.secret_file(content))
            self.assertEqual((found, json.loads(output)["class"]), (code, word))
        self.read(raw)
        self.assertEqual(self.run_main(self.path, "--slot-key", SLOT_KEY.hex())[0], 0)
        self.assertEqual(self.run_main(self.path, "--index-key", KEY.hex())[0], 0)
        code = self.secret_file(recovery_code(CODE) + "\n")
        self.assertEqual(self.run_main(self.path, "--recovery-code-file", code)[0], 0)

    def test_vectors(self):
        values = reader.vector_values(self.read(sample().write(ROOT)))
        self.assertIn({
            "project": "beta", "key": "DSN", "type": "encrypted",
            "targets": ["production", "development"], "customEnvironments": ["a", "b"],
            "comment": "a comment", "removed": False, "version": 1, "current": True,
            "value": "x" * 5000}, values)
        vector = {"file": "vault.zgv", "secret": BY_PASSPHRASE, "class": "ok", "exit": 0,
                  "values": values}
        other = {**values[0], "value": "x"}
        for changes, code in (
                ({}, 0), ({"class": "tag"}, 1), ({"exit": 8}, 1), ({"values": values[1:]}, 1),
                ({"values": [*values, values[0]]}, 1), ({"values": [other, *values[1:]]}, 1)):
            path = os.path.join(self.folder, "vectors.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump([{**copy.deepcopy(vector), **changes}], file)
            self.assertEqual(self.run_main("--vectors", self.folder)[0], code)


if __name__ == "__main__":
    unittest.main()
