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
    CODE, FILE_KEY, MIB, ROOT, SLOT_KEY, TEXT, U16, U32, U64, hash32, ident, pad_value,
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
    at %= len(raw)
    return put(raw, at, bytes([raw[at] ^ 1]))


def alpha(vault):
    """The section of the project with everything."""
    return vault.section(ident(1))


def entry(kind):
    """One of this kind, from the sample, or with any payload."""
    vault = sample(slots=())
    found = [*vault.index["journal"], *vault.all("journal")]
    return next((entry for entry in found if entry["kind"] == kind), writer.journal(
        ident(90), kind, b"any"))


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

    def damage(self, word, *edits, secret=BY_CODE, section=None, **wrong):
        """A sample that a holder of the root wrote with these edits, and with errors in the file, or in
        one section."""
        vault = sample()
        for edit in edits:
            edit(vault)
        vault.wrong.update(wrong)
        if section:
            alpha(vault)["wrong"].update(section)
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
                             ["third", "gone", "x" * 5000, None, "here", "spare"])
            self.assertEqual([r["project"] for r in found["records"]],
                             ["alpha"] * 2 + ["beta"] * 2 + ["local"] * 2)
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
        self.assertEqual(again.blocks, vault.blocks)
        self.assertEqual(again.proof, vault.proof)
        # 9, step 5: a section that is as before keeps its sealed text.
        again.next_generation()
        alpha(again)["records"][0]["name"] = "RENAMED"
        again.write(ROOT)
        self.assertEqual([one == other for one, other in zip(again.blocks, vault.blocks)],
                         [True, False, True, True, True, True])
        known = [entry for entry in (*again.index["journal"], *again.all("journal"))
                 if entry["kind"] in writer.PAYLOADS]
        self.assertEqual(len(known), 5)
        for entry in known:
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
        section, key = vault.section(ident(3)), bytes(32)
        item, old = section["records"][0], section["current"][0]
        batch = vault.batch(section, key, ROOT)
        section["current"][0] = vault.version(item, old["number"], batch, key, value)
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

    def table(self, word, **parts):
        self.damage(word, secret=BY_INDEX_KEY, **parts)

    def section(self, word, **parts):
        self.damage(word, secret=BY_INDEX_KEY, section=parts)

    @staticmethod
    def project(name):
        raw = ident(1) + TEXT.put(name) + U64.put(0) + b"\0"
        return listed([raw])

    def test_bounds(self):
        self.table("bounds", projects=U32.put(10_001))
        self.table("bounds", projects=U32.put(0xFFFFFFFF))
        self.table("bounds", projects=lambda s: U32.put(4) + s[4:])
        self.table("bounds", projects=self.project("x" * 1025))
        self.table("bounds", sections=U32.put(20_001) + bytes(64 * 20_001))
        self.table("bounds", sections=lambda s: s[:-1])
        self.table("bounds", sections=lambda s: U32.put(7) + s[4:])
        self.section("bounds", records=U32.put(1_000_001))
        self.section("bounds", earlier=U32.put(0xFFFFFFFF))
        self.section("bounds", agreements=U32.put(1_000_001) + bytes(77 * 1_000_001))
        self.section("bounds", agreements=lambda s: U32.put(8) + s[4:])
        self.section("bounds", batches=lambda s: U32.put(3) + s[4:])
        self.section("bounds", batches=b"")
        self.table("bounds", accounts=b"")
        self.table("bounds", log_keys=U32.put(1001) + bytes(32 * 1001))
        self.table("bounds", journal=U32.put(10_001) + bytes(29 * 10_001))
        self.section("bounds", journal=U32.put(10_001) + bytes(29 * 10_001))
        for kind, size, word in ((1, MIB + 1, "bounds"), (9, MIB + 1, "bounds"), (9, MIB, "ok"),
                                 (5, MIB + 1, "ok"), (8, 64 * MIB, "ok"), (5, 64 * MIB + 1, "bounds")):
            self.damage(word, lambda v: v.sections.append({
                **v.section(ident(60)), "id": ident(99), "journal": [
                    writer.journal(ident(99), kind, bytes(size))]}), secret=BY_INDEX_KEY)
        self.table("bounds", metadata=listed(
            [U64.put(n) + ident(0) for n in range(1025)]) + b"\0" + bytes(8))
        settings = writer.List(writer.SETTING).put(sample().index["metadata"]["settings"])
        front = -len(settings)
        self.table("bounds", metadata=lambda s: s[:front] + U32.put(1001) + settings[4:])
        self.table("bounds", metadata=lambda s: s[:front])
        self.table("bounds", content=lambda c: c[:1] + U32.put(1 << 31) + c[5:])
        self.section("bounds", content=lambda c: U32.put(1 << 31) + c[4:])
        for of in (self.table, self.section):
            of("bounds", content=lambda c: c[:-1])
            of("bounds", content=lambda c: b"")
        self.damage("bounds", lambda v: alpha(v)["records"][0].update(highest=2))

    def test_encoding(self):
        self.table("encoding", projects=lambda s: s + b"\0")
        self.table("encoding", projects=lambda s: U32.put(1) + s[4:])
        self.table("encoding", sections=lambda s: U32.put(5) + s[4:])
        for name in ("", b"\xc0\x80", b"\xed\xa0\x80"):
            self.table("encoding", projects=self.project(name))
        self.table("encoding", projects=put(self.project("x"), 4 + 16 + 5 + 8, b"\2"))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2", b"API_KEY\6", 1))
        self.section("encoding", records=lambda s: s.replace(b"API_KEY\2\5", b"API_KEY\2\x0d", 1))
        self.section("encoding", earlier=lambda s: s.replace(
            b"\1" + TEXT.put("OLD"), b"\2" + TEXT.put("OLD")))
        self.section("encoding", earlier=lambda s: s.replace(b"OLD", b"O\xffD"))
        self.section("encoding", batches=lambda s: U32.put(1) + s[4:])
        for of in (self.table, self.section):
            of("encoding", content=lambda c: c + b"\0")
        self.damage("encoding", lambda v: alpha(v)["records"][0].update(name=""))

    def test_order(self):
        def turned(items):
            return lambda vault: items(vault).insert(0, items(vault).pop(1))

        def doubled(items):
            return lambda vault: items(vault).insert(0, copy.deepcopy(items(vault)[0]))
        lists = [lambda vault, name=name: vault.index[name] for name in (
            "projects", "journal", "accounts")]
        lists += [lambda vault, name=name: alpha(vault)[name] for name in (
            "records", "current", "earlier", "batches", "agreements")]
        for items in (*lists, lambda vault: vault.sections):
            for edit in (turned(items), doubled(items)):
                self.damage("order", edit, secret=BY_INDEX_KEY)
        self.damage("order", lambda v: alpha(v)["journal"].append(writer.journal(ident(1), 9, b"")))
        for name in ("generations", "directories", "settings"):
            self.damage("order", lambda v: v.index["metadata"][name].reverse())
        self.section("order", records=lambda s: s.replace(
            TEXT.put("a") + TEXT.put("b"), TEXT.put("b") + TEXT.put("a")))
        self.table("ok", log_keys=listed([ident(1) * 2, ident(1) * 2]))

    def agreements(self, word, *items):
        """With these agreements, in their order."""
        self.damage(word, lambda v: alpha(v).update(agreements=list(items)), secret=BY_INDEX_KEY)

    def test_agreements(self):
        def one(key="KEY", identifier="env_1", variable=bytes(16), **changes):
            changes = {"targets": 1, "environments": (), "branch": None, **changes}
            scope = writer.scope(*(changes.pop(name) for name in ("targets", "environments", "branch")))
            return writer.agreement(key, identifier, variable, scope=scope, **changes)
        self.agreements("ok")
        self.agreements("encoding", one(""))
        self.agreements("encoding", one(identifier=""))
        self.agreements("ok", one(identifier="", ended_at=1))
        self.agreements("encoding", one(targets=8))
        self.agreements("encoding", one(type=6))
        ascending = (
            one("KEY"), one("KEY", comment=None, variable=ident(1)), one("KEY", comment="x", targets=6),
            one("KEY", targets=4, version=7), one("KEY", targets=0, environments=["a", "b"], version=8),
            one("KEY", targets=0, environments=["b"], version=9), one("KEY", targets=0, version=10),
            one("KEY", branch="", targets=2), one("KEY", branch="a", targets=2),
            one("KEY", branch="b", targets=1), one("KEYS"), one("L\u00e9"))
        self.agreements("ok", *ascending)
        for first, second in zip(ascending, ascending[1:]):
            self.agreements("order", second, first)
            self.agreements("order", first, first)
        # What differs in the scope only is one agreement, also with others between.
        self.agreements("encoding", one(targets=1), one(targets=4))
        self.agreements("encoding", one(targets=1), one(targets=2, version=5), one(targets=4))
        self.agreements("encoding", one(branch="a", targets=1), one(branch="a", targets=2))
        self.agreements("ok", one(branch="a", targets=2), one(branch="b", targets=2))
        self.agreements("ok", one(targets=1), one(targets=2, earlier=None))

    def test_layout(self):
        def no_current(s): s["current"].pop()
        def other_number(s): s["current"][0]["number"] = 1
        def no_length(s): s["current"][1]["chunk"] = b""
        def unknown_record(s): s["earlier"][1]["record"] = ident(99)
        def is_current(s): s["earlier"][1]["number"] = 3
        def number_zero(s): s["earlier"][0]["number"] = 0
        def number_high(s): s["earlier"][1]["number"] = 4
        def gap(s): s["current"][1]["wrong"] = {"offset": 10_000}
        def huge(s): s["current"][1]["wrong"] = {"offset": (1 << 64) - 1}
        def overlap(s): s["current"][1]["wrong"] = {"offset": 0}
        def long(s): s["earlier"][1]["wrong"] = {"length": 10_000}
        def no_batch(s): s["batches"].pop()
        for edit in (no_current, other_number, no_length, unknown_record, is_current, number_zero,
                     number_high, gap, huge, overlap, long, no_batch):
            with self.subTest(edit.__name__):
                self.damage("layout", lambda v: edit(alpha(v)), secret=BY_INDEX_KEY)
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
                for n, origin in enumerate(origins, 100)])
        self.damage("ok", relays(*(f"https://{n}" for n in range(16))))
        self.damage("layout", relays(*(f"https://{n}" for n in range(17))))
        self.damage("layout", relays("https://a", "https://a"))
        self.damage("encoding", relays(""))

    def payload(self, word, kind, **changes):
        """One entry of a journal with another payload."""
        def edit(vault):
            entry = next(entry for entry in (*vault.index["journal"], *vault.all("journal"))
                         if entry["kind"] == kind)
            of = writer.PAYLOADS[kind]
            content = of.get(writer.Reader(entry["payload"]))
            entry["payload"] = of.put({**content, **changes})
        self.damage(word, edit)

    def test_payloads(self):
        self.payload("encoding", 1, action=4)
        self.payload("encoding", 1, action=1)
        self.payload("encoding", 1, target=None)
        self.payload("ok", 1, action=1, target=None)
        scope, nothing = writer.scope, writer.scope(0)
        self.payload("encoding", 1, action=1, target=None, released=scope(1))
        self.payload("encoding", 1, action=3)
        deletion = {"action": 3, "targets": nothing, "agreed": nothing, "sends_value": 0}
        self.payload("ok", 1, **{**deletion, "released": scope(5, "a", "main")})
        self.payload("encoding", 1, **{**deletion, "sends_value": 1})
        self.payload("encoding", 1, **{**deletion, "sends_value": 2})
        self.payload("encoding", 1, **{**deletion, "targets": scope(1)})
        self.payload("encoding", 1, **{**deletion, "agreed": scope(1)})
        self.payload("encoding", 1, released=scope(0, branch="main"))
        self.payload("encoding", 1, agreed=scope(0, branch="main"))
        self.payload("ok", 1, released=scope(2, branch="main"), agreed=nothing)
        for targets, agreed, word in (
                (scope(5), scope(1), "ok"), (scope(5), scope(2), "encoding"),
                (scope(5, ["a", "b"]), scope(0, ["b"]), "ok"), (scope(5, ["a"]), scope(0, ["b"]), "encoding"),
                (scope(2, branch="a"), scope(2, branch="a"), "ok"),
                (scope(2, branch="a"), scope(2), "encoding"),
                (scope(2), scope(2, branch="a"), "encoding"),
                (scope(2, branch="a"), scope(2, branch="b"), "encoding")):
            self.payload(word, 1, targets=targets, agreed=agreed)
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
        section = alpha(vault)
        item, one = section["records"][0], section["earlier"][0]
        item["current"] = item["highest"] = section["current"][0]["number"] = 10_002
        section["earlier"] = [{**one, "number": n, "chunk": b"c"} for n in range(1, 10_002)]
        self.assertClass("layout", vault.write(ROOT), BY_SLOT_KEY)
        del section["earlier"][-1]
        self.assertClass("ok", vault.write(ROOT), BY_SLOT_KEY)


class Sections(Case):
    """5: what table and sections say of each other."""

    @staticmethod
    def rows(**changes):
        """The row of `alpha`, changed."""
        return lambda rows: [{**row, **{name: change(row[name]) for name, change in changes.items()}}
                             if row["id"] == ident(1) else row for row in rows]

    def test_hash_and_seal(self):
        for at in (0, 24, 100, -1):
            for secret in (BY_CODE, BY_INDEX_KEY):
                self.damage("section", section={"block": lambda s: flip(s, at)}, secret=secret)
                self.damage("tag", section={"sealed": lambda s: flip(s, at)}, secret=secret)
        self.damage("section", section={"row": {"hash": bytes(32)}})
        self.damage("section", rows=self.rows(hash=lambda raw: flip(raw, 0)))

        # Under another key or other associated data, when the table has the hash of that.
        vault = sample()
        vault.write(ROOT)
        data = b"zgv3/section\0\0\0\0" + ident(0xAA) + ident(1)
        sealed, key = vault.blocks[1][0], reader.kdf(KEY, 1, b"zgv3sub_")
        padded = reader.aead_open(key, sealed[:24], sealed[24:], data)
        self.assertEqual(len(padded), len(sealed) - 40)
        for word, by, bound in (
                ("ok", key, data), ("tag", KEY, data), ("tag", key, b"zgv3/index" + data[12:]),
                ("tag", key, data[:12] + data[16:]), ("tag", key, data[:32] + ident(2)),
                ("tag", key, data[:16] + ident(0xBB) + ident(1)), ("tag", key, b"")):
            alpha(vault)["wrong"]["sealed"] = lambda _: writer.seal(by, padded, bound)
            self.assertClass(word, vault.write(ROOT))

    def test_padding(self):
        for padded in (lambda p: p[:-1] + b"\1", lambda p: p + bytes(4096),
                       lambda p: U32.put(len(p) - 3) + p[4:], lambda p: U32.put(1 << 31) + p[4:],
                       lambda p: U32.put(0) + bytes(len(p) + 4092)):
            self.damage("padding", section={"padded": padded})

    def test_lengths(self):
        for length in (0, 39, 40, 41, 4096, 4135, 4137, 256 * MIB + 40 + 4096, (1 << 64) - 1):
            self.damage("layout", rows=self.rows(length=lambda _: length))
        for padded in (lambda p: p[:-1], lambda p: p + b"\0", lambda p: b"", lambda p: p[:3]):
            self.damage("layout", section={"padded": padded})
        for more in (1, -1, 4096, 1 << 32, (1 << 64) - 10_000):
            self.damage("layout", rows=self.rows(chunks=lambda n: n + more))

        def around(rows):
            """The sum is right as a number of 64 bits."""
            rows = self.rows(chunks=lambda n: n + (1 << 63))(rows)
            return rows[:2] + [{**rows[2], "chunks": rows[2]["chunks"] + (1 << 63)}] + rows[3:]
        self.damage("layout", rows=around)
        # The block is as long as it was, but divided elsewhere.
        self.damage("section", lambda v: alpha(v)["current"][0].update(chunk=bytes(5000)),
                    rows=self.rows(length=lambda n: n + 4096, chunks=lambda n: n - 4096))

        def moved(rows):
            """A byte of the chunks belongs to the next block."""
            return self.rows(chunks=lambda n: n - 1)(rows[:2]) + [
                {**rows[2], "chunks": rows[2]["chunks"] + 1}] + rows[3:]
        self.damage("layout", rows=moved)
        self.damage("layout", rows=self.rows(length=lambda n: n - 1, chunks=lambda n: n + 1))

    def test_chunks_reach_into_another_block(self):
        def merged(rows):
            """The next block is chunks of this section."""
            more = rows[2]["length"] + rows[2]["chunks"]
            return self.rows(chunks=lambda n: n + more)(rows[:2]) + rows[3:]
        self.damage("layout", rows=merged)
        # The first chunk of the next block.
        self.damage("layout", lambda v: alpha(v)["current"][1].update(
            wrong={"offset": sum(len(item["chunk"]) for item in v.versions()[:4]) + 4136}))
        self.damage("layout", lambda v: v.versions()[3].update(wrong={"length": 10_000}))

    def test_within_one_section(self):
        """What another section has is not there."""
        def batch(v): v.section(ident(3))["current"][0].update(batch=ident(1))
        def version(v): v.section(ident(3))["current"].append(v.section(ident(2))["current"].pop())
        def earlier(v): v.section(ident(3))["earlier"].append(alpha(v)["earlier"].pop())
        def record(v): v.section(ident(3))["records"].insert(0, v.section(ident(2))["records"].pop(0))
        for edit in (batch, version, earlier, record):
            with self.subTest(edit.__name__):
                self.damage("layout", lambda v: [edit(v), v.sort()], secret=BY_INDEX_KEY)

    def test_whose(self):
        def empty(v): v.section(ident(70))
        def emptied(v): v.section(ident(50)).update(journal=[])
        def nothing_but_a_batch(v): v.batch(v.section(ident(70)), bytes(32), ROOT)
        def no_project(v): v.index["projects"].pop(0)
        def batch_of_no_project(v): v.batch(v.section(ident(60)), bytes(32), ROOT)
        def agreement_of_no_project(v):
            v.section(ident(60))["agreements"].append(writer.agreement("KEY", "env_1"))
        def of_no_project(v): alpha(v).update(id=ident(70)), v.sort()
        for edit in (empty, emptied, nothing_but_a_batch, no_project, batch_of_no_project,
                     agreement_of_no_project, of_no_project):
            for secret in (BY_CODE, BY_INDEX_KEY):
                with self.subTest(edit.__name__):
                    self.damage("layout", edit, secret=secret)
        # A project without records, agreements and entries has no section.
        self.damage("ok", lambda v: v.sections.pop(2))
        self.damage("ok", lambda v: v.sections.clear())

        def agreed(v):
            section = v.section(ident(3))
            section.update(records=[], current=[], earlier=[], batches=[])
            section["agreements"].append(writer.agreement("KEY", "env_1"))
        self.damage("ok", agreed)

        def removed(v):
            v.index["projects"].pop(0)
            alpha(v).update(records=[], current=[], earlier=[], batches=[], agreements=[])
        self.damage("ok", removed)

    def test_places_of_entries(self):
        def alone(v, section, kind, identifier=None):
            found = entry(kind)
            v.index["journal"] = []
            for item in v.sections:
                item["journal"] = []
            journal = v.index["journal"] if section is None else v.section(ident(section))["journal"]
            journal.append({**found, "id": identifier or found["id"]})
            v.sort()
        for kind, word in ((1, "layout"), (2, "ok"), (3, "layout"), (4, "ok"), (5, "layout"),
                           (6, "layout"), (7, "layout"), (8, "layout"), (9, "ok"), (255, "ok")):
            self.damage(word, lambda v: alone(v, None, kind), secret=BY_INDEX_KEY)
        for section in (0, 1, 80):  # no kind's, a project's, and one's own
            for kind, places in ((1, (0, 1, 80)), (2, ()), (3, (0,)), (4, ()), (5, ()), (6, (0, 1, 80)),
                                 (7, ()), (8, ()), (9, (0, 1, 80))):
                self.damage("ok" if section in places else "layout",
                            lambda v: alone(v, section, kind), secret=BY_INDEX_KEY)
        for kind in (5, 7, 8):
            for section in (0, 1, 80):
                self.damage("ok", lambda v: alone(v, section, kind, ident(section)), secret=BY_INDEX_KEY)

    def test_one_id_in_two_places(self):
        """5.5: what only those notice who open all."""
        def record(v): v.section(ident(2))["records"][1].update(id=ident(15))
        def batch(v):
            v.section(ident(3))["batches"][0]["id"] = ident(3)
            [version.update(batch=ident(3)) for version in v.section(ident(3))["current"]]
        def entry(v): v.section(ident(50))["journal"][0].update(id=ident(2))
        def entry_of_the_table(v): v.section(ident(50))["journal"][0].update(id=ident(1))
        for edit in (record, batch, entry, entry_of_the_table):
            with self.subTest(edit.__name__):
                self.damage("layout", edit, secret=BY_INDEX_KEY)
                self.damage("layout", edit)
        # Entry, record, batch and section may have one id.
        self.damage("ok", lambda v: v.section(ident(60))["journal"][0].update(id=ident(60)))

    def test_exchanged(self):
        """Of the bytes of a file; the table stays."""
        vault = sample()
        raw = vault.write(ROOT)
        older, new = vault.blocks[:], writer.Vault.load(raw, KEY)
        new.next_generation()
        new.set(alpha(new)["records"][0], b"fourth", ROOT)
        new.write(ROOT)

        def with_blocks(blocks, front=vault.front):
            return front + b"".join(sealed + chunks for sealed, chunks in blocks)
        self.assertEqual(with_blocks(older), raw)
        one, other = older[4], older[5]  # of one length
        self.assertClass("section", with_blocks(older[:4] + [other, one]))
        self.assertClass("section", with_blocks(older[::-1]))
        self.assertClass("section", with_blocks([*older[:2], older[3], older[2], *older[4:]]))
        self.assertClass("section", with_blocks([*older[:1], (new.blocks[1][0], older[1][1]), *older[2:]]))
        self.assertClass("section", with_blocks(
            [*new.blocks[:1], (older[1][0], new.blocks[1][1]), *new.blocks[2:]], new.front))
        self.assertClass("truncated", with_blocks(older[:-1]))
        # With the row's hash too, and its lengths, by a holder of the root.
        for names in (("hash",), ("hash", "length", "chunks")):
            def exchange(rows):
                one, other = rows[4], rows[5]
                return rows[:4] + [{**one, **{name: other[name] for name in names}},
                                   {**other, **{name: one[name] for name in names}}]
            self.damage("section", rows=exchange)
        moved = [{"sealed": lambda _: other[0]}, {"sealed": lambda _: one[0]}]
        self.damage("tag", lambda v: [section["wrong"].update(wrong) for section, wrong in zip(
            v.sections[4:], moved)])

    def test_of_another_vault(self):
        other = sample()
        other.vault_id, other.slots = ident(0xBB), []
        other.write(ROOT)
        sealed = other.blocks[1][0]
        self.damage("section", section={"block": lambda _: sealed})
        self.damage("tag", section={"sealed": lambda _: sealed})
        # With another root, another index key.
        other = sample(OTHER_ROOT)
        other.write(OTHER_ROOT)
        sealed = other.blocks[1][0]
        self.damage("section", section={"block": lambda _: sealed})
        self.damage("tag", section={"sealed": lambda _: sealed})

    def test_order_of_checks(self):
        def relays(v): v.index["journal"].extend([v.index["journal"][-1]] * 17)
        def names(v): v.index["projects"][1]["name"] = "alpha"
        def place(v): v.index["journal"][1]["kind"] = 3
        def wrong(n, **wrong): return lambda v: v.section(ident(n))["wrong"].update(wrong)
        def of(n, name): return wrong(n, **{name: lambda raw: flip(raw, -1)})
        def empty_journal(n): return lambda v: v.section(ident(n)).update(journal=[])
        def same_id(v): v.section(ident(60))["journal"][0].update(id=ident(1))
        def bad_batch(n): return lambda v: v.section(ident(n))["batches"][0].update(wrapped=bytes(72))
        def bad_value(v): v.section(ident(3))["current"][1].update(chunk=bytes(168))
        chunk_of_earlier = wrong(1, chunks=lambda raw: flip(raw, -1))
        for word, *edits in (
                ("order", relays, names, of(0, "block")),
                ("layout", names, of(0, "block")),
                ("encoding", place, of(0, "block")),
                ("layout", lambda v: v.wrong.update(rows=self.rows(chunks=lambda n: n + 1)), of(0, "block")),
                ("section", of(0, "block"), of(1, "sealed")),
                ("tag", of(0, "sealed"), of(1, "block")),
                ("padding", of(0, "padded"), of(1, "sealed"), of(2, "block")),
                ("bounds", wrong(0, records=b""), of(1, "block")),
                ("encoding", wrong(0, content=lambda c: c + b"\0"), of(1, "block")),
                ("layout", empty_journal(0), of(1, "block")),
                ("section", same_id, bad_batch(1), of(60, "block")),
                ("layout", same_id, bad_batch(1), bad_value),
                ("batch", bad_batch(3), chunk_of_earlier, bad_value),
                ("value", chunk_of_earlier, bad_value),
                ("chunk", chunk_of_earlier)):
            self.damage(word, *edits)


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
        record = alpha(vault)["records"][0]
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
        def comment(v): alpha(v)["records"][0]["attributes"].update(comment="x")
        def log_key(v): v.index["log_keys"].pop()
        def dropped(v): v.index["accounts"].pop()
        def slot(v): v.slots[2].update(salt=ident(3))
        def slots(v): v.slots.reverse()
        def wrapped(v): alpha(v)["batches"][0].update(wrapped=bytes(72))
        def dropped_section(v): v.sections.pop()
        def chunk(v): alpha(v)["current"][0].update(chunk=bytes(168))
        for edit in (generation, setting, origin, comment, log_key, dropped, slot, slots, wrapped,
                     dropped_section, chunk):
            with self.subTest(edit.__name__):
                self.refused(self.attack(edit))

    def test_wrong_proofs(self):
        vault = sample()
        older = vault.write(ROOT)
        old_proof = vault.proof
        vault.next_generation()
        vault.set(alpha(vault)["records"][0], b"fourth", ROOT)
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
        vault.set(alpha(vault)["records"][0], b"x", ROOT)
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
        def wrong_id(s, v): s["batches"][0].update(id=ident(0))
        def other_root(s, v):
            del s["batches"][0]
            v.batch(s, ident(1) * 2, OTHER_ROOT, ident(1)), v.sort()
        def other_vault(s, v):
            sealed = writer.seal(writer.kdf(ROOT, 2, b"zgv3root"), bytes(32),
                                 b"zgv3/batch" + ident(1) + ident(9))
            s["batches"].append({"id": ident(9), "wrapped": sealed})
        def exchanged(s, v):
            one, other = s["batches"]
            one["wrapped"], other["wrapped"] = other["wrapped"], one["wrapped"]
        def of_another_section(s, v):
            s["batches"][0]["wrapped"] = v.section(ident(2))["batches"][0]["wrapped"]
        def unneeded(s, v):
            v.batch(s, bytes(32), ROOT), v.sort()
        def unneeded_and_wrong(s, v):
            s["batches"].append({"id": ident(9), "wrapped": bytes(72)})
        self.damage("layout", lambda v: wrong_id(alpha(v), v))
        for edit in (other_root, other_vault, exchanged, of_another_section, unneeded_and_wrong):
            self.damage("batch", lambda v: edit(alpha(v), v))
            self.damage("ok", lambda v: edit(alpha(v), v), secret=BY_SLOT_KEY)
        self.damage("ok", lambda v: unneeded(alpha(v), v))

    def test_chunk_and_value(self):
        raw = sample().write(ROOT)
        for secret in (BY_CODE, BY_SLOT_KEY):
            self.assertClass("chunk", flip(raw, len(raw) - 2 * 4136 - 1), secret)

        def chunk(padded):
            def edit(v):
                version, item = alpha(v)["current"][0], alpha(v)["records"][0]
                version["chunk"] = v.chunk(item, version, bytes([2]) * 32, b"", padded)
            return edit

        def put_chunk(raw):
            return lambda v: alpha(v)["current"][0].update(chunk=raw)
        for edit in (
                put_chunk(b"c" * 39), put_chunk(bytes(9 * MIB)),
                chunk(pad_value(b"second") + bytes(128)), chunk(U32.put(1) + b"x"), chunk(b"abc"),
                chunk(pad_value(b"second")[:-1] + b"\1"), chunk(U32.put(200) + bytes(124)),
                chunk(pad_value(bytes(MIB + 1)))):
            self.damage("value", edit)
            self.damage("ok", edit, secret=BY_SLOT_KEY)

    def test_seal_covers(self):
        """6: vault, record and version; a chunk that was moved does not open."""
        def version_id(v): alpha(v)["current"][0].update(id=ident(5))
        def batch(v): alpha(v)["current"][0].update(batch=ident(1))

        def records(v):
            one, other = alpha(v)["current"]
            one["chunk"], other["chunk"] = other["chunk"], one["chunk"]

        def sections(v):
            one, other = alpha(v)["current"][0], v.section(ident(2))["current"][0]
            one["chunk"], other["chunk"] = other["chunk"], one["chunk"]

        def versions(v):
            one, other = alpha(v)["earlier"]  # of one record, in one batch
            one["chunk"], other["chunk"] = other["chunk"], one["chunk"]

        def record_and_version(v):
            """All that a version has, at another record."""
            one, other = v.section(ident(3))["current"]
            for name in ("id", "batch", "chunk"):
                one[name], other[name] = other[name], one[name]

        def other_vault(v):
            """With the same keys and ids."""
            v.vault_id = ident(0xBB)
            item, version = alpha(v)["records"][0], alpha(v)["current"][0]
            version["chunk"] = v.chunk(item, version, bytes([2]) * 32, b"third")
            v.vault_id = ident(0xAA)
        for edit in (version_id, batch, records, sections, versions, record_and_version, other_vault):
            with self.subTest(edit.__name__):
                self.damage("value", edit)
                self.damage("ok", edit, secret=BY_SLOT_KEY)

    def test_seal_does_not_cover(self):
        """The rest is the index's, which is signed."""
        def name(v): alpha(v)["records"][0].update(name="OTHER")
        def former_name(v): alpha(v)["earlier"][0].update(former_name=None)
        def same_name(v): alpha(v)["current"][0].update(former_name="API_KEY")
        def empty_name(v): alpha(v)["current"][0].update(former_name="")

        def number(v):
            alpha(v)["current"][1].update(number=2)
            alpha(v)["records"][1].update(current=2, highest=2)

        def project(v):
            """5.6: a record with its value, its data key in a new batch."""
            source, target = v.section(ident(2)), alpha(v)
            version = {**source["current"].pop(), "batch": v.batch(target, bytes([2]) * 32, ROOT)}
            target["records"].append(source["records"].pop(0))
            target["current"].append(version), v.sort()

        def same_ids(v):
            """8.2: each chunk opens as the version whose id it has."""
            one, other = alpha(v)["earlier"]
            for name in ("id", "chunk"):
                one[name] = other[name]
        for edit in (name, project, former_name, same_name, empty_name, number, same_ids):
            with self.subTest(edit.__name__):
                self.damage("ok", edit)
        self.damage("bounds", lambda v: alpha(v)["current"][0].update(former_name="x" * 1025))


class Hostile(Case):
    """Random input must yield one of the words, and nothing else."""

    WORDS = {"ok", "newer", "pre-release", "locked", "truncated", "magic", "header", "checksum",
             "slot", "extended", "exchanged-key", "tag", "section", "padding", "bounds", "encoding", "order",
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
        whole = sample()
        whole.write(ROOT)
        for turn in range(3000):
            vault = whole.copy()
            of = vault if turn % 3 == 0 else chance.choice(vault.sections[:4])
            of_wrong = of.wrong if of is vault else of["wrong"]
            of_wrong["content"] = lambda content: self.mutate(chance, content)
            found = self.read(vault.write(ROOT), BY_CODE if turn % 2 else BY_SLOT_KEY)
            seen.add(found["class"])
            self.assertIn(found["class"], self.WORDS)
        self.assertLessEqual(
            {"bounds", "encoding", "order", "layout", "section", "batch", "chunk", "value"}, seen)

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

    def test_mutations_of_a_section_without_the_root(self):
        """The table stays as it is, and says that the section is another one."""
        chance = random.Random(6)
        whole = sample()
        whole.write(ROOT)
        for turn in range(600):
            vault = whole.copy()
            of = chance.choice(vault.sections)
            of["wrong"]["content"] = lambda content: self.mutate(chance, content)
            vault.reseal(KEY, whole.proof)
            self.assertEqual(list(map(len, vault.blocks)), list(map(len, whole.blocks)))
            if vault.blocks != whole.blocks:
                self.assertClass("section", whole.front + b"".join(
                    sealed + chunks for sealed, chunks in vault.blocks),
                    BY_CODE if turn % 2 else BY_SLOT_KEY)


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
