#!/usr/bin/env python3
"""A second reader of the vault file, format 3, written from its page (vault-format.md) alone.

    second_reader.py FILE (--passphrase-file F | --recovery-code-file F | --key-file F
                           | --slot-key HEX | --index-key HEX) [--anchor F]
    second_reader.py --vectors DIR

The first form prints the vault, or what is wrong with it, as JSON, and ends with 0 (ok), 8 (damaged),
3 (locked), 1 (newer or older format, insecure, too little memory), 4 (not found) or 2 (wrong use).
The second form compares this reader with the files that DIR/vectors.json lists, and ends with 1
where they differ.

The numbers in the comments are the page's sections. The order of all checks is that of section 8.1.
"""

import argparse
import hmac
import json
import os
import re
import stat
import string
import struct
import sys
import unicodedata
from hashlib import blake2b
from types import SimpleNamespace

from nacl import bindings as sodium
from nacl import exceptions as nacl_exceptions

MIB = 1 << 20
GIB = 1 << 30

EXIT_CODES = {
    "ok": 0, "newer": 1, "pre-release": 1, "insecure": 1, "too-little-memory": 1, "wrong-use": 2,
    "locked": 3, "not-found": 4}
EXIT_DAMAGED = 8


class Refused(Exception):
    """This reader's only exception: a word of section 8.1 (or 8) and a sentence."""

    def __init__(self, word, message):
        super().__init__(f"{word}: {message}")
        self.word = word
        self.message = message


def require(condition, word, message):
    if not condition:
        raise Refused(word, message)


# ---------------------------------------------------------------------------------------------------
# 1: cryptography


def hash32(*parts):
    """BLAKE2b: crypto_generichash without key, 32 bytes out."""
    state = blake2b(digest_size=32)
    for part in parts:
        state.update(part)
    return state.digest()


def hash64(*parts):
    """BLAKE2b-512: the same, 64 bytes out."""
    state = blake2b(digest_size=64)
    for part in parts:
        state.update(part)
    return state.digest()


def keyed_hash32(key, message):
    """CODE: crypto_generichash with key, 32 bytes out."""
    return blake2b(message, digest_size=32, key=key).digest()


def kdf(key, number, label):
    """crypto_kdf_derive_from_key: BLAKE2b of nothing, keyed, with the number as salt and the label as
    personalisation, each filled up with zeros to 16 bytes."""
    salt = struct.pack("<QQ", number, 0)
    return blake2b(b"", digest_size=32, key=key, salt=salt, person=label + bytes(8)).digest()


def aead_open(key, nonce, sealed, data):
    """The plaintext, or None if the tag does not verify."""
    if len(sealed) < 16:
        return None
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(bytes(sealed), data, bytes(nonce), key)
    except nacl_exceptions.CryptoError:
        return None


def is_signed(public, signature, message):
    """Ed25519 as libsodium checks it, which refuses keys of low order."""
    try:
        return sodium.crypto_sign_open(signature + message, public) == message
    except nacl_exceptions.CryptoError:
        return False


def argon2id(passphrase, salt, operations, memory):
    try:
        return sodium.crypto_pwhash_alg(
            32, passphrase, salt, operations, memory, sodium.crypto_pwhash_ALG_ARGON2ID13)
    except (nacl_exceptions.RuntimeError, MemoryError):
        raise Refused("too-little-memory", f"Argon2id could not allocate {memory} bytes") from None


class RootKeys:
    """2: what follows from the root."""

    def __init__(self, root):
        self.root = root
        self.public, _ = sodium.crypto_sign_seed_keypair(kdf(root, 1, b"zgv3root"))
        self.batch = kdf(root, 2, b"zgv3root")
        self.code = kdf(root, 3, b"zgv3root")
        self.token = kdf(root, 5, b"zgv3root")

    def index_key(self, epoch):
        return kdf(self.root, epoch, b"zgv3indx")


# ---------------------------------------------------------------------------------------------------
# 3 and 8, step 1: the file


class VaultFile:
    """The open file. Parts are read where they are needed; no length is trusted before it is checked
    against the file's own."""

    def __init__(self, path, guarded):
        try:
            # Without O_NONBLOCK a pipe would make the reader wait for a writer.
            self.descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise Refused("not-found", "there is no such file") from None
        except OSError as error:
            raise Refused("insecure", f"the file cannot be opened: {error.strerror}") from None
        try:
            status = os.fstat(self.descriptor)
            require(stat.S_ISREG(status.st_mode), "insecure", "this is not a regular file")
            if guarded:
                self.guard(path, status)
        except Refused:
            self.close()
            raise
        self.length = status.st_size

    @staticmethod
    def guard(path, status):
        require(status.st_uid == os.geteuid(), "insecure", "the file belongs to another user")
        require(not status.st_mode & 0o077, "insecure", "other users can open the file")
        folder = os.stat(os.path.dirname(os.path.abspath(path)))
        require(not folder.st_mode & 0o022 or folder.st_mode & stat.S_ISVTX,
                "insecure", "other users can write to the file's directory")

    def read(self, offset, length):
        parts = []
        while length > 0:
            try:
                part = os.pread(self.descriptor, min(length, 64 * MIB), offset)
            except OSError as error:
                raise Refused("insecure", f"the file cannot be read: {error.strerror}") from None
            require(part, "truncated", "the file shrank while it was being read")
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return b"".join(parts)

    def close(self):
        os.close(self.descriptor)


# ---------------------------------------------------------------------------------------------------
# 4: the header

MAGIC = b"ZGVAULT\n"
PASSPHRASE, KEYRING, KEY_FILE, RECOVERY_CODE = 1, 2, 3, 4
DERIVATIONS = {PASSPHRASE: 1, KEYRING: 0, KEY_FILE: 0, RECOVERY_CODE: 2}
TIER_INDEX, TIER_ROOT = 1, 2
PADDED_MOST = 256 * MIB  # of the table's content, and of a section's


def read_header(file):
    require(file.length >= 16, "truncated", "the file has fewer than 16 bytes")
    start = file.read(0, 16)
    require(start[:8] == MAGIC, "magic", "the file does not start with a vault's magic number")
    length = struct.unpack_from("<I", start, 12)[0]
    require(152 <= length <= 65536, "header", f"header length {length}")
    require(file.length >= length, "truncated", "the file ends before its header does")
    raw = file.read(0, length)
    require(hash32(raw[:-32]) == raw[-32:], "checksum", "the header's checksum does not match")

    header = SimpleNamespace(raw=raw)
    header.format, zero = struct.unpack_from("<HH", raw, 8)
    require(header.format <= 3, "newer", f"format {header.format}")
    require(header.format not in (1, 2), "pre-release", f"format {header.format}")
    require(header.format == 3, "header", "format 0")
    require(zero == 0, "header", "bytes 10 and 11 are not zero")
    header.file_length, header.vault_id, header.generation, header.epoch, header.public, count = (
        struct.unpack_from("<Q16sQI32sI", raw, 16))
    require(count <= 16, "header", f"{count} slots")
    require(length == 152 + 192 * count, "header", "the header length does not match the number of slots")
    require(header.file_length <= 4 * GIB, "header", "the file length is over 4 GiB")
    require(header.generation != 0, "header", "generation 0")
    require(header.epoch != 0, "header", "index epoch 0")
    header.nonce, header.table_length = struct.unpack_from("<24sQ", raw, 88 + 192 * count)
    require(113 <= header.table_length <= PADDED_MOST + 112, "header", "the table length is out of range")
    header.blocks_at = length + header.table_length
    require(header.blocks_at <= header.file_length, "header", "header and table do not fit in the file")

    header.slots = [read_slot(raw[at:at + 192]) for at in range(88, 88 + 192 * count, 192)]
    require(len({slot.id for slot in header.slots}) == count, "header", "two slots have the same id")
    passphrases = sum(slot.kind == PASSPHRASE for slot in header.slots)
    require(passphrases <= 4, "header", f"{passphrases} slots of kind 1")
    for slot in header.slots:
        check_slot(slot)

    require(file.length >= header.file_length, "truncated", "the file is shorter than its header says")
    require(file.length <= header.file_length, "extended", "the file is longer than its header says")
    return header


def read_slot(raw):
    slot = SimpleNamespace(raw=raw)
    (slot.id, slot.kind, slot.tier, slot.derivation, slot.zero, slot.operations, slot.memory, slot.salt,
     slot.nonce, slot.wrapped, slot.made_at, slot.zeros) = struct.unpack("<16sBBBBIQ16s24s48sQ64s", raw)
    return slot


def check_slot(slot):
    """4.1"""
    require(slot.kind in DERIVATIONS, "slot", f"kind {slot.kind}")
    require(slot.tier in (TIER_INDEX, TIER_ROOT), "slot", f"tier {slot.tier}")
    require(slot.derivation == DERIVATIONS[slot.kind], "slot",
            f"derivation {slot.derivation} in a slot of kind {slot.kind}")
    require(slot.zero == 0 and not any(slot.zeros), "slot", "reserved bytes are not zero")
    if slot.kind == PASSPHRASE:
        require(1 <= slot.operations <= 10 and 8 * MIB <= slot.memory <= GIB
                and slot.operations * slot.memory <= 4 * GIB, "slot",
                f"cost of {slot.operations} passes over {slot.memory} bytes")
    else:
        require(slot.operations == 0 and slot.memory == 0, "slot", "a cost without Argon2id")


# ---------------------------------------------------------------------------------------------------
# 4.1: secrets. Each gives the slots that it may open, in the order in which they are tried, with the
# KEK of each. What a person types is for slots of tier 2 alone.


class Passphrase:
    """A typed text: tried as a code if it is one, then as a passphrase."""

    def __init__(self, given):
        require(1 <= len(given) <= 1024, "wrong-use", f"a passphrase of {len(given)} bytes")
        self.given = given

    def keks(self, header):
        try:
            yield from RecoveryCode(self.given.decode("ascii", errors="replace")).keks(header)
        except Refused:
            pass
        for slot in header.slots:
            if slot.kind == PASSPHRASE and slot.tier == TIER_ROOT:
                yield slot, argon2id(self.given, slot.salt, slot.operations, slot.memory)


class RecoveryCode:
    ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    def __init__(self, text):
        self.code = self.decode(text)

    def keks(self, header):
        for slot in header.slots:
            if slot.kind == RECOVERY_CODE and slot.tier == TIER_ROOT:
                yield slot, keyed_hash32(self.code, b"zgv3/recovery" + slot.salt)

    @staticmethod
    def times(a, b):
        """In GF(32) with x^5 + x^2 + 1."""
        product = 0
        for bit in range(5):
            if b >> bit & 1:
                product ^= a << bit
        for bit in range(9, 4, -1):
            if product >> bit & 1:
                product ^= 0b100101 << (bit - 5)
        return product

    @classmethod
    def remainder(cls, symbols):
        """Of the polynomial with these coefficients, the highest first, by x^2 + 6x + 8."""
        high, low = 0, 0
        for symbol in symbols:
            high, low = low ^ cls.times(high, 6), symbol ^ cls.times(high, 8)
        return high, low

    @classmethod
    def decode(cls, text):
        typed = [c for c in text if c not in "- "]
        # Not upper() of the whole: some non-ASCII letters have ASCII upper case.
        typed = "".join(c.upper() if c in string.ascii_lowercase else c for c in typed)
        typed = typed.replace("O", "0").replace("I", "1").replace("L", "1")
        require(len(typed) == 28, "locked", "a recovery code has 28 characters")
        require(all(c in cls.ALPHABET for c in typed), "locked", "a character cannot be in a recovery code")
        symbols = [cls.ALPHABET.index(c) for c in typed]
        require(cls.remainder(symbols) == (0, 0), "locked", "the recovery code has a typo")
        number = 0
        for symbol in symbols[:26]:
            number = number << 5 | symbol
        require(number >> 128 == 0, "locked", "the recovery code does not begin with two zero bits")
        return number.to_bytes(16, "big")


class KeyFile:
    """Lines of one valid form; other lines are skipped."""

    LINE = re.compile(rb"zg-env-key-1 ([0-9a-f]{32}) ([0-9a-f]{32}) ([0-9a-f]{64})")

    def __init__(self, content):
        found = map(self.LINE.fullmatch, content.split(b"\n"))
        self.lines = [
            tuple(bytes.fromhex(word.decode()) for word in line.groups()) for line in found if line]

    def keks(self, header):
        for vault_id, slot_id, key in self.lines:
            for slot in header.slots:
                if (slot.kind, slot.id, header.vault_id) == (KEY_FILE, slot_id, vault_id):
                    yield slot, key


class SlotKey:
    """The 32 bytes themselves, as a keyring has them; for any slot if none is named."""

    def __init__(self, text, slot_id=None):
        self.key = from_hex(text.strip(), 32)
        self.slot_id = slot_id and from_hex(slot_id, 16)

    def keks(self, header):
        for slot in header.slots:
            if slot.kind in (KEYRING, KEY_FILE) and self.slot_id in (None, slot.id):
                yield slot, self.key


class IndexKey:
    """The index key itself, without a slot."""

    def __init__(self, text):
        self.key = from_hex(text.strip(), 32)


def from_hex(text, size):
    digits = len(text) == 2 * size and all(c in string.hexdigits for c in text)
    require(digits, "locked", f"not {2 * size} hexadecimal digits")
    return bytes.fromhex(text)


def unlock(header, secret):
    """The tier and the key of the first slot that opens, and whether a person typed what opens it."""
    if isinstance(secret, IndexKey):
        return TIER_INDEX, secret.key, False
    for slot, kek in secret.keks(header):
        data = b"zgv3/slot" + header.vault_id + slot.raw[:72] + slot.raw[120:]
        key = aead_open(kek, slot.nonce, slot.wrapped, data)
        if key is not None:
            return slot.tier, key, slot.kind in (PASSPHRASE, RECOVERY_CODE)
    raise Refused("locked", "no slot opens")


# ---------------------------------------------------------------------------------------------------
# 5: decoding the index


class Cursor:
    """Reads the types of section 1 from front to back. Never reads past the end."""

    def __init__(self, data, where):
        self.data = data
        self.at = 0
        self.where = where

    def left(self):
        return len(self.data) - self.at

    def fail(self, word, message):
        raise Refused(word, f"{self.where}: {message}")

    def raw(self, length, what="field"):
        if length > self.left():
            self.fail("bounds", f"{what} of {length} bytes where {self.left()} are left")
        self.at += length
        return bytes(self.data[self.at - length:self.at])

    def u8(self):
        return self.raw(1)[0]

    def u32(self):
        return struct.unpack("<I", self.raw(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.raw(8))[0]

    def id(self):
        return self.raw(16)

    def flag(self):
        value = self.u8()
        if value > 1:
            self.fail("encoding", f"a flag of {value}")
        return value == 1

    def choice(self, what, values):
        value = self.u8()
        if value not in values:
            self.fail("encoding", f"{what} {value}")
        return value

    def bytes(self, most, what):
        length = self.u32()
        if length > most:
            self.fail("bounds", f"{what} of {length} bytes, at most {most}")
        return self.raw(length, what)

    def text(self, most):
        raw = self.bytes(most, "text")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.fail("encoding", "a text is not UTF-8")

    def optional(self, read):
        return read(self) if self.flag() else None

    def list(self, read, least, most=None, order=None):
        """A list of at most `most` items of at least `least` bytes each, ascending by `order`."""
        count = self.u32()
        if most is not None and count > most:
            self.fail("bounds", f"{count} items, at most {most}")
        if count * least > self.left():
            self.fail("bounds", f"{count} items do not fit in {self.left()} bytes")
        items = []
        for _ in range(count):
            item = read(self)
            if order and items and not order(items[-1]) < order(item):
                self.fail("order", f"item {len(items) + 1} does not ascend")
            items.append(item)
        return items

    def part(self, name, read):
        inner = Cursor(memoryview(self.raw(self.u32(), f"part {name}")), name)
        content = read(inner)
        inner.end()
        return content

    def end(self):
        if self.left():
            self.fail("encoding", f"{self.left()} bytes are left over")


def text(most):
    return lambda cursor: cursor.text(most)


def optional(read):
    return lambda cursor: cursor.optional(read)


def utf8(name):
    """Texts are ordered by their bytes."""
    return name.encode("utf-8")


def read_directory(c):
    return SimpleNamespace(
        path=c.text(4096), project_name=c.text(4096), organisation=c.text(4096), project=c.id())


def read_setting(c):
    setting = SimpleNamespace(name=c.text(1024), value=c.text(1024))
    if not setting.name:
        c.fail("encoding", "a setting with an empty name")
    return setting


def read_metadata(c):
    """5.1"""
    return SimpleNamespace(
        generations=c.list(lambda c: (c.u64(), c.raw(16)), 24, 1024, lambda item: item[0]),
        audit_log=c.optional(lambda c: (c.u64(), c.raw(16))),
        directories=c.list(read_directory, 28, 10_000, lambda item: utf8(item.path)),
        settings=c.list(read_setting, 8, 1_000, lambda item: utf8(item.name)))


def read_binding(c):
    return SimpleNamespace(
        origin=c.text(4096), user=c.text(4096), team=c.optional(text(4096)),
        team_slug=c.optional(text(4096)), project=c.text(4096), name=c.text(4096))


def read_project(c):
    """5.2"""
    project = SimpleNamespace(
        id=c.id(), name=c.text(1024), made_at=c.u64(), binding=c.optional(read_binding))
    if not project.name:
        c.fail("encoding", "a project with an empty name")
    return project


TYPES = {1: "plain", 2: "encrypted", 3: "sensitive", 4: "system", 5: "secret"}
TARGETS = ("production", "preview", "development")


def read_type(c):
    return TYPES[c.choice("type", TYPES)]


def read_scope(c):
    bits = c.choice("targets", range(8))
    return SimpleNamespace(
        targets=[name for bit, name in enumerate(TARGETS) if bits >> bit & 1],
        environments=c.list(text(4096), 4, 1000, utf8), branch=c.optional(text(1024)))


def read_attributes(c):
    return SimpleNamespace(
        type=read_type(c), scope=read_scope(c), comment=c.optional(text(4096)))


def read_agreement(c):
    """5.4"""
    agreement = SimpleNamespace(
        key=c.text(1024), scope=read_scope(c), record=c.text(4096), account=c.text(4096), variable=c.id(),
        version=c.u64(), type=read_type(c), comment=c.optional(text(4096)), changed_at=c.u64(),
        awaited_at=c.u64(), pushed_at=c.u64(), ended_at=c.u64(),
        earlier=c.optional(lambda c: (c.u64(), c.u64(), c.u64())))
    if not agreement.key:
        c.fail("encoding", "an agreement with an empty key")
    if not agreement.record and not agreement.ended_at:
        c.fail("encoding", "an agreement that stands has no record")
    return agreement


def agreement_order(agreement):
    """By key, branch (none first), first target, record."""
    scope = agreement.scope
    known = [TARGETS.index(name) for name in scope.targets]
    first = (known[0], b"") if known else (3, utf8(scope.environments[0])) if scope.environments else (4, b"")
    return (utf8(agreement.key), *branch_order(scope), *first, agreement.variable)


def branch_order(scope):
    return scope.branch is not None, utf8(scope.branch or "")


def read_agreements(c):
    said = set()

    def read(c):
        agreement = read_agreement(c)
        items.append(agreement)
        if len(items) > 1 and not agreement_order(items[-2]) < agreement_order(agreement):
            c.fail("order", f"agreement {len(items)} does not ascend")
        content = (agreement.key, *branch_order(agreement.scope), *(
            value for name, value in vars(agreement).items() if name not in ("key", "scope")))
        if content in said:
            c.fail("encoding", "two agreements differ in their scope only")
        said.add(content)
        return agreement
    items = []
    return c.list(read, 77, 1_000_000)


def read_record(c):
    """5.3"""
    record = SimpleNamespace(
        id=c.id(), name=c.text(1024), attributes=read_attributes(c),
        made_at=c.u64(), changed_at=c.u64(), removed_at=c.u64(), current=c.u64(), highest=c.u64(),
        rotation=c.u64())
    if not record.name:
        c.fail("encoding", "a record with an empty name")
    if record.current > record.highest:
        c.fail("bounds", f"current version {record.current}, highest {record.highest}")
    return record


def read_version(c, chunks_length):
    """5.5"""
    version = SimpleNamespace(
        record=c.id(), number=c.u64(), id=c.id(), batch=c.id(), offset=c.u64(), length=c.u32(),
        checksum=c.raw(32), made_at=c.u64(),
        former_name=c.optional(text(1024)))
    layout(version.offset + version.length <= chunks_length, "a chunk outside of its section")
    return version


def read_batch(c):
    """5.6"""
    return SimpleNamespace(id=c.id(), wrapped=c.raw(72))


SEND, OPEN_ROTATION, ENDED_ROTATION, RELAY, SHARED_PROJECT = 1, 2, 3, 4, 6
ROTATIONS = (OPEN_ROTATION, ENDED_ROTATION)
OF_THEIR_SECTION = (5, 7, 8)
GROUPS = (SHARED_PROJECT, *OF_THEIR_SECTION)


def read_journal_entry(c):
    """5.7: the payload of a known kind has one valid encoding too."""
    entry = SimpleNamespace(id=c.id(), kind=c.u8(), made_at=c.u64())
    entry.payload = c.bytes(64 * MIB if entry.kind in GROUPS else MIB, "payload")
    if entry.kind == SEND:
        entry.content = read_send(entry)
    elif entry.kind in ROTATIONS:
        entry.content = read_rotation(entry)
    elif entry.kind == RELAY:
        entry.content = read_relay(entry)
    return entry


def read_target(c):
    return SimpleNamespace(id=c.text(4096), changed_at=c.u64())


def read_send(entry):
    """5.7, kind 1"""
    c = Cursor(memoryview(entry.payload), "send")
    send = SimpleNamespace(
        action=c.choice("action", (1, 2, 3)), record=c.optional(lambda c: c.id()),
        platform_project=c.text(4096), author=c.text(4096), target=c.optional(read_target), key=c.text(1024),
        type=read_type(c), comment=c.optional(text(4096)), targets=read_scope(c), released=read_scope(c),
        agreed=read_scope(c), version=c.u64(), sends_value=c.flag(), sent_after=c.u64(), sent_until=c.u64())
    scopes = (send.targets, send.released, send.agreed)
    if (send.target is None) != (send.action == 1):
        c.fail("encoding", f"a target in a send of action {send.action}")
    if any(scope.branch is not None and not places(scope) for scope in scopes):
        c.fail("encoding", "a send with a branch of nothing")
    if send.action == 1 and places(send.released):
        c.fail("encoding", "a creation that releases something")
    if send.action == 3 and (places(send.targets) or places(send.agreed) or send.sends_value):
        c.fail("encoding", "a deletion that leaves something")
    if places(send.agreed) and (
            send.agreed.branch != send.targets.branch or places(send.agreed) - places(send.targets)):
        c.fail("encoding", "a send about more than its targets")
    c.end()
    return send


def places(scope):
    return {(True, name) for name in scope.targets} | {(False, name) for name in scope.environments}


def read_step(c):
    return c.choice("step", range(4))


def read_build(c):
    return SimpleNamespace(
        create=read_step(c), way=c.choice("way", (1, 2)), attempt=c.u8(), deployment=c.text(4096),
        begun_at=c.u64(), live=read_step(c), evidence=c.choice("evidence", range(6)), check=read_step(c))


def read_failure(c):
    return SimpleNamespace(kind=c.choice("failure", range(1, 20)), reason=c.text(1024))


def read_rotated_record(c):
    return SimpleNamespace(record=c.id(), before=c.u64(), after=c.u64())


def read_member(c):
    return SimpleNamespace(
        project=c.id(), name=c.text(1024), platform_project=c.text(4096), platform_name=c.text(4096),
        deployed=c.optional(text(4096)), source=c.optional(text(4096)), newest_at=c.u64(),
        records=c.list(read_rotated_record, 32, 1_000))


def read_progress(c):
    return SimpleNamespace(
        push=read_step(c), build=read_build(c), reach=c.choice("reach", range(3)), restore=read_step(c),
        back=read_build(c), previous=read_step(c), failure=c.optional(read_failure))


def read_rotation(entry):
    """5.7, kinds 2 and 3"""
    c = Cursor(memoryview(entry.payload), "rotation")
    rotation = SimpleNamespace(
        key=c.text(1024), apply=c.optional(text(16384)), check=c.optional(text(16384)),
        address=c.optional(text(4096)), status=c.u32(), revoke=c.optional(text(16384)),
        redeploys=c.choice("redeploys", range(3)),
        policy=c.choice("policy", (1, 2)), limit=c.u64(), members=c.list(read_member, 42, 1_000),
        direction=c.choice("direction", (1, 2)), outcome=c.choice("outcome", range(4)),
        steps=[read_step(c) for _ in range(3)], failure=c.optional(read_failure), failed_member=c.u32())
    if not rotation.members or rotation.failed_member > len(rotation.members):
        c.fail("encoding", "a rotation of no projects, or one that failed in another one")
    rotation.progress = [read_progress(c) for _ in rotation.members]
    rotation.ended_at = c.u64()
    if (rotation.ended_at == 0) != (entry.kind == OPEN_ROTATION):
        c.fail("encoding", f"a rotation of kind {entry.kind} that ended at {rotation.ended_at}")
    c.end()
    return rotation


WORD = re.compile(r"[A-Za-z0-9_-]+")


def read_relay(entry):
    """5.7, kind 4"""
    c = Cursor(memoryview(entry.payload), "relay")
    relay = SimpleNamespace(
        relay=c.text(4096), device=c.text(1024), accounts=c.list(text(1024), 4, 64), token=c.raw(43), seed=c.raw(32))
    c.end()
    words = [relay.device, *relay.accounts, bytes(relay.token).decode("latin-1")]
    if not relay.relay or not relay.accounts or not all(WORD.fullmatch(word) for word in words):
        c.fail("encoding", "a registration with a relay")
    return relay


def read_account(c):
    """5.8"""
    return SimpleNamespace(
        name=c.text(1024), origin=c.text(4096), user=c.text(4096), user_name=c.text(4096),
        team=c.optional(text(4096)), team_slug=c.optional(text(4096)), default=c.flag(), made_at=c.u64(),
        ends_at=c.u64(), protection=c.choice("protection", (1, 2)), secret=c.bytes(65_536, "secret"))


def by_id(item):
    return item.id


def by_record(version):
    return version.record


def by_number(version):
    return version.record, version.number


def read_row(c):
    """5: a section's place, which begins where the block before it ends"""
    return SimpleNamespace(id=c.id(), length=c.u64(), chunks_length=c.u64(), checksum=c.raw(32))


def read_journal(c):
    return c.list(read_journal_entry, 29, 10_000, by_id)


# The parts of the table and of a section. The least sizes of items are those with every text and list
# empty.
TABLE = (
    ("metadata", read_metadata),
    ("projects", lambda c: c.list(read_project, 29, 10_000, by_id)),
    ("rows", lambda c: c.list(read_row, 64, 20_000, by_id)),
    ("journal", read_journal),
    ("accounts", lambda c: c.list(read_account, 40, 1_000, lambda account: utf8(account.name))),
    ("former_log_keys", lambda c: c.list(lambda c: c.raw(32), 32, 1_000)))


def section_parts(chunks_length):
    def version(c):
        return read_version(c, chunks_length)
    return (
        ("records", lambda c: c.list(read_record, 76, 1_000_000, by_id)),
        ("current", lambda c: c.list(version, 109, 1_000_000, by_record)),
        ("earlier", lambda c: c.list(version, 109, None, by_number)),
        ("batches", lambda c: c.list(read_batch, 88, None, by_id)),
        ("agreements", read_agreements),
        ("journal", read_journal))


def read_parts(cursor, parts):
    found = SimpleNamespace(**{name: cursor.part(name, read) for name, read in parts})
    cursor.end()
    return found


def unpadded(padded, what):
    """5: a cursor for the content."""
    require(len(padded) >= 4, "padding", f"{what} does not start with a length")
    length = struct.unpack_from("<I", padded)[0]
    require(len(padded) == -(-(4 + length) // 4096) * 4096, "padding",
            f"{what}: {length} bytes of content in {len(padded)} bytes")
    require(not any(padded[4 + length:]), "padding", f"{what}: the padding is not zero")
    return Cursor(memoryview(padded)[4:4 + length], what)


SIGNED = b"zgv3/signed" + bytes(5)
PROOF = 96


def check_proof(header, padded, proof, keys):
    """5.9. With the root both parts, as a check of the whole file; without it the signature."""
    message = SIGNED + hash64(SIGNED, header.raw, padded)
    if keys is not None:
        require(keys.public == header.public, "exchanged-key", "the public key is not the root's")
        require(hmac.compare_digest(keyed_hash32(keys.code, message), proof[:32]), "signature",
                "the code does not match")
    require(is_signed(header.public, proof[32:], message), "signature", "the signature does not match")


def open_index(file, header, index_key, keys):
    """The table, with every section in `sections`, in the order of section 8.1."""
    sealing_key = kdf(index_key, 1, b"zgv3sub_")
    table = open_table(file, header, sealing_key, keys)
    check_table(table, header)
    projects = {project.id for project in table.projects}
    table.sections, at = [], header.blocks_at
    for row in table.rows:
        section = open_section(file, header, sealing_key, row, at)
        check_section(section, row, projects)
        table.sections.append(section)
        at += row.length + row.chunks_length
    check_between(table)
    return table


def open_table(file, header, sealing_key, keys):
    sealed = file.read(len(header.raw), header.table_length)
    opened = aead_open(sealing_key, header.nonce, sealed, b"zgv3/index" + header.raw)
    require(opened is not None, "tag", "the table failed authentication")
    padded = memoryview(opened)[:-PROOF]
    check_proof(header, padded, opened[-PROOF:], keys)
    cursor = unpadded(padded, "table")
    require(not cursor.flag(), "newer", "a vault with groups")
    table = read_parts(cursor, TABLE)
    table.tag = sealed[-16:]
    return table


def open_section(file, header, sealing_key, row, at):
    what = f"section {row.id.hex()}"
    sealed = file.read(at, row.length)
    require(hash32(sealed) == row.checksum, "section", f"{what} is not the one that the table names")
    data = b"zgv3/section" + bytes(4) + header.vault_id + row.id
    padded = aead_open(sealing_key, sealed[:24], sealed[24:], data)
    require(padded is not None, "tag", f"{what} failed authentication")
    section = read_parts(unpadded(padded, what), section_parts(row.chunks_length))
    section.id = row.id
    for version in section.current + section.earlier:
        version.at = at + row.length + version.offset
    return section


# ---------------------------------------------------------------------------------------------------
# The rules of the table, within a section, and between sections


def layout(condition, message):
    require(condition, "layout", message)


def check_table(table, header):
    """5.2, 5.5, 5.7"""
    names = {unicodedata.normalize("NFD", project.name) for project in table.projects}
    layout(len(names) == len(table.projects), "two projects have equivalent names")
    for entry in table.journal:
        layout(entry.kind not in (SEND, ENDED_ROTATION, *GROUPS), f"an entry of kind {entry.kind} in the table")
    relays = [entry.content.relay for entry in table.journal if entry.kind == RELAY]
    layout(len(relays) <= 16 and len(set(relays)) == len(relays), "too many relays, or two for the same URL")
    end = header.blocks_at
    for row in table.rows:
        layout(row.length > 40 and row.length % 4096 == 40, "a section's length")
        end += row.length + row.chunks_length
    layout(sum(row.length for row in table.rows) <= PADDED_MOST, "the sections are too long together")
    layout(end == header.file_length, "the blocks do not end where the file does")


def check_section(section, row, projects):
    """5, 5.5, 5.7"""
    layout(section.records or section.agreements or section.journal,
           "a section without record, agreement or entry")
    layout(section.id in projects or not (section.records or section.batches or section.agreements),
           "records, batches or agreements in a section that belongs to no project")
    for entry in section.journal:
        layout(entry.kind not in (OPEN_ROTATION, RELAY), f"an entry of kind {entry.kind} in a section")
        layout(entry.kind != ENDED_ROTATION or section.id == bytes(16), "an ended rotation elsewhere")
        layout(entry.kind not in OF_THEIR_SECTION or section.id == entry.id, "an entry in another one's section")

    records = {record.id: record for record in section.records}
    batches = {batch.id for batch in section.batches}
    wanted = {(record.id, record.current) for record in section.records if record.current}
    layout({(version.record, version.number) for version in section.current} == wanted,
           "the current versions are not those of the records")
    counts = {}
    for version in section.earlier:
        record = records.get(version.record)
        layout(record is not None, "an earlier version belongs to no record")
        layout(version.number != record.current, "an earlier version is the current one")
        layout(1 <= version.number <= record.highest, "an earlier version's number is out of range")
        counts[version.record] = counts.get(version.record, 0) + 1
        layout(counts[version.record] <= 10_000, "a record has over 10,000 earlier versions")

    versions = section.current + section.earlier
    for version in versions:
        layout(version.batch in batches, "a version's batch does not exist")
        layout(version.length != 0, "a chunk of length 0")
    end = 0
    for version in sorted(versions, key=lambda version: version.offset):
        layout(version.offset == end, "chunks with a gap or an overlap")
        end += version.length
    layout(end == row.chunks_length, "the chunks do not end where the section's do")


def check_between(table):
    """5.5"""
    for name, of in (("record", "records"), ("batch", "batches"), ("entry", "journal")):
        places = [getattr(section, of) for section in table.sections]
        places += [table.journal] if of == "journal" else []
        ids = [item.id for items in places for item in items]
        layout(len(set(ids)) == len(ids), f"a {name} of the same id in two places")


# ---------------------------------------------------------------------------------------------------
# 5.6 and 6: batches and chunks


def data_key(header, batch, keys):
    key = aead_open(
        keys.batch, batch.wrapped[:24], batch.wrapped[24:], b"zgv3/batch" + header.vault_id + batch.id)
    require(key is not None, "batch", f"the data key of batch {batch.id.hex()} does not open")
    return key


def padded_length(n):
    """6: p for n"""
    if n <= 1024:
        return (n + 127) // 128 * 128
    e = n.bit_length() - 1
    s = e.bit_length()  # floor(log2 e) + 1
    m = (1 << (e - s)) - 1
    return (n + m) & ~m


LARGEST_CHUNK = 24 + padded_length(4 + MIB) + 16


def open_value(header, version, chunk, key):
    what = f"version {version.number} of record {version.record.hex()}"
    data = b"zgv3/value" + bytes(6) + header.vault_id + version.record + version.id
    padded = aead_open(key, chunk[:24], chunk[24:], data) if len(chunk) >= 40 else None
    require(padded is not None, "value", f"{what} does not open")
    require(len(padded) >= 4, "value", f"{what} does not start with a length")
    length = struct.unpack_from("<I", padded)[0]
    require(length <= MIB and padded_length(4 + length) == len(padded), "value", f"{what} has the wrong padding")
    require(not any(padded[4 + length:]), "value", f"{what} has padding that is not zero")
    return padded[4:4 + length]


def read_chunk(file, version):
    """A chunk's length field allows 4 GiB and a value's limit does not: no more than that is kept."""
    at, left = version.at, version.length
    state, kept = blake2b(digest_size=32), b""
    while left:
        part = file.read(at, min(left, 4 * MIB))
        state.update(part)
        if version.length <= LARGEST_CHUNK:
            kept += part
        at += len(part)
        left -= len(part)
    require(state.digest() == version.checksum, "chunk",
            f"the checksum of version {version.number} of record {version.record.hex()} does not match")
    return kept


# ---------------------------------------------------------------------------------------------------
# 8: reading


def text_bytes(text):
    raw = utf8(text)
    return struct.pack("<I", len(raw)) + raw


def token_of(header, account, keys):
    """5.8: an account's token; None if it needs the root, or is damaged."""
    if account.protection == 1:
        return account.secret
    bound = (b"zgv3/token" + bytes(6) + header.vault_id + text_bytes(account.origin)
             + text_bytes(account.name))
    return keys and aead_open(keys.token, account.secret[:24], account.secret[24:], bound)


def every_version(index):
    """In the order in which they are read: the current ones of all sections come first."""
    for name in ("current", "earlier"):
        for section in index.sections:
            yield from getattr(section, name)


def read_vault(path, secret, guarded=False, anchor=None):
    """A whole vault, with every value if the secret opens the root; raises Refused."""
    file = VaultFile(path, guarded)
    try:
        header = read_header(file)
        # A secret is decoded only here: its errors come after those of the header.
        tier, key, typed = unlock(header, secret())
        keys = RootKeys(key) if tier == TIER_ROOT else None
        guard = Guard.of(anchor, header)
        if guard is not None:
            guard.check_public(header, typed)
        index = open_index(file, header, keys.index_key(header.epoch) if keys else key, keys)
        data_keys = {batch.id: data_key(header, batch, keys)
                     for section in index.sections for batch in section.batches} if keys else {}
        values = {}
        for version in every_version(index):
            chunk = read_chunk(file, version)
            if keys is not None:
                values[by_number(version)] = open_value(
                    header, version, chunk, data_keys[version.batch])
    finally:
        file.close()
    vault = SimpleNamespace(header=header, tier=tier, index=index, keys=keys, values=values)
    if guard is not None:
        guard.check_generation(vault)
    return vault


# ---------------------------------------------------------------------------------------------------
# 7.2: the rollback guard

ANCHOR = re.compile(
    rb"zg-env-anchor-3 ([0-9a-f]{32}) (0|[1-9][0-9]*) ([0-9a-f]{32}) ([0-9a-f]{64})\n")


class Guard:
    """A rollback guard."""

    def __init__(self, found):
        self.generation = int(found[2])
        self.tag, self.public = (bytes.fromhex(found[group].decode()) for group in (3, 4))

    @classmethod
    def of(cls, line, header):
        """None for anything but a guard of this vault, which detects nothing."""
        found = line and ANCHOR.fullmatch(line)
        return cls(found) if found and found[1].decode() == header.vault_id.hex() else None

    def check_public(self, header, typed):
        """Only a typed secret says whose root it is: the key of another slot, someone else has too."""
        require(typed or self.public == header.public, "anchor",
                "the public key is not the one in the rollback guard")

    def check_generation(self, vault):
        generations = vault.index.metadata.generations
        remembered = {**dict(generations), vault.header.generation: vault.index.tag}
        require(self.generation <= vault.header.generation, "anchor",
                "the file is older than the rollback guard")
        # A file forgets only the generations that 1,024 later ones have displaced.
        forgotten = len(generations) == 1024 and generations[0][0] > self.generation
        require(forgotten or remembered.get(self.generation) == self.tag, "anchor",
                "the file and the rollback guard have different histories")


def shown(value):
    """A value is bytes; most are UTF-8. Others stand in `valueHex`, and `value` is null."""
    if value is None:
        return {"value": None}
    try:
        return {"value": value.decode("utf-8")}
    except UnicodeDecodeError:
        return {"value": None, "valueHex": value.hex()}


def report(vault):
    """The vault for JSON."""
    header, index = vault.header, vault.index
    projects = {project.id: project.name for project in index.projects}

    def described(section, record, version):
        attributes, scope = record.attributes, record.attributes.scope
        return {
            "record": record.id.hex(), "project": projects[section.id], "key": record.name,
            "type": attributes.type, "targets": scope.targets,
            "customEnvironments": scope.environments, "branch": scope.branch,
            "comment": attributes.comment, "removed": record.removed_at != 0, "version": version,
            **shown(vault.values.get((record.id, version)))}

    def token(account):
        if account.protection == 2 and vault.keys is None:
            return "protected"
        return "damaged" if token_of(header, account, vault.keys) is None else "open"

    records = [(section, record) for section in index.sections for record in section.records]
    of_version = {record.id: record for _, record in records}
    return {
        "class": "ok", "vaultID": header.vault_id.hex(), "generation": header.generation,
        "indexEpoch": header.epoch, "root": vault.tier == TIER_ROOT,
        "slots": [
            {"id": slot.id.hex(), "kind": slot.kind, "tier": slot.tier} for slot in header.slots],
        "projects": [{"id": project.id.hex(), "name": project.name} for project in index.projects],
        "accounts": [{"name": account.name, "token": token(account)} for account in index.accounts],
        # Version 0: the vault holds no value.
        "records": [described(section, record, record.current) for section, record in records],
        "history": [described(section, of_version[version.record], version.number)
                    for section in index.sections for version in section.earlier]}


def exit_code(found):
    return EXIT_CODES.get(found["class"], EXIT_DAMAGED)


def check(path, secret, guarded=False, anchor=None):
    try:
        return report(read_vault(path, secret, guarded, anchor))
    except Refused as refused:
        return {"class": refused.word, "message": refused.message}


# ---------------------------------------------------------------------------------------------------
# The vectors


def vector_secret(secret):
    """Decoded later, when the header has been checked."""
    if "passphrase" in secret:
        return lambda: Passphrase(secret["passphrase"].encode("utf-8"))
    if "recoveryCode" in secret:
        return lambda: RecoveryCode(secret["recoveryCode"])
    if "keyFile" in secret:
        return lambda: KeyFile(secret["keyFile"].encode("utf-8"))
    if "indexKey" in secret:
        return lambda: IndexKey(secret["indexKey"])
    return lambda: SlotKey(secret["slotKey"], secret.get("slot"))


def vector_values(found):
    """The result in the form of vectors.json: every version's value, without absent members."""
    values = [{**record, "current": True} for record in found["records"] if record["version"] != 0]
    values += [{**version, "current": False} for version in found["history"]]
    for value in values:
        del value["record"]
    return [{name: member for name, member in value.items() if member is not None} for value in values]


def disagreements(vector, found):
    """The differences between the vector and this reader, as sentences."""
    if found["class"] != vector["class"]:
        return [f"{found['class']} instead of {vector['class']}: {found.get('message', '')}"]
    if exit_code(found) != vector.get("exit", exit_code(found)):
        return [f"exit code {exit_code(found)} instead of {vector['exit']}"]
    if found["class"] != "ok":
        return []
    expected, have = vector.get("values", []), vector_values(found)
    missing = [f"not found: {json.dumps(value)[:300]}" for value in expected if value not in have]
    return missing + [f"not in the vector: {json.dumps(value)[:300]}" for value in have if value not in expected] + (
        [] if len(have) == len(expected) else [f"{len(have)} values instead of {len(expected)}"])


def check_vectors(folder):
    with open(os.path.join(folder, "vectors.json"), encoding="utf-8") as file:
        vectors = json.load(file)
    failed = 0
    for vector in vectors:
        found = check(os.path.join(folder, vector["file"]), vector_secret(vector["secret"]))
        differences = disagreements(vector, found)
        failed += bool(differences)
        for difference in differences:
            print(f"{vector['file']}: {difference}")
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return 1 if failed else 0


# ---------------------------------------------------------------------------------------------------
# The command


def file_bytes(parser, path):
    try:
        with open(path, "rb") as file:
            return file.read(65_536)
    except OSError as error:
        parser.error(f"{path}: {error.strerror}")


def secret_from(parser, options):
    if options.slot_key is not None:
        return lambda: SlotKey(options.slot_key)
    if options.index_key is not None:
        return lambda: IndexKey(options.index_key)
    if options.key_file is not None:
        content = file_bytes(parser, options.key_file)
        return lambda: KeyFile(content)
    # The given bytes, without the line feed that ends a file's line.
    given = file_bytes(parser, options.passphrase_file or options.recovery_code_file)
    given = given[:-1] if given.endswith(b"\n") else given
    if options.passphrase_file is not None:
        return lambda: Passphrase(given)
    # Non-ASCII characters are in no code, so they only have to stay wrong.
    return lambda: RecoveryCode(given.decode("ascii", errors="replace"))


def main():
    parser = argparse.ArgumentParser(description="Read a vault file and print its contents or its first problem.")
    parser.add_argument("file", nargs="?", metavar="FILE")
    secrets = parser.add_mutually_exclusive_group(required=True)
    secrets.add_argument("--passphrase-file", metavar="F")
    secrets.add_argument("--recovery-code-file", metavar="F")
    secrets.add_argument("--key-file", metavar="F")
    secrets.add_argument("--slot-key", metavar="HEX", help="the key in the keyring or the key file")
    secrets.add_argument("--index-key", metavar="HEX", help="the index key itself")
    secrets.add_argument("--vectors", metavar="DIR", help="check every file of DIR/vectors.json")
    parser.add_argument("--anchor", metavar="F", help="compare the file with this rollback guard (7.2)")
    parser.add_argument("--guarded", action="store_true", help="refuse a file that others can access (8, step 1)")
    options = parser.parse_args()
    if options.vectors is not None:
        return check_vectors(options.vectors)
    if options.file is None:
        parser.error("FILE is missing")
    anchor = options.anchor and file_bytes(parser, options.anchor)
    found = check(options.file, secret_from(parser, options), options.guarded, anchor)
    print(json.dumps(found, indent=2))
    return exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
