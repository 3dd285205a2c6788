#!/usr/bin/env python3
"""A second reader of groups, format 1, which follows its page (group-format.md) and shares no code
with the program.

    group_reader.py --vectors DIR

Compares this reader with what DIR/vectors.json says, prints the differences and one line with the
numbers, and ends with 1 where they differ.

It decodes the objects of a group (entries, changes, invites, joins), opens what is sealed in them,
judges entries and changes, and folds the changes of one compartment into its state. Every failure of
a decoder or an opener is a `Problem` with a class of section 1.

The numbers in the comments are the page's sections; the vault's page is vault-format.md.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from nacl import bindings
from nacl.exceptions import CryptoError

MIB = 1 << 20
ZERO_HASH = bytes(32)

# Roles (section 2).
ADMIN, MEMBER, WRITER, READER = 1, 2, 3, 4

# Keys that sign a change (section 4).
WRITE_KEY, AUTHORITY_KEY = 1, 2


class Problem(Exception):
    """The first problem of an object, with its class of section 1."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


# ---------------------------------------------------------------------------------------------------
# 1: cryptography, and section 1 of the vault's page


def label(text: str) -> bytes:
    """A text, filled up with zeros to 16 bytes."""
    return text.encode("ascii").ljust(16, b"\0")


def blake2b(data: bytes, key: bytes = b"") -> bytes:
    """BLAKE2b with 32 bytes of output."""
    return hashlib.blake2b(data, digest_size=32, key=key).digest()


def kdf(key: bytes, number: int, context: bytes) -> bytes:
    """`crypto_kdf_derive_from_key`, which libsodium defines by BLAKE2b's salt and personalization.

    PyNaCl has no binding of it.
    """
    salt = number.to_bytes(8, "little")
    return hashlib.blake2b(b"", digest_size=32, key=key, salt=salt, person=context).digest()


def pair(seed: bytes) -> tuple[bytes, bytes]:
    """The X25519 public and secret key of a seed."""
    return bindings.crypto_box_seed_keypair(seed)


def signing_public_key(seed: bytes) -> bytes:
    """The Ed25519 public key of a seed."""
    public_key, _ = bindings.crypto_sign_seed_keypair(seed)
    return public_key


def signature_fits(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `crypto_sign_verify_detached` accepts a signature, which `crypto_sign_open` calls."""
    try:
        bindings.crypto_sign_open(signature + message, key)
    except (CryptoError, RuntimeError, ValueError):
        return False
    return True


def aead_open(key: bytes, sealed: bytes, data: bytes) -> bytes:
    """Opens 24 bytes of nonce and an `AEAD`, or is `tag`."""
    if len(sealed) < 24 + 16:
        raise Problem("tag")
    try:
        return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
            sealed[24:], data, sealed[:24], key
        )
    except CryptoError:
        raise Problem("tag") from None


def box_open(seed: bytes, sealed: bytes) -> bytes:
    """Opens a `BOX` for the pair of a seed, or is `tag`."""
    if len(sealed) < 48:
        raise Problem("tag")
    public_key, secret_key = pair(seed)
    try:
        return bindings.crypto_box_seal_open(sealed, public_key, secret_key)
    except (CryptoError, RuntimeError, ValueError):
        raise Problem("tag") from None


def is_low_order(key: bytes) -> bool:
    """Whether X25519 of the key is all zeros with any scalar.

    Scalars are multiples of the cofactor, so one scalar answers for all; libsodium then fails.
    """
    try:
        bindings.crypto_scalarmult(bytes([9]) * 32, key)
    except RuntimeError:
        return True
    return False


def padded_length(n: int) -> int:
    """The length to which n bytes are padded (section 6 of the vault's page)."""
    if n <= 1024:
        return (n + 127) // 128 * 128
    exponent = n.bit_length() - 1
    mask = (1 << (exponent - exponent.bit_length())) - 1
    return (n + mask) & ~mask


def unpad(padded: bytes, problem: str) -> bytes:
    """The bytes in a `u32` length, that many bytes, and zeros up to the padded length."""
    if len(padded) < 4:
        raise Problem(problem)
    length = int.from_bytes(padded[:4], "little")
    if padded_length(4 + length) != len(padded) or any(padded[4 + length :]):
        raise Problem(problem)
    return padded[4 : 4 + length]


# ---------------------------------------------------------------------------------------------------
# 1: codecs, which read and write a field by one description


class Input:
    """Bytes with a position, read from front to back."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    @property
    def remaining(self) -> int:
        """The bytes that have not been read."""
        return len(self.data) - self.position

    def take(self, count: int) -> bytes:
        """The next bytes; it is `bounds` if fewer remain."""
        if count > self.remaining:
            raise Problem("bounds")
        start = self.position
        self.position += count
        return self.data[start : self.position]

    def number(self, size: int) -> int:
        """The next little-endian integer."""
        return int.from_bytes(self.take(size), "little")

    def finish(self) -> None:
        """Bytes that are left over are `encoding`."""
        if self.remaining:
            raise Problem("encoding")


class Codec:
    """Describes the bytes of one kind of value."""

    def read(self, source: Input) -> Any:
        """Reads one value, or raises the problem."""
        raise NotImplementedError

    def write(self, value: Any) -> bytes:
        """The one valid encoding of the value."""
        raise NotImplementedError


@dataclass(frozen=True)
class Fixed(Codec):
    """That many bytes."""

    size: int

    def read(self, source: Input) -> bytes:
        return source.take(self.size)

    def write(self, value: bytes) -> bytes:
        return value


@dataclass(frozen=True)
class Number(Codec):
    """An unsigned integer; with `allowed`, one with a closed set of meanings (else `encoding`)."""

    size: int
    allowed: range | None = None

    def read(self, source: Input) -> int:
        value = source.number(self.size)
        if self.allowed is not None and value not in self.allowed:
            raise Problem("encoding")
        return value

    def write(self, value: int) -> bytes:
        return value.to_bytes(self.size, "little")


class Flag(Codec):
    """A byte that is 0 or 1."""

    def read(self, source: Input) -> bool:
        value = source.number(1)
        if value > 1:
            raise Problem("encoding")
        return value == 1

    def write(self, value: bool) -> bytes:
        return bytes([value])


class ChangeKind(Codec):
    """The kind of a change: snapshots are of a later format."""

    def read(self, source: Input) -> int:
        value = source.number(1)
        if value == 2:
            raise Problem("newer")
        if value != 1:
            raise Problem("encoding")
        return value

    def write(self, value: int) -> bytes:
        return bytes([value])


@dataclass(frozen=True)
class Text(Codec):
    """`text(n)`; an empty one is `encoding` where the page says "not empty"."""

    limit: int
    not_empty: bool = False

    def read(self, source: Input) -> str:
        length = source.number(4)
        if length > self.limit:
            raise Problem("bounds")
        data = source.take(length)
        if self.not_empty and not data:
            raise Problem("encoding")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Problem("encoding") from None

    def write(self, value: str) -> bytes:
        data = value.encode("utf-8")
        return len(data).to_bytes(4, "little") + data


@dataclass(frozen=True)
class Optional(Codec):
    """`optional(x)`: None if absent."""

    item: Codec

    def read(self, source: Input) -> Any:
        return self.item.read(source) if FLAG.read(source) else None

    def write(self, value: Any) -> bytes:
        return b"\0" if value is None else b"\1" + self.item.write(value)


@dataclass(frozen=True)
class List(Codec):
    """`list(x)` with its bound and the fewest bytes of an item; ascending by `key`, if given."""

    item: Codec
    limit: int
    least: int
    key: Callable[[Any], Any] | None = None

    def read(self, source: Input) -> tuple[Any, ...]:
        count = source.number(4)
        # This comes before the first item, so a number alone never makes the reader allocate.
        if count > self.limit or count * self.least > source.remaining:
            raise Problem("bounds")
        items: list[Any] = []
        for _ in range(count):
            item = self.item.read(source)
            if self.key is not None and items and self.key(items[-1]) >= self.key(item):
                raise Problem("order")
            items.append(item)
        return tuple(items)

    def write(self, value: Sequence[Any]) -> bytes:
        return len(value).to_bytes(4, "little") + b"".join(map(self.item.write, value))


@dataclass(frozen=True)
class Part(Codec):
    """`part`, of which only the length is checked here."""

    least: int
    limit: int

    def read(self, source: Input) -> bytes:
        length = source.number(4)
        if not self.least <= length <= self.limit:
            raise Problem("bounds")
        return source.take(length)

    def write(self, value: bytes) -> bytes:
        return len(value).to_bytes(4, "little") + value


class Field(NamedTuple):
    """A field of a struct, and the rule that is `layout` as soon as the field is read.

    The rule sees all fields so far.
    """

    name: str
    codec: Codec
    rule: Callable[[dict[str, Any]], bool] | None = None


@dataclass(frozen=True)
class Struct(Codec):
    """Fields, one after the other."""

    make: Callable[..., Any]
    fields: tuple[Field, ...]

    def read_fields(self, source: Input) -> dict[str, Any]:
        """Reads all fields by their names."""
        values: dict[str, Any] = {}
        for name, codec, rule in self.fields:
            values[name] = codec.read(source)
            if rule is not None and not rule(values):
                raise Problem("layout")
        return values

    def read(self, source: Input) -> Any:
        return self.make(**self.read_fields(source))

    def write(self, value: Any) -> bytes:
        return b"".join(codec.write(getattr(value, name)) for name, codec, _ in self.fields)


def itself(value: Any) -> Any:
    """The key of lists whose items are compared as they are."""
    return value


def not_zero(name: str) -> Callable[[dict[str, Any]], bool]:
    """The rule that a number is not 0."""
    return lambda values: values[name] != 0


def unlimited_admin(values: dict[str, Any]) -> bool:
    """The rule of limits: an admin has none (section 3)."""
    return values["role"] != ADMIN or values["limit"] is None


FLAG = Flag()
U8 = Number(1)
U32 = Number(4)
U64 = Number(8)
ID = Fixed(16)
HASH = Fixed(32)
SIGNATURE = Fixed(64)
BOX = Fixed(172)
ROLE = Number(1, range(1, 5))
TYPE = Number(1, range(1, 6))
LIMIT = Optional(List(ID, 1000, 16, itself))


class Ref(NamedTuple):
    """A change and the number of an operation in it. Ordered as the tuple is."""

    change: bytes
    number: int

    def __str__(self) -> str:
        return f"{self.change.hex()}:{self.number}"


# Only written, into the state words, so it has no bound of its own.
HASHES = List(HASH, (1 << 32) - 1, 32)
REF = Struct(Ref, (Field("change", HASH), Field("number", Number(2))))


# ---------------------------------------------------------------------------------------------------
# 3: the parts of entries

Limit = tuple[bytes, ...] | None


@dataclass(frozen=True)
class PublicKeys:
    """The four public keys of a member."""

    write: bytes
    authority: bytes
    index_box: bytes
    value_box: bytes

    def all(self) -> tuple[bytes, ...]:
        """The keys in their order."""
        return (self.write, self.authority, self.index_box, self.value_box)

    def signing(self, key: int) -> bytes:
        """The key that a change names by its number."""
        return self.write if key == WRITE_KEY else self.authority


@dataclass(frozen=True)
class CutItem:
    """What counts in one compartment of what a lowered member wrote."""

    compartment: bytes
    changes: tuple[bytes, ...]


@dataclass(frozen=True)
class Grant:
    """The keys of the current epoch of a compartment that a member gains."""

    compartment: bytes
    epoch: int
    index_box: bytes
    value_box: bytes | None


@dataclass(frozen=True)
class NamedInvite:
    """The invite and the join of an admission."""

    invite: bytes
    join: bytes


@dataclass(frozen=True)
class Admission:
    """A new member."""

    member: bytes
    person: bytes
    name: str
    role: int
    limit: Limit
    keys: PublicKeys
    invite: NamedInvite | None
    grants: tuple[Grant, ...]


@dataclass(frozen=True)
class RoleItem:
    """A new role or limit."""

    member: bytes
    role: int
    limit: Limit
    cut: tuple[CutItem, ...] | None
    grants: tuple[Grant, ...]


@dataclass(frozen=True)
class Removal:
    """The end of a member."""

    member: bytes
    cut: tuple[CutItem, ...]


@dataclass(frozen=True)
class KeyReplacement:
    """New keys of a member."""

    member: bytes
    keys: PublicKeys
    cut: tuple[CutItem, ...]


@dataclass(frozen=True)
class Rung:
    """The keys of an earlier epoch, for those who have the new ones."""

    entry: bytes
    index_rung: bytes
    value_rung: bytes


@dataclass(frozen=True)
class Recipient:
    """The keys of an epoch for one member."""

    member: bytes
    index_box: bytes
    value_box: bytes | None


@dataclass(frozen=True)
class EpochItem:
    """A new epoch of a compartment."""

    compartment: bytes
    epoch: int
    value_key: bytes
    commitment: bytes
    rungs: tuple[Rung, ...]
    recipients: tuple[Recipient, ...]


def by_member(item: Any) -> bytes:
    """The key of lists that ascend by member."""
    return item.member


def by_compartment(item: Any) -> bytes:
    """The key of lists that ascend by compartment."""
    return item.compartment


PUBLIC_KEYS = Struct(
    PublicKeys,
    (
        Field("write", HASH),
        Field("authority", HASH),
        Field("index_box", HASH),
        Field("value_box", HASH),
    ),
)
CUT = List(
    Struct(
        CutItem,
        (
            Field("compartment", ID),
            Field("changes", List(HASH, 1000, 32, itself), lambda v: bool(v["changes"])),
        ),
    ),
    10_000,
    20,
    by_compartment,
)
GRANTS = List(
    Struct(
        Grant,
        (
            Field("compartment", ID),
            Field("epoch", U32),
            Field("index_box", BOX),
            Field("value_box", Optional(BOX)),
        ),
    ),
    10_000,
    193,
    by_compartment,
)
ADMISSION = Struct(
    Admission,
    (
        Field("member", ID),
        Field("person", ID),
        Field("name", Text(256, not_empty=True)),
        Field("role", ROLE),
        Field("limit", LIMIT, unlimited_admin),
        Field("keys", PUBLIC_KEYS),
        Field("invite", Optional(Struct(NamedInvite, (Field("invite", ID), Field("join", HASH))))),
        Field("grants", GRANTS),
    ),
)
ROLE_ITEM = Struct(
    RoleItem,
    (
        Field("member", ID),
        Field("role", ROLE),
        Field("limit", LIMIT, unlimited_admin),
        Field("cut", Optional(CUT)),
        Field("grants", GRANTS),
    ),
)
REMOVAL = Struct(Removal, (Field("member", ID), Field("cut", CUT)))
KEY_REPLACEMENT = Struct(
    KeyReplacement, (Field("member", ID), Field("keys", PUBLIC_KEYS), Field("cut", CUT))
)
RUNG = Struct(
    Rung, (Field("entry", HASH), Field("index_rung", Fixed(72)), Field("value_rung", Fixed(148)))
)
RECIPIENT = Struct(
    Recipient, (Field("member", ID), Field("index_box", BOX), Field("value_box", Optional(BOX)))
)
EPOCH_ITEM = Struct(
    EpochItem,
    (
        Field("compartment", ID),
        Field("epoch", U32, not_zero("epoch")),
        Field("value_key", HASH),
        Field("commitment", HASH),
        Field("rungs", List(RUNG, 2, 252, lambda rung: rung.entry)),
        Field("recipients", List(RECIPIENT, 1000, 189, by_member)),
    ),
)


# ---------------------------------------------------------------------------------------------------
# 3 to 5: the four objects


@dataclass(frozen=True)
class SignedObject:
    """An object with all its bytes, named by their hash."""

    data: bytes

    @cached_property
    def hash(self) -> bytes:
        """The name of the object."""
        return blake2b(self.data)

    @property
    def signed(self) -> bytes:
        """What the last signature covers: all bytes before it."""
        return self.data[:-64]


@dataclass(frozen=True)
class Entry(SignedObject):
    """An entry of the membership (section 3)."""

    number: int
    group: bytes
    previous: bytes
    other: bytes | None
    author: bytes
    made_at: int
    one_admin: bool
    admissions: tuple[Admission, ...]
    roles: tuple[RoleItem, ...]
    removals: tuple[Removal, ...]
    key_replacements: tuple[KeyReplacement, ...]
    epochs: tuple[EpochItem, ...]
    void_invites: tuple[bytes, ...]
    signature: bytes

    @property
    def is_first(self) -> bool:
        """Whether this is entry 1, which has no entry before it."""
        return self.number == 1

    @property
    def is_joining(self) -> bool:
        """Whether this entry joins a fork (3.4)."""
        return self.other is not None

    @property
    def before(self) -> tuple[bytes, ...]:
        """The hashes of previous and other."""
        if self.is_first:
            return ()
        return (self.previous,) if self.other is None else (self.previous, self.other)


@dataclass(frozen=True)
class Change(SignedObject):
    """A change, whose operations and values are sealed (section 4)."""

    kind: int
    key: int
    group: bytes
    compartment: bytes
    epoch: int
    author: bytes
    chain: bytes
    counter: int
    before: bytes
    entry_number: int
    entry: bytes
    parents: tuple[bytes, ...]
    operations: bytes
    values: bytes
    signature: bytes

    @property
    def has_before(self) -> bool:
        """Whether there is a change before this one in its chain."""
        return self.counter != 1

    @property
    def all_before(self) -> tuple[bytes, ...]:
        """The parents, and the change before in the chain."""
        return (*self.parents, self.before) if self.has_before else self.parents

    @property
    def header(self) -> bytes:
        """All bytes before the length of the part of operations."""
        return self.data[: len(self.data) - 64 - len(self.values) - 4 - len(self.operations) - 4]


@dataclass(frozen=True)
class Invite(SignedObject):
    """An invite (section 5)."""

    id: bytes
    group: bytes
    entry_number: int
    entry: bytes
    author: bytes
    made_at: int
    ends_at: int
    person: bytes | None
    name: str
    role: int
    limit: Limit
    is_automatic: bool
    code_key: bytes
    mac: bytes
    signature: bytes


@dataclass(frozen=True)
class Join(SignedObject):
    """A join (section 5)."""

    group: bytes
    invite: bytes
    member: bytes
    keys: PublicKeys
    made_at: int
    write_signature: bytes
    authority_signature: bytes
    code_signature: bytes


ENTRY = Struct(
    Entry,
    (
        Field("number", U64, not_zero("number")),
        Field("group", HASH, lambda v: (v["group"] == ZERO_HASH) == (v["number"] == 1)),
        Field("previous", HASH, lambda v: (v["previous"] == ZERO_HASH) == (v["number"] == 1)),
        Field("other", Optional(HASH), lambda v: v["other"] is None or v["number"] != 1),
        Field("author", ID),
        Field("made_at", U64),
        Field("one_admin", FLAG, lambda v: not v["one_admin"] or v["number"] == 1),
        Field("admissions", List(ADMISSION, 1000, 171, by_member)),
        Field("roles", List(ROLE_ITEM, 1000, 23, by_member)),
        Field("removals", List(REMOVAL, 1000, 20, by_member)),
        Field("key_replacements", List(KEY_REPLACEMENT, 1000, 148, by_member)),
        Field("epochs", List(EPOCH_ITEM, 10_000, 92, by_compartment)),
        Field("void_invites", List(ID, 1000, 16, itself)),
        Field("signature", SIGNATURE),
    ),
)
CHANGE = Struct(
    Change,
    (
        Field("kind", ChangeKind()),
        Field("key", Number(1, range(1, 3))),
        Field("group", HASH),
        Field("compartment", ID),
        Field("epoch", U32, not_zero("epoch")),
        Field("author", ID),
        Field("chain", ID),
        Field("counter", U64, not_zero("counter")),
        Field("before", HASH, lambda v: (v["before"] == ZERO_HASH) == (v["counter"] == 1)),
        Field("entry_number", U64, not_zero("entry_number")),
        Field("entry", HASH),
        Field("parents", List(HASH, 64, 32, itself), lambda v: v["before"] not in v["parents"]),
        Field("operations", Part(168, 8 * MIB)),
        Field("values", Part(0, 8 * MIB), lambda v: not 1 <= len(v["values"]) <= 331),
        Field("signature", SIGNATURE),
    ),
)
INVITE = Struct(
    Invite,
    (
        Field("id", ID),
        Field("group", HASH),
        Field("entry_number", U64, not_zero("entry_number")),
        Field("entry", HASH),
        Field("author", ID),
        Field("made_at", U64),
        Field("ends_at", U64),
        Field("person", Optional(ID)),
        Field("name", Text(256, not_empty=True)),
        Field("role", ROLE),
        Field("limit", LIMIT, unlimited_admin),
        Field("is_automatic", FLAG, lambda v: not v["is_automatic"] or v["role"] != ADMIN),
        Field("code_key", HASH),
        Field("mac", HASH),
        Field("signature", SIGNATURE),
    ),
)
JOIN = Struct(
    Join,
    (
        Field("group", HASH),
        Field("invite", ID),
        Field("member", ID),
        Field("keys", PUBLIC_KEYS),
        Field("made_at", U64),
        Field("write_signature", SIGNATURE),
        Field("authority_signature", SIGNATURE),
        Field("code_signature", SIGNATURE),
    ),
)


@dataclass(frozen=True)
class ObjectKind:
    """One of the four objects: its label, its greatest length, and its fields."""

    label: bytes
    limit: int
    struct: Struct

    def decode(self, data: bytes) -> Any:
        """Decodes an object, or raises its first problem. Signatures are not compared."""
        if not 16 <= len(data) <= self.limit:
            raise Problem("length")
        if data[:16] != self.label:
            # The second slash ends the part of the label that all formats share.
            shared = self.label[: self.label.rindex(b"/") + 1]
            raise Problem("newer" if data.startswith(shared) else "label")
        source = Input(data, 16)
        values = self.struct.read_fields(source)
        source.finish()
        return self.struct.make(data=data, **values)

    def encode(self, value: SignedObject) -> bytes:
        """The one valid encoding of an object."""
        return self.label + self.struct.write(value)


ENTRIES = ObjectKind(label("zg-env/entry/1\n"), 8 * MIB, ENTRY)
CHANGES = ObjectKind(label("zg-env/change/1\n"), 8 * MIB, CHANGE)
INVITES = ObjectKind(label("zg-env/invite/1\n"), 64 * 1024, INVITE)
JOINS = ObjectKind(label("zg-env/join/1\n"), 1024, JOIN)


def decode_entry(data: bytes) -> Entry:
    """Decodes an entry (section 3)."""
    return ENTRIES.decode(data)


def decode_change(data: bytes) -> Change:
    """Decodes a change (section 4)."""
    return CHANGES.decode(data)


def decode_invite(data: bytes) -> Invite:
    """Decodes an invite (section 5)."""
    return INVITES.decode(data)


def decode_join(data: bytes) -> Join:
    """Decodes a join (section 5)."""
    return JOINS.decode(data)


def check_signature(key: bytes, value: SignedObject, signature: bytes) -> None:
    """Compares the last signature of an object; another is `signature`."""
    if not signature_fits(key, value.signed, signature):
        raise Problem("signature")


def check_invite_code(invite: Invite, code: bytes) -> None:
    """Compares MAC and code key of an invite with the code (section 5)."""
    mac_key = blake2b(label("zg-env/code-mac") + invite.id, key=code)
    # The MAC covers all bytes before it, which is before 32 bytes of MAC and the signature.
    mac = blake2b(invite.data[: -64 - 32], key=mac_key)
    if not hmac.compare_digest(mac, invite.mac):
        raise Problem("code")
    if signing_public_key(blake2b(label("zg-env/code-sign") + invite.id, key=code)) != (
        invite.code_key
    ):
        raise Problem("code")


def check_join_signatures(join: Join, code_key: bytes) -> None:
    """Compares the three signatures, each of which covers all bytes before it (section 5)."""
    signatures = (
        (join.keys.write, join.write_signature),
        (join.keys.authority, join.authority_signature),
        (code_key, join.code_signature),
    )
    start = len(join.data) - 3 * 64
    for place, (key, signature) in enumerate(signatures):
        if not signature_fits(key, join.data[: start + 64 * place], signature):
            raise Problem("signature")


# ---------------------------------------------------------------------------------------------------
# 4: operations


@dataclass(frozen=True)
class Scope:
    """A scope (5.3 of the vault's page)."""

    targets: int
    environments: tuple[str, ...]
    branch: str | None

    def is_included_in(self, other: Scope) -> bool:
        """Whether all of this scope is in the other one (6.2)."""
        return (
            self.branch == other.branch
            and self.targets & ~other.targets == 0
            and set(self.environments) <= set(other.environments)
        )

    def overlaps(self, other: Scope) -> bool:
        """Whether both have a target or an environment in common (6.4)."""
        return self.branch == other.branch and (
            self.targets & other.targets != 0
            or not set(self.environments).isdisjoint(other.environments)
        )

    def json(self) -> dict[str, Any]:
        """The form of 6.5."""
        return {
            "targets": self.targets,
            "environments": list(self.environments),
            "branch": self.branch,
        }


@dataclass(frozen=True)
class Binding:
    """The project of Vercel that a shared project belongs to."""

    origin: str
    team: str | None
    project: str
    name: str

    def json(self) -> dict[str, Any]:
        """The form of 6.5."""
        return {
            "origin": self.origin,
            "team": self.team,
            "project": self.project,
            "name": self.name,
        }


SCOPE = Struct(
    Scope,
    (
        Field("targets", Number(1, range(8))),
        Field("environments", List(Text(4096), 1000, 4, itself)),
        Field("branch", Optional(Text(1024))),
    ),
)
BINDING = Optional(
    Struct(
        Binding,
        (
            Field("origin", Text(4096, not_empty=True)),
            Field("team", Optional(Text(4096))),
            Field("project", Text(4096, not_empty=True)),
            Field("name", Text(4096)),
        ),
    )
)

CREATE, VALUE, CHOOSE, REMOVE, COMMENT, REMINDER, SET_TYPE = range(1, 8)
SET_SCOPE, NAME, PROJECT_NAME, SET_BINDING, CLAIM, ROTATION, SETTLE = range(8, 15)

# What each kind assigns: the last column of the table in section 4.
ASSIGNS: dict[int, tuple[str, ...]] = {
    CREATE: ("name", "type", "scope", "comment", "reminder"),
    VALUE: ("value",),
    CHOOSE: ("value",),
    REMOVE: ("value",),
    COMMENT: ("comment",),
    REMINDER: ("reminder",),
    SET_TYPE: ("type",),
    SET_SCOPE: ("scope",),
    NAME: ("name",),
    PROJECT_NAME: ("projectName",),
    SET_BINDING: ("binding",),
    CLAIM: ("claim",),
    ROTATION: ("rotation",),
    SETTLE: (),
}


@dataclass(frozen=True)
class Operation:
    """An operation of any kind. Fields that its kind does not have keep their defaults."""

    kind: int
    record: bytes | None = None
    replaces: tuple[Ref, ...] = ()
    name: str | None = None
    type: int | None = None
    scope: Scope | None = None
    comment: str | None = None
    reminder: int | None = None
    seed: bytes | None = None
    chunk_length: int = 0
    version: Ref | None = None
    binding: Binding | None = None
    remote_id: str | None = None
    key: str | None = None
    updated_at: int | None = None
    begins: bool | None = None
    what: int | None = None
    subject: bytes | None = None
    object: bytes | None = None
    reason: str | None = None

    def assigned(self, thing: str) -> Any:
        """What the operation assigns to a name, type, scope, comment, reminder or binding."""
        return self.name if thing == "projectName" else getattr(self, thing)


def scope_is_not_empty(values: dict[str, Any]) -> bool:
    """The rule that a scope has a target or a custom environment."""
    scope: Scope = values["scope"]
    return scope.targets != 0 or bool(scope.environments)


def chunk_length_is_possible(values: dict[str, Any]) -> bool:
    """The rule that a chunk has the length of a nonce, a padded value and a tag."""
    length = values["chunk_length"] - 40
    # Padding a length that is one already changes nothing, and no other length has this property.
    return 128 <= length <= padded_length(4 + MIB) and padded_length(length) == length


RECORD = Field("record", ID)
REPLACES = Field("replaces", List(REF, 1000, 34, itself))
REPLACES_SOMETHING = REPLACES._replace(rule=lambda v: bool(v["replaces"]))
TYPE_FIELD = Field("type", TYPE)
SCOPE_FIELD = Field("scope", SCOPE, scope_is_not_empty)
NAME_FIELD = Field("name", Text(1024, not_empty=True))
COMMENT_FIELD = Field("comment", Optional(Text(4096)))
REMINDER_FIELD = Field("reminder", U64)
VERSION_FIELD = Field("version", REF)

OPERATION_FIELDS: dict[int, tuple[Field, ...]] = {
    CREATE: (RECORD, NAME_FIELD, TYPE_FIELD, SCOPE_FIELD, COMMENT_FIELD, REMINDER_FIELD),
    VALUE: (
        RECORD,
        REPLACES,
        Field("seed", ID),
        NAME_FIELD,
        Field("chunk_length", U32, chunk_length_is_possible),
    ),
    CHOOSE: (RECORD, REPLACES, VERSION_FIELD),
    REMOVE: (RECORD, REPLACES),
    COMMENT: (RECORD, REPLACES, COMMENT_FIELD),
    REMINDER: (RECORD, REPLACES, REMINDER_FIELD),
    SET_TYPE: (RECORD, REPLACES_SOMETHING, TYPE_FIELD),
    SET_SCOPE: (RECORD, REPLACES_SOMETHING, SCOPE_FIELD),
    NAME: (RECORD, REPLACES_SOMETHING, NAME_FIELD),
    PROJECT_NAME: (REPLACES, NAME_FIELD),
    SET_BINDING: (REPLACES, Field("binding", BINDING)),
    CLAIM: (
        RECORD,
        REPLACES,
        VERSION_FIELD,
        Field("remote_id", Text(4096, not_empty=True)),
        Field("key", Text(1024, not_empty=True)),
        TYPE_FIELD,
        SCOPE_FIELD,
        Field("updated_at", U64),
    ),
    ROTATION: (RECORD, REPLACES, Field("begins", FLAG)),
    SETTLE: (
        Field("what", Number(1, range(1, 3))),
        Field("subject", ID),
        Field("object", ID),
        Field("reason", Text(1024)),
    ),
}


class OperationCodec(Codec):
    """A kind, and the fields of this kind."""

    kind = Number(1, range(1, 15))

    def read(self, source: Input) -> Operation:
        kind = self.kind.read(source)
        return Operation(kind, **Struct(Operation, OPERATION_FIELDS[kind]).read_fields(source))

    def write(self, value: Operation) -> bytes:
        return self.kind.write(value.kind) + Struct(
            Operation, OPERATION_FIELDS[value.kind]
        ).write(value)


OPERATIONS = List(OperationCodec(), 4096, 6)
BATCH = Optional(ID)


@dataclass(frozen=True)
class Operations:
    """What the sealed part of a change holds."""

    made_at: int
    batch: bytes | None
    operations: tuple[Operation, ...]

    def encode(self) -> bytes:
        """The one valid encoding, with its padding."""
        content = U64.write(self.made_at) + BATCH.write(self.batch)
        content += OPERATIONS.write(self.operations)
        padded = len(content).to_bytes(4, "little") + content
        return padded.ljust(padded_length(len(padded)), b"\0")


def decode_operations(padded: bytes, values_length: int) -> Operations:
    """Decodes padded operations of a change with that many bytes of values."""
    source = Input(unpad(padded, "padding"))
    made_at = U64.read(source)
    batch = BATCH.read(source)
    if (batch is not None) != (values_length != 0):
        raise Problem("layout")
    operations: tuple[Operation, ...] = OPERATIONS.read(source)
    lengths = [item.chunk_length for item in operations if item.kind == VALUE]
    if (164 + sum(lengths) if lengths else 0) != values_length:
        raise Problem("layout")
    source.finish()
    return Operations(made_at, batch, operations)


def unseal_operations(change: Change, index_key: bytes) -> bytes:
    """Opens the sealed part of a change, and leaves its padding."""
    return aead_open(kdf(index_key, 1, b"zggroup1"), change.operations, change.header)


def open_operations(change: Change, index_key: bytes) -> Operations:
    """Opens and decodes the operations of a change with the index key of its epoch."""
    return decode_operations(unseal_operations(change, index_key), len(change.values))


# ---------------------------------------------------------------------------------------------------
# 3.5 and 4.1: values, boxes and rungs


def version_id(author: bytes, seed: bytes) -> bytes:
    """The id of the version that a value operation makes (4.1)."""
    return blake2b(label("zg-env/version") + author + seed)[:16]


def after_prefix(text: bytes, prefix: bytes) -> bytes:
    """The 32 bytes after the prefix, which the text must have, else it is `tag`."""
    if len(text) != len(prefix) + 32 or not text.startswith(prefix):
        raise Problem("tag")
    return text[-32:]


def open_values(change: Change, operations: Operations, value_secret: bytes) -> list[bytes]:
    """Opens the values of a change, in the order of its value operations (4.1)."""
    if not change.values or operations.batch is None:
        return []
    place = change.group + change.compartment + U32.write(change.epoch) + operations.batch
    data_key = after_prefix(
        box_open(value_secret, change.values[:164]), label("zg-env/data-key") + place
    )
    values: list[bytes] = []
    position = 164
    for item in operations.operations:
        if item.kind != VALUE:
            continue
        assert item.record is not None and item.seed is not None and item.name is not None
        chunk = change.values[position : position + item.chunk_length]
        position += item.chunk_length
        data = label("zg-env/chunk") + place + item.record
        data += version_id(change.author, item.seed) + Text(1024).write(item.name)
        value = unpad(aead_open(data_key, chunk, data), "tag")
        if len(value) > MIB:
            raise Problem("tag")
        values.append(value)
    return values


@dataclass(frozen=True)
class BoxPlace:
    """What a box names besides its key: where it is, for which epoch, and for whom (3.5)."""

    entry: Entry
    compartment: bytes
    epoch: int
    member: bytes

    def prefix(self, name: str) -> bytes:
        """The bytes before the key. The group is zeros in entry 1, as in its own field."""
        return (
            label(name)
            + self.entry.group
            + U64.write(self.entry.number)
            + self.compartment
            + U32.write(self.epoch)
            + self.member
        )


def index_key_commitment(compartment: bytes, epoch: int, index_key: bytes) -> bytes:
    """What the entry that makes an epoch says of its index key (3.5)."""
    return blake2b(label("zg-env/index-key") + compartment + U32.write(epoch) + index_key)


def check_index_key(made: EpochItem, index_key: bytes) -> bytes:
    """The key, if it is the one of the epoch, else `tag`."""
    if index_key_commitment(made.compartment, made.epoch, index_key) != made.commitment:
        raise Problem("tag")
    return index_key


def check_value_secret(made: EpochItem, value_secret: bytes) -> bytes:
    """The secret, if it is the one of the epoch, else `tag`."""
    if pair(value_secret)[0] != made.value_key:
        raise Problem("tag")
    return value_secret


def open_index_box(seed: bytes, box: bytes, place: BoxPlace, made: EpochItem) -> bytes:
    """Opens an index box with the seed of an index box pair; `made` is the item of the epoch."""
    key = after_prefix(box_open(seed, box), place.prefix("zg-env/index"))
    return check_index_key(made, key)


def open_value_box(seed: bytes, box: bytes, place: BoxPlace, made: EpochItem) -> bytes:
    """Opens a value box with the seed of a value box pair; `made` is the item of the epoch."""
    secret = after_prefix(box_open(seed, box), place.prefix("zg-env/value"))
    return check_value_secret(made, secret)


def rung_prefix(entry: Entry, earlier: EpochItem) -> bytes:
    """What both rungs name: the earlier epoch."""
    place = entry.group + earlier.compartment + U32.write(earlier.epoch)
    return label("zg-env/rung") + place


def open_index_rung(index_key: bytes, rung: Rung, entry: Entry, earlier: EpochItem) -> bytes:
    """Opens the earlier index key with the new one; `earlier` is the item of that epoch."""
    prefix = rung_prefix(entry, earlier)
    key = aead_open(kdf(index_key, 2, b"zggroup1"), rung.index_rung, prefix)
    return check_index_key(earlier, key)


def open_value_rung(value_secret: bytes, rung: Rung, entry: Entry, earlier: EpochItem) -> bytes:
    """Opens the earlier value secret with the new one; `earlier` is the item of that epoch."""
    secret = after_prefix(box_open(value_secret, rung.value_rung), rung_prefix(entry, earlier))
    return check_value_secret(earlier, secret)


# ---------------------------------------------------------------------------------------------------
# 3 and 6: what comes first, and the past


def in_order(before: Mapping[bytes, Iterable[bytes]]) -> list[bytes]:
    """The names in an order in which everything present that a name is built on comes first.

    Names are hashes of what contains the names before, so there are no circles.
    """
    open_count: dict[bytes, int] = {}
    after: dict[bytes, list[bytes]] = {name: [] for name in before}
    for name, earlier in before.items():
        present = {item for item in earlier if item in before}
        open_count[name] = len(present)
        for item in present:
            after[item].append(name)
    ready = sorted(name for name, count in open_count.items() if count == 0)
    order: list[bytes] = []
    while ready:
        name = ready.pop()
        order.append(name)
        for item in after[name]:
            open_count[item] -= 1
            if open_count[item] == 0:
                ready.append(item)
    return order


class Ancestry:
    """The pasts of names, each as a number with one bit for each name in its past.

    The past of a name is everything that can be reached from it, without itself. The numbers take
    n * n / 8 bytes at most, 310 MB for 50,000 changes. That is simple, and enough for histories of
    moderate length.
    """

    def __init__(self, before: Mapping[bytes, Iterable[bytes]], order: Iterable[bytes]) -> None:
        self._bit: dict[bytes, int] = {}
        self._past: dict[bytes, int] = {}
        for place, name in enumerate(order):
            self._bit[name] = 1 << place
            past = 0
            for item in before[name]:
                past |= self._past.get(item, 0) | self._bit.get(item, 0)
            self._past[name] = past

    def is_before(self, earlier: bytes, later: bytes) -> bool:
        """Whether one name is in the past of the other."""
        return self._bit.get(earlier, 0) & self._past.get(later, 0) != 0

    def past(self, name: bytes) -> int:
        """The past of a name."""
        return self._past.get(name, 0)

    def bit(self, name: bytes) -> int:
        """The bit of a name, 0 if it is not present."""
        return self._bit.get(name, 0)


# ---------------------------------------------------------------------------------------------------
# 3.1 to 3.4: the membership


def role_at_least(role: int, other: int) -> bool:
    """Whether a role is at least another (section 2)."""
    return role == other or role == ADMIN or (role == MEMBER and other != ADMIN)


def reads_values(role: int) -> bool:
    """Whether a role reads values (section 2)."""
    return role != WRITER


def limit_includes(limit: Limit, other: Limit) -> bool:
    """Whether a limit includes another: no limit includes every limit."""
    return limit is None or (other is not None and set(other) <= set(limit))


@dataclass(frozen=True)
class Member:
    """What the membership says of a member."""

    person: bytes
    name: str
    role: int
    limit: Limit
    keys: PublicKeys
    active: bool = True

    def has_access(self, compartment: bytes) -> bool:
        """Whether the member has access to a compartment (section 2)."""
        return self.active and (self.limit is None or compartment in self.limit)

    @property
    def is_active_admin(self) -> bool:
        """Whether the member is active, and an admin."""
        return self.active and self.role == ADMIN


@dataclass(frozen=True)
class Lowering:
    """The end of some rights of a member (3.2)."""

    entry: bytes
    member: bytes
    cut: tuple[CutItem, ...]
    before: Member
    after: Member

    def listed(self, compartment: bytes) -> tuple[bytes, ...]:
        """The changes that the cut lists for a compartment."""
        for item in self.cut:
            if item.compartment == compartment:
                return item.changes
        return ()


@dataclass(frozen=True)
class CurrentEpoch:
    """The current epoch of a compartment, and the entry that made it."""

    number: int
    entry: bytes


@dataclass
class Membership:
    """The membership after an entry (3.2)."""

    members: dict[bytes, Member] = field(default_factory=dict)
    epochs: dict[bytes, CurrentEpoch] = field(default_factory=dict)
    used_invites: set[bytes] = field(default_factory=set)
    void_invites: set[bytes] = field(default_factory=set)
    used_keys: set[bytes] = field(default_factory=set)
    lowerings: dict[tuple[bytes, bytes], Lowering] = field(default_factory=dict)

    def copy(self) -> Membership:
        """A copy whose changes do not reach this one."""
        return Membership(
            dict(self.members),
            dict(self.epochs),
            set(self.used_invites),
            set(self.void_invites),
            set(self.used_keys),
            dict(self.lowerings),
        )

    def is_active_admin(self, member: bytes) -> bool:
        """Whether the member is known, active, and an admin."""
        known = self.members.get(member)
        return known is not None and known.is_active_admin

    def admins(self) -> int:
        """The number of active admins."""
        return sum(member.is_active_admin for member in self.members.values())

    def after(self, entry: Entry) -> Membership:
        """The membership after an entry whose members are right (rule `member`)."""
        result = self.copy()
        members = result.members
        for admission in entry.admissions:
            members[admission.member] = Member(
                admission.person,
                admission.name,
                admission.role,
                admission.limit,
                admission.keys,
            )
            result.used_keys.update(admission.keys.all())
            if admission.invite is not None:
                result.used_invites.add(admission.invite.invite)
        for role in entry.roles:
            new = replace(members[role.member], role=role.role, limit=role.limit)
            if role.cut is not None:
                result._lower(entry, role.member, role.cut, new)
            members[role.member] = new
        for removal in entry.removals:
            new = replace(members[removal.member], active=False)
            result._lower(entry, removal.member, removal.cut, new)
            members[removal.member] = new
        for replacement in entry.key_replacements:
            new = replace(members[replacement.member], keys=replacement.keys)
            result._lower(entry, replacement.member, replacement.cut, new)
            members[replacement.member] = new
            result.used_keys.update(replacement.keys.all())
        for epoch in entry.epochs:
            result.epochs[epoch.compartment] = CurrentEpoch(epoch.epoch, entry.hash)
            result.used_keys.add(epoch.value_key)
        result.void_invites.update(entry.void_invites)
        return result

    def _lower(
        self, entry: Entry, member: bytes, cut: tuple[CutItem, ...], after: Member
    ) -> None:
        lowering = Lowering(entry.hash, member, cut, self.members[member], after)
        self.lowerings[entry.hash, member] = lowering


def join_members(previous: Member, other: Member) -> Member:
    """What a joining entry makes of a member of both sides (3.4)."""
    if role_at_least(previous.role, other.role):
        role = other.role
    else:
        # Of two roles that are not comparable the member loses both, so it does not matter which
        # one an inactive member shows.
        role = previous.role
    if previous.limit is None or other.limit is None:
        limit = other.limit if previous.limit is None else previous.limit
    else:
        limit = tuple(sorted(set(previous.limit) & set(other.limit)))
    active = (
        previous.active
        and other.active
        and previous.person == other.person
        and previous.name == other.name
        and previous.keys == other.keys
        and (
            role_at_least(previous.role, other.role) or role_at_least(other.role, previous.role)
        )
    )
    return replace(previous, role=role, limit=limit, active=active)


def join_memberships(previous: Membership, other: Membership) -> Membership:
    """The membership of both sides of a fork, before the epochs of the joining entry (3.4)."""
    members = {**other.members, **previous.members}
    for member in previous.members.keys() & other.members.keys():
        members[member] = join_members(previous.members[member], other.members[member])
    # The joining entry makes a new epoch of each of these compartments, so which side an epoch is
    # taken from has no effect on a valid entry.
    return Membership(
        members,
        {**other.epochs, **previous.epochs},
        previous.used_invites | other.used_invites,
        previous.void_invites | other.void_invites,
        previous.used_keys | other.used_keys,
        {**other.lowerings, **previous.lowerings},
    )


@dataclass
class EntryCase:
    """An entry to be judged, with the memberships after previous and after other."""

    entry: Entry
    previous: Entry | None
    other: Entry | None
    sides: tuple[Membership, ...]
    ancestry: Ancestry
    one_admin: bool

    @cached_property
    def before(self) -> Membership:
        """The membership to which the items of the entry apply."""
        if not self.sides:
            return Membership()
        if len(self.sides) == 1:
            return self.sides[0]
        return join_memberships(*self.sides)

    @cached_property
    def after(self) -> Membership:
        """The membership after the entry. Rules above `member` cannot use it."""
        return self.before.after(self.entry)

    def is_raise(self, item: RoleItem) -> bool:
        """Whether a role item is a raise."""
        old = self.before.members[item.member]
        return role_at_least(item.role, old.role) and limit_includes(item.limit, old.limit)


def entry_rule_number(case: EntryCase) -> bool:
    """The number follows, and a joining entry joins two sides in the one right order."""
    entry, previous, other = case.entry, case.previous, case.other
    if previous is None:
        return True
    if other is None:
        return entry.number == previous.number + 1
    if (
        previous.hash == other.hash
        or case.ancestry.is_before(previous.hash, other.hash)
        or case.ancestry.is_before(other.hash, previous.hash)
        or entry.number != max(previous.number, other.number) + 1
    ):
        return False
    if previous.number == other.number:
        return previous.hash < other.hash
    return previous.number > other.number


def entry_rule_author(case: EntryCase) -> bool:
    """The author is an active admin, on both sides of a fork with the same authority key."""
    author = case.entry.author
    if not case.sides:
        return any(
            item.member == author and item.role == ADMIN for item in case.entry.admissions
        )
    if not all(side.is_active_admin(author) for side in case.sides):
        return False
    return len({side.members[author].keys.authority for side in case.sides}) == 1


def entry_rule_signature(case: EntryCase) -> bool:
    """The signature fits the author's authority key."""
    entry = case.entry
    if case.sides:
        key = case.sides[0].members[entry.author].keys.authority
    else:
        key = next(i.keys.authority for i in entry.admissions if i.member == entry.author)
    return signature_fits(key, entry.signed, entry.signature)


def entry_rule_join(case: EntryCase) -> bool:
    """A joining entry brings nothing but epochs."""
    entry = case.entry
    return not entry.is_joining or not (
        entry.admissions
        or entry.roles
        or entry.removals
        or entry.key_replacements
        or entry.void_invites
    )


def entry_rule_member(case: EntryCase) -> bool:
    """New members are new, others are active, and none is in two lists."""
    entry, members = case.entry, case.before.members
    named = [item.member for item in (*entry.roles, *entry.removals, *entry.key_replacements)]
    admitted = [item.member for item in entry.admissions]
    return (
        not any(member in members for member in admitted)
        and all(member in members and members[member].active for member in named)
        and len({*named, *admitted}) == len(named) + len(admitted)
    )


def entry_rule_key(case: EntryCase) -> bool:
    """New keys are new, and boxes can be sealed to them."""
    entry = case.entry
    key_sets = [item.keys for item in (*entry.admissions, *entry.key_replacements)]
    box_keys = [key for keys in key_sets for key in (keys.index_box, keys.value_box)]
    value_keys = [item.value_key for item in entry.epochs]
    if any(is_low_order(key) for key in (*box_keys, *value_keys)):
        return False
    new = [*(key for keys in key_sets for key in keys.all()), *value_keys]
    return len(set(new)) == len(new) and case.before.used_keys.isdisjoint(new)


def entry_rule_invite(case: EntryCase) -> bool:
    """An invite admits once, and never after it was made void."""
    named = [item.invite.invite for item in case.entry.admissions if item.invite is not None]
    return (
        len(set(named)) == len(named)
        and case.before.used_invites.isdisjoint(named)
        and case.before.void_invites.isdisjoint(named)
        and set(case.entry.void_invites).isdisjoint(named)
    )


def entry_rule_one_admin(case: EntryCase) -> bool:
    """A group with one admin has exactly one after each entry."""
    return not case.one_admin or case.after.admins() == 1


def entry_rule_no_change(case: EntryCase) -> bool:
    """The entry, and each role item in it, does something."""
    entry, members = case.entry, case.before.members
    for item in entry.roles:
        old = members[item.member]
        if (item.role, item.limit) == (old.role, old.limit):
            return False
    return entry.is_joining or bool(
        entry.admissions
        or entry.roles
        or entry.removals
        or entry.key_replacements
        or entry.epochs
        or entry.void_invites
    )


def entry_rule_last_admin(case: EntryCase) -> bool:
    """Somebody can sign the next entry."""
    return case.after.admins() > 0


def entry_rule_cut(case: EntryCase) -> bool:
    """A role item has a cut exactly if it is not a raise."""
    return all((item.cut is None) == case.is_raise(item) for item in case.entry.roles)


def entry_rule_epoch(case: EntryCase) -> bool:
    """Epochs follow those of the sides, and there is one wherever somebody lost rights."""
    entry, before = case.entry, case.before
    for item in entry.epochs:
        current = [
            side.epochs[item.compartment]
            for side in case.sides
            if item.compartment in side.epochs
        ]
        if item.epoch != max((epoch.number for epoch in current), default=0) + 1:
            return False
        if [rung.entry for rung in item.rungs] != sorted({epoch.entry for epoch in current}):
            return False
    made = {item.compartment for item in entry.epochs}
    if entry.is_joining:
        return made >= before.epochs.keys()
    lowered = [item.member for item in (*entry.removals, *entry.key_replacements)]
    lowered += [item.member for item in entry.roles if item.cut is not None]
    return all(
        compartment in made
        for member in lowered
        for compartment in before.epochs
        if before.members[member].has_access(compartment)
    )


def entry_rule_recipients(case: EntryCase) -> bool:
    """An epoch is for exactly those who have access, with values for those who read them."""
    for item in case.entry.epochs:
        expected = {
            member: reads_values(state.role)
            for member, state in case.after.members.items()
            if state.has_access(item.compartment)
        }
        if {it.member: it.value_box is not None for it in item.recipients} != expected:
            return False
    return True


def entry_rule_grants(case: EntryCase) -> bool:
    """Who gains a compartment gets its keys, unless a new epoch brings them."""
    entry, before = case.entry, case.before
    made = {item.compartment for item in entry.epochs}
    for item in (*entry.admissions, *entry.roles):
        old = before.members.get(item.member)
        new = case.after.members[item.member]
        expected = {
            compartment: (epoch.number, reads_values(new.role))
            for compartment, epoch in before.epochs.items()
            if compartment not in made and gains(old, new, compartment)
        }
        if {g.compartment: (g.epoch, g.value_box is not None) for g in item.grants} != expected:
            return False
    return True


def gains(old: Member | None, new: Member, compartment: bytes) -> bool:
    """Whether a member that was admitted or raised gains a compartment."""
    if not new.has_access(compartment):
        return False
    if old is None or not old.has_access(compartment):
        return True
    return not reads_values(old.role) and reads_values(new.role)


# The table of 3.1, in its order.
ENTRY_RULES: tuple[tuple[str, Callable[[EntryCase], bool]], ...] = (
    ("number", entry_rule_number),
    ("author", entry_rule_author),
    ("signature", entry_rule_signature),
    ("join", entry_rule_join),
    ("member", entry_rule_member),
    ("key", entry_rule_key),
    ("invite", entry_rule_invite),
    ("one-admin", entry_rule_one_admin),
    ("no-change", entry_rule_no_change),
    ("last-admin", entry_rule_last_admin),
    ("cut", entry_rule_cut),
    ("epoch", entry_rule_epoch),
    ("recipients", entry_rule_recipients),
    ("grants", entry_rule_grants),
)


class Group:
    """The entries of a group, each of them valid, refused or waiting (3.1)."""

    def __init__(self, group: bytes, entries: Iterable[bytes]) -> None:
        self.id = group
        self.entries: dict[bytes, Entry] = {}
        self.after: dict[bytes, Membership] = {}
        self.refused: dict[bytes, str] = {}
        self.waiting: set[bytes] = set()
        for data in entries:
            try:
                entry = decode_entry(data)
            except Problem:
                # What is not an entry is not present.
                continue
            self.entries[entry.hash] = entry
        before = {name: entry.before for name, entry in self.entries.items()}
        order = in_order(before)
        self.ancestry = Ancestry(before, order)
        for name in order:
            self._judge(self.entries[name])

    def _judge(self, entry: Entry) -> None:
        """Judges an entry after all of its past that is present."""
        if entry.hash != self.id if entry.is_first else entry.group != self.id:
            self.refused[entry.hash] = "group"
            return
        if any(name in self.refused for name in entry.before):
            self.refused[entry.hash] = "previous"
            return
        if not all(name in self.after for name in entry.before):
            self.waiting.add(entry.hash)
            return
        first = entry if entry.is_first else self.entries[self.id]
        case = EntryCase(
            entry,
            None if entry.is_first else self.entries[entry.previous],
            None if entry.other is None else self.entries[entry.other],
            tuple(self.after[name] for name in entry.before),
            self.ancestry,
            first.one_admin,
        )
        for reason, rule in ENTRY_RULES:
            if not rule(case):
                self.refused[entry.hash] = reason
                return
        self.after[entry.hash] = case.after

    @cached_property
    def heads(self) -> list[bytes]:
        """The heads of the membership, ascending (3.3)."""
        built_on = {item for name in self.after for item in self.entries[name].before}
        return sorted(self.after.keys() - built_on)

    @cached_property
    def valid_numbers(self) -> set[int]:
        """The numbers that valid entries have."""
        return {self.entries[name].number for name in self.after}

    @cached_property
    def compartments(self) -> list[bytes]:
        """The compartments that have an epoch after a head, ascending."""
        return sorted({item for head in self.heads for item in self.after[head].epochs})

    def json(self) -> dict[str, Any]:
        """The membership in the form of 6.5."""
        shown = self.after[self.heads[0]] if self.heads else Membership()
        return {
            "heads": [name.hex() for name in self.heads],
            "refused": {name.hex(): reason for name, reason in sorted(self.refused.items())},
            "waiting": [name.hex() for name in sorted(self.waiting)],
            "members": {
                member.hex(): {
                    "active": state.active,
                    "role": state.role,
                    "limit": None if state.limit is None else [i.hex() for i in state.limit],
                }
                for member, state in sorted(shown.members.items())
            },
            "epochs": {item.hex(): epoch.number for item, epoch in sorted(shown.epochs.items())},
        }


class KeyRing:
    """The keys that a member can open with the seeds of its box keys (3.5)."""

    def __init__(self, group: Group, member: bytes, index_seed: bytes, value_seed: bytes) -> None:
        self.group = group
        self.member = member
        # Of each kind: the keys by compartment and the entry that made the epoch.
        self.index_keys: dict[tuple[bytes, bytes], bytes] = {}
        self.value_secrets: dict[tuple[bytes, bytes], bytes] = {}
        # Entry, compartment and part of what is `tag`.
        self.problems: set[tuple[bytes, bytes, str]] = set()
        for name in group.after:
            self._open_boxes(group.entries[name], index_seed, value_seed)
        for opener, part, keys in (
            (open_index_rung, "index-rung", self.index_keys),
            (open_value_rung, "value-rung", self.value_secrets),
        ):
            self._open_rungs(opener, part, keys)

    def _made(self, compartment: bytes, name: bytes) -> EpochItem:
        """The item of the epoch that an entry made."""
        return next(i for i in self.group.entries[name].epochs if i.compartment == compartment)

    def _boxes(self, entry: Entry) -> Iterable[tuple[bytes, Recipient | Grant]]:
        """The boxes for the member in an entry, each with its compartment."""
        for epoch in entry.epochs:
            for recipient in epoch.recipients:
                if recipient.member == self.member:
                    yield epoch.compartment, recipient
        for item in (*entry.admissions, *entry.roles):
            if item.member == self.member:
                for grant in item.grants:
                    yield grant.compartment, grant

    def _open_boxes(self, entry: Entry, index_seed: bytes, value_seed: bytes) -> None:
        after = self.group.after[entry.hash]
        known = after.members.get(self.member)
        for compartment, box in self._boxes(entry):
            assert known is not None
            current = after.epochs[compartment]
            made = self._made(compartment, current.entry)
            place = BoxPlace(entry, compartment, current.number, self.member)
            for opener, part, seed, own, sealed, keys in (
                (open_index_box, "index-box", index_seed, known.keys.index_box, box.index_box,
                 self.index_keys),
                (open_value_box, "value-box", value_seed, known.keys.value_box, box.value_box,
                 self.value_secrets),
            ):
                if sealed is None or pair(seed)[0] != own:
                    continue
                try:
                    keys[compartment, current.entry] = opener(seed, sealed, place, made)
                except Problem:
                    self.problems.add((entry.hash, compartment, part))

    def _open_rungs(
        self,
        opener: Callable[[bytes, Rung, Entry, EpochItem], bytes],
        part: str,
        keys: dict[tuple[bytes, bytes], bytes],
    ) -> None:
        """Follows the rungs of all epochs whose keys are there, down to the first ones."""
        unfollowed = list(keys)
        while unfollowed:
            compartment, name = unfollowed.pop()
            for rung in self._made(compartment, name).rungs:
                earlier = compartment, rung.entry
                if earlier in keys:
                    continue
                try:
                    keys[earlier] = opener(
                        keys[compartment, name],
                        rung,
                        self.group.entries[name],
                        self._made(*earlier),
                    )
                except Problem:
                    self.problems.add((name, compartment, part))
                else:
                    unfollowed.append(earlier)


def state_words(group: Group, heads: Mapping[bytes, Iterable[bytes]]) -> bytes:
    """The 8 bytes of the state words, from the heads of the changes of each compartment (6.5)."""
    data = label("zg-env/state") + group.id + HASHES.write(group.heads)
    for compartment in group.compartments:
        data += compartment + HASHES.write(sorted(heads.get(compartment, ())))
    return blake2b(data)[:8]


# ---------------------------------------------------------------------------------------------------
# 6.1 to 6.3: the rules of changes

TYPES_FROM_WEAK = (1, 4, 5, 2, 3)
STRICTNESS = {number: place for place, number in enumerate(TYPES_FROM_WEAK)}

NEED_AUTHORITY = frozenset((CHOOSE, NAME, PROJECT_NAME, SET_BINDING, CLAIM, ROTATION, SETTLE))
NEED_RECORD = frozenset((*range(VALUE, NAME + 1), CLAIM, ROTATION))


def role_may(role: int, operations: Operations) -> bool:
    """Whether a role may do each of the operations (6.2)."""
    if role == READER:
        return False
    if role == WRITER:
        return all(item.kind in (CREATE, VALUE) for item in operations.operations)
    return True


@dataclass(frozen=True)
class Opened:
    """A change with its operations."""

    change: Change
    operations: Operations

    @property
    def hash(self) -> bytes:
        """The name of the change."""
        return self.change.hash

    @property
    def author(self) -> bytes:
        """The member who made the change."""
        return self.change.author

    def numbered(self) -> Iterable[tuple[Ref, Operation]]:
        """The operations with their refs."""
        for number, operation in enumerate(self.operations.operations):
            yield Ref(self.hash, number), operation


# What a change that waits unopened is taken to hold.
NOTHING = Operations(0, None, ())


@dataclass
class Placed:
    """A change that is placed, and what is said of it."""

    opened: Opened
    membership: Membership
    # Whether the change breaks none of the rules above `record`, so that others can refer to it.
    is_sound: bool = False
    late: str | None = None
    effective: bool = False
    # The entries of the lowerings that were left in 6.3 at the heads that do not agree.
    lowering_entries: set[bytes] = field(default_factory=set)

    @property
    def change(self) -> Change:
        """The change itself."""
        return self.opened.change

    @property
    def author(self) -> Member:
        """The author, as the author is after the entry that the change names."""
        return self.membership.members[self.change.author]

    @property
    def counts(self) -> bool:
        """Whether the change counts (6.3)."""
        return self.late is None

    @property
    def is_collected(self) -> bool:
        """Whether the assignments of the change are collected (6.4)."""
        return self.counts or self.effective


class Fold:
    """The changes of a compartment, judged (6.1 to 6.3), and their state (6.4).

    `index_keys` has the index keys of the compartment by the entry that made the epoch.
    """

    def __init__(
        self,
        group: Group,
        compartment: bytes,
        changes: Iterable[bytes],
        index_keys: Mapping[bytes, bytes],
    ) -> None:
        self.group = group
        self.compartment = compartment
        self.waiting: dict[bytes, str] = {}
        self.placed: dict[bytes, Placed] = {}
        # All creates of sound changes that were judged so far, by record.
        self.creates: dict[bytes, list[Ref]] = {}
        opened = self._open_all(changes, index_keys)
        before = {name: item.change.all_before for name, item in opened.items()}
        order = in_order(before)
        self.ancestry = Ancestry(before, order)
        for name in order:
            self._place(opened[name])
        for item in self.placed.values():
            if item.late is None:
                self._judge_by_heads(item)
        self._find_effective()

    # 6.1

    def _open_all(
        self, changes: Iterable[bytes], index_keys: Mapping[bytes, bytes]
    ) -> dict[bytes, Opened]:
        """The changes that take part. What has no index key (section 4) takes part unopened."""
        result: dict[bytes, Opened] = {}
        for data in changes:
            try:
                change = decode_change(data)
                if (change.group, change.compartment) != (self.group.id, self.compartment):
                    continue
                current = self._current_epoch(change)
                operations = NOTHING
                if current is not None:
                    operations = open_operations(change, index_keys[current.entry])
            except Problem:
                continue
            result[change.hash] = Opened(change, operations)
        return result

    def _current_epoch(self, change: Change) -> CurrentEpoch | None:
        """The epoch whose index key seals a change, whatever epoch and number it states."""
        membership = self.group.after.get(change.entry)
        return None if membership is None else membership.epochs.get(self.compartment)

    def _place(self, opened: Opened) -> None:
        """Decides whether a change waits, and judges it by 6.2 if not."""
        change = opened.change
        group = self.group
        if not all(name in self.placed for name in change.all_before):
            self.waiting[change.hash] = "parents"
            return
        if change.entry not in group.after:
            split = change.entry_number in group.valid_numbers
            self.waiting[change.hash] = "split" if split else "entry"
            return
        if (
            group.entries[change.entry].number != change.entry_number
            or self._current_epoch(change) is None
        ):
            self.waiting[change.hash] = "entry"
            return
        placed = Placed(opened, group.after[change.entry])
        self.placed[change.hash] = placed
        for reason, rule in CHANGE_RULES:
            if reason == "record":
                placed.is_sound = True
            if not rule(self, placed):
                placed.late = reason
                return

    # 6.2

    def sound_past(self, later: Placed, name: bytes) -> Placed | None:
        """A change of the past that breaks none of the rules above `record`, if it is one."""
        if not self.ancestry.is_before(name, later.change.hash):
            return None
        earlier = self.placed[name]
        return earlier if earlier.is_sound else None

    def sound_operation(self, later: Placed, ref: Ref) -> Operation | None:
        """An operation of such a change, if it exists."""
        earlier = self.sound_past(later, ref.change)
        if earlier is None or ref.number >= len(earlier.opened.operations.operations):
            return None
        return earlier.opened.operations.operations[ref.number]

    # 6.3

    def has_rights(self, placed: Placed, member: Member | None) -> bool:
        """Whether a member in this state has the rights that a change of theirs needs."""
        key = placed.change.key
        return (
            member is not None
            and member.has_access(self.compartment)
            and role_may(member.role, placed.opened.operations)
            and member.keys.signing(key) == placed.author.keys.signing(key)
        )

    def _judge_by_heads(self, placed: Placed) -> None:
        """The rule that looks at the newest entry."""
        author = placed.change.author
        for head in self.group.heads:
            membership = self.group.after[head]
            if self.has_rights(placed, membership.members.get(author)):
                continue
            left = self._lowerings_left(placed, membership)
            if not left or not all(self._is_in_cut(placed, item) for item in left):
                placed.late = "cut"
                placed.lowering_entries.update(item.entry for item in left)

    def _lowerings_left(self, placed: Placed, membership: Membership) -> list[Lowering]:
        """The last lowerings of the author that ended the rights of the change."""
        ended = [
            item
            for item in membership.lowerings.values()
            if item.member == placed.change.author
            and self.has_rights(placed, item.before)
            and not self.has_rights(placed, item.after)
        ]
        is_before = self.group.ancestry.is_before
        return [
            item for item in ended if not any(is_before(item.entry, it.entry) for it in ended)
        ]

    def _is_in_cut(self, placed: Placed, lowering: Lowering) -> bool:
        """Whether a cut has a change: it lists the change, or one that has it in its past.

        A listed change that waits has no effect here, like one that is not present.
        """
        name = placed.change.hash
        return any(
            listed == name or self.ancestry.is_before(name, listed)
            for listed in lowering.listed(self.compartment)
            if listed in self.placed
        )

    def _find_effective(self) -> None:
        """Finds the late changes on which somebody else had built."""
        pasts: dict[bytes, int] = {}
        for name, item in self.placed.items():
            if item.counts:
                author = item.change.author
                pasts[author] = pasts.get(author, 0) | self.ancestry.past(name)
        for name, item in self.placed.items():
            if item.late == "cut":
                bit = self.ancestry.bit(name)
                item.effective = any(
                    past & bit for author, past in pasts.items() if author != item.change.author
                )

    # Other results of 6.4

    @cached_property
    def heads(self) -> list[bytes]:
        """The changes that count and are in the past of no other one that counts."""
        past = 0
        for name, item in self.placed.items():
            if item.counts:
                past |= self.ancestry.past(name)
        return sorted(
            name
            for name, item in self.placed.items()
            if item.counts and not self.ancestry.bit(name) & past
        )

    @cached_property
    def doubled(self) -> list[tuple[bytes, bytes, int]]:
        """Author, chain and counter that more than one change has."""
        count: dict[tuple[bytes, bytes, int], int] = {}
        for item in self.placed.values():
            if item.is_collected:
                place = (item.change.author, item.change.chain, item.change.counter)
                count[place] = count.get(place, 0) + 1
        return sorted(place for place, number in count.items() if number > 1)

    @cached_property
    def settled(self) -> list[tuple[int, bytes, bytes, str]]:
        """The settle operations of changes that count."""
        found: set[Any] = set()
        for item in self.placed.values():
            if item.counts:
                for operation in item.opened.operations.operations:
                    if operation.kind == SETTLE:
                        found.add(
                            (
                                operation.what,
                                operation.subject,
                                operation.object,
                                operation.reason,
                            )
                        )
        return sorted(found)

    # 6.4

    @cached_property
    def state(self) -> State:
        """The assignments and the records."""
        return State(self)

    def json(self) -> dict[str, Any]:
        """The state in the form of 6.5."""

        def hashes(choose: Callable[[Placed], bool]) -> list[str]:
            return [name.hex() for name, item in sorted(self.placed.items()) if choose(item)]

        return {
            "counted": hashes(lambda item: item.counts),
            "effective": hashes(lambda item: item.effective),
            "heads": [name.hex() for name in self.heads],
            "late": {
                name.hex(): item.late
                for name, item in sorted(self.placed.items())
                if item.late is not None
            },
            "waiting": {name.hex(): reason for name, reason in sorted(self.waiting.items())},
            "doubled": [
                [author.hex(), chain.hex(), counter] for author, chain, counter in self.doubled
            ],
            "settled": [
                [what, subject.hex(), about.hex(), reason]
                for what, subject, about, reason in self.settled
            ],
            **self.state.json(),
        }


def change_rule_member(fold: Fold, placed: Placed) -> bool:
    """The author is active."""
    member = placed.membership.members.get(placed.change.author)
    return member is not None and member.active


def change_rule_signature(fold: Fold, placed: Placed) -> bool:
    """The signature fits the key of the author that the change names."""
    change = placed.change
    return signature_fits(placed.author.keys.signing(change.key), change.signed, change.signature)


def change_rule_compartment(fold: Fold, placed: Placed) -> bool:
    """The author has access to the compartment."""
    return placed.author.has_access(placed.change.compartment)


def change_rule_epoch(fold: Fold, placed: Placed) -> bool:
    """The epoch is the current one."""
    current = placed.membership.epochs.get(placed.change.compartment)
    return current is not None and current.number == placed.change.epoch


def change_rule_past_entry(fold: Fold, placed: Placed) -> bool:
    """Nothing that the change is built on knew a later entry."""
    return all(
        fold.placed[name].change.entry_number <= placed.change.entry_number
        for name in placed.change.all_before
    )


def change_rule_chain(fold: Fold, placed: Placed) -> bool:
    """The change continues its chain."""
    change = placed.change
    if not change.has_before:
        return True
    before = fold.placed[change.before].change
    return (before.author, before.chain, before.counter) == (
        change.author,
        change.chain,
        change.counter - 1,
    )


def change_rule_role(fold: Fold, placed: Placed) -> bool:
    """The author's role may do each operation."""
    return role_may(placed.author.role, placed.opened.operations)


def change_rule_key(fold: Fold, placed: Placed) -> bool:
    """Operations that a locked vault must not do are signed with the authority key."""
    return placed.change.key == AUTHORITY_KEY or not any(
        item.kind in NEED_AUTHORITY for item in placed.opened.operations.operations
    )


def change_rule_record(fold: Fold, placed: Placed) -> bool:
    """Each record was created before."""
    name = placed.change.hash
    created: set[bytes | None] = set()
    result = True
    for ref, item in placed.opened.numbered():
        if item.kind == CREATE:
            assert item.record is not None
            created.add(item.record)
            fold.creates.setdefault(item.record, []).append(ref)
        elif item.kind in NEED_RECORD and item.record not in created:
            assert item.record is not None
            # Only creates of sound changes are noted, because only those are judged by this rule.
            result = result and any(
                fold.ancestry.is_before(earlier.change, name)
                for earlier in fold.creates.get(item.record, ())
            )
    return result


def change_rule_replaces(fold: Fold, placed: Placed) -> bool:
    """What an operation replaces, or names as a version, is what it says."""
    for item in placed.opened.operations.operations:
        for ref in item.replaces:
            replaced = fold.sound_operation(placed, ref)
            if (
                replaced is None
                or replaced.record != item.record
                or not set(ASSIGNS[item.kind]) <= set(ASSIGNS[replaced.kind])
            ):
                return False
        if item.version is not None:
            version = fold.sound_operation(placed, item.version)
            if version is None or version.kind != VALUE or version.record != item.record:
                return False
    return True


def change_rule_widening(fold: Fold, placed: Placed) -> bool:
    """A locked vault makes no type weaker and no scope wider."""
    if placed.change.key != WRITE_KEY:
        return True
    for item in placed.opened.operations.operations:
        for ref in item.replaces:
            replaced = fold.sound_operation(placed, ref)
            assert replaced is not None
            if item.kind == SET_TYPE:
                assert item.type is not None and replaced.type is not None
                if STRICTNESS[item.type] < STRICTNESS[replaced.type]:
                    return False
            if item.kind == SET_SCOPE:
                assert item.scope is not None and replaced.scope is not None
                if not item.scope.is_included_in(replaced.scope):
                    return False
    return True


# The table of 6.2, in its order.
CHANGE_RULES: tuple[tuple[str, Callable[[Fold, Placed], bool]], ...] = (
    ("member", change_rule_member),
    ("signature", change_rule_signature),
    ("compartment", change_rule_compartment),
    ("epoch", change_rule_epoch),
    ("past-entry", change_rule_past_entry),
    ("chain", change_rule_chain),
    ("role", change_rule_role),
    ("key", change_rule_key),
    ("record", change_rule_record),
    ("replaces", change_rule_replaces),
    ("widening", change_rule_widening),
)


# ---------------------------------------------------------------------------------------------------
# 6.4: assignments and records


@dataclass(frozen=True)
class Assignment:
    """What one operation assigns to one thing."""

    ref: Ref
    thing: str
    operation: Operation
    placed: Placed

    @property
    def is_late(self) -> bool:
        """Whether the assignment belongs to an effective late change."""
        return not self.placed.counts

    @property
    def by_writer(self) -> bool:
        """Whether the author was a writer after the entry that the change names."""
        return self.placed.author.role == WRITER

    @property
    def content(self) -> Any:
        """The content: of a value its version, which is None of a removal."""
        if self.thing != "value":
            return self.operation.assigned(self.thing)
        return self.ref if self.operation.kind == VALUE else self.operation.version


RECORD_THINGS = ("name", "type", "scope", "comment", "reminder", "value", "claim", "rotation")
PROJECT_THINGS = ("projectName", "binding")

Candidates = dict[str, list[Assignment]]


def preferred(candidates: Sequence[Assignment]) -> list[Assignment]:
    """The candidates without those of effective late changes, if there are others."""
    return [item for item in candidates if not item.is_late] or list(candidates)


def different(candidates: Iterable[Assignment]) -> set[Any]:
    """The different contents of candidates."""
    return {item.content for item in candidates}


def refs(candidates: Iterable[Assignment]) -> list[str]:
    """The refs of candidates, as they are written."""
    return [str(item.ref) for item in candidates]


@dataclass
class Record:
    """A record that exists."""

    id: bytes
    candidates: Candidates
    offered: bool
    choices: dict[Ref, bool] = field(init=False)
    offers: dict[Ref, bool] = field(init=False)
    has_removal: bool = field(init=False)
    names: list[str] = field(init=False)
    scopes: list[Scope] = field(init=False)

    def __post_init__(self) -> None:
        values = self.of("value")
        with_value = [item for item in values if item.content is not None]
        somebody_else = any(not item.by_writer for item in values)
        self.has_removal = len(with_value) < len(values)
        # If anybody's candidate is not a writer's, then for each writer's it is another one.
        self.offers = self._versions(i for i in with_value if i.by_writer and somebody_else)
        self.choices = self._versions(
            i for i in with_value if not (i.by_writer and somebody_else)
        )
        self.names = sorted(different(self.of("name")))
        self.scopes = sorted(different(self.of("scope")), key=SCOPE.write)

    def of(self, thing: str) -> list[Assignment]:
        """The candidates of a thing, by ref."""
        return self.candidates.get(thing, [])

    @staticmethod
    def _versions(candidates: Iterable[Assignment]) -> dict[Ref, bool]:
        """The versions, ascending, each with whether all its candidates are late."""
        late: dict[Ref, bool] = {}
        for item in candidates:
            late[item.content] = late.get(item.content, True) and item.is_late
        return dict(sorted(late.items()))

    @property
    def in_use(self) -> bool:
        """Whether the record is in use."""
        return bool(self.choices) or not self.has_removal

    @property
    def removed_meanwhile(self) -> bool:
        """Whether some removed the record and others gave it a value."""
        return bool(self.choices) and self.has_removal

    def is_twin_of(self, other: Record) -> bool:
        """Whether both records claim one variable in one place."""
        return not set(self.names).isdisjoint(other.names) and any(
            scope.overlaps(another) for scope in self.scopes for another in other.scopes
        )

    @property
    def may_be_twin(self) -> bool:
        """Whether the record is compared with others."""
        return self.in_use and not self.offered

    def contested(self, has_twin: bool) -> list[str]:
        """The reasons for which the record is contested."""
        is_late = any(
            item.is_late
            for thing in ("value", "name", "scope", "type")
            for item in self.of(thing)
        )
        reasons = (
            ("value", len(self.choices) > 1),
            ("late", is_late),
            ("name", len(self.names) > 1),
            ("scope", len(self.scopes) > 1),
            ("twin", has_twin),
        )
        return [reason for reason, holds in reasons if holds]


class State:
    """The records and the project of a compartment (6.4)."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        candidates = self._candidates()
        self.project = candidates.pop(None, {})
        self.records: dict[bytes, Record] = {}
        created: set[bytes] = set()
        taken: set[bytes] = set()
        for item in fold.placed.values():
            if not item.is_collected:
                continue
            for operation in item.opened.operations.operations:
                if operation.record is None:
                    continue
                if operation.kind == CREATE:
                    created.add(operation.record)
                # A use by an effective late change leaves the record offered, a create does not.
                if item.author.role != WRITER and (item.counts or operation.kind == CREATE):
                    taken.add(operation.record)
        for record in sorted(created):
            offered = record not in taken
            self.records[record] = Record(record, candidates.get(record, {}), offered)

    def _candidates(self) -> dict[bytes | None, Candidates]:
        """The assignments that are not replaced, by record (None is the project) and thing."""
        collected: dict[tuple[Ref, str], Assignment] = {}
        for item in self.fold.placed.values():
            if item.is_collected:
                for ref, operation in item.opened.numbered():
                    for thing in ASSIGNS[operation.kind]:
                        collected[ref, thing] = Assignment(ref, thing, operation, item)
        replaced: set[tuple[Ref, str]] = set()
        for (_, thing), assignment in collected.items():
            for ref in assignment.operation.replaces:
                earlier = collected.get((ref, thing))
                if earlier is not None and self._replaces(assignment, earlier):
                    replaced.add((ref, thing))
        result: dict[bytes | None, Candidates] = {}
        for place, assignment in sorted(collected.items(), key=itemgetter(0)):
            if place not in replaced:
                things = result.setdefault(assignment.operation.record, {})
                things.setdefault(assignment.thing, []).append(assignment)
        return result

    def _replaces(self, later: Assignment, earlier: Assignment) -> bool:
        """Whether an assignment replaces one that it lists.

        Only an admin decides about late values once the lowering is known.
        """
        if not earlier.is_late or later.placed.author.role == ADMIN:
            return True
        entry = later.placed.change.entry
        is_before = self.fold.group.ancestry.is_before
        return not any(
            entry == lowering or is_before(lowering, entry)
            for lowering in earlier.placed.lowering_entries
        )

    @cached_property
    def twins(self) -> set[bytes]:
        """The records that have a twin."""
        by_name: dict[str, list[Record]] = {}
        for record in self.records.values():
            if record.may_be_twin:
                for name in record.names:
                    by_name.setdefault(name, []).append(record)
        return {
            record.id
            for group in by_name.values()
            for record in group
            if any(record is not other and record.is_twin_of(other) for other in group)
        }

    def _version_json(self, versions: Mapping[Ref, bool]) -> list[dict[str, Any]]:
        result = []
        for ref, late in versions.items():
            opened = self.fold.placed[ref.change].opened
            seed = opened.operations.operations[ref.number].seed
            assert seed is not None
            identifier = version_id(opened.author, seed).hex()
            result.append({"version": str(ref), "id": identifier, "late": late})
        return result

    def _record_json(self, record: Record) -> dict[str, Any]:
        types = different(preferred(record.of("type")))
        comments = preferred(record.of("comment"))
        reminders = preferred(record.of("reminder"))
        return {
            "id": record.id.hex(),
            "inUse": record.in_use,
            "offered": record.offered,
            "removedMeanwhile": record.removed_meanwhile,
            "names": record.names,
            "scopes": [scope.json() for scope in record.scopes],
            "type": max(types, key=STRICTNESS.__getitem__, default=None),
            "comment": comments[0].content if comments else None,
            "reminder": reminders[0].content if reminders else None,
            "choices": self._version_json(record.choices),
            "offers": self._version_json(record.offers),
            "claims": refs(preferred(record.of("claim"))),
            "rotations": refs(
                item for item in preferred(record.of("rotation")) if item.operation.begins
            ),
            "candidates": {
                thing: refs(record.of(thing)) for thing in RECORD_THINGS if record.of(thing)
            },
            "contested": record.contested(record.id in self.twins),
        }

    def json(self) -> dict[str, Any]:
        """The part of the state in the form of 6.5 that this class computes."""
        contents = sorted(different(self.project.get("binding", [])), key=BINDING.write)
        return {
            "projectNames": sorted(different(self.project.get("projectName", []))),
            "bindings": [None if item is None else item.json() for item in contents],
            "records": [self._record_json(record) for record in self.records.values()],
            "candidates": {
                thing: refs(self.project[thing])
                for thing in PROJECT_THINGS
                if thing in self.project
            },
        }


# ---------------------------------------------------------------------------------------------------
# Vectors

class Mismatch(Exception):
    """Something that a vector says differs from what this reader found."""


def expect(what: str, found: Any, expected: Any) -> None:
    """Compares an output with the one of the vector."""
    if found != expected:
        raise Mismatch(f"{what}: {difference(found, expected)}")


def difference(found: Any, expected: Any) -> str:
    """The first difference of two outputs, short enough for a line."""
    if isinstance(found, dict) and isinstance(expected, dict):
        for key in sorted({*found, *expected}):
            if key not in found or key not in expected:
                return f"{key} is {'missing' if key not in found else 'not expected'}"
            if found[key] != expected[key]:
                return f"{key}: {difference(found[key], expected[key])}"
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for place, (one, another) in enumerate(zip(found, expected)):
            if one != another:
                return f"[{place}]: {difference(one, another)}"
    return f"found {json.dumps(found)[:300]}, expected {json.dumps(expected)[:300]}"


def expect_same_bytes(kind: ObjectKind, value: SignedObject) -> None:
    """One valid encoding: decoding an object and encoding it gives the same bytes."""
    if kind.encode(value) != value.data:
        raise Mismatch("encoded again, the object has other bytes")


def object_of(vector: Mapping[str, Any]) -> bytes:
    """The object of a vector, of which long rows of zeros at the end are only counted."""
    return bytes.fromhex(vector["object"]) + bytes(vector.get("zeros", 0))


def check_entry(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `entry`."""
    expect_same_bytes(ENTRIES, decode_entry(object_of(vector)))


def check_change(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `change`."""
    change = decode_change(object_of(vector))
    expect_same_bytes(CHANGES, change)
    key = vector["writeKey"] if change.key == WRITE_KEY else vector["authorityKey"]
    check_signature(bytes.fromhex(key), change, change.signature)
    padded = unseal_operations(change, bytes.fromhex(vector["indexKey"]))
    operations = decode_operations(padded, len(change.values))
    if operations.encode() != padded:
        raise Mismatch("encoded again, the operations have other bytes")
    values = open_values(change, operations, bytes.fromhex(vector["valueSecret"]))
    if "values" in vector:
        expect("values", [value.hex() for value in values], vector["values"])


def check_invite(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `invite`."""
    invite = decode_invite(object_of(vector))
    expect_same_bytes(INVITES, invite)
    check_invite_code(invite, bytes.fromhex(vector["code"]))
    check_signature(bytes.fromhex(vector["authorityKey"]), invite, invite.signature)


def check_join(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `join`."""
    join = decode_join(object_of(vector))
    expect_same_bytes(JOINS, join)
    check_join_signatures(join, bytes.fromhex(vector["codeKey"]))


def check_keys(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `keys`."""
    group = Group(bytes.fromhex(vector["group"]), map(bytes.fromhex, vector["entries"]))
    ring = KeyRing(
        group,
        bytes.fromhex(vector["member"]),
        bytes.fromhex(vector["indexBoxSeed"]),
        bytes.fromhex(vector["valueBoxSeed"]),
    )
    for name, keys in (("indexKeys", ring.index_keys), ("valueSecrets", ring.value_secrets)):
        found = {f"{place.hex()}:{entry.hex()}": key.hex() for (place, entry), key in keys.items()}
        expect(name, found, vector[name])
    problems = [[entry.hex(), place.hex(), part] for entry, place, part in sorted(ring.problems)]
    expect("problems", problems, vector["problems"])


def check_fold(vector: Mapping[str, Any]) -> None:
    """Checks a vector of kind `fold`."""
    compartment = bytes.fromhex(vector["compartment"])
    group = Group(bytes.fromhex(vector["group"]), map(bytes.fromhex, vector["entries"]))
    expect("membership", group.json(), vector["membership"])
    index_keys: dict[bytes, bytes] = {}
    for name, key in vector["indexKeys"].items():
        of_compartment, _, entry = name.partition(":")
        if bytes.fromhex(of_compartment) == compartment:
            index_keys[bytes.fromhex(entry)] = bytes.fromhex(key)
    fold = Fold(group, compartment, map(bytes.fromhex, vector["changes"]), index_keys)
    expect("state", fold.json(), vector["state"])
    heads = {
        bytes.fromhex(name): [bytes.fromhex(item) for item in items]
        for name, items in vector["heads"].items()
    }
    expect("heads", fold.heads, heads.get(compartment, []))
    expect("stateWords", state_words(group, heads).hex(), vector["stateWords"])


CHECKS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "entry": check_entry,
    "change": check_change,
    "invite": check_invite,
    "join": check_join,
    "keys": check_keys,
    "fold": check_fold,
}


def check_vector(vector: Any) -> str | None:
    """What is wrong with a vector, or None."""
    try:
        try:
            CHECKS[vector["kind"]](vector)
            result = "ok"
        except Problem as problem:
            result = problem.name
        if result != vector["result"]:
            return f"result is {result}, expected {vector['result']}"
    except Mismatch as mismatch:
        return str(mismatch)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"the vector is not as the README says: {error!r}"
    return None


def check_vectors(directory: Path) -> int:
    """Checks all vectors, prints what differs, and returns the exit code."""
    try:
        vectors = json.loads((directory / "vectors.json").read_bytes())
        if not isinstance(vectors, list):
            raise ValueError("it is not a list")
    except (OSError, ValueError, RecursionError) as error:
        print(f"vectors.json cannot be read: {error}")
        print("0 passed, 1 failed")
        return 1
    failed = 0
    for place, vector in enumerate(vectors):
        problem = check_vector(vector)
        if problem is not None:
            failed += 1
            name = vector.get("name") if isinstance(vector, dict) else None
            print(f"{name or place}: {problem}")
    print(f"{len(vectors) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vectors", metavar="DIR", type=Path, required=True)
    return check_vectors(parser.parse_args(arguments).vectors)


if __name__ == "__main__":
    sys.exit(main())
