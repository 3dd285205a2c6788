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
    CODE, FILE_KEY, MIB, SLOT_KEY, TEXT, U8, U16, U32, U64, hash32, ident, locked_write,
    pad_value, recovery_code, sample)

PASSPHRASE = writer.PASSPHRASE.decode()
BY_PASSPHRASE = {"passphrase": PASSPHRASE}
BY_CODE = {"recoveryCode": recovery_code(CODE)}  # the root without Argon2id
BY_SLOT_KEY = {"slotKey": SLOT_KEY.hex()}
KEY = writer.index_key(writer.ROOT)
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

    def damage(self, word, *edits, secret=BY_CODE, accept=True, **wrong):
        """A sample with these edits, and with errors in the file."""
        vault = sample()
        for edit in edits:
            edit(vault)
        if accept:
            vault.accept(writer.ROOT)
        vault.wrong.update(wrong)
        return self.assertClass(word, vault.build(KEY), secret)

    def states(self, vault, secret=BY_CODE):
        """The unaccepted objects, abbreviated."""
        found = self.assertClass("ok", vault.build(KEY), secret)
        return sorted((item["object"], item["state"]) for item in found["notAccepted"])


class Whole(Case):
    def test_every_secret(self):
        raw = sample().build(KEY)
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
            self.assertEqual(found["notAccepted"], [])
            self.assertEqual(found["records"][0]["targets"], ["production", "development"])
            self.assertEqual([a["token"] for a in found["accounts"]], ["open", "open"])
        for secret in (BY_SLOT_KEY, BY_INDEX_KEY):
            found = self.assertClass("ok", raw, secret)
            self.assertFalse(found["root"])
            self.assertEqual([r["value"] for r in found["records"]], [None] * 6)
            self.assertEqual([a["token"] for a in found["accounts"]], ["open", "protected"])

    def test_reading_and_writing_gives_the_same_bytes(self):
        vault = sample()
        raw = vault.build(KEY)
        again = writer.Vault.load(raw, KEY)
        self.assertEqual(again.content(), vault.content())
        self.assertEqual(again.chunks(), vault.chunks())
        self.assertEqual(again.entries(), vault.index["checkpoint"]["entries"])
        for entry in again.index["journal"][1:]:
            payload = writer.PAYLOADS[entry["kind"]]
            read = payload.get(writer.Reader(entry["payload"]))
            self.assertEqual(payload.put(read), entry["payload"])

    def test_empty_vault_and_tier_one(self):
        vault = writer.Vault(ident(0xAA), writer.pair(writer.ROOT)[0])
        vault.add_slot(ident(4), 4, 2, writer.ROOT, CODE)
        vault.accept(writer.ROOT)
        self.assertClass("ok", vault.build(KEY))
        vault.slots = []
        for kind, secret in ((1, writer.PASSPHRASE), (4, CODE)):
            vault.add_slot(ident(kind), kind, 1, KEY, secret, kind % 4, (kind % 4) * 8 * MIB)
        raw = vault.build(KEY)
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
        batch = vault.root_batch(key, writer.ROOT)
        vault.index["current"][3] = vault.version(item, old["number"], batch, key, value)
        vault.sort()
        vault.accept(writer.ROOT)
        return self.assertClass("ok", vault.build(KEY))["records"][4]

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
        raw = sample().build(KEY)
        self.assertClass("truncated", b"")
        self.assertClass("truncated", raw[:15])
        self.assertClass("truncated", b"x" * 15)
        self.assertClass("magic", put(raw, 3, b"x"))
        self.assertClass("header", put(raw, 12, U32.put(151)))
        self.assertClass("header", put(raw, 12, U32.put(65_537)))
        self.assertClass("truncated", raw[:900])
        self.assertClass("checksum", put(raw, 8, U16.put(3)))
        self.assertClass("newer", resum(put(raw, 8, U16.put(3))))
        self.assertClass("newer", resum(put(put(raw, 8, U16.put(65_535)), 10, U16.put(1))))
        self.assertClass("pre-release", resum(put(put(raw, 8, U16.put(1)), 10, U16.put(1))))
        self.assertClass("truncated", raw[:-1])
        self.assertClass("extended", raw + b"\0")

    def test_fields(self):
        raw = sample().build(KEY)
        length_at = self.SLOTS_END + 24
        for at, new in (
                (8, U16.put(0)), (10, U16.put(1)), (16, U64.put((1 << 32) + 1)),
                (16, U64.put(5000)), (40, U64.put(0)), (48, U32.put(0)), (length_at, U64.put(16)),
                (length_at, U64.put(256 * MIB + 17)), (length_at, U64.put((1 << 64) - 1)),
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
        vault.add_slot(ident(n), 3, 2, writer.ROOT, FILE_KEY)

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
        raw = sample().build(KEY)
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

    def test_exchanged_key_and_tag(self):
        raw = sample().build(KEY)
        other = {"public": ident(7) * 2}
        self.damage("exchanged-key", lambda v: vars(v).update(other))
        self.damage("ok", lambda v: vars(v).update(other), secret=BY_SLOT_KEY)
        for point in (bytes(32), b"\1" + bytes(31), bytes(31) + b"\x80",
                      b"\xed" + b"\xff" * 30 + b"\x7f"):
            self.damage("exchanged-key", lambda v: vars(v).update(public=point), secret=BY_SLOT_KEY)
        self.assertClass("tag", resum(put(raw, 40, U64.put(4))))
        self.assertClass("tag", flip(raw, 1000))
        self.assertClass("tag", raw, {"indexKey": bytes(32).hex()})

    def test_step_one(self):
        raw = sample().build(KEY)
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
                lambda p: p[:-1] + b"\1", lambda p: p + bytes(4096), lambda p: p[:3],
                lambda p: U32.put(len(p) - 3) + p[4:], lambda p: p[:-1]):
            self.damage("padding", padded=padded)

    def test_groups(self):
        self.damage("newer", lambda v: vars(v).update(groups=1))
        self.damage("newer", lambda v: vars(v).update(groups=1), content=lambda c: c[:1])
        self.damage("encoding", lambda v: vars(v).update(groups=2))
        self.damage("bounds", content=lambda c: b"")

    def section(self, word, **sections):
        self.damage(word, secret=BY_INDEX_KEY, accept=False, **sections)

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
        self.section("bounds", metadata=listed(
            [U64.put(n) + ident(0) for n in range(1025)]) + b"\0" + bytes(8))
        settings = writer.List(writer.SETTING).put(sample().index["metadata"]["settings"])
        front = -len(settings) - 4
        self.section("bounds", metadata=lambda s: s[:front] + U32.put(1001) + settings)
        self.section("bounds", metadata=lambda s: s[:front] + listed(
            [U64.put(1) * 2 + TEXT.put("x" * 65) + U32.put(0)]) + settings)
        self.section("bounds", metadata=lambda s: s[:front + 4] + U32.put(1001))
        self.section("bounds", content=lambda c: c[:1] + U32.put(1 << 31) + c[5:])
        self.section("bounds", content=lambda c: c[:-1])
        self.damage("bounds", lambda v: v.index["records"][0].update(highest=2))
        self.section("bounds", checkpoint=b"")
        self.section("bounds", checkpoint=lambda s: s[:48] + U32.put(1_032_001) + s[52:])
        self.section("bounds", checkpoint=lambda s: s[:48] + U32.put(1_000_000) + s[52:])
        self.section("bounds", checkpoint=lambda s: s[:53] + U32.put(1 << 20) + s[57:])

    def test_encoding(self):
        self.section("encoding", projects=lambda s: s + b"\0")
        self.section("encoding", projects=lambda s: U32.put(1) + s[4:])
        for name in ("", b"\xc0\x80", b"\xed\xa0\x80"):
            self.section("encoding", projects=self.project(name))
        self.section("encoding", projects=put(self.project("x"), 4 + 16 + 5 + 8, b"\2"))
        self.section("encoding", checkpoint=lambda s: s + b"\0")
        self.section("encoding", checkpoint=lambda s: put(s, 52, b"\7" + U32.put(1 << 31)))
        self.section("encoding", checkpoint=lambda s: put(s, 52, b"\0"))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2", b"API_KEY\6", 1))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2\5", b"API_KEY\2\x0d", 1))
        self.damage("encoding", lambda v: v.index["batches"][0].update(wrapping=3))
        self.section("encoding", content=lambda c: c + b"\0")
        self.damage("encoding", lambda v: v.index["records"][0].update(name=""))

    def entries(self, word, kind, **changes):
        """One entry of a kind with other content."""
        def edit(vault):
            entries = vault.index["checkpoint"]["entries"]
            found = next(entry for entry in entries if entry["kind"] == kind)
            found["content"].update(changes)
            vault.index["checkpoint"]["code"] = vault.code(writer.ROOT)
        return self.damage(word, edit, accept=False)

    def test_entries_of_the_checkpoint(self):
        self.entries("encoding", 1, name="")
        self.entries("encoding", 2, name="")
        self.entries("ok", 3, name="")
        self.entries("encoding", 2, in_use=2)
        self.entries("encoding", 2, type=6)
        self.entries("encoding", 2, scope=writer.scope(8))
        self.entries("order", 2, scope=writer.scope(1, ["b", "a"]))
        self.entries("encoding", 3, protection=3)
        self.entries("encoding", 3, default=2)
        self.entries("bounds", 1, name="x" * 1025)
        version = {"number": 1, "id": ident(1), "batch": ident(1), "made_at": 1}
        self.entries("order", 2, versions=[version, version])
        self.entries("bounds", 2, versions=[{**version, "number": n} for n in range(10_002)])
        self.entries("ok", 2, versions=[{**version, "number": n} for n in range(10_001)])
        self.entries("ok", 2, current=99, highest=3, project=ident(99))
        self.entries("order", 2, id=ident(11))
        self.section("encoding", entries=None, checkpoint=lambda s: s[:53] + U32.put(
            U32.get(writer.Reader(s[53:57])) + 1) + s[57:])

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
                self.damage("order", edit, secret=BY_INDEX_KEY, accept=False)
        for name in ("generations", "directories"):
            self.damage("order", lambda v: v.index["metadata"][name].reverse(), accept=False)
        write = {"generation": 2, "time": 0, "command": "", "records": []}

        def writes(*items):
            return lambda v: v.index["metadata"].update(locked_writes=list(items))
        self.damage("order", writes(write, write))
        self.damage("ok", writes(write, {**write, "generation": 9}))
        self.damage("order", writes({**write, "records": [ident(2), ident(1)]}))
        self.damage("order", writes({**write, "records": [ident(2), ident(2)]}))
        self.damage("order", lambda v: v.index["checkpoint"]["entries"].reverse(), accept=False)
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
            self.damage("layout", edit, secret=BY_INDEX_KEY, accept=False)
        names = ("\u00e9", unicodedata.normalize("NFD", "\u00e9"))
        self.damage("layout", lambda v: [
            project.update(name=name) for project, name in zip(v.index["projects"], names)])
        vault = sample()
        length = len(vault.build(KEY))
        vault.wrong["file_length"] = length + 5
        self.assertClass("layout", vault.build(KEY) + b"12345")

    def test_relays(self):
        def relays(*origins):
            return lambda v: v.index.update(journal=[
                writer.journal(ident(n), 4, writer.relay_payload(origin))
                for n, origin in enumerate(origins)])
        self.damage("ok", relays(*(f"https://{n}" for n in range(16))))
        self.damage("layout", relays(*(f"https://{n}" for n in range(17))))
        self.damage("layout", relays("https://a", "https://a"))
        self.damage("encoding", relays(""))

    def payload(self, word, kind, accept=True, **changes):
        """One entry of the journal with another payload."""
        def edit(vault):
            entry = next(entry for entry in vault.index["journal"] if entry["kind"] == kind)
            of = writer.PAYLOADS[kind]
            content = of.get(writer.Reader(entry["payload"]))
            entry["payload"] = of.put({**content, **changes})
        self.damage(word, edit, accept=accept)

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
        self.assertClass("layout", vault.build(KEY), BY_SLOT_KEY)
        del vault.index["earlier"][-1]
        self.assertClass("ok", vault.build(KEY), BY_SLOT_KEY)


class Checkpoint(Case):
    def test_code(self):
        def edit(**changes):
            return lambda v: v.index["checkpoint"].update(changes)
        for changes in ({"code": bytes(40)}, {"generation": 0}, {"generation": 4},
                        {"generation": 2}, {"entries": []}):
            self.damage("checkpoint", edit(**changes), accept=False)
            self.damage("ok", edit(**changes), accept=False, secret=BY_SLOT_KEY)

        def older(vault):
            vault.index["checkpoint"]["generation"] = 2
            vault.index["checkpoint"]["code"] = vault.code(writer.ROOT)
        self.damage("ok", older, accept=False)

        def slot(vault):
            vault.slots[1]["made_at"] += 1
        self.damage("checkpoint", slot, accept=False)
        self.damage("checkpoint", lambda v: v.slots.pop(1), accept=False)

    def test_locked_write_is_listed_and_is_no_damage(self):
        vault = sample()
        vault.build(KEY)
        locked_write(vault, ident(10), b"fourth")
        self.assertEqual(self.states(vault), [("record", "changed"), ("version", "new")])
        found = self.read(vault.build(KEY))
        self.assertEqual(found["records"][0]["value"], "fourth")
        self.assertEqual(found["lockedWrites"][0]["records"], [ident(10).hex()])

    def test_every_difference(self):
        def nothing(v): v.index["records"][0].update(
            made_at=99, changed_at=99, highest=99), v.index["projects"][0].update(seen_at=99)
        def project(v): v.index["projects"][0]["binding"].update(origin="https://evil.example")
        def account(v): v.index["accounts"][0].update(secret=b"x")
        def gone(v): v.index["accounts"].pop()
        def directory(v): v.index["metadata"]["directories"].append(
            {"path": "/z", "link": "", "organisation": "", "project": ident(1)})
        def setting(v): v.index["metadata"]["settings"][0].update(value="off")
        def unset(v): v.index["metadata"]["settings"].pop()
        def removed(v): v.index["records"][0].update(removed_at=9)
        def removed_later(v): v.index["records"][3].update(removed_at=9)
        def lower(v): v.index["records"][2].update(highest=0)
        def comment(v): v.index["records"][0]["attributes"].update(comment=None)
        def unknown(v): v.index["journal"].pop(0)
        for edit, expected in (
                (nothing, []), (project, [("project", "changed")]),
                (account, [("account", "changed")]), (gone, [("account", "gone")]),
                (directory, [("directory", "new")]), (setting, [("setting", "changed")]),
                (unset, [("setting", "gone")]), (removed, [("record", "changed")]),
                (removed_later, []), (lower, []), (comment, []), (unknown, [("journal", "gone")])):
            vault = sample()
            edit(vault)
            self.assertEqual(self.states(vault), expected, edit.__name__)

    def test_same_number_and_other_id(self):
        """A value that someone with the index key substituted for another, with its number."""
        vault = sample()
        item, key = vault.index["records"][0], bytes(32)
        vault.index["current"][0] = vault.version(item, 3, vault.sealed_batch(key), key, b"forged",
                                                  made_at=3)
        vault.sort()
        self.assertEqual(self.states(vault), [("record", "changed"), ("version", "new")])

    def test_rotations(self):
        def edit(at, **changes):
            def change_payload(vault):
                entry = vault.index["journal"][at]
                content = writer.ROTATION.get(writer.Reader(entry["payload"]))
                entry["payload"] = writer.ROTATION.put({**content, **changes})
            return change_payload
        self.damage("rotation", edit(2, apply="rm"), accept=False)
        self.damage("rotation", edit(3, revoke=None), accept=False)
        self.damage("ok", edit(2, apply="rm"), accept=False, secret=BY_SLOT_KEY)
        self.damage("rotation", lambda v: v.index["journal"][2].update(made_at=7), accept=False)
        self.damage("rotation", lambda v: v.index["journal"][2].update(id=ident(2)[:15] + b"\3"),
                    accept=False)
        vault = sample()
        del vault.index["journal"][2:4]
        self.assertEqual(self.states(vault), [("journal", "gone")] * 2)

    def test_accepted_version_in_a_sealed_batch(self):
        def rewrap(vault):
            batch = vault.index["batches"][0]
            text = bytes([1]) * 32 + vault.vault_id + batch["id"]
            batch.update(wrapping=1, wrapped=writer.box(vault.public, text))
        self.damage("batch", rewrap, accept=False)
        self.damage("ok", rewrap, accept=False, secret=BY_SLOT_KEY)

    def test_protected_tokens(self):
        def token(origin=writer.ORIGIN, name="safe", vault=ident(0xAA), token=b"t"):
            def edit(v):
                v.index["accounts"][1]["secret"] = writer.protected(
                    vault, origin, name, token, v.public)
            found = self.damage("ok", edit)
            return found["accounts"][1]["token"]
        self.assertEqual(token(), "open")
        for wrong in ({"origin": "https://evil.example"}, {"name": "me"}, {"vault": ident(1)},
                      {"token": b""}):
            self.assertEqual(token(**wrong), "damaged")

    def test_anchor(self):
        vault = sample()
        vault.build(KEY)
        tag, public = vault.tag, vault.public
        locked_write(vault, ident(10), b"x")
        raw = vault.build(KEY)

        def line(generation=3, of=tag, key=public, checkpoint=3, vault_id=ident(0xAA)):
            return (f"zg-env-anchor-2 {vault_id.hex()} {generation} {of.hex()} {key.hex()} "
                    f"{checkpoint}\n").encode()
        for anchor, secret, word in (
                (line(), BY_CODE, "ok"), (line(4, vault.tag), BY_CODE, "ok"),
                (line(5), BY_CODE, "anchor"), (line(4), BY_CODE, "anchor"),
                (line(of=ident(1)), BY_CODE, "anchor"), (line(checkpoint=4), BY_CODE, "anchor"),
                (line(key=ident(1) * 2), BY_CODE, "ok"),
                (line(key=ident(1) * 2), BY_INDEX_KEY, "anchor"), (b"nonsense", BY_CODE, "ok")):
            found = self.read(raw, secret, anchor=anchor)
            self.assertEqual(found["class"], word, (anchor, found.get("message")))


class Values(Case):
    def test_batch(self):
        def wrong_id(v): v.index["batches"][0].update(id=ident(0))
        def other_root(v):
            del v.index["batches"][0]
            v.root_batch(ident(1) * 2, ident(9) * 2, ident(1)), v.sort()
        def sealed_names(v):
            v.index["batches"].append({"id": ident(9), "wrapping": 1, "wrapped": writer.box(
                v.public, bytes(32) + v.vault_id + ident(8))})
        def sealed_to_another(v):
            v.sealed_batch(bytes(32), writer.pair(bytes(32))[0]), v.sort()
        def unneeded(v):
            v.sealed_batch(bytes(32)), v.sort()
        self.damage("layout", wrong_id)
        for edit in (other_root, sealed_names, sealed_to_another):
            self.damage("batch", edit)
            self.damage("ok", edit, secret=BY_SLOT_KEY)
        self.damage("ok", unneeded)

    def test_chunk_and_value(self):
        raw = sample().build(KEY)
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
        def name(v): v.index["records"][0].update(name="OTHER")
        def project(v): v.index["records"][1].update(project=ident(1))
        def version_id(v): v.index["current"][0].update(id=ident(5))
        def batch(v): v.index["current"][0].update(batch=ident(1))
        def sealed_name(v): v.index["earlier"][0].update(sealed_name=None)

        def records(v):
            for at, to in ((0, 1), (1, 0)):
                v.index["current"][at]["moved"] = v.index["current"][to]["chunk"]
            for version in v.index["current"][:2]:
                version["chunk"] = version["moved"]
        for edit in (name, project, version_id, batch, sealed_name, records):
            self.damage("value", edit)

        def number(v):
            """The number is for people: the checkpoint covers it, the seal does not."""
            v.index["current"][1].update(number=2)
            v.index["records"][1].update(current=2, highest=2)
        self.damage("ok", number)
        vault = sample()
        number(vault)
        self.assertEqual(self.states(vault), [("record", "changed"), ("version", "new")])


class Hostile(Case):
    """Random input must yield one of the words, and nothing else."""

    WORDS = {"ok", "newer", "pre-release", "locked", "truncated", "magic", "header", "checksum",
             "slot", "extended", "exchanged-key", "tag", "padding", "bounds", "encoding", "order",
             "layout", "checkpoint", "rotation", "batch", "chunk", "value"}

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
        raw = sample().build(KEY)
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
        raw = sample().build(KEY)
        chance = random.Random(2)
        for _ in range(1500):
            self.assertIn(self.read(self.mutate(chance, raw), BY_SLOT_KEY)["class"], self.WORDS)

    def test_mutations_of_the_header_with_a_checksum(self):
        raw = sample(slots=(2, 3, 4)).build(KEY)
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
            found = self.read(vault.build(KEY), BY_CODE if turn % 2 else BY_SLOT_KEY)
            seen.add(found["class"])
            self.assertIn(found["class"], self.WORDS)
        self.assertLessEqual({"bounds", "encoding", "order", "layout", "checkpoint", "rotation",
                              "batch", "chunk", "value"}, seen)


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
        raw = sample().build(KEY)
        newer, older = (resum(put(raw, 8, U16.put(number))) for number in (3, 1))
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
        values = reader.vector_values(self.read(sample().build(KEY)))
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
