"""A small writer of vault files for tests, format 3, written from its page (vault-format.md) alone.

It shares nothing with the second reader. Table and sections are plain data here: dictionaries and
lists, with texts as `str` and ids as `bytes`, and nothing is checked, so that tests can write what is
wrong. The numbers in the comments are the page's sections.

A holder of the root writes with `Vault.write`, which makes the proof. Someone with only the index
key writes with `Vault.reseal`, which takes 96 bytes for the proof: `Vault.load` finds those that a
file has, and `proof` makes those of a root of one's own.
"""

import copy
import os
from hashlib import blake2b

from nacl import bindings as sodium

MIB = 1 << 20
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

# --------------------------------------------------------------------------------------------------
# 1: types. Each has `put`, from a value to bytes, and `get`, from bytes that are read to a value.


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        part = self.data[self.at:self.at + length]
        if len(part) != length:
            raise ValueError("cut short")
        self.at += length
        return bytes(part)


class Number:
    def __init__(self, size):
        self.size = size

    def put(self, value):
        return int(value).to_bytes(self.size, "little")

    def get(self, reader):
        return int.from_bytes(reader.take(self.size), "little")


class Raw:
    def __init__(self, size):
        self.size = size

    def put(self, value):
        return value

    def get(self, reader):
        return reader.take(self.size)


class Text:
    """A text as `str`; one that is not UTF-8 as `bytes`, which are written as they are."""

    def put(self, value):
        raw = value if isinstance(value, bytes) else value.encode()
        return U32.put(len(raw)) + raw

    def get(self, reader):
        raw = reader.take(U32.get(reader))
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return raw


class Bytes(Text):
    def get(self, reader):
        return reader.take(U32.get(reader))


class Optional:
    def __init__(self, of):
        self.of = of

    def put(self, value):
        return b"\0" if value is None else b"\1" + self.of.put(value)

    def get(self, reader):
        return self.of.get(reader) if U8.get(reader) else None


class List:
    def __init__(self, of):
        self.of = of

    def put(self, values):
        return U32.put(len(values)) + b"".join(map(self.of.put, values))

    def get(self, reader):
        return [self.of.get(reader) for _ in range(U32.get(reader))]


class Struct:
    def __init__(self, **fields):
        self.fields = fields

    def put(self, value):
        return b"".join(of.put(value[name]) for name, of in self.fields.items())

    def get(self, reader):
        return {name: of.get(reader) for name, of in self.fields.items()}


U8, U16, U32, U64 = map(Number, (1, 2, 4, 8))
ID, TEXT, BYTES = Raw(16), Text(), Bytes()
STEP = U8

# --------------------------------------------------------------------------------------------------
# 4 and 5: the parts

SLOT = Struct(
    id=ID, kind=U8, tier=U8, derivation=U8, zero=U8, operations=U32, memory=U64, salt=ID,
    nonce=Raw(24), wrapped=Raw(48), made_at=U64, zeros=Raw(64))

DIRECTORY = Struct(path=TEXT, link=TEXT, organisation=TEXT, project=ID)
SETTING = Struct(name=TEXT, value=TEXT)
METADATA = Struct(
    generations=List(Struct(generation=U64, tag=ID)),
    audit_log=Optional(Struct(sequence=U64, tag=ID)),
    directories=List(DIRECTORY),
    settings=List(SETTING))

BINDING = Struct(
    origin=TEXT, user=TEXT, team=Optional(TEXT), team_slug=Optional(TEXT), project=TEXT, name=TEXT)
PROJECT = Struct(id=ID, name=TEXT, made_at=U64, binding=Optional(BINDING))
ROW = Struct(id=ID, length=U64, chunks=U64, hash=Raw(32))

SCOPE = Struct(targets=U8, environments=List(TEXT), branch=Optional(TEXT))
ATTRIBUTES = Struct(type=U8, scope=SCOPE, comment=Optional(TEXT))
AGREEMENT = Struct(
    key=TEXT, scope=SCOPE, record=TEXT, account=TEXT, variable=ID, version=U64, type=U8,
    comment=Optional(TEXT), changed_at=U64, awaited_at=U64, pushed_at=U64, ended_at=U64,
    earlier=Optional(Struct(version=U64, since=U64, until=U64)))
RECORD = Struct(
    id=ID, name=TEXT, attributes=ATTRIBUTES, made_at=U64, changed_at=U64,
    removed_at=U64, current=U64, highest=U64, rotation=U64)

VERSION = Struct(
    record=ID, number=U64, id=ID, batch=ID, offset=U64, length=U32, checksum=Raw(32), made_at=U64,
    former_name=Optional(TEXT))

ACCOUNT = Struct(
    name=TEXT, origin=TEXT, user=TEXT, user_name=TEXT, team=Optional(TEXT),
    team_slug=Optional(TEXT), default=U8, made_at=U64, ends_at=U64, protection=U8, secret=BYTES)


BATCH = Struct(id=ID, wrapped=Raw(72))

# 5.7. A payload stays bytes in the index; `change_payload` of the tests takes it apart.
JOURNAL = Struct(id=ID, kind=U8, made_at=U64, payload=BYTES)
SEND = Struct(
    action=U8, record=Optional(ID), platform_project=TEXT, author=TEXT,
    target=Optional(Struct(id=TEXT, changed_at=U64)), key=TEXT, type=U8, comment=Optional(TEXT),
    targets=SCOPE, released=SCOPE, agreed=SCOPE, version=U64, sends_value=U8, sent_after=U64,
    sent_until=U64)
RELAY = Struct(relay=TEXT, device=TEXT, accounts=List(TEXT), token=Raw(43), seed=Raw(32))
FAILURE = Struct(kind=U8, reason=TEXT)
MEMBER = Struct(
    project=ID, name=TEXT, platform_project=TEXT, platform_name=TEXT, deployed=Optional(TEXT),
    source=Optional(TEXT), newest_at=U64, records=List(Struct(record=ID, before=U64, after=U64)))
BUILD = Struct(
    create=STEP, way=U8, attempt=U8, deployment=TEXT, begun_at=U64, live=STEP, evidence=U8,
    check=STEP)
PROGRESS = Struct(
    push=STEP, build=BUILD, reach=U8, restore=STEP, back=BUILD, previous=STEP,
    failure=Optional(FAILURE))


class Rotation:
    START = Struct(
        key=TEXT, apply=Optional(TEXT), check=Optional(TEXT), address=Optional(TEXT), status=U32,
        revoke=Optional(TEXT), redeploys=U8, policy=U8, limit=U64, members=List(MEMBER),
        direction=U8, outcome=U8, apply_step=STEP, revoke_step=STEP, undo_step=STEP,
        failure=Optional(FAILURE), failed_member=U32)

    def put(self, value):
        return self.START.put(value) + b"".join(
            map(PROGRESS.put, value["progress"])) + U64.put(value["ended_at"])

    def get(self, reader):
        value = self.START.get(reader)
        value["progress"] = [PROGRESS.get(reader) for _ in value["members"]]
        return {**value, "ended_at": U64.get(reader)}


ROTATION = Rotation()
PAYLOADS = {1: SEND, 2: ROTATION, 3: ROTATION, 4: RELAY}

TABLE = {
    "metadata": METADATA, "projects": List(PROJECT), "sections": List(ROW),
    "journal": List(JOURNAL), "accounts": List(ACCOUNT), "log_keys": List(Raw(32))}
SECTION = {
    "records": List(RECORD), "current": List(VERSION), "earlier": List(VERSION),
    "batches": List(BATCH), "agreements": List(AGREEMENT), "journal": List(JOURNAL)}

# --------------------------------------------------------------------------------------------------
# Cryptography


def hash32(raw, key=b""):
    return blake2b(raw, digest_size=32, key=key).digest()


def kdf(key, number, label):
    return sodium.crypto_generichash_blake2b_salt_personal(
        b"", digest_size=32, key=key, salt=U64.put(number) + bytes(8), person=label + bytes(8))


def seal(key, text, data, nonce=None):
    """A fresh nonce, then AEAD."""
    nonce = nonce or os.urandom(24)
    return nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(text, data, nonce, key)


def unseal(key, sealed, data):
    return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed[24:], data, sealed[:24], key)


def pair(root):
    """vk and the secret key."""
    return sodium.crypto_sign_seed_keypair(kdf(root, 1, b"zgv3root"))


SIGNED = b"zgv3/signed\0\0\0\0\0"


def signed_message(header, padded):
    """5.9: M"""
    return SIGNED + blake2b(SIGNED + header + padded).digest()


def proof(root, header, padded):
    """5.9: the code and the signature of a holder of this root."""
    message = signed_message(header, padded)
    code = hash32(message, kdf(root, 3, b"zgv3root"))
    return code + sodium.crypto_sign(message, pair(root)[1])[:64]


def index_key(root, epoch=1):
    return kdf(root, epoch, b"zgv3indx")


def section_data(vault_id, identifier):
    return b"zgv3/section" + bytes(4) + vault_id + identifier


def pad(content):
    """5: padded content"""
    padded = U32.put(len(content)) + content
    return padded + bytes(-len(padded) % 4096)


def parts_of(padded):
    """A reader of the content, and the content of a part that it reads."""
    content = Reader(padded[4:4 + int.from_bytes(padded[:4], "little")])
    return content, lambda of: of.get(Reader(BYTES.get(content)))


def changed(wrong, name, raw):
    return wrong[name](raw) if name in wrong else raw


def put_parts(parts, values, wrong):
    """`wrong` may have a part's bytes, or a change of them."""
    found = []
    for name, of in parts.items():
        instead = wrong.get(name)
        raw = instead if isinstance(instead, bytes) else of.put(values[name])
        found.append(BYTES.put(instead(raw) if callable(instead) else raw))
    return b"".join(found)


def pad_value(value):
    """6"""
    n = 4 + len(value)
    if n <= 1024:
        p = next(p for p in range(128, 1025, 128) if p >= n)
    else:
        e = len(bin(n)) - 3
        unit = 2 ** (e - (len(bin(e)) - 2))
        p = (n + unit - 1) // unit * unit
    return U32.put(len(value)) + value + bytes(p - n)


def times(a, b):
    """GF(32) by logarithms, unlike the reader."""
    powers = [1]
    for _ in range(30):
        doubled = powers[-1] << 1
        powers.append(doubled ^ 0b100101 if doubled & 32 else doubled)
    return powers[(powers.index(a) + powers.index(b)) % 31] if a and b else 0


def recovery_code(code):
    """4.1: the 16 bytes of a code, printed."""
    bits = "00" + "".join(f"{byte:08b}" for byte in code)
    symbols = [int(bits[at:at + 5], 2) for at in range(0, 130, 5)]
    division = symbols + [0, 0]
    for at in range(26):
        factor = division[at]
        division[at + 1] ^= times(factor, 6)
        division[at + 2] ^= times(factor, 8)
    printed = "".join(ALPHABET[symbol] for symbol in symbols + division[26:])
    return "-".join(printed[at:at + 4] for at in range(0, 28, 4))


# --------------------------------------------------------------------------------------------------
# The vault


def by_name(item):
    name = item["name"]
    return name if isinstance(name, bytes) else name.encode()


def by_id(item):
    return item["id"]


def by_target(agreement):
    scope = agreement["scope"]
    bits, environments, branch = scope["targets"], scope["environments"], scope["branch"]
    first = next((bit for bit in range(3) if bits >> bit & 1), 3 if environments else 4)
    custom = environments[0].encode() if first == 3 else b""
    return (agreement["key"].encode(), branch is not None, (branch or "").encode(), first, custom,
            agreement["variable"])


def sort_section(section):
    for name in ("records", "batches", "journal"):
        section[name].sort(key=by_id)
    section["agreements"].sort(key=by_target)
    section["current"].sort(key=lambda version: version["record"])
    section["earlier"].sort(key=lambda version: (version["record"], version["number"]))


class Vault:
    """A vault as data: `index` is the table, whose rows are made when the file is, and `sections` are
    the sections. Versions have their chunk in `chunk`; their offsets, lengths and checksums are made
    when the file is, unless a version says otherwise in `wrong`.

    The vault's and each section's `wrong` may have bytes or changes of a part by its name, and changes
    of "content" and "padded". A section's also has changes of what is "sealed", of its "row", and of its
    "block" and "chunks" in the file, which the table does not know."""

    def __init__(self, vault_id, public):
        self.format, self.zero = 3, 0
        self.vault_id, self.public = vault_id, public
        self.generation, self.epoch = 1, 1
        self.slots = []
        self.groups = 0
        self.index = {name: [] for name in TABLE}
        self.index["metadata"] = {
            "generations": [], "audit_log": None, "directories": [], "settings": []}
        self.sections = []
        self.wrong = {}
        # Of the file that was read or written last: header and sealed table, padded contents, and what
        # each section is sealed as, so that one that is as before keeps it.
        self.tag, self.proof = bytes(16), bytes(96)
        self.front = self.header = self.padded = b""
        self.blocks, self.seals = [], {}

    @classmethod
    def load(cls, raw, key):
        """The content that the index key opens."""
        reader = Reader(raw)
        reader.take(8)
        format_number, _, length = U16.get(reader), U16.get(reader), U32.get(reader)
        if format_number != 3:
            raise ValueError(f"a vault of format {format_number}")
        reader.take(8)
        vault_id, generation, epoch = ID.get(reader), U64.get(reader), U32.get(reader)
        vault = cls(vault_id, reader.take(32))
        vault.generation, vault.epoch = generation, epoch
        vault.slots = [SLOT.get(reader) for _ in range(U32.get(reader))]
        nonce, sealed_length = reader.take(24), U64.get(reader)
        sealed, sealing_key = raw[length:length + sealed_length], kdf(key, 1, b"zgv3sub_")
        opened = unseal(sealing_key, nonce + sealed, b"zgv3/index" + raw[:length])
        padded, vault.proof = opened[:-96], opened[-96:]
        vault.front, vault.header, vault.padded = raw[:length + sealed_length], raw[:length], padded
        content, part = parts_of(padded)
        vault.groups = U8.get(content)
        vault.index = {name: part(of) for name, of in TABLE.items()}
        vault.tag = sealed[-16:]
        at = length + sealed_length
        for row in vault.index["sections"]:
            sealed, at = raw[at:at + row["length"]], at + row["length"]
            chunks, at = raw[at:at + row["chunks"]], at + row["chunks"]
            vault.load_section(row["id"], sealed, chunks, sealing_key)
        return vault

    def load_section(self, identifier, sealed, chunks, sealing_key):
        section, data = self.section(identifier), section_data(self.vault_id, identifier)
        padded = unseal(sealing_key, sealed, data)
        self.seals[sealing_key, data, padded] = sealed
        self.blocks.append((sealed, chunks))
        _, part = parts_of(padded)
        section.update({name: part(of) for name, of in SECTION.items()})
        for version in chunk_order(section):
            version["chunk"] = chunks[version["offset"]:version["offset"] + version["length"]]

    def copy(self):
        return copy.deepcopy(self)

    def section(self, identifier):
        """The section with this id, made if it is missing."""
        for section in self.sections:
            if section["id"] == identifier:
                return section
        self.sections.append({"id": identifier, "wrong": {}, **{name: [] for name in SECTION}})
        return self.sections[-1]

    def all(self, name):
        """The items of this part of all sections."""
        return [item for section in self.sections for item in section[name]]

    def journals(self):
        return [self.index["journal"], *(section["journal"] for section in self.sections)]

    def texts(self):
        """All that the index key opens."""
        return [self.padded, *(padded for _, _, padded in self.seals)]

    def versions(self):
        return [version for section in self.sections for version in chunk_order(section)]

    def section_of(self, record):
        return next(section for section in self.sections
                    if any(item["id"] == record["id"] for item in section["records"]))

    def sort(self):
        """Puts every list into its order, and drops sections that are empty."""
        index = self.index
        self.sections = [item for item in self.sections
                         if item["records"] or item["agreements"] or item["journal"]]
        for items in (index["projects"], index["journal"], self.sections):
            items.sort(key=by_id)
        for section in self.sections:
            sort_section(section)
        index["accounts"].sort(key=by_name)
        index["metadata"]["directories"].sort(key=lambda item: TEXT.put(item["path"])[4:])
        index["metadata"]["settings"].sort(key=by_name)

    def next_generation(self):
        """9, step 6: as every writer does it."""
        self.index["metadata"]["generations"].append(
            {"generation": self.generation, "tag": self.tag})
        del self.index["metadata"]["generations"][:-1024]
        self.generation += 1

    @staticmethod
    def chunks(section):
        chunks = b""
        for version in chunk_order(section):
            chunk = version["chunk"]
            version["offset"], version["length"] = len(chunks), len(chunk)
            version["checksum"] = hash32(chunk)
            version.update(version.get("wrong", {}))
            chunks += chunk
        return chunks

    def block(self, section, sealing_key):
        """Makes a block, and gives its row."""
        wrong, chunks = section["wrong"], self.chunks(section)
        content = changed(wrong, "content", put_parts(SECTION, section, wrong))
        padded = changed(wrong, "padded", pad(content))
        data = section_data(self.vault_id, section["id"])
        if (sealing_key, data, padded) not in self.seals:
            self.seals[sealing_key, data, padded] = seal(sealing_key, padded, data)
        sealed = changed(wrong, "sealed", self.seals[sealing_key, data, padded])
        self.blocks.append((changed(wrong, "block", sealed), changed(wrong, "chunks", chunks)))
        return {"id": section["id"], "length": len(sealed), "chunks": len(chunks),
                "hash": hash32(sealed), **wrong.get("row", {})}

    def content(self):
        """The table before its padding."""
        return changed(self.wrong, "content", U8.put(self.groups) + put_parts(
            TABLE, self.index, self.wrong))

    def write(self, root):
        """The file, as a holder of the root writes it."""
        return self.build(index_key(root, self.epoch), lambda *signed: proof(root, *signed))

    def reseal(self, key, with_proof, nonce=None):
        """The file, as anyone with the index key can make it, with this proof."""
        return self.build(key, lambda *signed: with_proof, nonce)

    def build(self, key, prove, nonce=None):
        """The file, with an index that this index key opens. `prove` makes the proof from the header
        and the padded content. `wrong` may also have numbers of the header that are not those of the
        file, and a change of the table's "rows"."""
        sealing_key, self.blocks = kdf(key, 1, b"zgv3sub_"), []
        self.index["sections"] = changed(
            self.wrong, "rows", [self.block(section, sealing_key) for section in self.sections])
        blocks = b"".join(sealed + chunks for sealed, chunks in self.blocks)
        padded = changed(self.wrong, "padded", pad(self.content()))
        slots = b"".join(map(SLOT.put, self.slots))
        length = 152 + len(slots)
        sealed_length = len(padded) + 96 + 16
        nonce = nonce or os.urandom(24)
        wrong = {"header_length": length, "count": len(self.slots), "table_length": sealed_length,
                 "file_length": length + sealed_length + len(blocks), **self.wrong}
        header = b"".join((
            b"ZGVAULT\n", U16.put(self.format), U16.put(self.zero), U32.put(wrong["header_length"]),
            U64.put(wrong["file_length"]), self.vault_id, U64.put(self.generation),
            U32.put(self.epoch), self.public, U32.put(wrong["count"]), slots, nonce,
            U64.put(wrong["table_length"])))
        header += hash32(header)
        self.header, self.padded, self.proof = header, padded, prove(header, padded)
        sealed = seal(sealing_key, padded + self.proof, b"zgv3/index" + header, nonce)[24:]
        self.tag, self.front = sealed[-16:], header + sealed
        return self.front + blocks

    # 5.6 and 6

    def batch(self, section, data_key, root, batch=None):
        batch = batch or os.urandom(16)
        wrapped = seal(kdf(root, 2, b"zgv3root"), data_key, b"zgv3/batch" + self.vault_id + batch)
        section["batches"].append({"id": batch, "wrapped": wrapped})
        return batch

    def chunk(self, record, version, data_key, value, padded=None):
        data = b"zgv3/value" + bytes(6) + self.vault_id + record["id"] + version["id"]
        return seal(data_key, pad_value(value) if padded is None else padded, data)

    def version(self, record, number, batch, data_key, value, former_name=None, made_at=9):
        """A new version with its chunk, not yet in a list."""
        version = {"record": record["id"], "number": number, "id": os.urandom(16), "batch": batch,
                   "made_at": made_at, "former_name": former_name}
        version["chunk"] = self.chunk(record, version, data_key, value)
        return version

    def set(self, record, value, root, made_at=9):
        """9, step 3: a new current version in a batch of its own."""
        key, section = os.urandom(32), self.section_of(record)
        batch = self.batch(section, key, root)
        for version in section["current"][:]:
            if version["record"] == record["id"]:
                section["current"].remove(version)
                section["earlier"].append(version)
        record["highest"] += 1
        record["current"] = record["highest"]
        section["current"].append(
            self.version(record, record["current"], batch, key, value, made_at=made_at))
        self.sort()

    def rename(self, record, name):
        """5.5: its versions keep the name that they had."""
        for version in self.versions():
            if version["record"] == record["id"] and version["former_name"] is None:
                version["former_name"] = record["name"]
        record["name"] = name

    # 4.1

    def add_slot(self, identifier, kind, tier, key, secret, operations=0, memory=0, salt=None):
        """`secret` is the KEK for kinds 2 and 3, the passphrase, or the code's 16 bytes."""
        slot = {"id": identifier, "kind": kind, "tier": tier, "zero": 0, "operations": operations,
                "derivation": {1: 1, 4: 2}.get(kind, 0), "memory": memory,
                "salt": salt or (os.urandom(16) if kind in (1, 4) else bytes(16)),
                "nonce": os.urandom(24), "made_at": 1_700_000_000_000, "zeros": bytes(64)}
        slot["wrapped"] = wrap(slot, self.vault_id, key, kek(slot, secret))
        self.slots.append(slot)
        return slot


def chunk_order(section):
    """Those without an offset yet come last."""
    both = section["current"] + section["earlier"]
    return sorted(both, key=lambda version: version.get("offset", 1 << 64))


def kek(slot, secret):
    if slot["kind"] == 1:
        return sodium.crypto_pwhash_alg(
            32, secret, slot["salt"], slot["operations"], slot["memory"],
            sodium.crypto_pwhash_ALG_ARGON2ID13)
    if slot["kind"] == 4:
        return hash32(b"zgv3/recovery" + slot["salt"], secret)
    return secret


def wrap(slot, vault_id, key, wrapping_key):
    raw = SLOT.put({**slot, "wrapped": bytes(48)})
    data = b"zgv3/slot" + vault_id + raw[:72] + raw[120:]
    return seal(wrapping_key, key, data, slot["nonce"])[24:]


def protected(vault_id, origin, name, token, root):
    """5.8: the secret of an account whose token needs the root."""
    bound = b"zgv3/token" + bytes(6) + vault_id + TEXT.put(origin) + TEXT.put(name)
    return seal(kdf(root, 5, b"zgv3root"), token, bound)


# --------------------------------------------------------------------------------------------------
# One of everything

ROOT = bytes(range(200, 232))
PASSPHRASE = b"correct horse"
SLOT_KEY, FILE_KEY = bytes(range(32)), bytes(range(32, 64))
CODE = bytes(range(100, 116))
ORIGIN = "https://api.vercel.com"


def ident(n):
    return bytes([n]) * 16


def scope(targets=1, environments=(), branch=None):
    return {"targets": targets, "environments": list(environments), "branch": branch}


def attributes(kind=2, comment=None, **kept):
    return {"type": kind, "scope": scope(**kept), "comment": comment}


def record(identifier, name, current=0, **changes):
    return {"id": identifier, "name": name,
            "attributes": attributes(2, "a comment", targets=5, environments=["a", "b"]),
            "made_at": 7, "changed_at": 7, "removed_at": 0, "current": current, "highest": current,
            "rotation": 0, **changes}


def agreement(key, identifier, variable=bytes(16), version=0, **changes):
    return {"key": key, "scope": scope(targets=5, environments=["a", "b"]), "record": identifier,
            "account": "user_1", "variable": variable, "version": version, "type": 2,
            "comment": "c", "changed_at": 1, "awaited_at": 2, "pushed_at": 3, "ended_at": 0,
            "earlier": {"version": 1, "since": 1, "until": 2}, **changes}


def build_of_nothing():
    return {"create": 0, "way": 1, "attempt": 0, "deployment": "", "begun_at": 0, "live": 0,
            "evidence": 0, "check": 0}


def rotation(project, rotated, ended_at=0):
    member = {"project": project, "name": "alpha", "platform_project": "prj_1",
              "platform_name": "alpha", "deployed": "production", "source": None, "newest_at": 4,
              "records": [{"record": rotated, "before": 1, "after": 2}]}
    progress = {"push": 1, "build": build_of_nothing(), "reach": 0, "restore": 0,
                "back": build_of_nothing(), "previous": 0, "failure": None}
    return {"key": "API_KEY", "apply": "true", "check": "true", "address": None, "status": 200,
            "revoke": "true", "redeploys": 1, "policy": 1, "limit": 60, "members": [member],
            "direction": 1, "outcome": 1 if ended_at else 0, "apply_step": 2, "revoke_step": 0,
            "undo_step": 0, "failure": None, "failed_member": 0, "progress": [progress],
            "ended_at": ended_at}


def journal(identifier, kind, payload, made_at=1):
    raw = payload if isinstance(payload, bytes) else PAYLOADS[kind].put(payload)
    return {"id": identifier, "kind": kind, "made_at": made_at, "payload": raw}


def send(of, key, version, action=2):
    return {"action": action, "record": of, "platform_project": "prj_1", "author": "user_1",
            "target": {"id": "env_1", "changed_at": 2}, "key": key,
            "type": 2, "comment": None, "targets": scope(5), "released": scope(0), "agreed": scope(5),
            "version": version, "sends_value": 1, "sent_after": 5, "sent_until": 0}


def account(vault, name, protection, token, origin=ORIGIN, root=ROOT, **changes):
    secret = token if protection == 1 else protected(
        vault.vault_id, origin, name, token, root)
    return {"name": name, "origin": origin, "user": "user_1", "user_name": "ann", "team": None,
            "team_slug": None, "default": 0, "made_at": 1, "ends_at": 0, "protection": protection,
            "secret": secret, **changes}


def relay_payload(origin="https://relay.example"):
    return {"relay": origin, "device": "laptop", "accounts": ["team_1"], "token": b"t" * 43,
            "seed": bytes(range(32))}


def sample(root=ROOT, slots=(1, 2, 3, 4)):
    """A vault with one of everything, as data."""
    vault = Vault(ident(0xAA), pair(root)[0])
    vault.generation = 3
    key = index_key(root)
    index = vault.index
    for kind in slots:
        tier = 1 if kind == 2 else 2
        secret = {1: PASSPHRASE, 2: SLOT_KEY, 3: FILE_KEY, 4: CODE}[kind]
        cost = (1, 8 * MIB) if kind == 1 else (0, 0)
        vault.add_slot(ident(kind), kind, tier, root if tier == 2 else key, secret, *cost)
    index["metadata"]["generations"] = [
        {"generation": 1, "tag": ident(1)}, {"generation": 2, "tag": ident(2)}]
    index["metadata"]["audit_log"] = {"sequence": 4, "tag": ident(4)}
    index["metadata"]["directories"] = [
        {"path": "/home/x", "link": "alpha", "organisation": "", "project": ident(1)},
        {"path": "/home/y", "link": "prj_2", "organisation": "team_1", "project": ident(2)}]
    index["metadata"]["settings"] = [
        {"name": "schema-check", "value": "on"},
        {"name": "schema-env.staging", "value": "preview"}]
    bound = {"origin": ORIGIN, "user": "user_1", "team": None, "team_slug": None,
             "project": "prj_1", "name": "alpha"}
    index["projects"] = [
        {"id": ident(1), "name": "alpha", "made_at": 1, "binding": bound},
        {"id": ident(2), "name": "beta", "made_at": 1, "binding": {
            **bound, "team": "team_1", "team_slug": "acme", "project": "prj_2", "name": "beta"}},
        {"id": ident(3), "name": "local", "made_at": 1, "binding": None}]
    # Two writes, each with a batch for every project whose values it has.
    keys, batches = [bytes([n]) * 32 for n in (1, 2)], {}
    for batch, (project, write) in enumerate(((1, 0), (1, 1), (2, 1), (3, 0)), 1):
        batches[project, write] = vault.batch(
            vault.section(ident(project)), keys[write], root, ident(batch))

    def add(project, item, *versions):
        """A record with versions, the last one current: (value, write)"""
        section = vault.section(ident(project))
        section["records"].append(item)
        for at, (value, write, *former_name) in enumerate(versions):
            number = item["highest"] - len(versions) + at + 1
            section["current" if number == item["current"] else "earlier"].append(vault.version(
                item, number, batches[project, write], keys[write], value, *former_name,
                made_at=number))

    add(1, record(ident(10), "API_KEY", 3),
        (b"first", 0, "OLD"), ("früher".encode(), 0), (b"third", 1))
    add(1, record(ident(13), "REMOVED", 1, removed_at=8), (b"gone", 0))
    add(2, record(ident(11), "DSN", 1), (b"x" * 5000, 1))
    add(2, record(ident(12), "EMPTY"))
    add(3, record(ident(14), "LOCAL", 3, rotation=86_400,
                  attributes=attributes(1, None, targets=2, branch="main")), (b"here", 0))
    add(3, record(ident(15), "SPARE", 1), (b"spare", 0))
    for project, *items in (
            (1, agreement("API_KEY", "env_1", ident(10), 2),
             agreement("REMOVED", "", ended_at=9, awaited_at=0, comment=None, earlier=None)),
            (2, agreement("DSN", "env_2", ident(11), 1))):
        vault.section(ident(project))["agreements"] += items
    index["journal"] = [
        journal(ident(1), 77, b"payload"),
        journal(ident(3), 2, rotation(ident(1), ident(10))),
        journal(ident(5), 4, relay_payload())]
    for section, entry in (
            (0, journal(ident(4), 3, rotation(ident(1), ident(10), ended_at=9))),
            (1, journal(ident(2), 1, send(ident(10), "API_KEY", 3))),
            (3, journal(ident(6), 77, b"another payload")),
            # Of a project that was removed, and of a later program.
            (50, journal(ident(7), 1, send(None, "API_KEY", 0))),
            (60, journal(ident(8), 77, b"one more"))):
        vault.section(ident(section))["journal"].append(entry)
    vault.sort()
    index["accounts"] = [
        account(vault, "me", 1, b"token-of-me", default=1),
        account(vault, "safe", 2, b"token-of-safe", root=root, team="team_1", team_slug="acme")]
    index["log_keys"] = [ident(9) * 2, ident(8) * 2]
    return vault
