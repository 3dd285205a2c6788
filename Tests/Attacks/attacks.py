#!/usr/bin/env python3
"""The changes that someone with the index key and the keyring item can make to a vault file.

    attacks.py --list [--seed N]
    attacks.py --apply NAME --index-key-file F [--older FILE] IN OUT

Written from docs/vault-format.md alone. The attacker has the file, the index key, the key of the slot
that opens it (an item in the keyring, or a key file), earlier generations of the file, and the files
of other vaults; but never the root. It opens the index, changes something, and seals it again, with
one of the proofs that someone without the root can have.

The changes are generated: every field of the table, of every section and of every slot, every
operation on every list, every field of the header, malformed bytes, blocks, chunks, and the proof
itself. Sixty more are made of several changes that belong together. A section is changed in three
ways: with the table, whose proof does not hold then; with the table, by a root of the attacker's; and
alone, so that the table names another one. `--apply` exits with 3 if the vault lacks what a change
needs.

What must happen is in four classes of section 8.1, one for each reader: with the root, locked, and
both again with a rollback guard. `ok` is only where docs/threat-model.md says so.
"""

import argparse
import copy
import os
import random
import sys
import zlib
from dataclasses import dataclass, field
from typing import Callable

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "SecondReader"))

import same_tag  # noqa: E402
import vault_writer as writer  # noqa: E402
from vault_writer import U16, U32, U64, Reader, Vault, hash32, ident  # noqa: E402

EVIL = "https://evil.example"
FORGED = b"forged-by-a-holder-of-the-index-key"
TOKEN = b"token-of-a-holder-of-the-index-key"
COMMAND = "touch /tmp/zg-env-attack"
# The attacker's own root, and a passphrase for it.
OWN_ROOT = bytes([0x67]) * 32
OWN_PASSPHRASE = b"a passphrase of the attacker"
MIB = 1 << 20


class NotApplicable(Exception):
    """The vault has nothing to change in this way."""


def need(condition):
    if not condition:
        raise NotApplicable("nothing to change")


def first(items, holds=lambda item: True):
    for item in items:
        if holds(item):
            return item
    raise NotApplicable("nothing to change")


@dataclass
class Attacker:
    """What the attacker has. `kek` is the key of the slot `slot`, which opens the index."""

    raw: bytes
    key: bytes
    kek: bytes = None
    slot: bytes = None
    older: bytes = None
    proofs: list = field(default_factory=list)  # of other vaults
    origin: str = EVIL

    def load(self):
        return Vault.load(self.raw, self.key)

    def proof_of_the_older(self):
        need(self.older)
        return Vault.load(self.older, self.key).proof

    def nonce(self):
        slots = int.from_bytes(self.raw[84:88], "little")
        return self.raw[88 + 192 * slots:][:24]


# --------------------------------------------------------------------------------------------------
# 5.9: the proofs of someone without the root. Each makes the file.


def kept(vault, attacker):
    return vault.reseal(attacker.key, vault.proof)


def own(vault, attacker):
    """A proof that holds, by the attacker's root and under its vk."""
    vault.public = writer.pair(OWN_ROOT)[0]
    return own_signature(vault, attacker)


def own_signature(vault, attacker):
    return vault.build(attacker.key, lambda *signed: writer.proof(OWN_ROOT, *signed))


def with_proof(make):
    return lambda vault, attacker: vault.reseal(attacker.key, make(vault, attacker))


def code_kept(vault, attacker):
    return vault.proof[:32] + os.urandom(64)


def signature_kept(vault, attacker):
    return os.urandom(32) + vault.proof[32:]


def of_another(vault, attacker):
    need(attacker.proofs)
    return attacker.proofs[0]


PROOFS = {
    "kept": kept,
    "own": own,
    "own-without-vk": own_signature,
    "zeros": with_proof(lambda vault, attacker: bytes(96)),
    "random": with_proof(lambda vault, attacker: os.urandom(96)),
    "code-kept": with_proof(code_kept),
    "signature-kept": with_proof(signature_kept),
    "older": with_proof(lambda vault, attacker: attacker.proof_of_the_older()),
    "of-another-vault": with_proof(of_another)}

# --------------------------------------------------------------------------------------------------
# Changes

# For each reader the class of section 8.1.
WORDS = ("root", "locked", "guarded_root", "guarded")


@dataclass
class Change:
    """`make` makes the file. `opened_by` says which commands open what was changed: "all" that open
    the index, those that take a "value", or a "section", "locked" ones, or those with the "root".
    `slot` is the kind of a slot that no longer opens, so that its secret gives `locked`."""

    name: str
    field: str
    does: str
    make: Callable
    root: str = "signature"
    locked: str = "signature"
    guarded_root: str = None
    guarded: str = None
    opened_by: str = "all"
    slot: int = None
    finding: str = None

    def __post_init__(self):
        self.guarded_root = self.guarded_root or self.root
        self.guarded = self.guarded or self.locked

    def file(self, attacker):
        changed = self.make(attacker)
        need(changed != attacker.raw)
        return changed


def edited(edit, proof="kept", generation="next", in_order=True):
    """The file after a change of its content."""
    def make(attacker):
        vault = attacker.load()
        edit(vault, attacker)
        if in_order:
            vault.sort()
        if generation == "next":
            vault.next_generation()
        return PROOFS[proof](vault, attacker)
    return make


def with_blocks(attacker, blocks):
    """The file with other blocks after its table."""
    return attacker.load().front + b"".join(sealed + chunks for sealed, chunks in blocks)


def in_place(edit, in_order=True):
    """The file after a change of its sections, sealed with the index key, under the same table. What
    does not fit is cut off."""
    def make(attacker):
        vault, before = attacker.load(), attacker.load().blocks
        edit(vault, attacker)
        if in_order:
            for section in vault.sections:
                writer.sort_section(section)
        vault.reseal(attacker.key, vault.proof)
        need(len(vault.blocks) == len(before))
        return with_blocks(attacker, [
            (new[:len(old)].ljust(len(old), b"\0"), chunks)
            for (new, _), (old, chunks) in zip(vault.blocks, before)])
    return make


def of_a_section(name, field, does, make, word="section"):
    return Change(name, field, f"{does}, under the same table", make, word, word,
                  opened_by="section" if word == "section" else "all")


def field_of(path):
    return ".".join(part for part in path if isinstance(part, str))


# The values of fields with a closed set, so that a change stays in it.
CLOSED = {"type": 5, "protection": 2, "action": 3, "policy": 2, "direction": 2, "way": 2}
FLAGS = ("default", "gone")
ORIGINS = ("origin", "relay", "address")


def others(of, value, name, attacker):
    """Other values of a field without fields of its own: (what, value)."""
    if isinstance(of, writer.Number):
        if name in FLAGS:
            return [("turned", 1 - value)]
        if name in CLOSED:
            return [("another", value % CLOSED[name] + 1)]
        most = (1 << 8 * of.size) - 1
        found = [("more", value + 1 if value < most else value - 1)]
        if of.size == 8:
            found += [("zero", 0), ("most", most)]
        elif name == "targets":
            found = [(target, value ^ 1 << bit)
                     for bit, target in enumerate(("production", "preview", "development"))]
        return [(what, new) for what, new in found if new != value]
    if isinstance(of, writer.Bytes):
        return [("longer", value + b"\0"), ("emptied", b"")] if value else [("filled", b"evil")]
    if isinstance(of, writer.Text):
        raw = value if isinstance(value, bytes) else value.encode()
        found = [("another", raw.decode(errors="replace") + "-evil")]
        if name in ORIGINS:
            found.append(("of-the-attacker", attacker.origin))
        elif name in ("name", "comment", "user_name", "value"):
            found.append(("escapes", "\x1b]0;evil\x07\x1b[31m\u202e"))
        else:
            found.append(("emptied", "") if raw else ("escapes", "\x1b[2J"))
        return found
    return [("flipped", bytes([value[0] ^ 1]) + value[1:])]


def default(of):
    """The smallest value of a type."""
    if isinstance(of, writer.Struct):
        return {name: default(part) for name, part in of.fields.items()}
    if isinstance(of, writer.Number):
        return 1 if of is writer.U8 else 0
    return {writer.Optional: None, writer.List: [], writer.Text: "", writer.Bytes: b""}.get(
        type(of), b"A" * getattr(of, "size", 0))


def fields(of):
    """The fields of a type with their types, or None."""
    if of is writer.ROTATION:
        return {**of.START.fields, "progress": writer.List(writer.PROGRESS),
                "ended_at": writer.U64}
    return of.fields if isinstance(of, writer.Struct) else None


def of_list(of, items):
    """Operations on a list as such."""
    new = copy.deepcopy(items[-1]) if items else default(of.of)
    if isinstance(new, dict):
        for name in ("id", "record"):
            if isinstance(new.get(name), bytes) and len(new[name]) == 16:
                new[name] = os.urandom(16)
        for name in ("name", "path"):
            if name in new:
                new[name] = "evil"
        new.pop("offset", None)
        if of.of is writer.VERSION:
            new.setdefault("chunk", bytes(168))
    elif isinstance(new, str):
        new = "zz-evil"
    elif isinstance(new, bytes):
        new = os.urandom(len(new))
    yield "added", [*items, new]
    if items:
        yield "first-removed", items[1:]
        yield "doubled", [copy.deepcopy(items[0]), *items]
    if len(items) > 1:
        yield "last-removed", items[:-1]
        yield "emptied", []
        yield "reversed", items[::-1]
        keys = [name for name in ("id", "record", "path", "name", "generation", "number")
                if isinstance(items[0], dict) and name in items[0]]
        if keys and len(items[0]) > len(keys):
            one, other = copy.deepcopy(items[:2])
            for name in keys:
                one[name], other[name] = other[name], one[name]
            yield "contents-exchanged", [one, other, *items[2:]]


def variants(of, value, attacker, path=()):
    """Every change of a value of this type: (path, what, changed value)."""
    if isinstance(of, writer.Optional):
        if value is None:
            yield path, "set", default(of.of)
            yield from variants(of.of, default(of.of), attacker, path)
        else:
            yield path, "unset", None
            yield from variants(of.of, value, attacker, path)
    elif isinstance(of, writer.List):
        for what, new in of_list(of, value):
            yield path, what, new
        for at, item in enumerate(value):
            for inner, what, new in variants(of.of, item, attacker, (*path, at)):
                yield inner, what, [*value[:at], new, *value[at + 1:]]
    elif of is writer.JOURNAL:
        yield from of_struct(of, value, attacker, path, but=("payload",))
        payload = writer.PAYLOADS.get(value["kind"])
        named = (*path, f"kind-{value['kind']}")
        if payload is None:
            for what, new in others(writer.BYTES, value["payload"], "payload", attacker):
                yield (*named, "payload"), what, {**value, "payload": new}
        else:
            content = payload.get(Reader(value["payload"]))
            for inner, what, new in variants(payload, content, attacker, named):
                yield inner, what, {**value, "payload": payload.put(new)}
    elif of is writer.VERSION:
        placed = ("offset", "length", "checksum")
        yield from of_struct(of, value, attacker, path, but=placed)
        for name in placed:
            for what, new in others(of.fields[name], value[name], name, attacker):
                yield (*path, name), what, {**value, "wrong": {name: new}}
    elif fields(of):
        yield from of_struct(of, value, attacker, path)
    else:
        for what, new in others(of, value, path[-1] if path else "", attacker):
            yield path, what, new


def of_struct(of, value, attacker, path, but=()):
    for name, part in fields(of).items():
        if name in but:
            continue
        for inner, what, new in variants(part, value[name], attacker, (*path, name)):
            yield inner, what, {**value, name: new}


# How fields of a section are named where the table has a part of the same name.
OF_SECTIONS = {name: "entries" if name == "journal" else name for name in writer.SECTION}


def index_changes(attacker, chance):
    """One for each field and each operation; of several places where it can be done, a random one."""
    vault = attacker.load()
    found = {}
    for part, of in writer.TABLE.items():
        for path, what, new in variants(of, vault.index[part], attacker, (part,)):
            found.setdefault((field_of(path), what), []).append((None, part, new))
    for section in vault.sections:
        for part, of in writer.SECTION.items():
            for path, what, new in variants(of, section[part], attacker, (OF_SECTIONS[part],)):
                found.setdefault((field_of(path), what), []).append((section["id"], part, new))
    for (name, what), places in found.items():
        section, part, new = chance.choice(places)

        def edit(vault, attacker, section=section, part=part, new=new):
            if part == "sections":
                vault.wrong["rows"] = lambda rows: new
            else:
                of = vault.index if section is None else vault.section(section)
                of[part] = copy.deepcopy(new)
        proof = "kept" if chance.random() < .5 else chance.choice(list(PROOFS)[2:])
        ordered = what not in ("reversed", "doubled")
        yield Change(f"{name}.{what}", name, f"{what}, proof {proof}",
                     edited(edit, proof, in_order=ordered))
        # The same by the attacker's own key, which a locked reader without a guard may open.
        yield by_own_key(f"{name}.{what}.own", name, what, edit, ordered)
        if section is not None:
            yield of_a_section(f"{name}.{what}.bytes", name, what, in_place(edit, ordered))


ANY = "any"


def by_own_key(name, field, does, edit, ordered=True, locked=ANY):
    return Change(name, field, f"{does}, by the attacker's own key",
                  edited(edit, "own", in_order=ordered), "exchanged-key", locked,
                  guarded="anchor")


# --------------------------------------------------------------------------------------------------
# Malformed parts. The proof comes before them.


def malformed():
    def both(name, field, does, edit):
        yield Change(name, field, does, edited(edit))
        yield by_own_key(name + ".own", field, does, edit, ordered=False)

    def wrong(name, does, **changes):
        yield from both(name, "table", does, lambda vault, attacker: vault.wrong.update(changes))

    def of_section(name, does, **changes):
        def edit(vault, attacker):
            prominent(vault)["wrong"].update(changes)
        yield from both(name, "section", does, edit)
        yield of_a_section(name + ".bytes", "section", does, in_place(edit, in_order=False))

    for parts, of in ((writer.TABLE, wrong), (writer.SECTION, of_section)):
        for part in parts:
            named = part if of is wrong else OF_SECTIONS[part]
            for what, new in (
                    ("left-over", lambda raw: raw + b"\0"), ("cut", lambda raw: raw[:-1]),
                    ("empty", lambda raw: b""), ("count", lambda raw: b"\xff" * 4 + raw[4:]),
                    ("flipped", lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]))):
                yield from of(f"malformed.{named}.{what}", f"part {what}", **{part: new})
        where = "table" if of is wrong else "section"
        for what, new in (
                ("flipped", lambda p: p[:-1] + b"\1"), ("length", lambda p: U32.put(1 << 31) + p[4:]),
                ("more", lambda p: p + bytes(4096)), ("cut", lambda p: p[:-1]),
                ("short", lambda p: p[:1])):
            yield from of(f"malformed.{where}.padding.{what}", f"padding {what}", padded=new)
        yield from of(f"malformed.{where}.left-over", "bytes after the last part",
                      content=lambda content: content + b"\0")
        yield from of(f"malformed.{where}.cut", "the content cut off",
                      content=lambda content: content[:-1])
    for flag in (1, 2, 255):
        yield from both(f"groups.{flag}", "groups", f"a groups flag of {flag}",
                        lambda vault, attacker, flag=flag: setattr(vault, "groups", flag))


# --------------------------------------------------------------------------------------------------
# 5.9: the proof


def proof_changes():
    def same_file(make):
        """The file as it is but for its proof: header, nonce and content stay."""
        return lambda attacker: (lambda vault: vault.reseal(
            attacker.key, make(vault.proof), attacker.nonce()))(attacker.load())

    def flip(at):
        return lambda proof: proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1:]

    for at in (0, 31):
        yield Change(f"proof.code.flipped.{at}", "proof.code", "one bit of the code",
                     same_file(flip(at)), locked="ok", guarded="anchor", opened_by="root")
    for at in (32, 63, 64, 95):
        yield Change(f"proof.signature.flipped.{at}", "proof.signature", "one bit of the signature",
                     same_file(flip(at)), opened_by="locked")
    yield Change("proof.signature.second-form", "proof.signature",
                 "the signature with a scalar above the group's order",
                 same_file(second_form), opened_by="locked")
    yield Change("proof.code.zeros", "proof.code", "a code of zeros",
                 same_file(lambda proof: bytes(32) + proof[32:]), locked="ok", guarded="anchor",
                 opened_by="root")
    yield Change("proof.exchanged", "proof", "code and signature in another order",
                 same_file(lambda proof: proof[32:] + proof[:32]))

    def nothing(vault, attacker):
        pass
    for name in PROOFS:
        by_own = name == "own"
        for generation in ("next", "same"):
            yield Change(
                f"proof.{name}.{generation}", "proof", f"proof {name}, {generation} generation",
                edited(nothing, name, generation), "exchanged-key" if by_own else "signature",
                "ok" if by_own else "signature", guarded="anchor" if by_own else None)
    yield Change("nonce", "header.nonce", "the same index under another nonce",
                 edited(nothing, "kept", "same"))

    for number, point in enumerate(LOW_ORDER):
        def low(attacker, point=point):
            vault = attacker.load()
            vault.public = point
            return vault.reseal(attacker.key, bytes(32) + point + bytes(32))
        yield Change(f"header.vk.low-order.{number}", "header.vk", "a vk of low order, under which a "
                     "careless reader takes anything as signed", low, "exchanged-key",
                     guarded="anchor")

    for name, edit in TAG_EDITS.items():
        yield Change(f"same-tag.{name}", "index", f"{name} changed under the same header and tag, "
                     "which the index key allows", same_tag_file(edit))
    yield of_a_section("same-tag.section", "sections", "targets changed under the same nonce and tag",
                       same_tag_section)


def second_form(proof):
    scalar = int.from_bytes(proof[64:], "little") + same_tag.GROUP_ORDER
    return proof[:64] + scalar.to_bytes(32, "little")


LOW_ORDER = [bytes.fromhex(point) for point in (
    "00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f", "01" + "00" * 30 + "80",
    "ed" + "ff" * 30 + "7f", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85")]


def same_tag_file(edit):
    """Another index that has the header, the length and the tag of the present one. The bytes that
    make the tag the same are those of the proof, which is worth nothing without the root."""
    def make(attacker):
        vault = attacker.load()
        header, padded = vault.header, vault.padded
        edit(vault, attacker)
        vault.sort()
        vault.reseal(attacker.key, vault.proof, attacker.nonce())
        changed = vault.padded
        need(len(changed) == len(padded) and changed != padded)
        sealed = same_tag.forge(
            writer.kdf(attacker.key, 1, b"zgv3sub_"), attacker.nonce(), b"zgv3/index" + header,
            attacker.raw[len(header):][:len(padded) + 112], changed)
        return header + sealed + b"".join(sealed + chunks for sealed, chunks in vault.blocks)
    return make


def same_tag_section(attacker):
    """Another text of a section, with its nonce and its tag. It is whole: the bytes that make the tag
    the same are those of an entry that fills the section, and that no program knows the kind of."""
    # The first section with records that has room for the entry.
    for at in range(len(attacker.load().sections)):
        vault = attacker.load()
        section = vault.sections[at]
        sealed, nonce = vault.blocks[at][0], vault.blocks[at][0][:24]
        for record in section["records"]:
            record["attributes"]["scope"]["targets"] ^= 7
        section["journal"].append(writer.journal(b"\xff" * 16, 77, b""))
        left = len(sealed) - 40 - 4 - len(writer.put_parts(writer.SECTION, section, {}))
        if section["records"] and left >= 96:
            break
    else:
        raise NotApplicable("no section has room")
    section["journal"][-1]["payload"] = bytes(left)
    padded = writer.pad(writer.put_parts(writer.SECTION, section, {}))
    forged = same_tag.forge(
        writer.kdf(attacker.key, 1, b"zgv3sub_"), nonce,
        writer.section_data(vault.vault_id, section["id"]), sealed[24:], padded[:-96])
    blocks = vault.blocks[:]
    blocks[at] = nonce + forged, blocks[at][1]
    return with_blocks(attacker, blocks)


# --------------------------------------------------------------------------------------------------
# 4: the header


def header_changes():
    def edit(name, does, change, generation="same", **words):
        """`change` changes the vault. In the first file the index is sealed again, with the proof
        kept. In the second one only the header and its checksum change."""
        yield Change(f"header.{name}", f"header.{name.split('.')[0]}", does,
                     edited(lambda vault, attacker: change(vault), "kept", generation), **words)

    def number(name, new, **kept):
        return edit(name, f"another {name}", lambda vault: vault.wrong.update(
            {name.split(".")[0]: new(vault)}), **kept)

    def damaged(word):
        return {"root": word, "locked": word}

    for value, word in ((0, "header"), (1, "pre-release"), (2, "pre-release"), (4, "newer"),
                        (65_535, "newer")):
        yield from edit(f"format.{value}", f"format {value}",
                        lambda vault, value=value: setattr(vault, "format", value), **damaged(word))
    yield from edit("zero", "bytes that must be zero", lambda vault: setattr(vault, "zero", 1),
                    **damaged("header"))
    for value in (0, 151, 65_537, 1 << 31):
        yield from number(f"header_length.{value}", lambda vault, value=value: value,
                          **damaged("header"))
    for value in ((1 << 32) + 1, 0, (1 << 64) - 1):
        yield from number(f"file_length.{value}", lambda vault, value=value: value,
                          **damaged("header"))
    for value in (0, 112, 256 * MIB + 113, (1 << 64) - 1):
        yield from number(f"table_length.{value}", lambda vault, value=value: value,
                          **damaged("header"))
    for value in (0, 17, 1 << 31):
        yield from number(f"count.{value}", lambda vault, value=value: value, **damaged("header"))
    yield from edit("vault-id", "another vault id", lambda vault: setattr(
        vault, "vault_id", ident(0xEE)), root="locked", locked="signature", slot=0)
    yield from edit("vk.flipped", "one bit of vk", lambda vault: setattr(
        vault, "public", bytes([vault.public[0] ^ 1]) + vault.public[1:]), root="exchanged-key",
        guarded="anchor")
    yield from edit("vk.of-the-attacker", "the attacker's vk with the proof kept",
                    lambda vault: setattr(vault, "public", writer.pair(OWN_ROOT)[0]),
                    root="exchanged-key", guarded="anchor")
    yield from edit("epoch.0", "epoch 0", lambda vault: setattr(vault, "epoch", 0),
                    **damaged("header"))
    yield from edit("epoch.next", "the next epoch", lambda vault: setattr(
        vault, "epoch", vault.epoch + 1), root="tag")
    yield from edit("generation.0", "generation 0", lambda vault: setattr(vault, "generation", 0),
                    **damaged("header"))

    def earlier(vault):
        need(vault.generation > 1)
        vault.generation -= 1
        vault.index["metadata"]["generations"].pop()

    def ahead(vault, by=2000):
        vault.generation += by
        vault.index["metadata"]["generations"] = [
            {"generation": vault.generation - at, "tag": os.urandom(16)} for at in range(1024, 0, -1)]
    yield from edit("generation.earlier", "an earlier generation", earlier)
    yield from edit("generation.ahead", "a generation 2,000 writes ahead, with made-up ones "
                    "in between", ahead)
    yield from edit("generation.most", "the highest generation", lambda vault: ahead(
        vault, (1 << 64) - 1 - vault.generation))
    yield from edit("generation.jump", "a generation ahead, and no others", lambda vault: setattr(
        vault, "generation", vault.generation + 50))

    def patched(at, new, checksum=True):
        """The bytes of the header alone."""
        def make(attacker):
            slots = int.from_bytes(attacker.raw[84:88], "little")
            place = at(slots) if callable(at) else at
            raw = attacker.raw
            raw = raw[:place] + new(raw[place:place + 8]) + raw[place + 8:]
            end = 120 + 192 * slots
            return raw[:end] + hash32(raw[:end]) + raw[end + 32:] if checksum else raw
        return make

    def flipped(part):
        return bytes([part[0] ^ 1]) + part[1:]
    for name, at, word in (
            ("magic", 0, "magic"), ("format", 8, "pre-release"), ("zero", 10, "header"),
            ("header_length", 12, "checksum"), ("vault-id", 24, "locked"), ("generation", 40, "tag"),
            ("vk", 52, "tag"), ("n", 84, "header"),
            ("nonce", lambda slots: 88 + 192 * slots, "tag"),
            ("table_length", lambda slots: 112 + 192 * slots, "tag")):
        yield Change(f"header.bytes.{name}", f"header.{name}", "one bit, with the checksum, and "
                     "without the index key", patched(at, flipped), word,
                     "tag" if word == "locked" else word, slot=0 if word == "locked" else None,
                     guarded="anchor" if name == "vk" else None)
        if name not in ("magic", "header_length", "n"):
            yield Change(f"header.checksum.{name}", f"header.{name}", "one bit, with the checksum as "
                         "it was", patched(at, flipped, checksum=False), "checksum", "checksum")
    yield Change("header.checksum", "header.checksum", "one bit of the checksum", patched(
        lambda slots: 120 + 192 * slots, flipped, checksum=False), "checksum", "checksum")


# --------------------------------------------------------------------------------------------------
# 4.1: slots


SLOT_WORDS = {1: "passphrase", 2: "keyring", 3: "key-file", 4: "recovery"}


def slot_changes(attacker):
    def change(name, field, does, edit, proof="kept", **words):
        return Change(f"slot.{name}", f"slots.{field}", does,
                      edited(lambda vault, attacker: edit(vault), proof, "same"), **words)

    def slot_of(vault, kind):
        return first(vault.slots, lambda slot: slot["kind"] == kind)

    present = {slot["kind"] for slot in attacker.load().slots}
    for kind, word in SLOT_WORDS.items():
        if kind not in present:
            continue
        for name, value in (
                ("id", ident(0xEE)), ("salt", ident(0xED)), ("nonce", bytes(24)),
                ("wrapped", bytes(48)), ("made_at", 1), ("made_at", (1 << 64) - 1),
                ("tier", None)):
            def edit(vault, kind=kind, name=name, value=value):
                slot = slot_of(vault, kind)
                slot[name] = 3 - slot["tier"] if name == "tier" else value
            yield change(f"{word}.{name}.{value if isinstance(value, int) else ''}".strip("."),
                         name, f"another {name}", edit, slot=kind)
        for name, value in (("kind", 0), ("kind", 5), ("tier", 0), ("tier", 3), ("derivation", 3),
                            ("zero", 1), ("zeros", bytes(63) + b"\1")):
            yield change(f"{word}.{name}.{value if isinstance(value, int) else 1}", name,
                         "a value that no slot has", lambda vault, kind=kind, name=name, value=value:
                         slot_of(vault, kind).update({name: value}), root="slot", locked="slot")
        for operations, memory in ((11, 8 * MIB), (0, 8 * MIB), (1, 8 * MIB - 1), (1, 1 << 63),
                                   (5, 1024 * MIB), ((1 << 32) - 1, 1024 * MIB)):
            yield change(f"{word}.cost.{operations}.{memory}", "operations", "a cost out of bounds",
                         lambda vault, kind=kind, cost=(operations, memory): slot_of(
                             vault, kind).update(operations=cost[0], memory=cost[1]),
                         root="slot", locked="slot")
        yield change(f"{word}.removed", "slots", "a slot less", lambda vault, kind=kind: vault.slots.remove(
            slot_of(vault, kind)), slot=kind)
        yield change(f"{word}.doubled", "id", "a slot twice", lambda vault, kind=kind: vault.slots.append(
            copy.deepcopy(slot_of(vault, kind))), root="header", locked="header")
    if 1 in present:
        yield change("passphrase.cost", "operations", "a higher cost", lambda vault: slot_of(
            vault, 1).update(operations=2, memory=16 * MIB), slot=1)
    yield change("reversed", "slots", "the slots in another order", lambda vault: (
        need(len(vault.slots) > 1), vault.slots.reverse()))
    yield change("none", "slots", "no slots", lambda vault: vault.slots.clear(), slot=0)

    def added(kind, tier, times=1):
        def edit(vault):
            for _ in range(times):
                secret = {1: OWN_PASSPHRASE, 2: bytes(32), 3: bytes(32), 4: bytes(16)}[kind]
                cost = (1, 8 * MIB) if kind == 1 else (0, 0)
                vault.add_slot(os.urandom(16), kind, tier, OWN_ROOT if tier == 2 else attacker.key,
                               secret, *cost)
        return edit
    for kind, word in SLOT_WORDS.items():
        for tier, holds in ((1, "the index key"), (2, "the attacker's root")):
            yield change(f"added.{word}.{tier}", "slots", f"a slot with {holds}", added(kind, tier))
            yield Change(f"slot.added.{word}.{tier}.own", "slots", f"a slot with {holds}, by the "
                         "attacker's own key", edited(lambda vault, _, edit=added(kind, tier): edit(
                             vault), "own", "next"), "exchanged-key", "ok", guarded="anchor")
    yield change("added.seventeen", "slots", "17 slots", added(3, 1, 17), root="header",
                 locked="header")
    yield change("added.five-passphrases", "slots", "more than four passphrases", added(1, 2, 5),
                 root="header", locked="header")

    # The slot whose key the attacker has: its seal can be right.
    if attacker.kek is None:
        return

    def rewrapped(tier, key, **changes):
        def edit(vault):
            slot = first(vault.slots, lambda slot: slot["id"] == attacker.slot)
            slot.update(tier=tier, nonce=os.urandom(24), **changes)
            slot["wrapped"] = writer.wrap(slot, vault.vault_id, key, attacker.kek)
        return edit
    yield change("rewrapped", "wrapped", "the index key, wrapped again", rewrapped(1, attacker.key))
    yield change("rewrapped.made_at", "made_at", "another time, sealed", rewrapped(
        1, attacker.key, made_at=1))
    yield change("rewrapped.other-key", "wrapped", "another index key", rewrapped(1, bytes(32)),
                 locked="tag", slot=-1)
    yield change("rewrapped.root", "tier", "the attacker's root in the slot of the index key",
                 rewrapped(2, OWN_ROOT), locked="tag", slot=-1)
    for tier, does in ((1, "the attacker's index key"), (2, "the attacker's root")):
        yield Change(
            f"planted.{'index-key' if tier == 1 else 'root'}", "file", "a vault by the attacker's "
            f"root, in which the slot whose key it has holds {does}; the other slots are kept",
            planted(tier), "tag", "ok", guarded="anchor", slot=-1)
    # The guard knows the public key, but the root in the slot is not its own.
    yield Change(
        "planted.root.key-kept", "file", "the same with the attacker's root, under the vault's public "
        "key", planted(2, keeps_key=True), "tag", "exchanged-key", slot=-1)
    # Guards are found by the vault's id. The other slots do not open under another one.
    yield Change(
        "planted.other-id", "file", "the same, under another vault id, for which there is no guard",
        planted(2, vault_id=ident(0xEE)), "locked", "ok", slot=-1)


def planted(tier, edit=lambda vault: None, vault_id=None, keeps_key=False):
    """The vault as it is, by the attacker's root: with its index key and its proof. Chunks do not
    open. With tier 2 the slot of the index key gives a root, which is not the vault's."""
    def make(attacker):
        need(attacker.kek)
        vault = attacker.load()
        vault.next_generation()
        if not keeps_key:
            vault.public = writer.pair(OWN_ROOT)[0]
        vault.vault_id = vault_id or vault.vault_id
        slot = first(vault.slots, lambda slot: slot["id"] == attacker.slot)
        slot.update(tier=tier, nonce=os.urandom(24))
        key = OWN_ROOT if tier == 2 else writer.index_key(OWN_ROOT, vault.epoch)
        slot["wrapped"] = writer.wrap(slot, vault.vault_id, key, attacker.kek)
        own_values(vault)
        edit(vault)
        vault.sort()
        return vault.write(OWN_ROOT)
    return make


def own_values(vault):
    """Values and tokens that the attacker's root opens, and no groups, whose keys it does not have."""
    for section in vault.sections:
        section["journal"] = [item for item in section["journal"] if item["kind"] not in range(5, 9)]
        section["batches"] = []
        batch = vault.batch(section, bytes(32), OWN_ROOT) if section["records"] else None
        records = {record["id"]: record for record in section["records"]}
        for version in section["current"] + section["earlier"]:
            version["batch"] = batch
            version["chunk"] = vault.chunk(records[version["record"]], version, bytes(32), FORGED)
    for account in vault.index["accounts"]:
        if account["protection"] == 2:
            account["secret"] = writer.protected(
                vault.vault_id, account["origin"], account["name"], TOKEN, OWN_ROOT)


# --------------------------------------------------------------------------------------------------
# 3 and 6: the file and its chunks


def file_changes(attacker):
    def raw(name, does, make, word, **more):
        return Change(f"file.{name}", "file", does, make, word, more.pop("locked", word), **more)

    yield raw("empty", "an empty file", lambda a: b"", "truncated")
    yield raw("one-byte-less", "the last byte is missing", lambda a: a.raw[:-1], "truncated")
    yield raw("half", "half a file", lambda a: a.raw[:len(a.raw) // 2], "truncated")
    yield raw("in-the-header", "the header cut off", lambda a: a.raw[:100], "header" if len(
        attacker.raw) < 152 else "truncated")
    yield raw("one-byte-more", "a byte more", lambda a: a.raw + b"\0", "extended")
    yield raw("table.flipped", "one bit of the sealed table", lambda a: flip_at(
        a.raw, 152 + 192 * a.raw[84] + 40), "tag")
    yield raw("tag.flipped", "one bit of the table's tag", lambda a: flip_at(
        a.raw, len(a.load().front) - 1), "tag")
    yield Change("file.older", "file", "an older generation of the whole file", older_file, "ok", "ok",
                 guarded_root="anchor", guarded="anchor")
    yield Change("file.older.as-new", "file", "the older table and sections as a new generation",
                 older_as_new)
    for name, part in (("records", None), ("accounts", "accounts"), ("projects", "projects"),
                       ("metadata", "metadata"), ("journal", "journal"), ("log_keys", "log_keys")):
        yield Change(f"file.older.{name}", name, "a part of an older generation", older_part(part))

    # The index says which chunk it has, by checksum; the attacker can change that, but not sign it.
    def chunks(name, does, change):
        def in_file(attacker):
            """Only the bytes of chunks."""
            vault = attacker.load()
            change(vault)
            blocks = [(sealed, b"".join(version["chunk"] for version in writer.chunk_order(section)))
                      for section, (sealed, _) in zip(vault.sections, vault.blocks)]
            need(all(len(new) == len(old) for (_, new), (_, old) in zip(blocks, vault.blocks)))
            return with_blocks(attacker, blocks)
        yield Change(f"chunk.{name}.bytes", "chunks", does, in_file, "chunk", "chunk",
                     opened_by="value")
        yield Change(f"chunk.{name}", "chunks", f"{does}, and its checksum",
                     edited(lambda vault, attacker: change(vault)))

    def exchange(same):
        def change(vault):
            for one in vault.versions():
                for other in vault.versions():
                    if one is not other and same(vault, one, other) and one["chunk"] != other["chunk"] and (
                            len(one["chunk"]) == len(other["chunk"])):
                        one["chunk"], other["chunk"] = other["chunk"], one["chunk"]
                        return
            raise NotApplicable("no two such chunks")
        return change

    def of_prominent(change):
        def edit(vault):
            version = current_of(vault, in_use(vault))
            version["chunk"] = change(version["chunk"])
        return edit
    def home(vault, version):
        return next(section["id"] for section in vault.sections
                    if version in section["current"] or version in section["earlier"])
    yield from chunks("between-records", "two records' chunks exchanged", exchange(
        lambda v, one, other: one["record"] != other["record"] and home(v, one) == home(v, other)))
    yield from chunks("between-sections", "two sections' chunks exchanged", exchange(
        lambda v, one, other: home(v, one) != home(v, other)))
    yield from chunks("between-versions", "two versions' chunks exchanged", exchange(
        lambda v, one, other: one["record"] == other["record"]))
    yield from chunks("flipped", "one bit of a chunk", of_prominent(lambda c: flip_at(c, len(c) - 1)))
    yield from chunks("nonce", "the nonce of a chunk", of_prominent(lambda c: flip_at(c, 0)))
    yield from chunks("zeros", "a chunk of zeros", of_prominent(lambda c: bytes(len(c))))
    yield from chunks("forged", "a value sealed by a data key of the attacker", of_prominent(
        lambda c: writer.seal(bytes(32), writer.pad_value(FORGED)[:len(c) - 40].ljust(
            len(c) - 40, b"\0"), b"")))
    for length in (16, 39, 10_000):
        yield Change(f"chunk.length.{length}", "chunks", "a chunk of another length", edited(
            lambda vault, attacker, length=length: current_of(vault, in_use(vault)).update(
                chunk=bytes(length))))

    def own_batch(vault, attacker):
        """A value in a batch of the attacker's key, in all that belongs to it."""
        record = in_use(vault)
        section, old = vault.section_of(record), current_of(vault, record)
        batch = vault.batch(section, bytes(32), OWN_ROOT)
        section["current"][section["current"].index(old)] = vault.version(
            record, old["number"], batch, bytes(32), FORGED, made_at=old["made_at"])
    yield Change("chunk.own-batch", "batches", "a value in a batch of the attacker's key",
                 edited(own_batch), finding="F2")
    yield by_own_key("chunk.own-batch.own", "batches", "a value in a batch of the attacker's key",
                     own_batch, locked="ok")


def flip_at(raw, at):
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:]


def older_file(attacker):
    need(attacker.older)
    return attacker.older


def older_as_new(attacker):
    need(attacker.older)
    vault, now = Vault.load(attacker.older, attacker.key), attacker.load()
    vault.generation, vault.tag = now.generation, now.tag
    vault.index["metadata"]["generations"] = now.index["metadata"]["generations"]
    vault.next_generation()
    return kept(vault, attacker)


def older_part(part):
    """A part of the table, or all sections."""
    def make(attacker):
        need(attacker.older)
        vault, found = attacker.load(), Vault.load(attacker.older, attacker.key)
        if part is None:
            need(vault.blocks != found.blocks)
            vault.sections = found.sections
        else:
            need(vault.index[part] != found.index[part])
            vault.index[part] = found.index[part]
        vault.sort()
        vault.next_generation()
        return kept(vault, attacker)
    return make


# --------------------------------------------------------------------------------------------------
# 3 and 5: blocks, under the table as it is, which names other ones


def block_changes(attacker):
    def of_blocks(change):
        def make(attacker):
            blocks = attacker.load().blocks
            need(len(blocks) > 1)
            return with_blocks(attacker, change(blocks))
        return make

    def filled(change):
        """With zeros at the end, where the file got shorter."""
        return lambda attacker: of_blocks(change)(attacker).ljust(len(attacker.raw), b"\0")

    def with_another(at, change):
        """Another sealed text, made to fit, in one block."""
        def make(attacker):
            vault = attacker.load()
            blocks, sealed = vault.blocks[:], vault.blocks[at][0]
            blocks[at] = change(vault, at, attacker)[:len(sealed)].ljust(len(sealed), b"\0"), blocks[at][1]
            return with_blocks(attacker, blocks)
        return make

    def flipped(place):
        return lambda vault, at, attacker: flip_at(vault.blocks[at][0], place % len(vault.blocks[at][0]))

    def sealed(other=0, vault_id=None, root=None, content=None):
        """The content of the section that is `other` places further, sealed as this one."""
        def change(vault, at, attacker):
            found = vault.sections[(at + other) % len(vault.sections)]
            key = writer.index_key(root, vault.epoch) if root else attacker.key
            return writer.seal(
                writer.kdf(key, 1, b"zgv3sub_"),
                writer.pad(content or writer.put_parts(writer.SECTION, found, {})),
                writer.section_data(vault_id or vault.vault_id, vault.sections[at]["id"]))
        return change

    def older(attacker):
        """Of the section of a prominent project."""
        vault = attacker.load()
        at = vault.sections.index(prominent(vault))
        return with_another(at, older_block)(attacker)

    for at in range(len(attacker.load().blocks)):
        for name, does, change in (
                ("nonce", "one bit of a section's nonce", flipped(0)),
                ("text", "one bit of a sealed section", flipped(24)),
                ("tag", "one bit of a section's tag", flipped(-1)),
                ("zeros", "zeros in the place of a section", lambda vault, at, attacker: b""),
                ("resealed", "the same section under another nonce", sealed()),
                ("of-another-section", "the content of another section", sealed(other=1)),
                ("of-another-vault", "the section sealed for another vault", sealed(
                    vault_id=ident(0xEE))),
                ("by-another-key", "the section sealed with another index key", sealed(root=OWN_ROOT)),
                ("emptied", "a section with nothing in it", sealed(
                    content=(U32.put(4) + U32.put(0)) * len(writer.SECTION))),
                ("another-section", "another section as it is", lambda vault, at, attacker:
                 vault.blocks[(at + 1) % len(vault.blocks)][0]),
                ("table", "the sealed table in the place of a section", lambda vault, at, attacker:
                 attacker.nonce() + vault.front[len(vault.header):])):
            yield of_a_section(f"block.{at}.{name}", "sections", does, with_another(at, change))
    yield of_a_section("block.older", "sections", "the older text of a section", older)
    for name, does, change in (
            ("exchanged", "the first two blocks in another order", lambda b: [b[1], b[0], *b[2:]]),
            ("last-first", "the last block at the front", lambda b: [b[-1], *b[:-1]]),
            ("reversed", "all blocks in another order", lambda b: b[::-1]),
            ("sections-reversed", "the sections in another order, the chunks as they are", lambda b: [
                (sealed, chunks) for (sealed, _), (_, chunks) in zip(b[::-1], b)])):
        yield of_a_section(f"block.{name}", "blocks", does, of_blocks(change))
    for name, does, change in (
            ("first-removed", "a block less at the front", lambda b: b[1:]),
            ("first-doubled", "the first block twice, and the last one not", lambda b: [b[0], *b[:-1]])):
        yield of_a_section(f"block.{name}.filled", "blocks", f"{does}, the file filled up", filled(change))
    yield of_a_section("block.removed", "blocks", "a block less, and a shorter file", of_blocks(
        lambda b: b[1:]), "truncated")
    yield of_a_section("block.doubled", "blocks", "a block twice, and a longer file", of_blocks(
        lambda b: [b[0], *b]), "extended")


def older_block(vault, at, attacker):
    need(attacker.older)
    found = Vault.load(attacker.older, attacker.key)
    return first(sealed for section, (sealed, _) in zip(found.sections, found.blocks)
                 if section["id"] == vault.sections[at]["id"] and sealed != vault.blocks[at][0])


# --------------------------------------------------------------------------------------------------
# Changes that belong together: the attacks of earlier reviews


def in_use(vault, holds=lambda record: True, least=0):
    """A record in use, with a value; those of bound projects with many records come first."""
    projects = {project["id"]: project for project in vault.index["projects"]}
    found = [(not projects[section["id"]]["binding"], -len(section["records"]),
              projects[section["id"]]["name"], record["name"], record["id"], record)
             for section in vault.sections for record in section["records"]
             if record["current"] and not record["removed_at"] and holds(record)]
    need(len(found) > least)
    return sorted(found, key=lambda item: item[:-1])[least][-1]


def prominent(vault):
    return vault.section_of(in_use(vault))


def agreed(vault, least=0):
    """An agreement about a record in use, with the record."""
    found = [(agreement, record) for section in vault.sections for record in section["records"]
             for agreement in section["agreements"] if agreement["variable"] == record["id"]
             and record["current"] and not record["removed_at"]]
    need(len(found) > least)
    return found[least]


def current_of(vault, record):
    return first(vault.all("current"), lambda version: version["record"] == record["id"])


def earlier_of(vault, record):
    return [version for version in vault.all("earlier") if version["record"] == record["id"]]


def bound(vault, at=0):
    found = [project for project in vault.index["projects"] if project["binding"]]
    need(len(found) > at)
    return sorted(found, key=lambda project: project["name"], reverse=True)[at]


def account_of(vault, protection=None):
    return first(vault.index["accounts"], lambda item: protection in (None, item["protection"]))


def entry_of(vault, *kinds):
    return first(sum(vault.journals(), []), lambda item: item["kind"] in kinds)


def drop_entry(vault, *kinds):
    found = entry_of(vault, *kinds)
    for journal in vault.journals():
        if found in journal:
            journal.remove(found)


def swap(one, other, *names):
    need(any(one[name] != other[name] for name in names))
    for name in names:
        one[name], other[name] = other[name], one[name]


def two(vault, name):
    need(len(vault.index[name]) > 1)
    return vault.index[name][:2]


def payload_edit(kind, **changes):
    def edit(vault, attacker):
        item = entry_of(vault, kind)
        of = writer.PAYLOADS[kind]
        content = of.get(Reader(item["payload"]))
        item["payload"] = of.put({**content, **changes})
    return edit


def add_record(vault, name, number=1, **changes):
    like = in_use(vault)
    record = {**copy.deepcopy(like), "id": os.urandom(16), "name": name,
              "current": number, "highest": number, **changes}
    section = vault.section_of(like)
    section["records"].append(record)
    batch = vault.batch(section, bytes(32), OWN_ROOT)
    section["current"].append(vault.version(record, number, batch, bytes(32), FORGED))


def redirect(vault, attacker):
    need(vault.index["accounts"])
    for item in vault.index["accounts"]:
        item["origin"] = attacker.origin
    for project in vault.index["projects"]:
        if project["binding"]:
            project["binding"]["origin"] = attacker.origin


def elsewhere_at_vercel(vault, attacker):
    for project in vault.index["projects"]:
        if project["binding"]:
            project["binding"].update(project="prj_evil", user="user_evil")
    account_of(vault, 1).update(user="user_evil", secret=TOKEN)


def set_back(vault, attacker):
    record = in_use(vault, lambda record: earlier_of(vault, record))
    section = vault.section_of(record)
    old, new = current_of(vault, record), earlier_of(vault, record)[-1]
    section["current"].remove(old), section["earlier"].remove(new)
    section["current"].append(new), section["earlier"].append(old)
    record["current"] = new["number"]


def twin_account(vault, attacker):
    """A name that is equal under Unicode's equivalence, which comes first."""
    item = account_of(vault, 1)
    vault.index["accounts"].append({**item, "name": item["name"] + "e\u0301", "secret": TOKEN})
    item["name"] += "\u00e9"


def approve(vault, attacker):
    vault.index["metadata"]["directories"].append(
        {"path": "/tmp", "link": bound(vault)["name"], "organisation": "", "project": bound(vault)["id"]})


def commands(vault, attacker):
    payload_edit(2, apply=COMMAND, check=COMMAND, revoke=COMMAND)(vault, attacker)


def add_rotation(vault, attacker):
    record = in_use(vault)
    content = {**writer.rotation(prominent(vault)["id"], record["id"]), "key": record["name"],
               "apply": COMMAND, "check": COMMAND, "revoke": COMMAND}
    vault.index["journal"].append(writer.journal(os.urandom(16), 2, content))


def a_send(vault):
    record = in_use(vault)
    return writer.journal(os.urandom(16), 1, writer.send(record["id"], record["name"], record["current"]))


def move_entry(source, target, *kinds):
    """From a list of a journal to another; each is found in the vault."""
    def edit(vault, attacker):
        entry = first(source(vault), lambda item: item["kind"] in kinds)
        source(vault).remove(entry)
        target(vault).append(entry)
    return edit


def drop_project(vault, attacker):
    project = bound(vault)
    vault.index["projects"].remove(project)
    vault.sections = [section for section in vault.sections if section["id"] != project["id"]]


def other_project(vault):
    """A section with records that is not the prominent one."""
    here = prominent(vault)
    return first(vault.sections, lambda section: section["records"] and section is not here)


def move_record(vault, attacker):
    """A record with its versions, in a batch of the attacker's."""
    record = in_use(vault)
    source, target = prominent(vault), other_project(vault)
    batch = vault.batch(target, bytes(32), OWN_ROOT)
    source["records"].remove(record)
    target["records"].append(record)
    for name in ("current", "earlier"):
        moved = [version for version in source[name] if version["record"] == record["id"]]
        source[name] = [version for version in source[name] if version["record"] != record["id"]]
        target[name] += [{**version, "batch": batch, "offset": 1 << 63} for version in moved]


def exchange_sections(vault, attacker):
    """Two projects have each other's records and entries."""
    swap(prominent(vault), other_project(vault), "id")


def older_section(vault, attacker):
    need(attacker.older)
    found, section = Vault.load(attacker.older, attacker.key), prominent(vault)
    old = first(found.sections, lambda item: item["id"] == section["id"])
    need(writer.put_parts(writer.SECTION, old, {}) != writer.put_parts(writer.SECTION, section, {}))
    section.update(old)


def same_record(vault, attacker):
    """A record of one project in another one, too."""
    other_project(vault)["records"].append({**copy.deepcopy(in_use(vault)), "current": 0})


def exchange_records(vault, attacker, *names):
    swap(in_use(vault), in_use(vault, least=1), *names)


def exchange_agreements(vault, attacker):
    swap(agreed(vault)[0], agreed(vault, least=1)[0], "variable")


def claim_pushed(vault, attacker):
    agreement, record = agreed(vault)
    agreement.update(version=record["current"], changed_at=1 << 42, awaited_at=0)


def forget_agreement(vault, attacker):
    agreement, record = agreed(vault)
    vault.section_of(record)["agreements"].remove(agreement)


def moved_version(vault, attacker):
    source, target = in_use(vault), in_use(vault, least=1)
    version = {**copy.deepcopy(current_of(vault, source)), "record": target["id"],
               "number": target["highest"] + 1}
    version.pop("offset")
    section, old = vault.section_of(target), current_of(vault, target)
    section["current"].remove(old)
    section["earlier"].append(old)
    section["current"].append(version)
    target["current"] = target["highest"] = version["number"]


def fill(vault, attacker):
    vault.index["projects"].extend(
        {"id": os.urandom(16), "name": f"evil-{n}", "made_at": 1, "binding": None}
        for n in range(10_000 - len(vault.index["projects"])))


def guess(vault, attacker):
    record, section = in_use(vault), prominent(vault)
    batch = vault.batch(section, bytes(32), OWN_ROOT)
    for at in range(50):
        record["highest"] += 1
        section["earlier"].append(
            vault.version(record, record["highest"], batch, bytes(32), b"guess-%d" % at))


def protected_elsewhere(vault, attacker):
    account_of(vault, 2)["origin"] = attacker.origin


def protected_renamed(vault, attacker):
    account_of(vault, 2)["name"] += "-evil"


# Name: (edit, the finding that it reproduces). The letters of `attack.1` are those of the review.
COMPOSED = {
    "redirect-everything": (redirect, "F1"),
    "redirect-within-vercel": (elsewhere_at_vercel, "F1"),
    "values.set-back": (set_back, "F2"),
    "targets.widened": (lambda v, a: in_use(v, lambda r: r["attributes"]["scope"]["targets"] != 7)[
        "attributes"]["scope"].update(targets=7), "attack.1a"),
    "projects.names-exchanged": (lambda v, a: swap(*two(v, "projects"), "name"), "attack.1b"),
    "projects.ids-exchanged": (lambda v, a: swap(*two(v, "projects"), "id"), "F7"),
    "records.names-exchanged": (lambda v, a: exchange_records(v, a, "name"), "attack.1c"),
    "agreements.exchanged": (exchange_agreements, None),
    "records.ids-exchanged": (lambda v, a: exchange_records(
        v, a, "id", "current", "highest"), None),
    "directory.approved": (approve, "attack.1e"),
    "directory.moved": (lambda v, a: first(v.index["metadata"]["directories"]).update(
        project=first(v.index["projects"], lambda p: p["id"] != v.index["metadata"]["directories"][0][
            "project"])["id"]), "attack.1b"),
    "projects.same-binding": (lambda v, a: bound(v).update(
        binding=copy.deepcopy(bound(v, 1)["binding"])), "attack.2"),
    "projects.bindings-exchanged": (lambda v, a: swap(bound(v), bound(v, 1), "binding"), "attack.2"),
    "local-project.bound": (lambda v, a: first(v.index["projects"], lambda p: not p["binding"]).update(
        binding=copy.deepcopy(bound(v)["binding"])), "attack.2"),
    "agreement.claims-pushed": (claim_pushed, "attack.3b"),
    "agreement.forgotten": (forget_agreement, "attack.3b"),
    "journal.kind": (lambda v, a: entry_of(v, 2, 3, 6, 200).update(kind=77), "attack.7"),
    "journal.group-entry": (lambda v, a: prominent(v)["journal"].append(
        writer.journal(os.urandom(16), 6, b"evil")), "attack.7"),
    "journal.group-entry.in-the-table": (lambda v, a: v.index["journal"].append(
        writer.journal(os.urandom(16), 6, b"evil")), None),
    "accounts.twin": (twin_account, "attack.9"),
    "accounts.token": (lambda v, a: account_of(v, 1).update(secret=TOKEN), "F3"),
    "accounts.unprotected": (lambda v, a: account_of(v, 2).update(protection=1, secret=TOKEN), "F3"),
    "accounts.header-in-token": (lambda v, a: account_of(v, 1).update(secret=b"x\r\nX-Evil: 1"), None),
    "protected-token.elsewhere": (protected_elsewhere, "F3"),
    "protected-token.renamed": (protected_renamed, "F3"),
    "relay.redirected": (lambda v, a: payload_edit(4, relay=a.origin)(v, a), None),
    "rotation.commands": (commands, None),
    "rotation.added": (add_rotation, None),
    "rotation.dropped": (lambda v, a: drop_entry(v, 2, 3), None),
    "rotation.in-a-section": (move_entry(
        lambda v: v.index["journal"], lambda v: prominent(v)["journal"], 2), None),
    "rotation.ended.in-the-table": (move_entry(
        lambda v: first(v.journals()[1:], lambda journal: any(item["kind"] == 3 for item in journal)),
        lambda v: v.index["journal"], 3), None),
    "send.added": (lambda v, a: prominent(v)["journal"].append(a_send(v)), None),
    "send.added.elsewhere": (lambda v, a: other_project(v)["journal"].append(a_send(v)), None),
    "send.added.in-the-table": (lambda v, a: v.index["journal"].append(a_send(v)), None),
    "send.dropped": (lambda v, a: drop_entry(v, 1), None),
    "sections.exchanged": (exchange_sections, None),
    "section.dropped": (lambda v, a: v.sections.remove(prominent(v)), None),
    "section.of-no-project": (lambda v, a: prominent(v).update(id=os.urandom(16)), None),
    "section.older": (older_section, None),
    "record.in-two-sections": (same_record, None),
    "record.loader": (lambda v, a: in_use(v).update(name="LD_PRELOAD"), "F7"),
    "record.added": (lambda v, a: add_record(v, "EVIL"), None),
    "record.added.loader": (lambda v, a: add_record(v, "NODE_OPTIONS"), None),
    "record.added.escapes": (lambda v, a: add_record(v, "EVIL\x1b[2J$(id);`id`"), None),
    "record.added.last-number": (lambda v, a: add_record(v, "EVIL", (1 << 64) - 1), None),
    "record.moved": (move_record, "F7"),
    "record.removed": (lambda v, a: in_use(v).update(removed_at=1), None),
    "record.revived": (lambda v, a: first(v.all("records"), lambda r: r["removed_at"]).update(
        removed_at=0), None),
    "record.plain": (lambda v, a: in_use(v, lambda r: r["attributes"]["type"] != 1)["attributes"].update(
        type=1), None),
    "version.moved": (moved_version, None),
    "version.guesses": (guess, "F6"),
    "project.dropped": (drop_project, None),
    "projects.full": (fill, None),
    "everything.dropped": (lambda v, a: [v.index.update({name: []}) for name in writer.TABLE if name
                                         != "metadata"] and v.sections.clear() or v.index[
                                             "metadata"].update(directories=[]), None),
    "log.position": (lambda v, a: v.index["metadata"].update(audit_log=None), None),
    "setting.removed": (lambda v, a: need(v.index["metadata"]["settings"]) or v.index["metadata"].update(
        settings=[]), None)}


def composed_changes():
    for name, (edit, finding) in COMPOSED.items():
        for proof in ("kept", "older", "code-kept", "signature-kept"):
            yield Change(f"attack.{name}.{proof}", "index", f"{name}, proof {proof}",
                         edited(edit, proof), finding=finding)
        yield Change(f"attack.{name}.hidden", "index", f"{name}, in the same generation",
                     edited(edit, "kept", "same"), finding=finding)
        found = by_own_key(f"attack.{name}.own", "index", name, edit)
        found.finding = finding
        yield found


TAG_EDITS = {
    "nothing but the proof": lambda v, a: v.index["metadata"].update(generations=[
        {**item, "tag": os.urandom(16)} for item in v.index["metadata"]["generations"]]),
    "a token": lambda v, a: account_of(v, 1).update(secret=b"e" * len(account_of(v, 1)["secret"])),
    "a vault's project of a directory": COMPOSED["directory.moved"][0],
    "the names of two projects": COMPOSED["projects.names-exchanged"][0],
    "the names of two records": COMPOSED["records.names-exchanged"][0],
    "targets": COMPOSED["targets.widened"][0],
    "a current version": set_back}

# --------------------------------------------------------------------------------------------------


def every_change(attacker, seed=1):
    """All changes of this vault, without those that it lacks something for."""
    chance = random.Random(seed)
    found = {}
    for changes in (index_changes(attacker, chance), malformed(), proof_changes(), header_changes(),
                    slot_changes(attacker), file_changes(attacker), block_changes(attacker),
                    composed_changes()):
        for change in changes:
            assert change.name not in found, change.name
            found[change.name] = change
    return list(found.values())


def some_changes(changes, number, seed):
    """A sample, in which all that belong to one of these words are equally likely."""
    chance = random.Random(seed)
    kinds = {}
    for change in changes:
        kinds.setdefault(change.name.split(".")[0], []).append(change)
    order = {change.name: (chance.random() * len(of), zlib.crc32(change.name.encode()))
             for of in kinds.values() for change in of}
    return sorted(changes, key=lambda change: order[change.name])[:number]


def main():
    parser = argparse.ArgumentParser(description="Change a vault as someone with its index key can.")
    parser.add_argument("--list", action="store_true", help="list the changes of IN, or of a sample")
    parser.add_argument("--apply", metavar="NAME")
    parser.add_argument("--index-key-file", metavar="F", help="the index key, in hexadecimal digits")
    parser.add_argument("--older", metavar="FILE", help="an earlier generation of the file")
    parser.add_argument("--origin", default=EVIL, help="the URL of the attacker's server")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", metavar="IN OUT")
    options = parser.parse_args()

    def content(path):
        with open(path, "rb") as file:
            return file.read()
    if options.files and options.index_key_file:
        key = bytes.fromhex(content(options.index_key_file).decode().strip())
        raw = content(options.files[0])
    else:
        key, raw = writer.index_key(writer.ROOT), writer.sample().write(writer.ROOT)
    attacker = Attacker(raw, key, older=options.older and content(options.older), origin=options.origin)
    changes = every_change(attacker, options.seed)
    if options.list:
        for change in changes:
            words = " ".join(getattr(change, word) for word in WORDS)
            print(f"{change.name}\t{words}\t{change.does}")
        return 0
    if len(options.files) != 2:
        parser.error("--list, or --apply NAME --index-key-file F IN OUT")
    try:
        changed = first(changes, lambda change: change.name == options.apply).file(attacker)
    except NotApplicable as reason:
        print(f"{options.apply}: {reason}", file=sys.stderr)
        return 3
    output = os.open(options.files[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(output, "wb") as file:
        file.write(changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
