"""Checks the promise of each change in `attacks.py` with the second reader, with a vault that has
one of everything: what must be listed is listed and is no damage, what must be refused is refused
with its class, and what is left out changes neither.

    python -m unittest test_attacks
"""

import os
import tempfile
import unittest

import attacks  # which finds the second reader's directory
import second_reader as reader
import vault_writer as writer
from vault_writer import ident

KEY = writer.index_key(writer.ROOT)
# Without Argon2id, but with the root and a slot of its own.
BY_CODE = reader.vector_secret({"recoveryCode": writer.recovery_code(writer.CODE)})
BY_PASSPHRASE = reader.vector_secret({"passphrase": writer.PASSPHRASE.decode()})
BY_INDEX_KEY = reader.vector_secret({"indexKey": KEY.hex()})


def two_generations():
    """An earlier and a current file, and the rollback guard of the current one. Both were written
    with the root; the current one has a locked write."""
    vault = writer.sample()
    older = vault.build(KEY)
    vault.next_generation()
    record = vault.index["records"][1]
    key = bytes([3]) * 32
    batch = vault.root_batch(key, writer.ROOT, ident(3))
    vault.index["earlier"].append(vault.index["current"][1])
    vault.index["current"][1] = vault.version(record, 2, batch, key, b"dsn", made_at=5)
    record.update(current=2, highest=2)
    vault.index["accounts"][0]["secret"] = b"token-of-me-2"
    vault.sort()
    vault.accept(writer.ROOT)
    vault.build(KEY)
    writer.locked_write(vault, ident(15), b"written while locked")
    present = vault.build(KEY)
    anchor = " ".join((
        "zg-env-anchor-2", vault.vault_id.hex(), str(vault.generation), vault.tag.hex(),
        vault.public.hex(), str(vault.index["checkpoint"]["generation"]))) + "\n"
    return older, present, anchor.encode()


# The end of an open rotation, which has one valid value; and what `generations` says of each
# generation, where every change moves the list.
ALONE = {"journal.2.ended_at", "metadata.generations.generation", "metadata.generations.tag"}


def parts(of):
    """The fields of a type, or None."""
    if isinstance(of, writer.Batch):
        return {"id": writer.ID, "wrapping": writer.U8, "wrapped": writer.BYTES}
    return attacks.fields(of)


def leaves(path, of):
    """The paths of all fields of a type that have none themselves."""
    if isinstance(of, (writer.List, writer.Optional)):
        yield from leaves(path, of.of)
    elif isinstance(of, writer.Entry):
        for kind, content in writer.LISTED.items():
            yield from leaves(f"{path}.{kind}", content)
    elif of is writer.JOURNAL:
        yield f"{path}.made_at"
        for kind, payload in writer.PAYLOADS.items():
            yield from leaves(f"{path}.{kind}", payload)
    elif parts(of):
        for name, field in parts(of).items():
            yield from leaves(f"{path}.{name}", field)
    else:
        yield path


def differences(path, of, one, other):
    """The paths of the fields in which two values differ. Lists are compared by places."""
    if one == other:
        return set()
    if isinstance(of, writer.Optional):
        if one is None or other is None:
            return set(leaves(path, of))
        return differences(path, of.of, one, other)
    if isinstance(of, writer.List) and len(one) == len(other):
        return set().union(*(differences(path, of.of, *both) for both in zip(one, other)))
    if isinstance(of, writer.Entry):
        if one["kind"] == other["kind"]:
            kind = one["kind"]
            return differences(
                f"{path}.{kind}", writer.LISTED[kind], one["content"], other["content"])
    elif of is writer.JOURNAL:
        kind, payload = one["kind"], writer.PAYLOADS.get(one["kind"])
        found = {f"{path}.made_at"} if one["made_at"] != other["made_at"] else set()
        if payload and other["kind"] == kind:
            found |= differences(f"{path}.{kind}", payload, *(
                payload.get(writer.Reader(item["payload"])) for item in (one, other)))
        return found
    elif parts(of):
        return set().union(*(differences(f"{path}.{name}", field, one[name], other[name])
                             for name, field in parts(of).items()))
    return {path}


class Promises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, "vault.zgv")
        cls.older, cls.present, cls.anchor = two_generations()
        cls.before = cls.read(cls.present, BY_CODE)
        assert cls.before["class"] == "ok", cls.before

    @classmethod
    def read(cls, raw, secret, anchor=None):
        with open(cls.path, "wb") as file:
            file.write(raw)
        return reader.check(cls.path, secret, anchor=anchor)

    def check(self, change):
        raw = attacks.apply(change.name, self.present, KEY, older=self.older)
        secret = BY_PASSPHRASE if change.field == "slots" or "slot.pass" in change.name else BY_CODE
        with_root = self.read(raw, secret)
        with_anchor = self.read(raw, secret, self.anchor)
        locked = self.read(raw, BY_INDEX_KEY)
        locked_with_anchor = self.read(raw, BY_INDEX_KEY, self.anchor)
        if change.promise == attacks.REFUSED:
            if change.by == "anchor":
                self.assertEqual(with_anchor["class"], "anchor", with_anchor)
                self.assertNotEqual(with_root["class"], "anchor")
                return
            if change.word != "locked":
                expected = "ok" if change.by == "root" else change.word
                self.assertEqual(locked["class"], expected, locked)
            self.assertEqual(with_root["class"], change.word, with_root.get("message"))
            if change.finding == "F5":
                self.assertEqual(locked_with_anchor["class"], "anchor")
            return
        self.assertEqual(with_root["class"], "ok", with_root.get("message"))
        self.assertEqual(with_anchor["class"], "ok", with_anchor.get("message"))
        self.assertEqual(locked["class"], "ok", locked.get("message"))
        new = [item for item in with_root["notAccepted"] if item not in self.before["notAccepted"]]
        if change.promise == attacks.LEFT_OUT:
            self.assertEqual(new, [])
        elif change.name != "version.locked-write-replaced":  # listed before as well
            self.assertLessEqual(set(change.shows), {item["object"] for item in new}, new)

    def test_every_change(self):
        for change in attacks.CHANGES.values():
            with self.subTest(change.name):
                self.check(change)

    def test_there_are_enough(self):
        found = {change.finding for change in attacks.CHANGES.values()}
        self.assertLessEqual({"F1", "F2", "F3", "F5", "F6", "F7"}, found)
        self.assertGreaterEqual(len(attacks.CHANGES), 200)

    def test_every_field_has_a_change(self):
        """Each field of the index, also of the journal's payloads, differs after some change in an
        object that stayed where it is."""
        before = writer.Vault.load(self.present, KEY)
        changed = set()
        for change in attacks.CHANGES.values():
            raw = attacks.apply(change.name, self.present, KEY, older=self.older)
            try:
                after = writer.Vault.load(raw, KEY)
            except Exception:  # malformed
                continue
            for name, of in writer.SECTIONS.items():
                changed |= differences(name, of, before.index[name], after.index[name])
        fields = {path for name, of in writer.SECTIONS.items() for path in leaves(name, of)}
        self.assertGreater(len(fields), 150)
        self.assertEqual(fields - changed - ALONE, set())

    def test_a_rewrapped_key_is_not_the_attackers(self):
        """F5: with the pinned key in place, nothing is sealed to another key."""
        raw = attacks.apply("F5.public-key", self.present, KEY)
        found = self.read(raw, BY_INDEX_KEY, self.anchor)
        self.assertEqual(found["message"], "the public key is not the one in the rollback guard")

    def test_protected_tokens_do_not_open_elsewhere(self):
        for change in attacks.CHANGES.values():
            if change.finding == "F3" and change.name != "F3.protected-token-replaced":
                raw = attacks.apply(change.name, self.present, KEY)
                found = self.read(raw, BY_CODE)
                tokens = {item["name"]: item["token"] for item in found["accounts"]}
                if change.name == "account.protected.user":
                    continue  # is listed; the token is bound to origin and name alone
                self.assertIn("damaged", tokens.values(), change.name)

    def test_not_applicable(self):
        vault = writer.Vault(ident(0xAA), writer.pair(writer.ROOT)[0])
        vault.accept(writer.ROOT)
        with self.assertRaises(attacks.NotApplicable):
            attacks.apply("F2.same-number", vault.build(KEY), KEY)


if __name__ == "__main__":
    unittest.main()
