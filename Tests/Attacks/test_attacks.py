"""Checks the promise of each change in `attacks.py` with the second reader, with a vault that has one
of everything: what each reader must say, and that every field has a change.

    python -m unittest test_attacks
"""

import collections
import os
import tempfile
import unittest

import attacks  # which finds the second reader's directory
import same_tag
import second_reader as reader
import vault_writer as writer
from vault_writer import ROOT, ident

KEY = writer.index_key(ROOT)
SECRETS = {
    # Without Argon2id, but with the root and a slot of its own.
    4: {"recoveryCode": writer.recovery_code(writer.CODE)},
    1: {"passphrase": writer.PASSPHRASE.decode()},
    2: {"slotKey": writer.SLOT_KEY.hex(), "slot": ident(2).hex()},
    3: {"keyFile": f"zg-env-key-1 {ident(0xAA).hex()} {ident(3).hex()} {writer.FILE_KEY.hex()}"}}
BY_INDEX_KEY = {"indexKey": KEY.hex()}
BY_CODE, BY_SLOT_KEY = SECRETS[4], SECRETS[2]
WORDS = {"ok", "newer", "pre-release", "locked", "truncated", "magic", "header", "checksum", "slot",
         "extended", "exchanged-key", "signature", "tag", "section", "padding", "bounds", "encoding", "order",
         "layout", "batch", "chunk", "value"}


def two_generations():
    """What the attacker has of a vault that a holder of the root wrote twice, and the rollback guard
    of the newer file."""
    vault = writer.sample()
    older = vault.write(ROOT)
    vault.next_generation()
    # In the section that most changes are of, so that it has an older text; and in another one.
    for project in (1, 2):
        vault.set(vault.section(ident(project))["records"][0], b"new", ROOT, made_at=5)
    vault.index["accounts"][0]["secret"] = b"token-of-me-2"
    vault.index["projects"].append({
        "id": ident(4), "name": "new", "made_at": 9, "binding": None})
    for project, kind, identifier in ((1, 6, 9), (61, 7, 61)):
        vault.section(ident(project))["journal"].append(
            writer.journal(ident(identifier), kind, b"of a group"))
    vault.index["journal"].append(writer.journal(ident(10), 78, b"of a later program"))
    vault.index["log_keys"].append(ident(7) * 2)
    vault.sort()
    present = vault.write(ROOT)
    other = writer.sample(bytes(range(32)))
    other.write(bytes(range(32)))
    attacker = attacks.Attacker(
        present, KEY, kek=writer.SLOT_KEY, slot=ident(2), older=older, proofs=[other.proof])
    anchor = " ".join((
        "zg-env-anchor-3", vault.vault_id.hex(), str(vault.generation), vault.tag.hex(),
        vault.public.hex())) + "\n"
    return attacker, anchor.encode()


def leaves(path, of):
    """The paths of all fields of a type that have none themselves."""
    if isinstance(of, (writer.List, writer.Optional)):
        yield from leaves(path, of.of)
    elif of is writer.JOURNAL:
        yield from (f"{path}.{name}" for name in ("id", "kind", "made_at"))
        for kind, payload in writer.PAYLOADS.items():
            yield from leaves(f"{path}.kind-{kind}", payload)
    elif attacks.fields(of):
        for name, part in attacks.fields(of).items():
            yield from leaves(f"{path}.{name}", part)
    else:
        yield path


class Promises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = os.path.join(folder.name, "vault.zgv")
        cls.attacker, cls.anchor = two_generations()
        cls.changes = attacks.every_change(cls.attacker)

    @classmethod
    def read(cls, raw, secret, anchor=None):
        with open(cls.path, "wb") as file:
            file.write(raw)
        return reader.check(cls.path, reader.vector_secret(secret), anchor=anchor)

    def says(self, word, raw, secret, anchor=None):
        found = self.read(raw, secret, anchor)
        if word == attacks.ANY:  # what the decoder says: the proof holds
            self.assertIn(found["class"], WORDS - {"signature", "exchanged-key"})
            self.assertNotIn("table failed", found.get("message", ""))
        else:
            self.assertEqual(found["class"], word, found.get("message"))
        return found

    def check(self, change):
        raw = change.file(self.attacker)
        every = change.slot == 0
        self.says("locked" if change.slot == 4 or every else change.root, raw, BY_CODE)
        self.says("locked" if change.slot == 4 or every else change.guarded_root, raw, BY_CODE,
                  self.anchor)
        locked = BY_SLOT_KEY if change.slot == -1 else BY_INDEX_KEY
        self.says(change.locked, raw, locked)
        self.says(change.guarded, raw, locked, self.anchor)
        if change.slot in (1, 2, 3):
            self.says("locked", raw, SECRETS[change.slot])

    def test_every_change(self):
        done = 0
        for change in self.changes:
            with self.subTest(change.name):
                self.check(change)
                done += 1
        self.assertEqual(done, len(self.changes))

    def test_the_control(self):
        """What a holder of the root writes is accepted by all, so that refusals mean something: the
        file as it is, and each change of a field where it gives a valid index."""
        for secret in (*SECRETS.values(), BY_INDEX_KEY):
            self.says("ok", self.attacker.raw, secret, self.anchor)
        found = collections.Counter()
        for change in self.changes:
            if change.name.endswith(".own") and change.locked == attacks.ANY:
                raw = self.by_the_root(change)
                found[self.read(raw, BY_CODE, self.anchor)["class"]] += 1
        self.assertEqual(found["signature"] + found["exchanged-key"] + found["anchor"], 0, found)
        self.assertGreater(found["ok"], 300, found)

    def by_the_root(self, change):
        """The same change, with a proof that holds by the vault's own root."""
        proof = attacks.PROOFS["own"]
        attacks.PROOFS["own"] = lambda vault, attacker: vault.write(ROOT)
        try:
            return change.make(self.attacker)
        finally:
            attacks.PROOFS["own"] = proof

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(self.changes), 2000)
        # Every change of an index is another file.
        files = {change.file(self.attacker) for change in self.changes}
        self.assertEqual(len(files), len(self.changes))

    def test_every_field_has_a_change(self):
        found = {change.field for change in self.changes}
        # A payload is in the table or in sections.
        table, sections = ({path for name, of in parts.items() for path in leaves(
            attacks.OF_SECTIONS.get(name, name) if parts is writer.SECTION else name, of)}
            for parts in (writer.TABLE, writer.SECTION))
        wanted = {path for path in table | sections
                  if not path.startswith(("journal.kind-1.", "journal.kind-3.", "entries.kind-2.",
                                          "entries.kind-4."))}
        self.assertGreater(len(wanted), 150)
        self.assertEqual(wanted - found, set())
        self.assertLessEqual({f"slots.{name}" for name in writer.SLOT.fields if name != "memory"}, {
            *found, "slots.operations"})

    def test_every_field_of_a_section_is_changed_alone(self):
        """Under the table as it was, which names another text."""
        alone = {change.field for change in self.changes if change.opened_by == "section"}
        found = {change.field for change in self.changes if change.name.endswith(".own")
                 and change.field.split(".")[0] in attacks.OF_SECTIONS.values()}
        self.assertGreater(len(found), 80)
        self.assertEqual(found - alone, set())

    def test_one_s_own_key_reaches_the_decoder(self):
        """Without a guard, a locked reader decodes what the attacker signed: of every class."""
        found = collections.Counter()
        for change in self.changes:
            if change.name.endswith(".own") and change.locked == attacks.ANY:
                found[self.read(change.file(self.attacker), BY_INDEX_KEY)["class"]] += 1
        self.assertLessEqual(
            {"ok", "section", "bounds", "encoding", "order", "layout", "padding", "newer"}, set(found))

    def test_a_planted_root_is_not_typed(self):
        """7.2: a root from a slot whose key is not typed does not replace the guard's key."""
        change = attacks.first(self.changes, lambda change: change.name == "planted.root")
        raw = change.file(self.attacker)
        found = self.says("ok", raw, BY_SLOT_KEY)
        self.assertTrue(found["root"])
        self.says("anchor", raw, BY_SLOT_KEY, self.anchor)

    def test_new_keys_from_elsewhere(self):
        """7.2: another vk that is the root's of a typed passphrase continues."""
        new_root = bytes(range(32))
        vault = writer.Vault.load(self.attacker.raw, KEY)
        vault.next_generation()
        vault.public, vault.slots = writer.pair(new_root)[0], []
        vault.add_slot(ident(4), 4, 2, new_root, writer.CODE)
        vault.index["accounts"] = []
        for section in vault.sections:
            section.update(current=[], earlier=[], batches=[])
        for record in vault.all("records"):
            record["current"] = 0
        self.says("ok", vault.write(new_root), BY_CODE, self.anchor)

    def test_same_tag(self):
        """Header and tag are those of the file; only the proof tells them apart."""
        for change in self.changes:
            if change.name.startswith("same-tag"):
                raw = change.file(self.attacker)
                vault = writer.Vault.load(raw, KEY)
                self.assertEqual(vault.header, self.attacker.raw[:len(vault.header)])
                self.assertEqual(vault.tag, self.attacker.load().tag)
                self.assertEqual(len(raw), len(self.attacker.raw))

    def test_same_tag_of_a_section(self):
        """Nonce, tag and length are those of the section, and it is whole: only its hash tells."""
        change = attacks.first(self.changes, lambda change: change.name == "same-tag.section")
        raw = change.file(self.attacker)
        new, old = writer.Vault.load(raw, KEY), self.attacker.load()
        at = new.sections.index(attacks.prominent(new))
        (one, _), (other, _) = new.blocks[at], old.blocks[at]
        self.assertEqual((one[:24], one[-16:], len(one)), (other[:24], other[-16:], len(other)))
        self.assertNotEqual(one, other)
        self.says("ok", new.write(ROOT), BY_CODE)
        self.assertNotEqual(new.sections[at]["records"], old.sections[at]["records"])

    def test_tag_of_every_length(self):
        key, nonce = bytes(range(32)), bytes(range(24))
        for length in (112, 113, 127, 128, 4096 + 96):
            old = writer.seal(key, bytes(length), b"data", nonce)[24:]
            new = same_tag.forge(key, nonce, b"data", old, b"x" * (length - 96))
            opened = writer.unseal(key, nonce + new, b"data")
            self.assertEqual((new[-16:], opened[:-96]), (old[-16:], b"x" * (length - 96)))

    def test_samples(self):
        some = attacks.some_changes(self.changes, 60, 7)
        self.assertEqual(len({change.name for change in some}), 60)
        self.assertGreaterEqual(len({change.name.split(".")[0] for change in some}), 10)
        self.assertNotEqual(some, attacks.some_changes(self.changes, 60, 8))

    def test_not_applicable(self):
        vault = writer.Vault(ident(0xAA), writer.pair(ROOT)[0])
        attacker = attacks.Attacker(vault.write(ROOT), KEY)
        left = 0
        for change in attacks.every_change(attacker):
            try:
                change.file(attacker)
            except attacks.NotApplicable:
                left += 1
        self.assertGreater(left, 50)


if __name__ == "__main__":
    unittest.main()
