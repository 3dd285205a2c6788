#!/usr/bin/env python3
"""Runs the program against every change that someone with the index key can make (attacks.py).

    run.py ZG_ENV [--only PATTERN] [--part K/N] [--sandbox PROGRAM] [--postal PROGRAM] [--verbose]

Creates vaults with the program in a temporary home: projects, accounts, a relay, rotations, an
unfinished send, a write while locked. For each change it replaces the vault with the changed file
and runs the commands that output or send values. A listener between the program and the sandbox
records requests and refuses those that would change something; a second one acts as the attacker's
server.

With any change, a command does what it did without it, or outputs and sends nothing and fails with
an exit code of docs/exit-codes.md. `status` and `verify` must also keep the change's promise. Exits
with 1 on a difference, and names the change and the command.
"""

import argparse
import collections
import ctypes
import fnmatch
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import attacks  # which finds the second reader's directory
import second_reader as reader
import vault_writer as writer

PASSPHRASE = "a passphrase for the attacks"
# Exit codes of a command that output nothing (docs/exit-codes.md).
REFUSALS = set(range(1, 9))
NOT_DONE = 125  # run


class Failed(Exception):
    pass


# --------------------------------------------------------------------------------------------------
# Servers


class Listener(http.server.ThreadingHTTPServer):
    """Forwards requests to the sandbox and records them. `writes` is the handling of requests that
    change something: "forward", "refuse" (403), or "drop" (no response, and not served)."""

    daemon_threads = True

    def __init__(self, sandbox_port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.sandbox_port = sandbox_port
        self.writes = "forward"
        self.requests = []
        self.origin = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # a client that disconnected


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.server.requests.append({
            "method": self.command, "path": self.path, "body": body,
            "token": (self.headers.get("Authorization") or "").removeprefix("Bearer ")})
        if self.command == "CONNECT":
            return self.answer(403, b"{}")
        if self.command not in ("GET", "HEAD") and self.server.writes != "forward":
            if self.server.writes == "drop":
                self.close_connection = True
                return None
            return self.answer(403, b'{"error":{"code":"forbidden","message":"Not here."}}')
        sandbox = http.client.HTTPConnection("127.0.0.1", self.server.sandbox_port, timeout=30)
        passed_on = {name: value for name, value in self.headers.items()
                     if name.lower() not in ("host", "connection")}
        sandbox.request(self.command, self.path, body, passed_on)
        response = sandbox.getresponse()
        return self.answer(response.status, response.read(), dict(response.getheaders()))

    def answer(self, status, body, headers=None):
        self.send_response_only(status)
        for name, value in (headers or {"Content-Type": "application/json"}).items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_CONNECT = do_OPTIONS = serve


class Sandbox:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "--port", "0", "--build-seconds", "0.1"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        said = json.loads(self.process.stdout.readline())
        self.port, self.token = int(said["url"].rsplit(":", 1)[1]), said["token"]

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body and json.dumps(body), {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        return json.loads(connection.getresponse().read() or b"null")

    def close(self):
        self.process.terminate()
        self.process.wait()


# --------------------------------------------------------------------------------------------------
# The program, in a separate home

Outcome = collections.namedtuple("Outcome", "code out err")


class Home:
    """One directory for all vaults, since rollback guards and approvals depend on paths. Its states
    are saved beside it and restored."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.path = os.path.join(folder, "home")
        os.makedirs(self.path, mode=0o700)
        self.write("passphrase", PASSPHRASE + "\n")
        self.proxy = None

    def file(self, *names):
        return os.path.join(self.path, *names)

    def write(self, name, content):
        made = os.open(self.file(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(made, "w") as file:
            file.write(content)

    @property
    def vault(self):
        return self.file(".local", "share", "zg-env", "vault.zgv")

    def raw(self):
        with open(self.vault, "rb") as file:
            return file.read()

    def put(self, raw):
        """As any writer: a new file, renamed over the old one."""
        new = self.vault + ".attack"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(raw)
        os.rename(new, self.vault)

    def keep(self, name):
        shutil.copytree(self.path, os.path.join(self.folder, name), symlinks=True)

    def back(self, name):
        shutil.rmtree(self.path)
        shutil.copytree(os.path.join(self.folder, name), self.path, symlinks=True)

    def run(self, *arguments, root=True, given=b"", folder=None, origin=None, **environment):
        """One command, without a terminal. `root`: with the passphrase, else with the key file that
        opens names and tokens, in a session where nothing is unlocked."""
        environment.update({
            "HOME": self.path, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})
        if root:
            environment["ZG_ENV_PASSPHRASE_FILE"] = self.file("passphrase")
        else:
            environment["ZG_ENV_KEY_FILE"] = self.file("key")
        if origin:
            environment["ZG_ENV_API_URL"] = origin
        if self.proxy:  # what would leave this machine goes to the attacker's listener instead
            environment.update(https_proxy=self.proxy, HTTPS_PROXY=self.proxy)
        done = subprocess.run(
            [self.program, *arguments], input=given, capture_output=True, env=environment,
            cwd=folder or self.path, timeout=60,
            preexec_fn=None if root else join_session_keyring)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def must(self, *arguments, codes=(0,), **kept):
        outcome = self.run(*arguments, **kept)
        if outcome.code not in codes:
            raise Failed(f"zg-env {' '.join(arguments)} ended with exit code {outcome.code}: "
                         f"{outcome.err.decode(errors='replace').strip()}")
        return outcome

    def index_key(self):
        """From the key file, and the slot that it is for."""
        with open(self.file("key"), "rb") as file:
            words = file.readline().split()
        slot_id, kek = (bytes.fromhex(word.decode()) for word in words[2:4])
        raw = self.raw()
        length = int.from_bytes(raw[84:88], "little")
        slots = writer.Reader(raw[88:88 + 192 * length])
        for slot in (writer.SLOT.get(slots) for _ in range(length)):
            if slot["id"] == slot_id:
                part = writer.SLOT.put(slot)
                data = b"zgv2/slot" + raw[24:40] + part[:72] + part[120:]
                return writer.unseal(kek, slot["nonce"] + slot["wrapped"], data)
        raise Failed("the key file's slot is not in the vault")


def with_root(home):
    """The second reader's result for the current vault."""
    secret = reader.vector_secret({"passphrase": PASSPHRASE})
    return reader.check(home.vault, secret)


# --------------------------------------------------------------------------------------------------
# The vaults

IMPORTED = "A_KEY=value-of-a-key-0123456789\nB_KEY=value-of-b-key-0123456789\n"


class Stage:
    """The servers, and a home with a state for each kind of vault."""

    def __init__(self, options, folder):
        self.sandbox = Sandbox(options.sandbox)
        self.honest, self.evil = (Listener(self.sandbox.port) for _ in range(2))
        self.home = Home(options.program, folder)
        self.postal = options.postal
        self.relay = None
        self.older = None
        self.keys, self.vaults, self.there = {}, {}, set()

    def close(self):
        self.home.run("lock")
        self.sandbox.close()
        if self.relay:
            self.relay.terminate()
            self.relay.wait()

    def state(self, name):
        self.home.keep(name)
        self.keys[name], self.vaults[name] = self.home.index_key(), self.home.raw()

    def make(self):
        home, token, origin = self.home, self.sandbox.token.encode(), self.honest.origin
        home.must("init", "--lock", "--kdf", "8MiB,1", "--no-secret-service")
        home.must("slot", "add", "file", home.file("key"))
        home.must("login", given=token, origin=origin)
        for project, team in (("web", ()), ("api", ("--team", "acme"))):
            os.mkdir(home.file(project))
            home.must("link", project, *team, folder=home.file(project), origin=origin)
            home.write(".env", IMPORTED.replace("value", "value-" + project))
            home.must("import", ".env", "-p", project, "-y")
        home.must("import", ".env", "-p", "local", "-y")
        self.sandbox.request("POST", "/v9/projects/web/custom-environments", {"slug": "qa"})
        home.must("pull", "-p", "web", "-y", origin=origin)
        home.must("config", "set", "schema-env.uat", "preview")
        self.value("web", "SEED_API_KEY", "value-that-vercel-does-not-show", "-t",
                   "production,preview")
        for project in ("web", "api"):
            home.must("push", "-p", project, "-y", origin=origin)
        self.older = home.raw()
        home.must("login", "--protect", "--name", "safe", given=token, origin=origin)
        self.value("local", "OLD_NAME", "value-of-an-old-name")
        home.must("rename", "OLD_NAME", "NEW_NAME", "-p", "local", "-y")
        self.value("web", "A_KEY", "second-value-of-a-key")
        self.value("web", "A_KEY", "third-value-of-a-key")
        self.value("web", "ONLY_PRODUCTION", "value-of-production", "-t", "production")
        self.value("web", "ONLY_BRANCH", "value-of-a-branch", "-t", "preview", "-b", "feature")
        self.value("web", "ONLY_QA", "value-of-qa", "-t", "qa")
        self.gap()
        self.value("local", "GONE", "value-that-is-removed")
        home.must("rm", "GONE", "-p", "local", "-y")
        home.must("push", "-p", "web", "-y", origin=origin)
        home.must("rotate", "B_KEY", "-p", "web", "--generate", "hex:32", "-y", origin=origin)
        self.join_relay()
        # What the next push sends: a new variable, and a new value.
        self.value("web", "UNSENT", "value-that-was-not-sent-yet")
        self.value("web", "A_KEY", "fourth-value-of-a-key")
        self.value("api", "A_KEY", "second-value-of-a-key-of-api")
        os.mkdir(home.file("evil"))
        home.write("evil/.zg-env.json", '{"project":"web"}\n')
        self.state("plain")

        self.honest.writes = "drop"
        home.must("push", "-p", "web", "-y", origin=origin, codes=(1, 5, 7))
        self.honest.writes = "forward"
        self.state("begun send")

        home.back("plain")
        home.must("rotate", "B_KEY", "-p", "web", "--generate", "hex:32", "--apply", "false",
                  "--on-failure", "keep", "-y", origin=origin, codes=(10, 11))
        self.state("open rotation")

        self.honest.writes = "drop"
        home.must("push", "-p", "api", "-y", origin=origin, codes=(1, 5, 7))
        self.honest.writes = "forward"
        self.state("begun send beside an open rotation")

        home.back("plain")
        home.must("rekey", "-y", ZG_ENV_KEY_FILE=home.file("key"))
        self.state("rekeyed")

        home.back("plain")
        vault = writer.Vault.load(home.raw(), home.index_key())
        vault.index["journal"].append(writer.journal(os.urandom(16), 200, b"of a later program"))
        vault.sort()
        vault.next_generation()
        home.put(vault.build(home.index_key()))
        self.accept()
        self.state("unknown work")

        home.back("plain")
        home.must("set", "A_KEY", "-p", "local", root=False, given=b"written-while-locked")
        self.state("locked write")
        # What each variable already has there; `harden` sends it back.
        self.there = {
            (item["id"], self.sandbox.request(
                "GET", f"/v1/projects/{project}/env/{item['id']}{team}").get("value"))
            for project, team in (("web", ""), ("api", "?slug=acme"))
            for item in self.sandbox.request("GET", f"/v10/projects/{project}/env{team}")["envs"]}
        self.honest.writes = self.evil.writes = "refuse"
        home.proxy = self.evil.origin

    def value(self, project, key, value, *arguments):
        self.home.must("set", key, "-p", project, *arguments, given=value.encode())

    def gap(self):
        """Of equal values that were written while locked, the first is dropped where they are
        accepted, and its number is no longer used."""
        self.value("local", "GAP", "value-before-the-gap")
        for _ in range(2):
            self.home.must("set", "GAP", "-p", "local", root=False, given=b"value-after-the-gap")
        self.accept()

    def accept(self):
        self.home.must("unlock", "--accept-changes")
        self.home.must("lock")

    def join_relay(self):
        """A registration with a relay, if there is a program for one."""
        if not self.postal:
            return
        database = os.path.join(self.home.folder, "postal.db")
        hooks = os.path.join(self.home.folder, "hooks")
        os.mkdir(hooks, 0o700)
        hook = os.open(os.path.join(hooks, "webhook.HOOK"), os.O_WRONLY | os.O_CREAT, 0o600)
        with open(hook, "w") as file:
            json.dump({"account": "team_1", "secret": "s" * 24}, file)
        self.relay = subprocess.Popen(
            [self.postal, "serve", "--database", database, "--webhook-secrets", hooks, "--listen",
             "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        found = None
        while found is None:
            line = self.relay.stdout.readline()
            if not line:
                raise Failed("the relay did not start")
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
        threading.Thread(target=self.relay.stdout.read, daemon=True).start()
        code = subprocess.run(
            [self.postal, "invite", "--database", database, "--account", "team_1"],
            capture_output=True, check=True).stdout.split()[0]
        self.home.must("postal", "join", f"http://127.0.0.1:{found[1]}", given=code)


# --------------------------------------------------------------------------------------------------
# Commands


def environment_of(outcome):
    return dict(item.split(b"=", 1) for item in outcome.out.split(b"\0") if b"=" in item)


WEB = ("-p", "web", "-t", "production")
# name: (arguments, whether its output must be unchanged)
GIVES_OUT = {
    "run": ("run", *WEB, "--no-inherit", "--", "/bin/cat", "/proc/self/environ"),
    "run in a directory": (
        "run", "-t", "production", "--no-inherit", "--", "/bin/cat", "/proc/self/environ"),
    "run of the team's": (
        "run", "-p", "api", "-t", "production", "--no-inherit", "--", "/bin/cat",
        "/proc/self/environ"),
    "export": ("export", *WEB, "--format", "json", "-y"),
    "export of a branch": (
        "export", "-p", "web", "-t", "preview", "-b", "feature", "--format", "json", "-y"),
    "reveal": ("reveal", "A_KEY", *WEB),
    "reveal an earlier version": ("reveal", "A_KEY", *WEB, "--version", "2")}
SENDS = {
    "push": ("push", "-p", "web", "-y"),
    "push with a protected token": ("push", "-p", "api", "--account", "safe", "-y"),
    "harden": ("harden", "-p", "web", "-y"),
    "diff --remote": ("diff", "--remote", "-p", "web")}
COPIED = ("copy", "A_KEY", *WEB, "--to-project", "dest", "-y")


def gives_out(home, name):
    folder = home.file("web") if name == "run in a directory" else None
    return home.run(*GIVES_OUT[name], folder=folder)


def sent(requests):
    """Each value of a request that changes variables: (path, method, key, value, type, targets)."""
    found = set()
    for request in requests:
        if request["method"] in ("GET", "HEAD", "CONNECT"):
            continue
        path = request["path"].split("?")[0]
        try:
            body = json.loads(request["body"] or b"null")
        except ValueError:
            body = {"key": request["body"].decode("latin-1")}
        for item in body if isinstance(body, list) else [body or {}]:
            found.add((path, request["method"], request["path"].partition("?")[2], item.get("key"),
                       item.get("value"), item.get("type"), str(sorted(item.get("target") or [])),
                       item.get("gitBranch"), str(item.get("customEnvironmentIds"))))
    return found


class Baseline:
    """The commands' results with an unchanged vault."""

    def __init__(self, stage, state):
        home = stage.home
        self.stage, self.state = stage, state
        self.begin()
        self.raw = home.raw()
        self.read = with_root(home)
        if self.read["class"] != "ok" or (self.read["notAccepted"] and state != "locked write"):
            raise Failed(f"{state}: the second reader says {self.read['class']}; unaccepted: "
                         f"{self.read.get('notAccepted')}")
        self.status, self.verified = (
            json.loads(home.must(name, "--json").out) for name in ("status", "verify"))
        self.given = {}
        for name in GIVES_OUT:
            home.back(state)
            self.given[name] = gives_out(home, name)
        self.sent = {}
        for name in SENDS:
            home.back(state)
            stage.honest.requests.clear()
            outcome = home.run(*SENDS[name])
            self.sent[name] = sent(stage.honest.requests)
            if state == "plain" and name.startswith("push") and not self.sent[name]:
                raise Failed(f"{name} sends nothing without a change: {outcome}")
        # Whatever may be sent of this vault, in any order and however far a command comes: the
        # listener refuses the first request, so each variable is sent alone as well.
        self.allowed = set().union(*self.sent.values())
        for project, key in sorted({
                (record["project"], record["key"]) for record in self.read["records"]}):
            for command in ("push", "harden"):
                if project in ("web", "api"):
                    stage.honest.requests.clear()
                    home.run(command, key, "-p", project, "-y")
                    self.allowed |= sent(stage.honest.requests)
        home.back(state)
        self.copied = copied(home)
        if state == "plain":
            for name, outcome in self.given.items():
                if outcome.code:
                    raise Failed(f"{name} fails without a change: {outcome}")
            if self.copied[1] is None:
                raise Failed(f"copy fails without a change: {self.copied}")


    def begin(self):
        """Before changes of this state. The states are other histories of one vault, so what was
        unlocked in another one must go."""
        self.stage.home.back(self.state)
        self.stage.home.run("lock")
        self.unlocked = self.stage.home.run("unlock").code == 0


def copied(home):
    """The outcome of `copy`, the destination's value afterwards, and the class of the vault."""
    outcome = home.run(*COPIED)
    found = with_root(home)
    if found["class"] != "ok" and outcome.code == 0:
        # The second reader stops at damage of what `copy` does not use, and then does not name a value.
        shown = home.run("reveal", "A_KEY", "-p", "dest")
        return outcome, shown.out.decode() if shown.code == 0 else None, found["class"]
    values = [record["value"] for record in found.get("records", [])
              if record["project"] == "dest" and record["key"] == "A_KEY" and not record["removed"]]
    return outcome, values[0] if values else None, found["class"]


# --------------------------------------------------------------------------------------------------
# Assertions


def listing(said):
    """The changes that `status --json` or `verify --json` names; None where it has no such member.
    The one place that knows the member's name."""
    for name in ("notAccepted", "changedWhileLocked", "changes", "changed"):
        if isinstance(said.get(name), list):
            return said[name]
    return None


def parsed(outcome):
    try:
        return json.loads(outcome.out or outcome.err or b"{}")
    except ValueError:
        return {}


class Check:
    """One change with one vault."""

    def __init__(self, stage, baseline, change, raw):
        self.stage, self.baseline, self.change, self.raw = stage, baseline, change, raw
        self.home = stage.home
        self.failures = []
        # Of changes that every holder of the root must refuse for one reason, field by field, one
        # command that gives out and one that sends stand for the others.
        self.short = change.by == "all" or change.name.startswith(
            ("checkpoint.entry.", "checkpoint.dropped.", "rotation.open.", "rotation.ended.",
             "slot."))

    def fail(self, command, message):
        self.failures.append((self.change.name, command, message))

    def fresh(self):
        self.home.back(self.baseline.state)
        self.home.put(self.raw)
        self.stage.honest.requests.clear()
        self.stage.evil.requests.clear()

    def everything(self):
        self.fresh()
        self.listed_or_refused()
        for name in GIVES_OUT:
            self.gives_out(name)
            if self.short:
                break
        self.nothing_elsewhere("what gives out values")
        for name in SENDS:
            if self.short and name != "push":
                continue
            self.fresh()
            self.sends(name)
        if not self.short:
            self.fresh()
            self.copies()
            self.fresh()
            self.locked()
        return self.failures

    def refuses(self, command, outcome, codes=REFUSALS):
        """Whether the command's exit code means that nothing was done."""
        if outcome.code in codes:
            return True
        if outcome.code != 0:
            said = outcome.err.decode(errors="replace")[-300:]
            self.fail(command, f"exit code {outcome.code}: {said}")
        return False

    # status and verify

    def listed_or_refused(self):
        change = self.change
        self.escapes("status", self.home.run("status"))
        status = self.home.run("status", "--json")
        verify = self.home.run("verify", "--json")
        self.refuses("status --json", status)
        if change.promise == attacks.REFUSED:
            code = {"locked": 3, "newer": 1, "pre-release": 1}.get(change.word, 8)
            # An earlier unlock opens a vault whose slots do not.
            self.expect("verify --json", verify, {code, 8} if change.word == "locked" else {code})
            # `status` reads no value.
            if change.word not in ("value", "batch", "chunk") and (
                    change.by == "all" or self.baseline.unlocked):
                self.expect("status --json", status, {code, 8})
            problems = parsed(verify).get("problems") or [{}]
            said = problems[0].get("class")
            if said is not None and change.by != "anchor" and said != change.word and (
                    change.word != "locked"):
                self.fail("verify --json", f"class {said}, and not {change.word}")
            if change.by == "all" and change.word != "locked":
                self.expect("verify, locked", self.home.run("verify", root=False), {code})
        elif change.promise == attacks.LISTED:
            self.expect("verify --json", verify, {0})
            self.lists("verify --json", verify, self.baseline.verified)
            if self.baseline.unlocked:
                self.expect("status --json", status, {0})
                self.lists("status --json", status, self.baseline.status)
        else:
            log = change.field.startswith(("metadata.audit_log", "log_keys"))
            self.expect("verify --json", verify, {0, 8} if log else {0})
            self.expect("status --json", status, {0})
            now, before = (listing(said) for said in (parsed(verify), self.baseline.verified))
            if not log and len(now or []) > len(before or []):
                self.fail("verify --json", f"lists {now}")

    def expect(self, command, outcome, codes):
        if outcome.code not in codes:
            said = (outcome.err or outcome.out).decode(errors="replace")[-300:]
            self.fail(command, f"exit code {outcome.code} instead of {sorted(codes)}: {said}")

    def lists(self, command, outcome, before):
        now, before = listing(parsed(outcome)), listing(before)
        if now is None:
            self.fail(command, "has no list of unaccepted objects")
        elif not now or (now == before and self.change.name != "version.locked-write-replaced"):
            self.fail(command, "does not list it")

    def escapes(self, command, outcome):
        """No text of the index reaches a terminal unescaped."""
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae", outcome.out + outcome.err):
            self.fail(command, "prints control characters")

    # values

    def gives_out(self, name):
        outcome, before = gives_out(self.home, name), self.baseline.given[name]
        codes = {NOT_DONE} if name.startswith("run") else REFUSALS
        if self.refuses(name, outcome, codes):
            if outcome.out and before.out and any(
                    value in outcome.out for value in self.values()):
                self.fail(name, "reveals values and refuses")
            if before.code == 0 and self.is_free(name):
                self.fail(name, f"refuses, although it does not depend on this: {outcome.err[-300:]}")
        elif outcome.code == 0 and outcome.out != before.out:
            was, now = environment_of(before), environment_of(outcome)
            self.fail(name, f"reveals something else: {sorted(was.items() ^ now.items())}"
                      if now else f"reveals something else: {outcome.out[:200]}")

    def is_free(self, name):
        """5.10: whether a value for a program, file or screen does not depend on the change."""
        free = {"account", "journal"} | ({"directory"} if name != "run in a directory" else set())
        return self.change.promise == attacks.LEFT_OUT or (
            self.change.promise == attacks.LISTED and set(self.change.shows) <= free)

    def values(self):
        return [record["value"].encode() for record in self.baseline.read["records"]
                if record["value"] and len(record["value"]) > 8]

    def sends(self, name):
        outcome = self.home.run(*SENDS[name])
        if outcome.code not in REFUSALS | {0}:
            self.fail(name, f"exit code {outcome.code}: {outcome.err[-300:]}")
        strange = {item for item in sent(self.stage.honest.requests) - self.baseline.allowed
                   if (item[0].rsplit("/", 1)[-1], item[4]) not in self.stage.there}
        if strange:
            self.fail(name, f"sends something that it did not send before: {sorted(map(str, strange))[:3]}")
        self.tokens(name)
        self.nothing_elsewhere(name)
        if os.path.exists("/tmp/zg-env-attack"):
            os.unlink("/tmp/zg-env-attack")
            self.fail(name, "ran a command of the changed index")

    def tokens(self, name):
        strange = {request["token"] for request in self.stage.honest.requests} - {
            self.stage.sandbox.token, ""}
        if strange:
            self.fail(name, "sends with a token that is not the user's")

    def nothing_elsewhere(self, name, but=None):
        """Nor anywhere beyond this machine, which takes the attacker's listener for a proxy."""
        found = [request for request in self.stage.evil.requests if request["path"] != but]
        for request in found[-1:]:
            carries = ["the token"] if self.stage.sandbox.token == request["token"] else []
            carries += ["a value"] if any(
                value in request["body"] for value in self.values()) else []
            self.fail(name, f"{request['method']} {request['path'][:80]} reached another origin "
                      f"with {' and '.join(carries) or 'nothing of ours'}")
        self.stage.evil.requests.clear()

    def copies(self):
        outcome, value, word = copied(self.home)
        before = self.baseline.copied[1]
        if not self.refuses("copy", outcome) and outcome.code == 0 and value != before:
            self.fail("copy", f"copies something else: {value!r} (the vault is {word})")
        self.whole("copy", outcome, word)
        if outcome.code and self.home.raw() != self.raw:
            self.fail("copy", "changed the vault and then refuses")

    def whole(self, command, outcome, word):
        """What the program writes is a valid vault, whatever an attacker put into the index."""
        if outcome.code == 0 and word != "ok" and self.change.promise != attacks.REFUSED:
            self.fail(command, f"writes a damaged vault: {word}")

    def locked(self):
        """With the key file alone a token goes to no address that only the index names, and nothing
        is sealed to a key that is not the pinned one."""
        self.home.run("pull", "-p", "web", "-y", root=False)
        self.nothing_elsewhere("pull, locked")
        self.home.run("pull", "-p", "web", "-y", root=False, VERCEL_TOKEN="a-token-of-the-user")
        self.nothing_elsewhere("pull with VERCEL_TOKEN, locked", but="api.vercel.com:443")
        self.fresh()
        outcome = self.home.run("set", "A_KEY", "-p", "web", root=False, given=b"new-value")
        self.refuses("set, locked", outcome)
        self.whole("set, locked", outcome, with_root(self.home)["class"])
        if self.change.field == "header.pk":
            self.expect("set, locked", outcome, {8})
            if self.home.raw() != self.raw:
                self.fail("set, locked", "writes to a key that is not the pinned one")


# --------------------------------------------------------------------------------------------------
# Scenarios with more than one change


def scene_guesses(stage, baseline):
    """F6: a write with the root has the same outcome for a right and a wrong guess."""
    shapes = []
    found = {record["key"]: record for record in baseline.read["records"]
             if record["project"] == "web" and record["value"]}
    for guess in (found["A_KEY"]["value"].encode(), b"another-value"):
        stage.home.back("plain")
        key = stage.keys["plain"]
        vault = writer.Vault.load(stage.home.raw(), key)
        record = next(item for item in vault.index["records"] if item["name"] == "A_KEY"
                      and item["id"].hex() == found["A_KEY"]["record"])
        for version in attacks.earlier_of(vault, record)[-1:]:
            attacks.replace_version(vault, record, version, "earlier", value=guess)
        vault.sort()
        vault.next_generation()
        stage.home.put(vault.build(key))
        stage.home.run("set", "UNRELATED", "-p", "local", given=b"a value")
        stage.home.run("set", "A_KEY", "-p", "web", "-t", "development", given=b"one more")
        after = writer.Vault.load(stage.home.raw(), key)
        shapes.append(sorted(
            (version["record"] == record["id"], version["number"]) for version in after.versions()))
    if shapes[0] != shapes[1]:
        yield "F6.guess", "set", "the stored versions reveal whether a guess is right"


def scene_clone(stage, baseline):
    """F7: a directory approved with only the index key gets nothing."""
    stage.home.back("plain")
    key = stage.keys["plain"]
    vault = writer.Vault.load(stage.home.raw(), key)
    project = next(item for item in vault.index["projects"] if item["name"] == "web")
    vault.index["metadata"]["directories"].append({
        "path": os.path.realpath(stage.home.file("evil")), "link": "web", "organisation": "",
        "project": project["id"]})
    vault.sort()
    vault.next_generation()
    stage.home.put(vault.build(key))
    outcome = stage.home.run("run", "-t", "production", "--no-inherit", "--", "/bin/cat",
                             "/proc/self/environ", folder=stage.home.file("evil"))
    if outcome.code != NOT_DONE or outcome.out:
        yield "F7.clone", "run", f"runs in an unapproved directory: {outcome.code}"


def scene_put_and_take(stage, baseline):
    """F5: the key is replaced, the user writes while locked, the attacker reads."""
    stage.home.back("plain")
    key = stage.keys["plain"]
    raw = attacks.apply("F5.public-key", stage.home.raw(), key)
    stage.home.put(raw)
    outcome = stage.home.run("set", "NEW", "-p", "web", root=False, given=b"new-value")
    vault = writer.Vault.load(stage.home.raw(), key)
    own = writer.pair(attacks.OWN_ROOT)
    for batch in vault.index["batches"]:
        if batch["wrapping"] == 1:
            try:
                writer.unbox(own, batch["wrapped"])
            except Exception:
                continue
            yield "F5.put-and-take", "set", "a value written while locked can be read"
    if outcome.code != 8:
        yield "F5.put-and-take", "set", f"exit code {outcome.code} instead of 8"


SCENES = (scene_guesses, scene_clone, scene_put_and_take)

# --------------------------------------------------------------------------------------------------


def baselines(stage):
    """Each state, and what the commands do in it, created on first use."""
    made, last = {}, [None]

    def of(state):
        if state not in made:
            made[state] = Baseline(stage, state)
        elif last[0] != state:
            made[state].begin()
        last[0] = state
        return made[state]
    return of


def check(stage, of, change):
    """None if the change applies to no vault."""
    for state, raw in stage.vaults.items():
        try:
            # The key of one epoch opens no file of another.
            older = None if state == "rekeyed" else stage.older
            changed = attacks.apply(
                change.name, raw, stage.keys[state], origin=stage.evil.origin, older=older)
        except attacks.NotApplicable:
            continue
        return Check(stage, of(state), change, changed).everything()
    return None


def join_session_keyring():
    """`unlock` wants a session keyring; keyctl(KEYCTL_JOIN_SESSION_KEYRING, NULL)."""
    if os.uname().machine == "x86_64":
        ctypes.CDLL(None).syscall(250, 1, None)


def main():
    parser = argparse.ArgumentParser(description="Run zg-env with tampered vaults.")
    parser.add_argument("program", metavar="ZG_ENV")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="such as 'F*'")
    parser.add_argument("--sandbox", metavar="PROGRAM", help="default: the one next to ZG_ENV")
    parser.add_argument("--postal", metavar="PROGRAM", help="default: the one next to ZG_ENV")
    parser.add_argument("--part", metavar="K/N", default="1/1", help="run only every Nth change")
    parser.add_argument("--keep", action="store_true", help="keep the directory with the vaults")
    parser.add_argument("--verbose", action="store_true", help="print the name of each finished change")
    options = parser.parse_args()
    options.program = os.path.realpath(options.program)
    beside = os.path.dirname(options.program)
    options.sandbox = options.sandbox or os.path.join(beside, "zg-env-sandbox")
    if options.postal is None and os.path.exists(os.path.join(beside, "zg-env-postal")):
        options.postal = os.path.join(beside, "zg-env-postal")
    join_session_keyring()

    folder = tempfile.mkdtemp(prefix="zg-env-attacks-")
    stage = None
    failures, left, done, start = [], [], 0, time.monotonic()
    try:
        stage = Stage(options, os.path.realpath(folder))
        stage.make()
        of = baselines(stage)
        part, of_parts = map(int, options.part.split("/"))
        for change in list(attacks.CHANGES.values())[part - 1::of_parts]:
            if not fnmatch.fnmatchcase(change.name, options.only):
                continue
            found = check(stage, of, change)
            if found is None:
                left.append(change.name)
                continue
            done += 1
            failures += found
            for failure in found:
                print("FAIL %s: %s: %s" % failure, flush=True)
            if options.verbose and not found:
                print(f"ok   {change.name}", flush=True)
        for scene in SCENES:
            if part == 1 and fnmatch.fnmatchcase(scene.__name__, options.only):
                done += 1
                for failure in scene(stage, of("plain")):
                    failures.append(failure)
                    print("FAIL %s: %s: %s" % failure, flush=True)
    except Failed as reason:
        print(f"attacks: {reason}", file=sys.stderr)
        return 2
    finally:
        if stage:
            stage.close()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    wrong = len({name for name, _, _ in failures})
    print(f"{done} changes in {time.monotonic() - start:.0f} seconds: {done - wrong} as promised, "
          f"{wrong} not, {len(left)} not applicable to any vault")
    if left:
        print("not applicable: " + " ".join(left))
    return 1 if failures or not done else 0


if __name__ == "__main__":
    sys.exit(main())
