#!/usr/bin/env python3
"""The changes someone with the index key can make to a vault file, and what is promised.

    attacks.py --list [--json]
    attacks.py --apply NAME --index-key-file F [--origin URL] [--older FILE] IN OUT

Written from docs/vault-format.md alone. It has the file and the index key, and never the root: it
opens the index, makes one change, and seals the index again as the next generation, as any writer
does. Exits with 3 if the vault lacks what the change needs, such as a rotation.

A promise is `listed` (no damage; a user with the root must confirm it), `refused` (exit 8) or
`left out` (not covered; `reason` says why that is harmless). `by` says who refuses: `all` readers,
those with the `root`, or those that have an `anchor` of the file. `word` is the class of section
8.1; `shows` are the kinds of objects that are listed.
"""

import argparse
import copy
import json
import os
import sys
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "SecondReader"))

import vault_writer as writer  # noqa: E402
from vault_writer import (  # noqa: E402
    ROTATION, SEND, RELAY, U32, Reader, Vault, box, ident, pair, protected, seal)

EVIL = "https://evil.example"
FORGED = b"forged-by-a-holder-of-the-index-key"
TOKEN = b"token-of-a-holder-of-the-index-key"
# The data keys and the key pair of the attacker.
DATA_KEY = bytes([0x66]) * 32
OWN_ROOT = bytes([0x67]) * 32

LISTED, REFUSED, LEFT_OUT = "listed", "refused", "left out"


class NotApplicable(Exception):
    """The vault has nothing to change in this way."""


CHANGES = {}


def add(name, field, does, promise, edit, word=None, by=None, shows=(), reason=None, finding=None,
        finish=None, generation="next"):
    """`shows` are the kinds of objects that are listed. `edit` changes a Vault in place, `finish`
    the bytes of the file. `generation` is "next", or "same" for a writer that hides the write."""
    assert name not in CHANGES, name
    assert (promise == LISTED) == bool(shows) and (promise == LEFT_OUT) == bool(reason), name
    assert (promise == REFUSED) == bool(word), name
    if promise == REFUSED and by is None:
        by = "root" if word in ("checkpoint", "rotation", "batch", "value", "exchanged-key") else (
            "anchor" if word == "anchor" else "all")
    CHANGES[name] = SimpleNamespace(
        name=name, field=field, does=does, promise=promise, word=word, by=by, shows=tuple(shows),
        reason=reason, finding=finding, edit=edit, finish=finish, generation=generation)


def listed(name, field, does, shows, edit, **more):
    add(name, field, does, LISTED, edit, shows=shows.split(), **more)


def refused(name, field, does, word, edit, **more):
    add(name, field, does, REFUSED, edit, word=word, **more)


def left_out(name, field, does, reason, edit, **more):
    add(name, field, does, LEFT_OUT, edit, reason=reason, **more)


def state(vault):
    chunks = vault.chunks()
    header = {name: value for name, value in vars(vault).items() if name not in ("index", "wrong")}
    return vault.content(), chunks, copy.deepcopy(header), list(vault.wrong)


def apply(name, raw, key, origin=EVIL, older=None):
    """The changed file."""
    change = CHANGES[name]
    vault = Vault.load(raw, key)
    context = SimpleNamespace(
        origin=origin, key=key, older=older and Vault.load(older, key), older_raw=older)
    before = state(vault)
    change.edit(vault, context)
    if change.word not in ("order", "bounds", "encoding"):
        vault.sort()
    if change.finish is None and state(vault) == before:
        raise NotApplicable("this change changes nothing in this vault")
    if change.generation == "next":
        vault.next_generation()
    built = vault.build(key)
    return change.finish(built, vault, context) if change.finish else built


# --------------------------------------------------------------------------------------------------
# Choice of the objects to change


def first(items, holds=lambda item: True):
    for item in items:
        if holds(item):
            return item
    raise NotApplicable("nothing to change")


def need(condition):
    if not condition:
        raise NotApplicable("nothing to change")


def prominence(v, project):
    """Bound projects first, those with many records first: the likely targets."""
    records = [record for record in v.index["records"] if record["project"] == project["id"]]
    return not project["binding"], -len(records), project["name"]


def bound(v, at=0):
    found = [project for project in v.index["projects"] if project["binding"]]
    need(len(found) > at)
    return sorted(found, key=lambda project: prominence(v, project))[at]


def project_of(v, identifier):
    return first(v.index["projects"], lambda project: project["id"] == identifier)


def other_project(v, project):
    return first(v.index["projects"], lambda other: other["id"] != project["id"])


def current_of(v, record):
    return first(v.index["current"], lambda version: version["record"] == record["id"])


def earlier_of(v, record):
    return [version for version in v.index["earlier"] if version["record"] == record["id"]]


def wrapping_of(v, version):
    return first(v.index["batches"], lambda batch: batch["id"] == version["batch"])["wrapping"]


def in_use(v, holds=lambda record: True, least=0):
    """A record in use, with a value, the most prominent one first."""
    found = [record for record in v.index["records"]
             if record["current"] and not record["removed_at"] and holds(record)]
    order = {project["id"]: prominence(v, project) for project in v.index["projects"]}
    found.sort(key=lambda record: (order[record["project"]], record["name"], record["id"]))
    need(len(found) > least)
    return found[least]


def with_history(v):
    return in_use(v, lambda record: earlier_of(v, record))


def with_remote(v, least=0):
    return in_use(v, lambda record: record["remote"], least)


def unused(v):
    return first(v.index["records"], lambda record: record["removed_at"])


def account(v, protection=None, at=0):
    found = [item for item in v.index["accounts"] if protection in (None, item["protection"])]
    need(len(found) > at)
    return found[at]


def entry(v, kinds, at=0):
    found = [item for item in v.index["journal"] if item["kind"] in kinds]
    need(len(found) > at)
    return found[at]


def directory(v, at=0):
    need(len(v.index["metadata"]["directories"]) > at)
    return v.index["metadata"]["directories"][at]


def keep_names(v, record):
    """5.5: like a writer that moves or renames a record, so that its versions still open."""
    for version in v.index["current"] + v.index["earlier"]:
        if version["record"] == record["id"] and version["sealed_name"] is None:
            version["sealed_name"] = {"project": record["project"], "name": record["name"]}


def take_version(v, version):
    for section in ("current", "earlier"):
        if version in v.index[section]:
            v.index[section].remove(version)


def forge(v, record, number, section="current", value=FORGED, **changes):
    """The attacker's value, in a sealed batch, which needs only pk."""
    batch = v.sealed_batch(DATA_KEY)
    version = v.version(record, number, batch, DATA_KEY, value, made_at=changes.pop("made_at", 1))
    v.index[section].append({**version, **changes})
    return v.index[section][-1]


def add_record(v, project, name, value=FORGED, number=1, **changes):
    like = first(v.index["records"])
    record = {**copy.deepcopy(like), "id": os.urandom(16), "project": project["id"], "name": name,
              "removed_at": 0, "current": number, "highest": number, "remote": None, **changes}
    v.index["records"].append(record)
    if number:
        forge(v, record, number, value=value)
    return record


def forget_record(v, record):
    v.index["records"].remove(record)
    for section in ("current", "earlier"):
        v.index[section] = [
            version for version in v.index[section] if version["record"] != record["id"]]


def drop_unneeded_batches(v):
    needed = {version["batch"] for version in v.versions()}
    v.index["batches"] = [batch for batch in v.index["batches"] if batch["id"] in needed]


def swap(one, other, *fields):
    need(any(one[name] != other[name] for name in fields))
    for name in fields:
        one[name], other[name] = other[name], one[name]


def later(value):
    return value + 86_400_000


def another(value, *choices):
    return first(choices, lambda choice: choice != value)


def table(rows, name, field, pick, promise, **more):
    """A change of one field each: (field, what, function from the old value and the context)."""
    for row, what, new in rows:
        def edit(v, c, row=row, new=new):
            item = pick(v)
            *path, last = row.split(":")[0].split(".")
            for step in path:
                item = item[step]
                need(item is not None)
            value = new(item[last], c)
            need(value != item[last])
            item[last] = value
        suffix = row.replace(":", ".").replace("_", "-")
        promise(f"{name}.{suffix}", f"{field}.{row.split(':')[0]}", what, edit=edit, **more)


# --------------------------------------------------------------------------------------------------
# 5.2: projects

table((
    ("binding.origin", "sends the project's requests to another origin", lambda o, c: c.origin),
    ("binding.origin:slash", "the same origin, written with a slash", lambda o, c: o + "/"),
    ("binding.origin:user", "the same origin as the user name in another URL",
     lambda o, c: o + "@" + c.origin.split("//")[1]),
    ("binding.user", "a different Vercel user", lambda o, c: "user_evil"),
    ("binding.team", "a different team, or one where there was none", lambda o, c: "team_evil"),
    ("binding.team_slug", "a different team by name", lambda o, c: "evil"),
    ("binding.project", "a different Vercel project", lambda o, c: "prj_evil"),
    ("binding.name", "a different name of the Vercel project", lambda o, c: "evil"),
    ("name", "a different name of the vault's project", lambda o, c: o + "-evil"),
), "project", "projects", bound, listed, shows="project")

listed("project.binding.team.dropped", "projects.binding.team", "removes the team", "project",
       lambda v, c: first(v.index["projects"], lambda p: p["binding"] and p["binding"]["team"])[
           "binding"].update(team=None, team_slug=None))
listed("project.binding.dropped", "projects.binding", "removes the binding", "project",
       lambda v, c: bound(v).update(binding=None))


def add_binding(v, c):
    project = first(v.index["projects"], lambda project: not project["binding"])
    like = next((p["binding"] for p in v.index["projects"] if p["binding"]), None)
    project["binding"] = {
        "user": "user_evil", "team": None, "team_slug": None, **(like or {}),
        "origin": c.origin, "project": "prj_evil", "name": "evil"}


listed("project.binding.added", "projects.binding", "binds a local project to another origin",
       "project", add_binding)


def redirect(v, c):
    bound(v)
    for project in v.index["projects"]:
        if project["binding"]:
            project["binding"]["origin"] = c.origin
    for item in v.index["accounts"]:
        item["origin"] = c.origin


listed("F1.redirect-everything", "projects.binding.origin", "binding and account of every project "
       "to another origin, which answers in place of Vercel", "project account", redirect,
       finding="F1")


def redirect_project(v, c):
    for project in (p for p in v.index["projects"] if p["binding"]):
        project["binding"].update(project="prj_evil", user="user_evil")
    for item in v.index["accounts"]:
        item.update(user="user_evil", protection=1, secret=TOKEN)
    need(v.index["accounts"] and any(p["binding"] for p in v.index["projects"]))


listed("F1.redirect-within-vercel", "projects.binding.project", "project and token of somebody "
       "else at the same origin", "project account", redirect_project, finding="F1")


def swap_names(v, c):
    need(len(v.index["projects"]) > 1)
    swap(*v.index["projects"][:2], "name")


listed("F7.swap-project-names", "projects.name", "two projects exchange their names", "project",
       swap_names, finding="F7")
listed("project.bindings-swapped", "projects.binding", "two projects exchange their bindings",
       "project", lambda v, c: swap(bound(v), bound(v, 1), "binding"))


def swap_project_ids(v, c):
    need(len(v.index["projects"]) > 1)
    swap(*v.index["projects"][:2], "id")


listed("project.ids-swapped", "projects.id", "two projects exchange their ids, so names and "
       "bindings go to the other's records", "project", swap_project_ids)


def new_project(name, binding=None):
    return {"id": os.urandom(16), "name": name, "made_at": 1, "binding": binding, "live": None,
            "seen_at": 0}


listed("project.added", "projects", "adds an empty project", "project",
       lambda v, c: v.index["projects"].append(new_project("evil")))
listed("project.added.same-binding", "projects", "adds a project with the binding of another",
       "project", lambda v, c: v.index["projects"].append(
           new_project("evil", copy.deepcopy(bound(v)["binding"]))))


listed("project.full", "projects", "as many projects as a vault can hold", "project",
       lambda v, c: v.index["projects"].extend(
           new_project(f"evil-{n}") for n in range(10_000 - len(v.index["projects"]))))


def replace_project(v, c):
    """The records stay; their project has the same name and another id."""
    project = bound(v)
    old, new = project["id"], os.urandom(16)
    for record in v.index["records"]:
        if record["project"] == old:
            keep_names(v, record)
            record["project"] = new
    for item in v.index["metadata"]["directories"]:
        item["project"] = new if item["project"] == old else item["project"]
    project["id"] = new


listed("project.replaced", "projects.id", "puts a project with a different id in place of one, with "
       "its records", "project record", replace_project)


def drop_project(v, c):
    project = first(v.index["projects"], lambda p: any(
        record["project"] == p["id"] for record in v.index["records"]))
    for record in [r for r in v.index["records"] if r["project"] == project["id"]]:
        forget_record(v, record)
    v.index["projects"].remove(project)
    drop_unneeded_batches(v)


listed("project.dropped", "projects", "drops a project with its records", "project record",
       drop_project)


def drop_everything(v, c):
    need(v.index["projects"])
    for name in ("projects", "records", "current", "earlier", "batches", "accounts"):
        v.index[name] = []
    v.index["metadata"]["directories"] = []


listed("project.everything-dropped", "projects", "drops all projects, records, accounts and "
       "directories", "project", drop_everything)

SEEN = "what Vercel last showed; a false one makes lists wrong"
table((
    ("made_at", "a different creation time", lambda o, c: later(o)),
    ("seen_at", "a different time of the last check", lambda o, c: later(o)),
    ("seen_at:never", "as if Vercel had never been asked", lambda o, c: 0),
    ("live", "a different deployment as the live one, or one where none was known",
     lambda o, c: {"deployment": "dpl_evil", "made_at": 1 << 42}),
    ("live:dropped", "no live deployment", lambda o, c: None),
), "project", "projects", bound, left_out, reason=SEEN)

# --------------------------------------------------------------------------------------------------
# 5.3: records


def rename(v, c, keeps=True, name=None):
    record = in_use(v)
    if keeps:
        keep_names(v, record)
    record["name"] = name or record["name"] + "_EVIL"


def move(v, c, keeps=True):
    record = in_use(v)
    target = other_project(v, project_of(v, record["project"]))
    if keeps:
        keep_names(v, record)
    record["project"] = target["id"]


listed("record.name", "records.name", "renames a record as a writer does", "record", rename)
listed("record.name.loader", "records.name", "gives a value to a variable that loads code",
       "record", lambda v, c: rename(v, c, name="LD_PRELOAD"))
refused("record.name.without-sealed-name", "records.name", "renames a record and not its versions",
        "value", lambda v, c: rename(v, c, keeps=False))
listed("F7.move-record", "records.project", "moves a record to another project as a writer does",
       "record", move, finding="F7")
refused("record.project.without-sealed-name", "records.project", "moves a record and not its "
        "versions", "value", lambda v, c: move(v, c, keeps=False))


def swap_records(v, c, fields, keeps=True):
    one, other = in_use(v), in_use(v, least=1)
    if keeps:
        keep_names(v, one), keep_names(v, other)
    swap(one, other, *fields)


listed("record.names-swapped", "records.name", "two records exchange their names", "record",
       lambda v, c: swap_records(v, c, ("name", "project")))
refused("record.ids-swapped", "records.id", "two records exchange their ids", "value",
        lambda v, c: swap_records(v, c, ("id", "current", "highest", "project"), keeps=False))


def exchange_values(v, c):
    """The versions of each record become those of the other."""
    one, other = in_use(v), in_use(v, least=1)
    ids = {one["id"]: other["id"], other["id"]: one["id"]}
    keep_names(v, one), keep_names(v, other)
    for version in v.versions():
        version["record"] = ids.get(version["record"], version["record"])
    swap(one, other, "current", "highest") if (one["current"], one["highest"]) != (
        other["current"], other["highest"]) else None


refused("record.values-exchanged", "versions.record", "two records exchange all their versions",
        "value", exchange_values)


def scope_edit(**fields):
    def edit(v, c):
        scope = in_use(v)["attributes"]["scope"]
        for name, new in fields.items():
            value = new(scope[name]) if callable(new) else new
            need(value != scope[name])
            scope[name] = value
    return edit


for bit, target in enumerate(("production", "preview", "development")):
    listed(f"record.targets.{target}", "records.attributes.scope.targets",
           f"turns the target {target} on or off", "record",
           scope_edit(targets=lambda old, bit=bit: old ^ 1 << bit))
listed("record.targets.none", "records.attributes.scope.targets",
       "removes all targets", "record", scope_edit(targets=0))
listed("record.targets.all", "records.attributes.scope.targets", "gives one target's value to all",
       "record", lambda v, c: first(v.index["records"], lambda r: r["attributes"]["scope"][
           "targets"] != 7 and r["current"])["attributes"]["scope"].update(targets=7))
listed("record.environments.added", "records.attributes.scope.environments",
       "adds a custom environment", "record",
       scope_edit(environments=lambda old: sorted([*old, "zz-evil"])))
listed("record.environments.dropped", "records.attributes.scope.environments",
       "drops the custom environments", "record", lambda v, c: first(
           v.index["records"], lambda r: r["attributes"]["scope"]["environments"])["attributes"][
               "scope"].update(environments=[]))
listed("record.branch.added", "records.attributes.scope.branch", "narrows a value to a branch",
       "record", scope_edit(branch="evil"))
listed("record.branch.dropped", "records.attributes.scope.branch", "gives a branch's value to all",
       "record", lambda v, c: first(v.index["records"], lambda r: r["attributes"]["scope"][
           "branch"])["attributes"]["scope"].update(branch=None))
for number, word in enumerate(("plain", "encrypted", "sensitive", "system", "secret"), 1):
    def retype(v, c, number=number):
        in_use(v, lambda r: r["attributes"]["type"] != number)["attributes"]["type"] = number
    listed(f"record.type.{word}", "records.attributes.type", f"makes a variable's type {word}",
           "record", retype)

table((
    ("attributes.comment", "a different comment", lambda o, c: "set by nobody"),
    ("attributes.comment:escapes", "a comment with escape sequences",
     lambda o, c: "\x1b]0;evil\x07\x1b[31m\u202e"),
    ("made_at", "a different creation time", lambda o, c: later(o)),
    ("changed_at", "a different modification time", lambda o, c: later(o)),
), "record", "records", in_use, left_out, reason="for people")
table((
    ("highest", "a higher highest version", lambda o, c: o + 7),
    ("highest:last", "the highest possible number", lambda o, c: (1 << 64) - 1),
), "record", "records", in_use, left_out,
    reason="numbers only rise; a higher one skips numbers")
table((
    ("rotation", "asks for a rotation, or for none",
     lambda o, c: 0 if o else 3600),
    ("rotation:soon", "asks for a rotation after one second", lambda o, c: 1),
    ("removed_at", "removes a record", lambda o, c: 1),
), "record", "records", in_use, listed, shows="record")
listed("record.removed_at.revived", "records.removed_at", "restores a removed record",
       "record", lambda v, c: unused(v).update(removed_at=0))
left_out("record.removed_at.later", "records.removed_at", "a different removal time",
         "for people", lambda v, c: unused(v).update(removed_at=later(unused(v)["removed_at"])))


def no_value(v, c):
    record = in_use(v)
    v.index["earlier"].append(current_of(v, record))
    v.index["current"].remove(current_of(v, record))
    record["current"] = 0


listed("record.current.none", "records.current", "makes the current version an earlier one",
       "record", no_value)


def set_back(v, c, drops=False):
    record = with_history(v)
    old, new = current_of(v, record), earlier_of(v, record)[-1]
    v.index["current"].remove(old), v.index["earlier"].remove(new)
    v.index["current"].append(new)
    record["current"] = new["number"]
    if drops:
        record["highest"] = max(version["number"] for version in v.versions()
                                if version["record"] == record["id"])
        drop_unneeded_batches(v)
    else:
        v.index["earlier"].append(old)


listed("record.current.earlier", "records.current", "reveals an earlier value again", "record",
       set_back)
listed("record.highest.lower", "records.highest", "forgets the newest version, so that its number "
       "comes again", "record", lambda v, c: set_back(v, c, drops=True))

# Added and removed records

for suffix, what, made in (
        ("", "adds a variable", lambda v, p: add_record(v, p, "EVIL")),
        (".loader", "adds a variable that loads code",
         lambda v, p: add_record(v, p, "NODE_OPTIONS")),
        (".without-value", "adds a variable without a value",
         lambda v, p: add_record(v, p, "EVIL", number=0)),
        (".escapes", "adds a variable whose name has escape sequences",
         lambda v, p: add_record(v, p, "EVIL\x1b[2J$(id);`id`")),
        (".everywhere", "adds a variable to all targets", lambda v, p: add_record(
            v, p, "EVIL", attributes=writer.attributes(2, targets=7))),
        (".high-number", "adds a variable whose version has the highest number",
         lambda v, p: add_record(v, p, "EVIL", number=(1 << 64) - 1)),
        (".removed", "adds a removed variable",
         lambda v, p: add_record(v, p, "EVIL", removed_at=5)),
        (".over-another", "adds a variable of the same name in the same place",
         lambda v, p: add_record(v, project_of(v, in_use(v)["project"]), in_use(v)["name"],
                                 attributes=copy.deepcopy(in_use(v)["attributes"]))),
        (".with-remote", "adds a variable that claims another one's record on Vercel",
         lambda v, p: add_record(v, p, "EVIL", remote=copy.deepcopy(with_remote(v)["remote"])))):
    listed("record.added" + suffix, "records", what,
           "record" if suffix == ".without-value" else "record version",
           lambda v, c, made=made: made(v, bound(v)))


def drop_record(v, c):
    forget_record(v, in_use(v))
    drop_unneeded_batches(v)


listed("record.dropped", "records", "drops a record with all its versions", "record", drop_record)


def clone_record(v, c):
    """A copy with its own id cannot open the chunks."""
    record = in_use(v)
    new = {**copy.deepcopy(record), "id": os.urandom(16), "name": "EVIL", "remote": None}
    version = {**copy.deepcopy(current_of(v, record)), "record": new["id"]}
    version.pop("offset")
    if version["sealed_name"] is None:
        version["sealed_name"] = {"project": record["project"], "name": record["name"]}
    v.index["records"].append(new), v.index["current"].append(version)


refused("record.cloned", "records", "a copy of a record with a copy of its value", "value",
        clone_record)


def replace_record(v, c):
    record = in_use(v)
    forget_record(v, record)
    new = add_record(v, project_of(v, record["project"]), record["name"], number=record["current"])
    new["attributes"], new["remote"] = record["attributes"], record["remote"]
    drop_unneeded_batches(v)


listed("record.replaced", "records.id", "puts a record with a different id in place of one",
       "record version", replace_record)

# --------------------------------------------------------------------------------------------------
# 5.4: remotes

table((
    ("remote.id", "a different record on Vercel", lambda o, c: "env_evil"),
    ("remote.account", "a different account", lambda o, c: "user_evil"),
    ("remote:dropped", "forgets the record on Vercel", lambda o, c: None),
), "record", "records", with_remote, listed, shows="record")
listed("record.remote.added", "records.remote", "claims a record on Vercel", "record",
       lambda v, c: in_use(v, lambda r: not r["remote"]).update(remote={"id": "env_evil",
       "key": "EVIL", "account": "user_evil", "pushed": 1, "agreed": writer.attributes(2),
       "agreed_at": 1, "seen_at": 1, "gone": 0, "pushed_at": 1, "earlier": None}))
listed("record.remotes-swapped", "records.remote", "swaps the remotes of two records", "record",
       lambda v, c: swap(with_remote(v), with_remote(v, 1), "remote"))
REMOTE = (
    "what Vercel was last known to hold; a false one causes a false conflict, hides a real one, "
    "or leaves a push out; what is sent is accepted, to the accepted id")
table((
    ("remote.key", "a different key as last agreed", lambda o, c: "EVIL"),
    ("remote.pushed", "as if this version had never been pushed", lambda o, c: 0),
    ("remote.pushed:higher", "as if a later version had been pushed", lambda o, c: o + 9),
    ("remote.agreed.type", "a different type as last agreed", lambda o, c: another(o, 1, 2)),
    ("remote.agreed.scope.targets", "other targets as last agreed", lambda o, c: o ^ 7),
    ("remote.agreed.scope.environments", "other environments as last agreed",
     lambda o, c: ["zz-evil"]),
    ("remote.agreed.scope.branch", "a different branch as last agreed", lambda o, c: "evil"),
    ("remote.agreed.comment", "a different comment as last agreed", lambda o, c: "evil"),
    ("remote.agreed_at", "a later modification time as last agreed", lambda o, c: later(o)),
    ("remote.agreed_at:zero", "no modification time as last agreed", lambda o, c: 0),
    ("remote.seen_at", "a later modification time as last seen", lambda o, c: later(o)),
    ("remote.seen_at:zero", "no modification time as last seen", lambda o, c: 0),
    ("remote.gone", "as if the record on Vercel were gone, or there", lambda o, c: 1 - o),
    ("remote.pushed_at", "a different time of the push", lambda o, c: later(o)),
    ("remote.pushed_at:never", "as if it had never been pushed", lambda o, c: 0),
    ("remote.earlier", "as if this version had been there before",
     lambda o, c: {"version": 1, "since": 1, "until": 2 ** 60}),
), "record", "records", with_remote, left_out, reason=REMOTE)

# --------------------------------------------------------------------------------------------------
# 5.5: versions


def replace_version(v, record, old, section, **changes):
    take_version(v, old)
    forge(v, record, old["number"], section, made_at=old["made_at"], **changes)
    drop_unneeded_batches(v)


def same_number(v, c):
    record = in_use(v)
    replace_version(v, record, current_of(v, record), "current")


listed("F2.same-number", "versions", "a different value under the number of the current version",
       "record version", same_number, finding="F2")


def same_everything(v, c):
    """Number, id and time are those of the accepted version; the batch cannot be."""
    record = in_use(v)
    old = current_of(v, record)
    batch = v.sealed_batch(DATA_KEY)
    new = {**old, "batch": batch}
    new["sealed_name"] = None
    new["chunk"] = v.chunk(record, new, DATA_KEY, FORGED)
    v.index["current"][v.index["current"].index(old)] = new
    drop_unneeded_batches(v)


listed("F2.same-number-and-id", "versions", "a different value under number, id and time of the "
       "current version", "record version", same_everything, finding="F2")


def same_batch(v, c):
    """All of the version's numbers and names, in a batch that now has the attacker's data key."""
    record = in_use(v)
    old = current_of(v, record)
    batch = first(v.index["batches"], lambda batch: batch["id"] == old["batch"])
    batch.update(wrapping=1, wrapped=box(v.public, DATA_KEY + v.vault_id + batch["id"]))
    for version in v.versions():
        if version["batch"] == batch["id"]:
            of = first(v.index["records"], lambda item: item["id"] == version["record"])
            version["chunk"] = v.chunk(of, version, DATA_KEY, FORGED)


refused("F2.same-batch-rewrapped", "batches.wrapped", "other values under all ids of accepted "
        "ones, in their batch with another data key", "batch", same_batch, finding="F2")


def new_current(v, c, step=1, value=FORGED):
    record = in_use(v)
    old = current_of(v, record)
    take_version(v, old)
    v.index["earlier"].append(old)
    number = record["highest"] + step
    record["current"] = record["highest"] = number
    forge(v, record, number, value=value)


listed("version.added.current", "versions", "a new current value", "record version", new_current)
listed("version.added.current.number", "versions.number", "a new current value with a number far "
       "ahead", "record version", lambda v, c: new_current(v, c, 1 << 40))
listed("version.added.current.empty", "versions", "a new current value, which is empty",
       "record version", lambda v, c: new_current(v, c, value=b""))
listed("version.added.current.escapes", "versions", "a new current value with escape sequences and "
       "a zero byte", "record version", lambda v, c: new_current(v, c, value=b"\x1b[31m\0\xff"))
listed("version.added.pushed",
    "records.remote.pushed",
    "a new current value that claims to be pushed",
    "record version",
    lambda v,
    c: (new_current(v,
    c),
     in_use(v)["remote"] is None or in_use(v)[ "remote"].update(pushed=in_use(v)["current"])))


def guess(v, c):
    """If the guess is the current value, a careless writer drops it as a repetition."""
    record = in_use(v, lambda record: record["current"] > 1 or earlier_of(v, record))
    below = [version for version in earlier_of(v, record) if version["number"] < record["current"]]
    if below:
        replace_version(v, record, below[-1], "earlier")
    else:
        forge(v, record, record["current"] - 1, "earlier")


listed("F6.guess-in-place-of-the-earlier", "versions", "a guess in place of the version before "
       "the current one", "record version", guess, finding="F6")


def guess_above(v, c):
    record = in_use(v)
    record["highest"] += 1
    forge(v, record, record["highest"], "earlier")


listed("F6.guess-above", "versions", "a guess as an earlier version with the number after the "
       "current one", "record version", guess_above, finding="F6")


def guess_below(v, c):
    """A guess with a number between two existing ones, or below the first."""
    def gaps(record):
        taken = {version["number"] for version in earlier_of(v, record)}
        return [number for number in range(1, record["current"]) if number not in taken]
    record = in_use(v, gaps)
    forge(v, record, gaps(record)[-1], "earlier")


listed("F6.guess-in-a-gap", "versions", "a guess under a number that no version has any more",
       "record version", guess_below, finding="F6")


def many_guesses(v, c):
    record = in_use(v)
    for at in range(50):
        record["highest"] += 1
        forge(v, record, record["highest"], "earlier", value=b"guess-%d" % at)


listed("F6.many-guesses", "versions", "fifty guesses as earlier versions, which displace others",
       "record version", many_guesses, finding="F6")


def fill_history(v, c):
    """As many earlier versions as a record can have, so that the next write has no room."""
    record = in_use(v)
    batch = v.sealed_batch(DATA_KEY)
    for _ in range(10_000 - len(earlier_of(v, record))):
        record["highest"] += 1
        v.index["earlier"].append(
            v.version(record, record["highest"], batch, DATA_KEY, b"", made_at=1 << 43))


listed("version.history-full", "versions", "as many earlier versions as a record can have",
       "record version", fill_history)


def drop_earlier(v, c, every=False):
    record = with_history(v)
    for version in earlier_of(v, record) if every else earlier_of(v, record)[:1]:
        v.index["earlier"].remove(version)
    drop_unneeded_batches(v)


listed("version.dropped", "versions", "drops an earlier version", "record", drop_earlier)
listed("version.dropped.all", "versions", "drops the history of a record", "record",
       lambda v, c: drop_earlier(v, c, every=True))


def drop_current(v, c):
    record = in_use(v)
    v.index["current"].remove(current_of(v, record))
    record["current"] = 0
    drop_unneeded_batches(v)


listed("version.dropped.current", "versions", "drops the current value", "record", drop_current)


def swap_numbers(v, c, ids=False):
    record = with_history(v)
    current, earlier = current_of(v, record), earlier_of(v, record)[-1]
    for name in ("id", "batch", "made_at", "sealed_name", "chunk", "offset"):
        current[name], earlier[name] = earlier[name], current[name]


listed("version.numbers-swapped", "versions.number", "current and earlier version exchange their "
       "numbers, so that the earlier value is revealed", "record version", swap_numbers)


def renumber(v, c, earlier=False):
    record = with_history(v) if earlier else in_use(v)
    if earlier:
        version = earlier_of(v, record)[-1]
        record["highest"] += 1
        version["number"] = record["highest"]
    else:
        version = current_of(v, record)
        record["highest"] += 1
        record["current"] = version["number"] = record["highest"]


listed("version.number.current", "versions.number", "gives the current version another number",
       "record version", renumber)
listed("version.number.earlier", "versions.number", "gives an earlier version another number",
       "record version", lambda v, c: renumber(v, c, earlier=True))
listed("version.made_at", "versions.made_at", "a different time of a version, which decides what is "
       "pruned", "record version", lambda v, c: current_of(v, in_use(v)).update(made_at=1))
listed("version.made_at.earlier", "versions.made_at", "a different time of an earlier version",
       "record version", lambda v, c: earlier_of(v, with_history(v))[0].update(made_at=1 << 43))
refused("version.id", "versions.id", "a different id of a version", "value",
        lambda v, c: current_of(v, in_use(v)).update(id=os.urandom(16)))
refused("version.batch", "versions.batch", "a different batch for a version", "value",
        lambda v, c: change_batch(v))


def change_batch(v):
    version = current_of(v, in_use(v))
    other = first(v.index["batches"], lambda batch: batch["id"] != version["batch"])
    version["batch"] = other["id"]
    if version["batch"] not in {one["batch"] for one in v.versions()}:
        drop_unneeded_batches(v)


def set_sealed_name(v, c):
    record = in_use(v)
    current_of(v, record)["sealed_name"] = {"project": record["project"], "name": "EVIL"}


refused("version.sealed_name.changed", "versions.sealed_name", "claims another name for a version",
        "value", set_sealed_name)


def set_sealed_project(v, c):
    record = in_use(v)
    other = other_project(v, project_of(v, record["project"]))
    current_of(v, record)["sealed_name"] = {"project": other["id"], "name": record["name"]}


refused("version.sealed_name.project", "versions.sealed_name", "claims another project for a "
        "version", "value", set_sealed_project)
refused("version.sealed_name.dropped", "versions.sealed_name", "drops a version's sealed name",
        "value", lambda v, c: first(v.versions(), lambda version: version["sealed_name"]).update(
        sealed_name=None))
left_out("version.sealed_name.own", "versions.sealed_name", "writes the record's own name as the "
         "sealed one", "a chunk with another one does not open, and this is the same one", lambda v,
         c: keep_names(v, in_use(v)))


def exchange_chunks(v, one, other):
    need(one["chunk"] != other["chunk"])
    one["chunk"], other["chunk"] = other["chunk"], one["chunk"]


refused("version.chunks-exchanged", "chunks", "two records exchange their chunks", "value",
        lambda v, c: exchange_chunks(v, current_of(v, in_use(v)), current_of(v, in_use(v,
        least=1))))
refused("version.chunks-exchanged.earlier", "chunks", "current and earlier version exchange their "
        "chunks", "value", lambda v, c: exchange_chunks(
            v, current_of(v, with_history(v)), earlier_of(v, with_history(v))[-1]))


def move_version(v, c):
    """An accepted value of one record as a new current value of another."""
    source, target = in_use(v), in_use(v, least=1)
    version = {**copy.deepcopy(current_of(v, source)), "record": target["id"],
               "number": target["highest"] + 1}
    version.pop("offset")
    if version["sealed_name"] is None:
        version["sealed_name"] = {"project": source["project"], "name": source["name"]}
    old = current_of(v, target)
    take_version(v, old)
    v.index["earlier"].append(old)
    v.index["current"].append(version)
    target["current"] = target["highest"] = version["number"]


refused("version.moved", "versions.record", "a copy of one record's value as the current one of "
        "another", "value", move_version)


def edit_chunk(new):
    def edit(v, c):
        version = current_of(v, in_use(v))
        version["chunk"] = new(version["chunk"])
    return edit


refused("chunk.flipped", "chunks", "one bit of a chunk, with a correct checksum", "value",
        edit_chunk(lambda chunk: chunk[:-1] + bytes([chunk[-1] ^ 1])))
refused("chunk.nonce", "chunks.nonce", "a different nonce", "value",
        edit_chunk(lambda chunk: bytes(24) + chunk[24:]))
refused("chunk.cut", "versions.length", "a truncated chunk", "value",
        edit_chunk(lambda chunk: chunk[:-16]))
refused("chunk.longer", "versions.length", "a longer chunk", "value",
        edit_chunk(lambda chunk: chunk + bytes(128)))
refused("version.checksum", "versions.checksum", "a different checksum", "chunk",
        lambda v, c: current_of(v, in_use(v)).update(wrong={"checksum": bytes(32)}))
refused("version.offset", "versions.offset", "an offset beyond the end of the file", "layout",
        lambda v, c: current_of(v, in_use(v)).update(wrong={"offset": 1 << 40}))
refused("version.length", "versions.length", "a longer length", "layout",
        lambda v, c: current_of(v, in_use(v)).update(wrong={"length": 1 << 20}))


def turn_chunks(v, c):
    need(len(v.versions()) > 1)
    for at, version in enumerate(reversed(v.versions())):
        version["offset"] = at


left_out("chunk.order", "versions.offset", "the chunks in a different order", "offset, length and "
         "checksum only say where the chunk is", turn_chunks)

# --------------------------------------------------------------------------------------------------
# 5.6: batches


def batch_of(v, wrapping):
    used = {version["batch"] for version in v.versions()}
    return first(v.index["batches"], lambda b: b["wrapping"] == wrapping and b["id"] in used)


refused("batch.root.flipped", "batches.wrapped", "one bit of a wrapped data key", "batch",
        lambda v, c: batch_of(v, 2).update(
            wrapped=batch_of(v, 2)["wrapped"][:-1] + bytes([batch_of(v, 2)["wrapped"][-1] ^ 1])))
refused("batch.root.random", "batches.wrapped", "a root batch made by the attacker", "batch",
        lambda v, c: batch_of(v, 2).update(wrapped=seal(DATA_KEY, DATA_KEY, b"")))
refused("batch.root.to-sealed", "batches.wrapping", "seals another data key in place of a root "
        "batch", "batch", lambda v, c: batch_of(v, 2).update(
            wrapping=1, wrapped=box(v.public, DATA_KEY + v.vault_id + batch_of(v, 2)["id"])))


def exchange_wrapped(v, c):
    found = [batch for batch in v.index["batches"] if batch["wrapping"] == 2]
    need(len(found) > 1)
    swap(*found[:2], "wrapped")


refused("batch.root.exchanged", "batches.wrapped", "two root batches exchange their data keys",
        "batch", exchange_wrapped)
refused("batch.dropped", "batches", "drops a batch that versions need", "layout",
        lambda v, c: v.index["batches"].remove(batch_of(v, 2)))
refused("batch.id", "batches.id", "a different id of a batch", "layout",
        lambda v, c: (batch_of(v, 2).update(id=os.urandom(16)), v.sort()))


def rename_batch(v, c):
    batch = batch_of(v, 2)
    new = os.urandom(16)
    for version in v.versions():
        version["batch"] = new if version["batch"] == batch["id"] else version["batch"]
    batch["id"] = new


refused("batch.id.with-versions", "batches.id", "a different id of a batch, also in its versions",
        "batch", rename_batch)
left_out("batch.added.sealed", "batches", "adds a sealed batch that nothing needs",
         "nothing is in it", lambda v, c: v.sealed_batch(DATA_KEY))
refused("batch.added.sealed.other-key", "batches", "adds a batch that is sealed to another key",
        "batch", lambda v, c: v.sealed_batch(DATA_KEY, pair(OWN_ROOT)[0]))
refused("batch.added.root", "batches", "adds a root batch made by the attacker", "batch",
        lambda v, c: v.root_batch(DATA_KEY, OWN_ROOT))
refused("batch.sealed.other-vault",
    "batches.wrapped",
    "adds a batch that names another vault",
    "batch",
    lambda v,
    c: v.index["batches"].append({ "id": ident(0xEE),
    "wrapping": 1,
    "wrapped": box(v.public,
     DATA_KEY + ident(1) + ident(0xEE))}))
refused("batch.sealed.other-batch",
    "batches.wrapped",
    "adds a batch that names another batch",
    "batch",
    lambda v,
    c: v.index["batches"].append({ "id": ident(0xEE),
    "wrapping": 1,
    "wrapped": box(v.public,
     DATA_KEY + v.vault_id + ident(1))}))


def forge_locked(v, c):
    """Replaces a value that the user wrote while locked."""
    sealed = [version for version in v.index["current"] if wrapping_of(v, version) == 1]
    need(sealed)
    record = first(v.index["records"], lambda item: item["id"] == sealed[0]["record"])
    replace_version(v, record, sealed[0], "current")


listed("version.locked-write-replaced", "versions", "a different value in place of one that was "
       "written while locked", "record version", forge_locked)


def drop_locked(v, c):
    """Undoes a locked write: the earlier version becomes current again."""
    sealed = first(v.index["current"], lambda version: wrapping_of(v, version) == 1)
    record = first(v.index["records"], lambda item: item["id"] == sealed["record"])
    v.index["current"].remove(sealed)
    left = earlier_of(v, record)
    if left:
        v.index["earlier"].remove(left[-1]), v.index["current"].append(left[-1])
        record["current"] = left[-1]["number"]
    else:
        v.index["records"].remove(record)
    drop_unneeded_batches(v)


left_out("version.locked-write-dropped", "versions", "undoes a write of the user's while locked",
         "nobody had accepted it, and the state before it was accepted: docs/threat-model.md says "
         "that this is not seen", drop_locked)

# --------------------------------------------------------------------------------------------------
# 5.7: the journal


FLAGS = ("default", "in_use", "gone")


def default(of):
    """The smallest value of a type."""
    if isinstance(of, writer.Struct):
        return {name: default(field) for name, field in of.fields.items()}
    if isinstance(of, writer.Number):
        return 1 if of is writer.U8 else 0  # which is in each closed set
    return {writer.Optional: None, writer.List: [], writer.Text: "", writer.Bytes: b""}.get(
        type(of), b"A" * getattr(of, "size", 0))


def fields(of):
    """The fields of a type with their types, or None."""
    if of is ROTATION:
        return {**of.START.fields, "progress": writer.List(writer.PROGRESS), "ended_at": writer.U64}
    return of.fields if isinstance(of, writer.Struct) else None


def paths(of, path=()):
    """The path of each field without fields of its own."""
    if isinstance(of, (writer.List, writer.Optional)):
        yield from paths(of.of, path)
    elif fields(of):
        for name, field in fields(of).items():
            yield from paths(field, (*path, name))
    else:
        yield path


def with_another(of, value, path):
    """The value with another one in the field of this path. It stays well-formed: of a number with
    a closed set of meanings both 1 and 2 are in it, but for flags, and lists stay in order."""
    if isinstance(of, writer.Optional):
        if value is None:
            value = default(of.of)
        return with_another(of.of, value, path)
    if isinstance(of, writer.List):
        items = value or [default(of.of)]
        return [*items[:-1], with_another(of.of, items[-1], path)]
    if path:
        name, rest = path[0], path[1:]
        if fields(of)[name] is writer.U8 and name in FLAGS:
            return {**value, name: 1 - value[name]}
        return {**value, name: with_another(fields(of)[name], value[name], rest)}
    if of is writer.U64:
        return value + (1 << 40) if value < 1 << 63 else value - 1
    if isinstance(of, writer.Number):
        return 1 if value != 1 else 2 if of is writer.U8 else 0
    if isinstance(of, writer.Text):
        return value + "-evil" if value else "evil"
    return (b"B" if value[:1] == b"A" else b"A") + value[1:]


def payload_edits(name, kinds, of, promise, except_for=(), **more):
    """A change of each field of a payload."""
    for path in paths(of):
        if path in except_for:
            continue

        def edit(v, c, path=path):
            item = entry(v, kinds)
            content = with_another(of, of.get(Reader(item["payload"])), path)
            item["payload"] = of.put(content)
        said = ".".join(path).replace("_", "-")
        promise(f"{name}.{said}", f"journal.{name}.{said}", f"another {said} in an entry of the "
                "journal", edit=edit, **more)


payload_edits("send", (1,), SEND, listed, except_for=[("action",)], shows="journal")


def turn_send(v, c):
    item = entry(v, (1,))
    content = SEND.get(Reader(item["payload"]))
    if content["action"] == 1:
        content.update(action=2, target={"id": "env_evil", "changed_at": 1})
    else:
        content.update(action=1, target=None)
    item["payload"] = SEND.put(content)


listed("send.action", "journal.send.action", "makes a change of a begun creation, or the other way "
       "round", "journal", turn_send)


def add_send(v, c, action=2):
    record = in_use(v)
    content = writer.send(
    record["project"],
    record["id"],
    record["name"],
    record["current"],
     action)
    if action == 1:
        content["target"] = None
    v.index["journal"].append(writer.journal(os.urandom(16), 1, content))


listed("send.added", "journal", "adds a begun change", "journal", add_send)
listed("send.added.create", "journal", "adds a begun creation", "journal",
       lambda v, c: add_send(v, c, 1))
listed("send.added.delete", "journal", "adds a begun deletion", "journal",
       lambda v, c: add_send(v, c, 3))
listed("send.dropped", "journal", "drops a begun send, whose outcome is unknown", "journal",
       lambda v, c: v.index["journal"].remove(entry(v, (1,))))
listed("send.made_at", "journal.made_at", "a different time of a begun send", "journal",
       lambda v, c: entry(v, (1,)).update(made_at=1 << 43))
listed("send.id", "journal.id", "a different id of a begun send", "journal",
       lambda v, c: entry(v, (1,)).update(id=os.urandom(16)))
listed("send.kind", "journal.kind", "makes a begun send an entry of an unknown kind", "journal",
       lambda v, c: entry(v, (1,)).update(kind=200))
listed("journal.added.unknown", "journal", "adds an entry of an unknown kind", "journal",
       lambda v, c: v.index["journal"].append(writer.journal(os.urandom(16), 200, b"evil")))
listed("journal.changed.unknown", "journal.payload", "changes an entry of an unknown kind",
       "journal", lambda v, c: entry(v, range(5, 256)).update(payload=b"evil"))
listed("journal.dropped.unknown", "journal", "drops an entry of an unknown kind", "journal",
       lambda v, c: v.index["journal"].remove(entry(v, range(5, 256))))

COMMAND = "touch /tmp/zg-env-attack"
payload_edits("rotation.open", (2,), ROTATION, refused, except_for=[("ended_at",)], word="rotation")
payload_edits("rotation.ended", (3,), ROTATION, refused, word="rotation")


def exchange_commands(v, c):
    item = entry(v, (2,))
    content = ROTATION.get(Reader(item["payload"]))
    content.update(apply=COMMAND, check=COMMAND, revoke=COMMAND)
    item["payload"] = ROTATION.put(content)


refused("rotation.commands", "journal.rotation.apply", "other commands in an open rotation",
        "rotation", exchange_commands)


def add_rotation(v, c, ended_at=0):
    record = in_use(v)
    content = writer.rotation(record["project"], record["id"], ended_at)
    content.update(key=record["name"], apply=COMMAND, check=COMMAND, revoke=COMMAND)
    v.index["journal"].append(writer.journal(os.urandom(16), 3 if ended_at else 2, content))


refused("rotation.added", "journal", "adds an open rotation with commands", "rotation",
        add_rotation)
refused("rotation.added.ended", "journal", "adds a rotation that has ended", "rotation",
        lambda v, c: add_rotation(v, c, 9))


def reopen(v, c):
    item = entry(v, (3,))
    content = ROTATION.get(Reader(item["payload"]))
    item.update(kind=2, payload=ROTATION.put({**content, "ended_at": 0, "outcome": 0}))


refused("rotation.reopened", "journal.kind", "opens a rotation that has ended", "rotation", reopen)


def close(v, c):
    item = entry(v, (2,))
    content = ROTATION.get(Reader(item["payload"]))
    item.update(kind=3, payload=ROTATION.put({**content, "ended_at": 9}))


refused("rotation.closed", "journal.kind", "closes an open rotation", "rotation", close)
refused("rotation.made_at", "journal.made_at", "a different time of a rotation", "rotation",
        lambda v, c: entry(v, (2, 3)).update(made_at=1 << 43))
refused("rotation.id", "journal.id", "a different id of a rotation", "rotation",
        lambda v, c: entry(v, (2, 3)).update(id=os.urandom(16)))
listed("rotation.dropped", "journal", "drops a rotation", "journal",
       lambda v, c: v.index["journal"].remove(entry(v, (2, 3))))
refused("rotation.doubled", "journal", "a copy of a rotation under another id", "rotation",
        lambda v, c: v.index["journal"].append({**entry(v, (2, 3)), "id": os.urandom(16)}))
refused("rotation.send-in-its-place", "journal", "an open rotation in place of a begun send",
        "rotation", lambda v, c: entry(v, (1,)).update(
            kind=2, payload=entry(v, (2,))["payload"]))
listed("journal.send-in-place-of-rotation", "journal", "a begun send under the id of a rotation",
       "journal", lambda v, c: entry(v, (2, 3)).update(kind=1, payload=SEND.put(writer.send(
           in_use(v)["project"], in_use(v)["id"], "EVIL", 1))))

payload_edits("relay", (4,), RELAY, listed, shows="journal")


def redirect_relay(v, c):
    item = entry(v, (4,))
    content = RELAY.get(Reader(item["payload"]))
    item["payload"] = RELAY.put({**content, "relay": c.origin})


listed("relay.redirected", "journal.relay.relay", "sends the device's token to another relay",
       "journal", redirect_relay)
listed("relay.added", "journal", "adds a relay", "journal", lambda v, c: v.index["journal"].append(
    writer.journal(os.urandom(16), 4, writer.relay_payload(c.origin))))
listed("relay.dropped", "journal", "drops a relay", "journal",
       lambda v, c: v.index["journal"].remove(entry(v, (4,))))
refused("relay.seventeen", "journal", "adds seventeen relays", "layout",
        lambda v, c: (v.index["journal"].extend(writer.journal(
            os.urandom(16), 4, writer.relay_payload(f"https://evil{n}.example"))
            for n in range(17)), v.sort()))
refused("relay.twice", "journal", "adds one relay twice", "layout",
        lambda v, c: (v.index["journal"].extend(writer.journal(
            os.urandom(16), 4, writer.relay_payload(c.origin)) for n in range(2)), v.sort()))

# --------------------------------------------------------------------------------------------------
# 5.8: accounts

table((
    ("origin", "sends the token to another origin", lambda o, c: c.origin),
    ("origin:slash", "the same origin, written with a slash", lambda o, c: o + "/"),
    ("user", "a different user", lambda o, c: "user_evil"),
    ("user_name", "a different name of the user", lambda o, c: "evil"),
    ("team", "a different team, or one where there was none", lambda o, c: "team_evil"),
    ("team_slug", "a different team by name", lambda o, c: "evil"),
    ("default", "is the default account, or is not", lambda o, c: 1 - o),
    ("name", "a different name of an account", lambda o, c: o + "-evil"),
), "account", "accounts", lambda v: account(v, 1), listed, shows="account")
table((
    ("origin", "sends a protected token to another origin", lambda o, c: c.origin),
    ("user", "a different user of a protected token", lambda o, c: "user_evil"),
    ("name", "a different name of an account with a protected token", lambda o, c: o + "-evil"),
), "account.protected", "accounts", lambda v: account(v, 2), listed, shows="account", finding="F3")
table((
    ("made_at", "a different creation time", lambda o, c: later(o)),
    ("ends_at", "a different expiry of the token", lambda o, c: 1),
    ("ends_at:later", "a token that seems never to expire", lambda o, c: 1 << 43),
), "account", "accounts", account, left_out, reason="for a warning")
listed("account.secret", "accounts.secret", "a different token, which gets what is sent", "account",
       lambda v, c: account(v, 1).update(secret=TOKEN))
listed("account.secret.empty", "accounts.secret", "an empty token", "account",
       lambda v, c: account(v, 1).update(secret=b""))
listed("account.secret.header", "accounts.secret", "a token with line ends, which would add fields "
       "to a request", "account", lambda v, c: account(v, 1).update(secret=b"x\r\nX-Evil: 1"))
listed("account.protection.plain", "accounts.protection", "a different token in place of a "
       "protected one, not protected", "account", lambda v, c: account(v, 2).update(protection=1,
       secret=TOKEN))


def own_protected(v, item, **changes):
    bound_to = {"origin": item["origin"], "name": item["name"], "vault": v.vault_id, **changes}
    return protected(bound_to["vault"], bound_to["origin"], bound_to["name"], TOKEN, v.public)


listed("account.protection.protected", "accounts.protection", "a different token in place of a "
       "plain one, protected", "account", lambda v, c: account(v, 1).update(protection=2,
       secret=own_protected(v, account(v, 1))))
listed("F3.protected-token-replaced", "accounts.secret", "a different protected token in place of "
       "one, for the same origin and name", "account", lambda v, c: account(v, 2).update(
       secret=own_protected(v, account(v, 2))), finding="F3")
listed("F3.protected-token-unbound", "accounts.secret", "a protected token that names another "
       "origin", "account", lambda v, c: account(v, 2).update(secret=own_protected(v, account(v, 2),
       origin=c.origin)), finding="F3")
listed("F3.protected-token-of-format-1", "accounts.secret", "a bare token, sealed without what it "
       "is bound to", "account", lambda v, c: account(v, 2).update(secret=box(v.public, TOKEN)),
       finding="F3")


def redirect_protected(v, c):
    account(v, 2)["origin"] = c.origin
    for project in v.index["projects"]:
        if project["binding"]:
            project["binding"]["origin"] = c.origin


listed("F3.protected-token-redirected", "accounts.origin", "account and bindings of a protected "
       "token to another origin", "account", redirect_protected, finding="F3")


def move_protected(v, c):
    """An account chosen by the attacker with a protected token."""
    item = account(v, 2)
    v.index["accounts"].append({**item, "name": item["name"] + "-evil", "origin": c.origin,
                                "default": 0})


listed("F3.protected-token-copied", "accounts", "a second account with the protected token and "
       "a different origin", "account", move_protected, finding="F3")
listed("account.secrets-swapped", "accounts.secret", "two accounts exchange their tokens",
       "account", lambda v, c: swap(account(v), account(v, at=1), "secret", "protection"))
listed("account.names-swapped", "accounts.name", "two accounts exchange their names", "account",
       lambda v, c: swap(account(v), account(v, at=1), "name"))


def own_account(v, c, **changes):
    like = first(v.index["accounts"])
    if changes.get("default"):
        for item in v.index["accounts"]:
            item["default"] = 0
    v.index["accounts"].append({**like, "name": "evil", "protection": 1, "secret": TOKEN,
                                "default": 0, **changes})


listed("account.added", "accounts", "adds an account", "account", own_account)
listed("account.added.default", "accounts", "adds an account, as the default account", "account",
       lambda v, c: own_account(v, c, default=1))
listed("account.added.origin", "accounts", "adds a default account of another origin", "account",
       lambda v, c: own_account(v, c, default=1, origin=c.origin))
listed("account.dropped", "accounts", "drops an account", "account",
       lambda v, c: v.index["accounts"].remove(account(v)))
listed("account.dropped.all", "accounts", "drops all accounts", "account",
       lambda v, c: (account(v), v.index["accounts"].clear()))

# --------------------------------------------------------------------------------------------------
# 5.1: metadata

listed("directory.added", "metadata.directories", "approves a directory", "directory",
       lambda v, c: v.index["metadata"]["directories"].append({
           "path": "/tmp/evil", "link": first(v.index["projects"])["name"], "organisation": "",
           "project": first(v.index["projects"])["id"]}))


def approve_above(v, c):
    """The root directory, so that every directory below would count."""
    v.index["metadata"]["directories"].append({
        "path": "/", "link": first(v.index["projects"])["name"], "organisation": "",
        "project": first(v.index["projects"])["id"]})


listed("directory.added.root", "metadata.directories", "approves the file system's root",
       "directory", approve_above)
listed("F7.approve-for-another-project", "metadata.directories", "approves a foreign directory and "
       "exchanges two projects' names", "directory project",
       lambda v, c: (v.index["metadata"]["directories"].append({
           "path": "/tmp/evil", "link": "x", "organisation": "",
           "project": first(v.index["projects"])["id"]}), swap_names(v, c)), finding="F7")
listed("directory.dropped", "metadata.directories", "removes an approval", "directory",
       lambda v, c: v.index["metadata"]["directories"].remove(directory(v)))


def other_directory_project(v, c):
    item = directory(v)
    item["project"] = first(v.index["projects"], lambda p: p["id"] != item["project"])["id"]


listed("directory.project", "metadata.directories.project", "gives a directory another project",
       "directory", other_directory_project, finding="F7")
listed("directory.project.unknown", "metadata.directories.project", "gives a directory a project "
       "that is not there", "directory", lambda v, c: directory(v).update(project=ident(0xEE)))
table((
    ("path", "a different path", lambda o, c: o + "-evil"),
    ("link", "a different name in the link", lambda o, c: "evil"),
    ("organisation", "a different organization in the link", lambda o, c: "evil"),
), "directory", "metadata.directories", directory, listed, shows="directory")



def setting(v):
    need(v.index["metadata"]["settings"])
    return v.index["metadata"]["settings"][0]


listed("setting.added", "metadata.settings", "adds a setting", "setting",
       lambda v, c: v.index["metadata"]["settings"].append(
           {"name": "schema-env.evil", "value": "production"}))
listed("setting.dropped", "metadata.settings", "removes a setting, so that nothing is required",
       "setting", lambda v, c: v.index["metadata"]["settings"].remove(setting(v)))
table((
    ("name", "a different name of a setting", lambda o, c: o + "-evil"),
    ("value", "a different value of a setting", lambda o, c: "off"),
), "setting", "metadata.settings", setting, listed, shows="setting")

CLAIM = "says what was, and is a claim of the index tier"


def metadata(change):
    return lambda v, c: change(v.index["metadata"])


refused("generations.none", "metadata.generations", "forgets the generations", "anchor",
        lambda v, c: None, finish=lambda raw, v, c: rebuild_without_generations(v, c))
refused("generations.wrong-tag", "metadata.generations", "remembers another tag of the generation "
        "before", "anchor", lambda v, c: setattr(v, "tag", bytes(16)))


def rebuild_without_generations(v, c):
    v.index["metadata"]["generations"] = []
    return v.build(c.key)


def cut_generations(m):
    need(len(m["generations"]) > 1)
    del m["generations"][:-1]


left_out("generations.older-dropped", "metadata.generations", "forgets older generations", CLAIM,
         metadata(cut_generations))
left_out("generations.future", "metadata.generations", "remembers a future generation",
         CLAIM, lambda v, c: None, finish=lambda raw, v, c: (
             v.index["metadata"]["generations"].append(
                 {"generation": v.generation + 7, "tag": ident(1)}), v.build(c.key))[1])
left_out("audit-log.none", "metadata.audit_log", "forgets the position in the audit log",
         "the index tier reads and writes the log anyway", metadata(
             lambda m: (need(m["audit_log"]), m.update(audit_log=None))))
left_out("audit-log.sequence", "metadata.audit_log.sequence", "a different position in the audit log",
         "the index tier reads and writes the log anyway; `verify` says that lines are missing",
         metadata(lambda m: m.update(audit_log={
             "sequence": (m["audit_log"] or {"sequence": 0})["sequence"] + 5, "tag": ident(1)})))
left_out("audit-log.tag", "metadata.audit_log.tag", "a different tag of the audit log's line",
         "the index tier reads and writes the log anyway; `verify` reports that the line differs",
         metadata(lambda m: (need(m["audit_log"]), m["audit_log"].update(tag=ident(1)))))
left_out("locked-writes.added", "metadata.locked_writes", "claims a locked write", CLAIM,
         lambda v, c: v.index["metadata"]["locked_writes"].append({
             "generation": v.generation + 1, "time": 1, "command": "import",
             "records": [first(v.index["records"])["id"]]}))
left_out("locked-writes.escapes", "metadata.locked_writes.command", "claims a locked write by a "
         "command with escape sequences", CLAIM,
         lambda v, c: v.index["metadata"]["locked_writes"].append({
             "generation": v.generation + 1, "time": 1 << 43, "command": "\x1b[31mset\x07",
             "records": [first(v.index["records"])["id"]]}))
left_out("locked-writes.unknown",
    "metadata.locked_writes.records",
    "claims a locked write of a record "
    "that is not there",
    CLAIM,
    lambda v,
    c: v.index["metadata"]["locked_writes"].append({ "generation": v.generation + 1,
    "time": 1,
    "command": "set",
     "records": [ident(0xEE)]}))


def unlist(v, c):
    """A change of a value, and the claim of the locked writes that it was the user's own import."""
    new_current(v, c)
    v.index["metadata"]["locked_writes"] = [{
        "generation": v.generation + 1, "time": 1, "command": "import",
        "records": [in_use(v)["id"]]}]


listed("locked-writes.claimed", "metadata.locked_writes", "a new value, with the claim that "
       "`import` wrote it", "record version", unlist)


left_out("locked-writes.future", "metadata.locked_writes.generation", "claims a locked write of a "
         "generation that is yet to come, which the next one would follow", CLAIM,
         lambda v, c: v.index["metadata"]["locked_writes"].append({
             "generation": (1 << 64) - 1, "time": 1, "command": "set",
             "records": [first(v.index["records"])["id"]]}))
left_out("locked-writes.time", "metadata.locked_writes.time", "a different time of a locked write",
         CLAIM, metadata(lambda m: first(m["locked_writes"]).update(time=1 << 43)))


def drop_locked_writes(m):
    need(m["locked_writes"])
    m["locked_writes"] = []


left_out("locked-writes.dropped", "metadata.locked_writes", "forgets the locked writes", CLAIM,
         metadata(drop_locked_writes))
LOG_KEYS = "the index tier reads and writes the audit log anyway"
left_out("log-keys.added", "log_keys", "adds a former log key", LOG_KEYS,
         lambda v, c: v.index["log_keys"].append(ident(1) * 2))
left_out("log-keys.dropped", "log_keys", "drops the former log keys", LOG_KEYS,
         lambda v, c: (need(v.index["log_keys"]), v.index["log_keys"].clear()))
left_out("log-keys.changed", "log_keys", "a different former log key", LOG_KEYS,
         lambda v, c: (need(v.index["log_keys"]),
                       v.index["log_keys"].__setitem__(0, ident(1) * 2)))

# --------------------------------------------------------------------------------------------------
# 5.9: the checkpoint


def checkpoint(**changes):
    def edit(v, c):
        mine = v.index["checkpoint"]
        for name, new in changes.items():
            mine[name] = new(mine[name], v) if callable(new) else new
    return edit


refused("checkpoint.code", "checkpoint.code", "a different code", "checkpoint",
        checkpoint(code=lambda o, v: o[:-1] + bytes([o[-1] ^ 1])))
refused("checkpoint.code.nonce", "checkpoint.code", "a different nonce of the code", "checkpoint",
        checkpoint(code=lambda o, v: bytes(24) + o[24:]))
refused("checkpoint.code.zeros", "checkpoint.code", "no code", "checkpoint", checkpoint(
        code=bytes(40)))
refused("checkpoint.code.own", "checkpoint.code", "a code with another root's key", "checkpoint",
        lambda v, c: (v.index["checkpoint"].update(entries=v.entries()),
                      v.index["checkpoint"].update(code=v.code(OWN_ROOT))))
refused("checkpoint.generation.higher", "checkpoint.generation", "a higher generation",
        "checkpoint", checkpoint(generation=lambda o, v: o + 1))
refused("checkpoint.generation.far", "checkpoint.generation", "a generation above the file's, "
        "which would lock out later ones", "checkpoint", checkpoint(generation=(1 << 64) - 1))
refused("checkpoint.generation.zero", "checkpoint.generation", "generation 0", "checkpoint",
        checkpoint(generation=0))
refused("checkpoint.empty", "checkpoint.entries", "no entries", "checkpoint",
        lambda v, c: (need(v.index["checkpoint"]["entries"]), checkpoint(entries=[])(v, c)))


def listed_entry(v, kind):
    return first(v.index["checkpoint"]["entries"], lambda item: item["kind"] == kind)


KINDS = {1: "project", 2: "record", 3: "account", 4: "directory", 5: "journal", 6: "setting"}
for kind, word in KINDS.items():
    refused(f"checkpoint.dropped.{word}", "checkpoint.entries", f"drops the entry of a {word}",
            "checkpoint", lambda v, c, kind=kind: v.index["checkpoint"]["entries"].remove(
                listed_entry(v, kind)))


def follow(edit):
    """Makes a change, and matching entries."""
    def both(v, c):
        edit(v, c)
        v.sort()
        v.index["checkpoint"]["entries"] = v.entries()
    return both


for name, edit in (
        ("redirect", redirect), ("value", same_number), ("project-names", swap_names),
        ("new-value", new_current), ("move", move), ("rotation", add_rotation),
        ("protected-token", redirect_protected), ("directory", approve_above),
        ("account", own_account), ("history", drop_earlier),
        ("guess", lambda v, c: guess(v, c))):
    refused(f"checkpoint.follows.{name}", "checkpoint.entries",
            f"a change ({name}), and entries that " "agree with it", "checkpoint", follow(edit))

def key_of(item):
    content = item["content"]
    key = content["id"] if "id" in content else content.get("name", content.get("path"))
    return item["kind"], key if isinstance(key, bytes) else key.encode()


for kind, word in KINDS.items():
    for path in paths(writer.LISTED[kind]):
        def edit(v, c, kind=kind, path=path):
            item = listed_entry(v, kind)
            item["content"] = with_another(writer.LISTED[kind], item["content"], path)
            v.index["checkpoint"]["entries"].sort(key=key_of)
        said = ".".join(path).replace("_", "-")
        refused(f"checkpoint.entry.{word}.{said}", f"checkpoint.entries.{word}.{said}",
                f"another {said} in the entry of a {word}", "checkpoint", edit)


def older(v, c):
    need(c.older is not None)
    return c.older


def older_checkpoint(v, c):
    """With its own code, which holds: slots, epoch and pk are the same."""
    found = older(v, c).index["checkpoint"]
    need(found["generation"] < v.index["checkpoint"]["generation"])
    v.index["checkpoint"] = found


refused("checkpoint.older", "checkpoint", "the checkpoint of an earlier generation", "anchor",
        older_checkpoint)


def older_as_new(v, c):
    older_checkpoint(v, c)
    v.index["checkpoint"]["generation"] = v.generation


def older_entries(v, c):
    entries = older(v, c).index["checkpoint"]["entries"]
    need(entries != v.index["checkpoint"]["entries"])
    v.index["checkpoint"]["entries"] = entries


refused("checkpoint.older.as-new", "checkpoint.generation", "the entries and the code of an "
        "earlier checkpoint under the current generation", "checkpoint", older_as_new)
refused("checkpoint.older.entries", "checkpoint.entries", "the entries of an earlier checkpoint "
        "with the current code", "checkpoint", older_entries)


def older_index(v, c):
    """All of an earlier index, with the current one's generations."""
    found = older(v, c)
    need(found.index["checkpoint"]["generation"] < v.index["checkpoint"]["generation"])
    generations = v.index["metadata"]["generations"]
    v.index, v.slots = found.index, found.slots
    v.index["metadata"]["generations"] = generations


refused("index.older", "file", "the whole index of an earlier generation, as a new one", "anchor",
        older_index)


def older_part(*sections):
    def edit(v, c):
        found = older(v, c)
        need(any(found.index[name] != v.index[name] for name in sections))
        for name in sections:
            v.index[name] = found.index[name]
    return edit


listed("index.older.values", "records", "records and versions of an earlier generation, with the "
       "present checkpoint", "record", older_part("records", "current", "earlier", "batches"))
listed("index.older.accounts", "accounts", "the accounts of an earlier generation", "account",
       older_part("accounts"))
refused("file.older", "file", "an older copy of the whole file", "anchor", lambda v, c: older(v, c),
        finish=lambda raw, v, c: c.older_raw, generation="same")

# --------------------------------------------------------------------------------------------------
# 4: the header


def exchange_public(v, c):
    v.public = pair(OWN_ROOT)[0]


refused("F5.public-key", "header.pk", "a different public key, so that what is written while locked "
        "can be read", "exchanged-key", exchange_public, finding="F5")
refused("F5.public-key.with-values", "header.pk", "a different public key, with a value that is "
        "sealed to it", "exchanged-key", lambda v, c: (exchange_public(v, c), new_current(v, c)),
        finding="F5")
for name, point in (("zero", bytes(32)), ("one", b"\1" + bytes(31)),
                    ("order-8", bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd"
                                              "866205165f49b800"))):
    refused(f"public-key.low-order.{name}", "header.pk", "a public key of low order, to which "
            "nothing can be sealed", "exchanged-key", lambda v, c, point=point: setattr(v, "public",
            point), by="all")
refused("header.vault-id", "header.vault id", "a different vault id", "locked",
        lambda v, c: setattr(v, "vault_id", ident(0xEE)))
refused("header.epoch", "header.epoch", "a different epoch", "tag",
        lambda v, c: setattr(v, "epoch", v.epoch + 1), by="root")


def far_ahead(v, c):
    """With as many generations in between as a file remembers, none of which ever existed."""
    v.generation += 2000
    v.index["metadata"]["generations"] = [
        {"generation": v.generation - at, "tag": os.urandom(16)} for at in range(1024, 0, -1)]


left_out("header.generation.ahead", "header.generation", "a generation 2,000 writes ahead, with "
         "made up generations in between", "a warning reports it; the history is forgotten after "
         "1,024 writes anyway", far_ahead)
refused("header.generation.jump", "header.generation", "a generation 2,000 writes ahead, with the "
        "generations that there were", "anchor",
        lambda v, c: setattr(v, "generation", v.generation + 2000))


def last_generation(v, c):
    far_ahead(v, c)
    ahead = (1 << 64) - 2 - v.generation
    v.generation += ahead
    for item in v.index["metadata"]["generations"]:
        item["generation"] += ahead


left_out("header.generation.last", "header.generation", "the highest possible generation",
         "availability: no write can follow, and no anchor can be moved beyond it",
         last_generation)
refused("header.generation.same", "header.generation", "a different index under the same generation",
        "anchor", lambda v, c: in_use(v).update(changed_at=1), generation="same")


def earlier_generation(v, c):
    need(v.generation > 1)
    v.generation -= 1
    v.index["metadata"]["generations"] = v.index["metadata"]["generations"][:-1]
    v.index["checkpoint"]["generation"] = min(
        v.index["checkpoint"]["generation"], v.generation)


refused("header.generation.earlier", "header.generation", "an earlier generation", "anchor",
        earlier_generation, generation="same")

# 4.1: slots. The code of the checkpoint covers them all.


def slot_of(v, kind=None):
    return first(v.slots, lambda slot: kind in (None, slot["kind"]))


def root_slot(v):
    return first(v.slots, lambda slot: slot["tier"] == 2)


def add_slot(kind, tier):
    def edit(v, c):
        secret = {1: b"a passphrase of mine", 2: bytes(32), 3: bytes(32), 4: bytes(16)}[kind]
        cost = (1, 8 << 20) if kind == 1 else (0, 0)
        v.add_slot(os.urandom(16), kind, tier, c.key if tier == 1 else OWN_ROOT, secret, *cost)
    return edit


SLOT_KINDS = {1: "passphrase", 2: "keyring", 3: "key-file", 4: "recovery"}
for kind, word in SLOT_KINDS.items():
    for tier, holds in ((1, "the index key"), (2, "a root made by the attacker")):
        refused(f"slot.added.{word}.{tier}", "slots", f"adds a slot ({word}) with {holds}",
                "checkpoint", add_slot(kind, tier))


def drop_slot(v, c):
    need(len(v.slots) > 1)
    v.slots.remove(first(v.slots[::-1], lambda slot: slot["tier"] == 1 or len(
        [one for one in v.slots if one["tier"] == 2]) > 1))


refused("slot.dropped", "slots", "drops a slot", "checkpoint", drop_slot)
refused("slot.dropped.all", "slots", "drops all slots", "locked", lambda v, c: v.slots.clear(),
        by="all")
refused("slot.order", "slots", "the slots in a different order", "checkpoint",
        lambda v, c: (need(len(v.slots) > 1), v.slots.reverse()))


def keyring_edit(**changes):
    def edit(v, c):
        slot = first(v.slots, lambda slot: slot["kind"] in (2, 3))
        slot.update(changes)
    return edit


refused("slot.keyring.wrapped", "slots.wrapped", "a different wrapped key in a slot of the keyring or "
        "a key file", "checkpoint", keyring_edit(wrapped=bytes(48)))
refused("slot.keyring.id", "slots.id", "a different id of a slot of the keyring or a key file",
        "checkpoint", keyring_edit(id=ident(0xEE)))
refused("slot.keyring.salt", "slots.salt", "a salt where it is not used", "checkpoint",
        keyring_edit(salt=ident(0xEE)))
for name, changes in (
    ("made_at", {
        "made_at": 1}), ("salt", {
            "salt": ident(0xEE)}), ("nonce", {
                "nonce": bytes(24)}), ("id", {
                    "id": ident(0xEE)}), ("tier", {
                        "tier": 1}), ("cost", {
                            "operations": 2, "memory": 16 << 20}), ("wrapped", {
                                "wrapped": bytes(48)})):
    refused(f"slot.passphrase.{name}", f"slots.{name}", f"another {name} of the passphrase's slot",
            "locked", lambda v, c, changes=changes: slot_of(v, 1).update(changes))
refused("slot.passphrase.costly", "slots.memory", "a cost out of range", "slot",
        lambda v, c: slot_of(v, 1).update(operations=10, memory=1 << 30))
refused("slot.passphrase.memory", "slots.memory", "a cost of 2^63 bytes", "slot",
        lambda v, c: slot_of(v, 1).update(memory=1 << 63))
refused("slot.kind", "slots.kind", "a slot of an unknown kind", "slot",
        lambda v, c: slot_of(v).update(kind=9))
refused("slot.zeros", "slots.zero", "bytes that must be zero", "slot",
        lambda v, c: slot_of(v).update(zeros=ident(1) * 4))

refused("groups", "groups flag", "says that the vault has groups", "newer",
        lambda v, c: setattr(v, "groups", 1), by="all")
refused("format.newer", "header.format", "a newer format", "newer",
        lambda v, c: setattr(v, "format", 3))
refused("format.older", "header.format", "the format of a pre-release", "pre-release",
        lambda v, c: setattr(v, "format", 1))

# --------------------------------------------------------------------------------------------------
# Malformed bytes, sealed properly


def wrong(**changes):
    return lambda v, c: v.wrong.update(changes)


refused("malformed.groups-flag", "groups flag", "a flag of 2", "encoding",
        lambda v, c: setattr(v, "groups", 2))
refused("malformed.padding", "index", "padding that is not zeros", "padding",
        wrong(padded=lambda p: p[:-1] + b"\1"))
refused("malformed.padding.length", "index", "a content longer than its padding", "padding",
        wrong(padded=lambda p: U32.put(1 << 31) + p[4:]))
refused("malformed.padding.more", "index", "more padding than needed", "padding",
        wrong(padded=lambda p: p + bytes(4096)))
refused("malformed.left-over", "index", "bytes after the tenth section", "encoding",
        wrong(content=lambda c: c + b"\0"))
refused("malformed.cut", "index", "a truncated index", "bounds", wrong(content=lambda c: c[:-1]))
for section in writer.SECTIONS:
    refused(f"malformed.left-over.{section.replace('_', '-')}",
    section,
    "a byte after the last item",
    "encoding",
     wrong(**{section: lambda s: s + b"\0"}))
for section in ("projects", "records", "current", "earlier", "batches", "journal", "accounts",
                "log_keys"):
    refused(f"malformed.count.{section.replace('_', '-')}", section, "more items than can fit",
            "bounds", wrong(**{section: lambda s: b"\xff\xff\xff\xff" + s[4:]}))
for section in ("projects", "records", "batches", "accounts", "current"):
    def double(v, c, section=section):
        need(v.index[section])
        v.index[section].insert(0, copy.deepcopy(v.index[section][0]))
    refused(f"malformed.doubled.{section}", section, "one item twice", "order", double)


def reverse_projects(v, c):
    need(len(v.index["projects"]) > 1)
    v.index["projects"].reverse()


refused("malformed.order", "projects", "projects in a different order", "order", reverse_projects)
refused("malformed.name.empty", "projects.name", "an empty name", "encoding",
        lambda v, c: first(v.index["projects"]).update(name=""))
refused("malformed.name.utf8", "records.name", "a name that is not UTF-8", "encoding",
        lambda v, c: in_use(v).update(name=b"\xff\xfe"))
refused("malformed.name.long", "records.name", "a name that is too long", "bounds",
        lambda v, c: in_use(v).update(name="x" * 1025))
refused("malformed.name.same", "projects.name", "two projects with one name", "layout",
        lambda v, c: (need(len(v.index["projects"]) > 1), v.index["projects"][1].update(
            name=v.index["projects"][0]["name"])))
refused("malformed.type", "records.attributes.type", "an unknown type", "encoding",
        lambda v, c: in_use(v)["attributes"].update(type=6))
refused("malformed.targets", "records.attributes.scope.targets", "an unknown target",
        "encoding", lambda v, c: in_use(v)["attributes"]["scope"].update(targets=9))
refused("malformed.current", "records.current", "a current version above the highest", "bounds",
        lambda v, c: in_use(v).update(highest=0))
refused("malformed.project", "records.project", "a record of a project that does not exist", "layout",
        lambda v, c: in_use(v).update(project=ident(0xEE)))
refused("malformed.record", "versions.record", "a version of a record that does not exist", "layout",
        lambda v, c: current_of(v, in_use(v)).update(record=ident(0)))
refused("malformed.entry.kind", "checkpoint.entries", "an entry of an unknown kind", "encoding",
        lambda v, c: v.index["checkpoint"]["entries"].append({"kind": 9, "content": b""}))
refused("malformed.entry.order", "checkpoint.entries", "entries in a different order", "order",
        lambda v, c: (need(len(v.index["checkpoint"]["entries"]) > 1),
                      v.index["checkpoint"]["entries"].reverse()))
refused("malformed.protection", "accounts.protection", "an unknown protection",
        "encoding", lambda v, c: account(v).update(protection=3))
refused("malformed.journal", "journal.payload", "a truncated send", "bounds", lambda v,
        c: (v.index["journal"].append(writer.journal(os.urandom(16), 1, b"\1")), v.sort()))


# --------------------------------------------------------------------------------------------------
# The command


def described(change):
    return {name: value for name, value in vars(change).items()
            if name not in ("edit", "finish", "generation") and value not in (None, ())}


def main():
    parser = argparse.ArgumentParser(description="Change a vault as someone with its index key can.")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", action="store_true", help="with --list")
    parser.add_argument("--apply", metavar="NAME")
    parser.add_argument(
    "--index-key-file",
    metavar="F",
     help="the index key, in hexadecimal digits")
    parser.add_argument("--origin", default=EVIL, help="the URL of the attacker's server")
    parser.add_argument("--older", metavar="FILE", help="an earlier generation of the file")
    parser.add_argument("files", nargs="*", metavar="IN OUT")
    options = parser.parse_args()
    if options.list:
        if options.json:
            print(json.dumps([described(change) for change in CHANGES.values()], indent=1))
        else:
            for change in CHANGES.values():
                promise = change.word or change.reason or " ".join(change.shows)
                print(f"{change.name}\t{change.promise}: {promise}\t{change.does}")
        return 0
    if options.apply not in CHANGES or len(options.files) != 2 or not options.index_key_file:
        parser.error("--list, or --apply NAME --index-key-file F IN OUT")

    def content(path):
        with open(path, "rb") as file:
            return file.read()
    key = bytes.fromhex(content(options.index_key_file).decode().strip())
    older_raw = options.older and content(options.older)
    try:
        changed = apply(options.apply, content(options.files[0]), key, options.origin, older_raw)
    except NotApplicable as reason:
        print(f"{options.apply}: {reason}", file=sys.stderr)
        return 3
    output = os.open(options.files[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(output, "wb") as file:
        file.write(changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
