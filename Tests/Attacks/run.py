#!/usr/bin/env python3
"""Runs the program against every change that someone with the index key can make (attacks.py).

    run.py ZG_ENV [--short] [--seed N] [--only PATTERN] [--part K/N] [--sandbox PROGRAM]
           [--postal PROGRAM] [--keep] [--verbose]

Creates vaults with the program in a temporary home: projects, accounts, a relay, a rotation, an
unfinished send. A listener between the program and the sandbox records requests; a second one acts as
the attacker's server, and as a proxy for everything else. Then, in four parts:

- changes: each changed file with commands of every kind: with the passphrase, with a key file of the
  values, unlocked, and locked, with a rollback guard and without one. `verify` names the class.
- commands: some changes with every command that opens the index.
- races: the file is exchanged while a command waits at a prompt, for a program, or for the network.
- rows: docs/threat-model.md's rows for the index key.

A refusal is exit code 8, or 3 where the only slot that would open is the changed one. Nothing is
written, sent, sealed, run or printed before it. Each command has a control: it succeeds with the file
as it is, and with one that a holder of the root wrote in Python. --short runs a sample, with a seed
that it prints, in about a minute. Exits with 1 on a difference, and names the change and the command.
"""

import argparse
import collections
import ctypes
import fnmatch
import http.client
import http.server
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

import attacks  # which finds the second reader's directory
import second_reader as reader
import vault_writer as writer
from attacks import OWN_ROOT

PASSPHRASE = "a passphrase for the attacks"
NEW_PASSPHRASE = "another passphrase 1"
DAMAGED, LOCKED, NOT_DONE = 8, 3, 125  # of `run`


class Failed(Exception):
    pass


# --------------------------------------------------------------------------------------------------
# Servers


class Listener(http.server.ThreadingHTTPServer):
    """Forwards requests to the sandbox and records them. `before` is called with the number of each
    request before it is served. `writes` is the handling of requests that change something:
    "forward", "refuse" (403), or "drop" (no response, and not served)."""

    daemon_threads = True

    def __init__(self, sandbox_port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.sandbox_port = sandbox_port
        self.writes = "forward"
        self.before = None
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
        if self.server.before:
            self.server.before(len(self.server.requests))
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
# Kernel keys, for the unlock cache

KEYRINGS = {"session": -3, "user": -4}
kernel = ctypes.CDLL(None, use_errno=True)
ADD_KEY, KEYCTL = (248, 250) if os.uname().machine == "x86_64" else (217, 219)


def keyctl(*arguments):
    return kernel.syscall(KEYCTL, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))


def join_session_keyring():
    """`unlock` needs one; also, a session in which nothing is unlocked."""
    keyctl(1, None)


def add_key(name, payload, keyring, permissions):
    """Made in the session, which possesses it and may set permissions, and then moved."""
    found = kernel.syscall(ADD_KEY, b"user", name.encode(), payload, ctypes.c_size_t(len(payload)),
                           ctypes.c_int(KEYRINGS["session"]))
    failed = found < 0 or keyctl(5, found, permissions) < 0
    if keyring != "session" and not failed:
        failed = keyctl(8, found, KEYRINGS[keyring]) < 0 or keyctl(9, found, KEYRINGS["session"]) < 0
    if failed:
        raise Failed(f"the kernel does not store a key: {os.strerror(ctypes.get_errno())}")


def plant_unlock_cache(vault, root):
    """docs/file-formats.md: as if someone had typed the passphrase of this root."""
    join_session_keyring()  # a key that is there cannot be changed
    identifier, end = f"zg-env:{vault.vault_id.hex()}", int(time.time()) + 900
    key = os.urandom(32)
    data = b"zgv3/cache" + vault.vault_id + writer.U32.put(vault.epoch)
    text = root + writer.U64.put(vault.generation) + vault.tag + writer.U64.put(end)
    add_key(f"{identifier}:unlock-key:{vault.epoch}", key + writer.U64.put(end), "user", 0x003b0000)
    add_key(f"{identifier}:unlocked:{vault.epoch}", writer.seal(key, text, data), "session", 0x3b000000)


# --------------------------------------------------------------------------------------------------
# The program, in a separate home

Outcome = collections.namedtuple("Outcome", "code out err")

# How a command gets its keys.
ROOT, KEYS, UNLOCKED, NAMES, NOTHING = "passphrase", "key file", "unlocked", "locked", "no key"


def without_ages(outcome):
    """A list says how long ago a value was set."""
    return outcome._replace(out=re.sub(rb"(just now|\d+ \w+ ago) *", b"", outcome.out))


class Home:
    """One directory for all vaults, since rollback guards and approvals depend on paths. Its states
    are saved beside it and restored."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.path = os.path.join(folder, "home")
        os.makedirs(self.path, mode=0o700)
        self.write("passphrase", PASSPHRASE + "\n")
        self.write("new-passphrase", PASSPHRASE + " 2\n")
        self.proxy = None
        self.trees = {}

    def file(self, *names):
        return os.path.join(self.path, *names)

    def write(self, name, content, mode=0o600):
        made = os.open(self.file(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
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

    def tree(self, but=(".lock", ".log")):
        """Every file's mode and content. A refused command may leave a lock file, and a line in the
        audit log."""
        found = {}
        for folder, _, names in os.walk(self.path):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(but):
                    continue
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                    continue
                with open(path, "rb") as file:
                    found[path] = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read()
        return found

    def keep(self, name):
        shutil.copytree(self.path, os.path.join(self.folder, name), symlinks=True)
        self.trees[name] = self.tree(but=(".lock",))

    def back(self, name):
        """Restores a state, if something differs from it."""
        if self.tree(but=(".lock",)) != self.trees[name]:
            shutil.rmtree(self.path)
            shutil.copytree(os.path.join(self.folder, name), self.path, symlinks=True)

    def guards(self):
        folder = self.file(".local", "state", "zg-env")
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".anchor")]

    def environment(self, by, **more):
        found = {"HOME": self.path, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "NO_COLOR": "1",
                 "GIT_CONFIG_NOSYSTEM": "1", "EDITOR": self.file("editor"), **more}
        if by == ROOT:
            found.setdefault("ZG_ENV_PASSPHRASE_FILE", self.file("passphrase"))
        elif by in (KEYS, NAMES):
            found.setdefault("ZG_ENV_KEY_FILE", self.file("values-key" if by == KEYS else "key"))
        if self.proxy:  # what would leave this machine goes to the attacker's listener instead
            found.update(https_proxy=self.proxy, HTTPS_PROXY=self.proxy)
        return found

    def run(self, *arguments, by=ROOT, given=b"", folder=None, **environment):
        """One command, without a terminal."""
        try:
            done = subprocess.run(
                [self.program, *arguments], input=given, capture_output=True,
                env=self.environment(by, **environment), cwd=folder or self.path, timeout=60,
                preexec_fn=None if by == UNLOCKED else join_session_keyring)
        except subprocess.TimeoutExpired:
            return Outcome(-1, b"", b"does not end within a minute")
        return Outcome(done.returncode, done.stdout, done.stderr)

    def must(self, *arguments, codes=(0,), **kept):
        outcome = self.run(*arguments, **kept)
        if outcome.code not in codes:
            raise Failed(f"zg-env {' '.join(arguments)} ended with exit code {outcome.code}: "
                         f"{said(outcome)}")
        return outcome

    def at_terminal(self, *arguments, prompts, by=NOTHING, folder=None, **environment):
        """One command at a terminal. `prompts` are pairs: a pattern of what the program shows, and a
        function that gives what is typed then."""
        environment = self.environment(by, TERM="dumb", **environment)
        child, terminal = pty.fork()
        if child == 0:
            try:
                join_session_keyring()
                os.chdir(folder or self.path)
                os.execve(self.program, [self.program, *arguments], environment)
            finally:
                os._exit(126)
        shown, waiting, end = b"", list(prompts), time.monotonic() + 60
        start = 0
        while True:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                break
            if waiting:
                found = re.search(waiting[0][0], shown[start:])
                if found:
                    start += found.end()
                    os.write(terminal, waiting.pop(0)[1]() + b"\r")
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                part = os.read(terminal, 65_536)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(terminal)
        status = os.waitpid(child, 0)[1]
        code = os.waitstatus_to_exitcode(status)
        if waiting and code == 0:
            return Outcome(-1, shown, b"did not ask: " + waiting[0][0])
        return Outcome(code, shown, b"")

    def index_key(self):
        """The key of the slot that the key file opens, that slot, and what it is wrapped with."""
        with open(self.file("key"), "rb") as file:
            words = file.readline().split()
        slot_id, kek = (bytes.fromhex(word.decode()) for word in words[2:4])
        raw = self.raw()
        count = int.from_bytes(raw[84:88], "little")
        slots = writer.Reader(raw[88:88 + 192 * count])
        for slot in (writer.SLOT.get(slots) for _ in range(count)):
            if slot["id"] == slot_id:
                part = writer.SLOT.put(slot)
                data = b"zgv3/slot" + raw[24:40] + part[:72] + part[120:]
                return writer.unseal(kek, slot["nonce"] + slot["wrapped"], data), slot_id, kek
        raise Failed("the key file's slot is not in the vault")


def said(outcome):
    return (outcome.err or outcome.out).decode(errors="replace").strip()[-300:]


BY_PASSPHRASE = reader.vector_secret({"passphrase": PASSPHRASE})


def whole(home):
    """The second reader's result for the current vault."""
    return reader.check(home.vault, BY_PASSPHRASE)


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
        self.relay = self.code = None
        self.older = None
        self.attackers, self.values, self.read = {}, {}, {}

    def close(self):
        self.home.run("lock", by=UNLOCKED)
        self.sandbox.close()
        if self.relay:
            self.relay.terminate()
            self.relay.wait()

    def state(self, name):
        found = whole(self.home)
        if found["class"] != "ok":
            raise Failed(f"{name}: the second reader says {found}")
        self.home.keep(name)
        key, slot, kek = self.home.index_key()
        self.attackers[name] = attacks.Attacker(
            self.home.raw(), key, kek, slot, self.older, self.proofs, self.evil.origin)
        self.read[name] = found
        self.values[name] = [
            item["value"].encode() for item in (*found["records"], *found["history"])
            if item["value"] and len(item["value"]) > 8]

    def root(self):
        """For the controls."""
        file = reader.VaultFile(self.home.vault, False)
        try:
            return reader.unlock(reader.read_header(file), BY_PASSPHRASE())[1]
        finally:
            file.close()

    def make(self):
        home, token, origin = self.home, self.sandbox.token.encode(), self.honest.origin
        at = {"ZG_ENV_API_URL": origin}
        other = writer.sample(bytes(range(32)))
        other.write(bytes(range(32)))
        self.proofs = [other.proof]
        home.must("init", "--lock", "--kdf", "8MiB,1", "--no-secret-service")
        home.must("slot", "add", "file", home.file("key"))
        home.must("slot", "add", "file", home.file("values-key"), "--values")
        home.must("login", given=token, **at)
        for project, team in (("web", ()), ("api", ("--team", "acme"))):
            os.mkdir(home.file(project))
            home.must("link", project, *team, folder=home.file(project), **at)
            home.write(".env", IMPORTED.replace("value", "value-" + project))
            home.must("import", ".env", "-p", project, "-y")
        home.must("import", ".env", "-p", "local", "-y")
        home.must("pull", "-p", "web", "-y", **at)
        home.must("config", "set", "schema-env.uat", "preview")
        self.value("web", "SEED_API_KEY", "value-that-vercel-does-not-show", "-t",
                   "production,preview")
        for project in ("web", "api"):
            home.must("push", "-p", project, "-y", **at)
        self.older = home.raw()
        home.keep("older")
        home.must("login", "--protect", "--name", "safe", given=token, **at)
        self.value("local", "OLD_NAME", "value-of-an-old-name")
        home.must("rename", "OLD_NAME", "NEW_NAME", "-p", "local", "-y")
        self.value("web", "A_KEY", "second-value-of-a-key")
        self.value("web", "A_KEY", "third-value-of-a-key")
        self.value("web", "ONLY_PRODUCTION", "value-of-production", "-t", "production")
        self.value("web", "ONLY_BRANCH", "value-of-a-branch", "-t", "preview", "-b", "feature")
        self.value("local", "GONE", "value-that-is-removed")
        home.must("rm", "GONE", "-p", "local", "-y")
        home.must("push", "-p", "web", "-y", **at)
        home.must("rotate", "B_KEY", "-p", "web", "--generate", "hex:32", "-y", **at)
        self.join_relay()
        home.must("webhook", "create", "https://hook.example/", "-p", "web", "-y", **at)
        self.hook = self.sandbox.request("GET", "/v1/webhooks")[0]["id"]
        home.must("share", "local", "--group", "acme", "--at", self.place(), "--as", "ann", "-y")
        # What the next push sends: a new variable, and new values.
        self.value("web", "UNSENT", "value-that-was-not-sent-yet")
        self.value("web", "A_KEY", "fourth-value-of-a-key")
        self.value("api", "A_KEY", "second-value-of-a-key-of-api")
        os.mkdir(home.file("evil"))
        home.write("evil/.zg-env.json", '{"project":"web"}\n')
        home.write("editor", '#!/bin/sh\n[ ! -x "$HOME/exchange" ] || "$HOME/exchange"\n'
                   'new=$(sed s/value/edited/ "$1") && printf "%s\\n" "$new" >"$1"\n', 0o700)
        self.state("plain")

        home.must("rotate", "B_KEY", "-p", "web", "--generate", "hex:32", "--apply", "false",
                  "--on-failure", "keep", "-y", codes=(10, 11), **at)
        self.honest.writes = "drop"
        home.must("push", "-p", "api", "-y", codes=(1, 5, 7), **at)
        self.honest.writes = "forward"
        # The control of the attacks' writer: a holder of the root writes what it wants.
        key, _, _ = home.index_key()
        vault = writer.Vault.load(home.raw(), key)
        vault.index["journal"].append(writer.journal(os.urandom(16), 200, b"of a later program"))
        vault.sort()
        vault.next_generation()
        home.put(vault.write(self.root()))
        self.value("web", "AFTER", "value-after-python")
        self.state("busy")
        home.back("plain")
        # What Vercel has stays as it is, for all runs that follow.
        self.honest.writes = "refuse"
        home.proxy = self.evil.origin

    def value(self, project, key, value, *arguments):
        self.home.must("set", key, "-p", project, *arguments, given=value.encode())

    def place(self):
        """A directory for the changes of a group."""
        path = os.path.join(self.home.folder, "place")
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

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

# `codes` are those with an unchanged vault, `refusal` the one for a changed one; `asks` what a
# terminal is asked after the passphrase.
Command = collections.namedtuple("Command", "name arguments given folder codes refusal environment")


def command(line, given=b"", folder=None, codes=(0,), refusal=DAMAGED, **environment):
    return Command(line, line.split(), given, folder, codes, refusal, environment)


PRINT = "/bin/cat /proc/self/environ"
# Those that need the root.
VALUES = [
    command(f"run -p web -t production --no-inherit -- {PRINT}", refusal=NOT_DONE),
    command(f"run -t production --no-inherit -- {PRINT}", folder="web", refusal=NOT_DONE),
    command("export -p web -t production --format json -y"),
    command("reveal A_KEY -p web -t production"),
    command("reveal A_KEY -p web --version 2"),
    command("diff .env -p local -t production"),
    command("scan web --all-projects", codes=(0, 1)),
    command("verify"),
    command("status"),
    command("check -p web --schema .env"),
    command("exposure --since 1s", codes=(0, 1)),
    command("unlock"),
    command("log --accept -y")]
WRITES = [
    command("set A_KEY -p web -t production", b"typed-by-the-user"),
    command("set NEW_KEY -p local --generate hex:32"),
    command("import .env -p api -t production -y"),
    command("rm A_KEY -p web -y --all"),
    command("rm A_KEY -p web -t production -y"),
    command("rename A_KEY Z_KEY -p local -y"),
    command("copy A_KEY -p web -t production --to-project dest -y"),
    command("restore-version A_KEY 2 -p web -y"),
    command("history prune A_KEY -p web -y --keep 1"),
    command("project create new", codes=(0, 5, 6)),
    command("project rename local renamed -y"),
    command("project remove api -y"),
    command("account use safe"),
    command("logout -y --account safe"),
    command("config set schema-env.qa preview"),
    command("config unset schema-env.uat"),
    command("slot add recovery"),
    command("slot add file new-key"),
    command("slot remove SLOT -y"),
    command("passwd --kdf 8MiB,1 --new-passphrase-file new-passphrase"),
    command("rekey -y"),
    command("link --local local -y --force", folder="evil"),
    command("group invite bob -y"),
    command("group leave acme -y"),
    command("sync"),
    command("postal leave -y", codes=(0, 1, 2, 4, 7)),
    command("rotate B_KEY -p web --close -y", codes=(0, 4))]
# The listener refuses what changes something at Vercel, so a control may fail, but must have asked.
REFUSED = (0, 1, 5, 6, 10, 11)
SENDS = [
    command("push -p web -y", codes=REFUSED),
    command("push -p api --account safe -y", codes=REFUSED),
    command("harden -p api -y", codes=REFUSED),
    command("pull -p web -y", codes=REFUSED),
    command("diff --remote -p web"),
    command("set A_KEY -p web -t production --push -y", b"typed-by-the-user", codes=REFUSED),
    command("rotate B_KEY -p api --generate hex:32 -y", codes=REFUSED),
    command("login --name third", b"TOKEN", ZG_ENV_API_URL="ORIGIN"),
    command("link web --as again -y", folder="evil", codes=(0, 5), ZG_ENV_API_URL="ORIGIN"),
    command("webhook create https://hook.example/2 -p web -y", codes=REFUSED)]
# Those that the index key is enough for.
LISTS = [
    command("list -p web"),
    command("show A_KEY -p web"),
    command("status"),
    command("history A_KEY -p web"),
    command("log"),
    command("project list"),
    command("projects --offline", codes=(0, 7)),
    command("account list"),
    command("config list"),
    command("group show"),
    command("rotate --status"),
    command("notify show"),
    command("postal status", codes=(0, 1, 6, 7)),
    command("backup copy.zgv"),
    command("diff .env -p local --names", codes=(0, 1)),
    command("set A_KEY -p local --generate hex:32 --dry-run"),
    command("projects"),
    command("check -p web --schema .env --on vercel", codes=(0, 1)),
    command("deployment list -p web"),
    command("deployment show -p web"),
    command("deployment logs -p web", codes=(0, 4)),
    command("redeploy -p web -y", codes=(0, 4, 5, 6)),
    command("webhook list"),
    command("webhook delete HOOK -y", codes=(0, 4, 6)),
    command("notify set -p web --off", codes=(0, 2))]
EVERY = {"values": VALUES, "writes": WRITES, "sends": SENDS, "lists": LISTS}


def named(*words):
    """The first command of each of these words, of those that need the root."""
    return [attacks.first((*VALUES, *WRITES, *SENDS), lambda command, word=word:
                          command.arguments[0] == word) for word in words]


class Runner:
    """Runs commands with changed vaults and says what is wrong."""

    def __init__(self, stage, verbose=False):
        self.stage, self.home, self.verbose = stage, stage.home, verbose
        self.failures, self.runs, self.done = [], 0, 0
        self.unlocked, self.quiet = None, False

    def fail(self, change, by, what, message):
        self.failures.append((change, what, message))
        if not self.quiet:
            print(f"FAIL {change}: {what} ({by}): {message}", flush=True)

    def fresh(self, state, raw=None, guard=True):
        self.home.back(state)
        if not guard:
            for path in self.home.guards():
                os.unlink(path)
        if raw is not None:
            self.home.put(raw)
        self.stage.honest.requests.clear()
        self.stage.evil.requests.clear()

    def unlock(self, state):
        """What was unlocked in another history of the vault has to go."""
        if self.unlocked != state:
            self.home.back(state)
            self.home.must("lock", by=UNLOCKED)
            self.home.must(
                "unlock", by=UNLOCKED, ZG_ENV_PASSPHRASE_FILE=self.home.file("passphrase"))
            self.home.back(state)
            self.unlocked = state

    def words(self, command, state):
        found = list(command.arguments)
        if "SLOT" in found:
            slot = next(slot for slot in self.stage.read[state]["slots"]
                        if slot["kind"] == 3 and slot["tier"] == 2)
            found[found.index("SLOT")] = slot["id"]
        if "HOOK" in found:
            found[found.index("HOOK")] = self.stage.hook
        return found

    def run(self, command, by, state):
        given = self.stage.sandbox.token.encode() if command.given == b"TOKEN" else command.given
        environment = {name: self.stage.honest.origin if value == "ORIGIN" else value
                       for name, value in command.environment.items()}
        self.runs += 1
        return self.home.run(
            *self.words(command, state), by=by, given=given,
            folder=command.folder and self.home.file(command.folder), **environment)

    def control(self, command, by, state):
        """The command does what it is for, so that a refusal means something."""
        if by == UNLOCKED:
            self.unlock(state)
        self.fresh(state)
        outcome = self.run(command, by, state)
        if outcome.code not in command.codes:
            self.fail("control", by, command.name, f"exit code {outcome.code}: {said(outcome)}")
            return False
        if command in SENDS and not self.stage.honest.requests:
            self.fail("control", by, command.name, f"sends nothing: {said(outcome)}")
            return False
        return True

    def can_fail(self, state):
        """The control of the tests: what is valid is no refusal, and these tests say so. The file as
        it is, and one that a holder of the root wrote in Python, with a change."""
        home = self.home
        self.fresh(state)
        vault = self.stage.attackers[state].load()
        vault.index["metadata"]["settings"].append({"name": "schema-env.python", "value": "preview"})
        vault.sort()
        vault.next_generation()
        raws, found = (home.raw(), vault.write(self.stage.root())), []
        self.quiet = True
        for raw in raws:
            for command, by in ((LISTS[0], NAMES), (VALUES[0], ROOT), (WRITES[0], ROOT)):
                before = len(self.failures)
                self.refused("control", raw, command, by, state)
                found.append(len(self.failures) > before)
        self.failures, self.quiet = [], False
        if not all(found):
            raise Failed("the tests do not notice that a command accepts a file")

    def refused(self, change, raw, command, by, state, codes=None, guard=True):
        """Whether the command refuses this file, and does nothing before."""
        if by == UNLOCKED:
            self.unlock(state)
        self.fresh(state, raw, guard)
        before = self.home.tree()
        outcome = self.run(command, by, state)
        codes = codes or {DAMAGED}
        if codes == {LOCKED} and command.name == "config list":
            # Without the vault, the settings of the user's file are still shown.
            codes = {LOCKED, 0}
        if command.refusal == NOT_DONE:
            codes = {NOT_DONE}
        if outcome.code not in codes and by == UNLOCKED:
            # Another program of this user may have locked all vaults.
            self.unlocked = None
            self.unlock(state)
            self.fresh(state, raw, guard)
            outcome = self.run(command, by, state)
        what = command.name if guard else f"{command.name}, without a guard"
        if outcome.code not in codes:
            self.fail(change, by, what,
                      f"exit code {outcome.code} instead of {sorted(codes)}: {said(outcome)}")
        else:
            self.nothing_done(change, by, what, outcome, before, state)
        return outcome

    def nothing_done(self, change, by, what, outcome, before, state):
        after = self.home.tree()
        touched = [os.path.relpath(path, self.home.path) for path in before.keys() | after.keys()
                   if before.get(path) != after.get(path)]
        if touched:
            self.fail(change, by, what, f"writes {touched} and refuses")
        for listener, whose in ((self.stage.honest, "Vercel"), (self.stage.evil, "the attacker")):
            if listener.requests:
                request = listener.requests[0]
                self.fail(change, by, what,
                          f"sends {request['method']} {request['path'][:80]} to {whose} and refuses")
        self.prints_nothing(change, by, what, outcome, state)
        self.ran_nothing(change, by, what)

    def prints_nothing(self, change, by, what, outcome, state):
        output = outcome.out + outcome.err
        if any(value in output for value in self.stage.values[state]):
            self.fail(change, by, what, "prints a value and refuses")
        if re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae", output):
            self.fail(change, by, what, "prints control characters")

    def ran_nothing(self, change, by, what):
        if os.path.exists("/tmp/zg-env-attack"):
            os.unlink("/tmp/zg-env-attack")
            self.fail(change, by, what, "ran a command of the changed index")


# --------------------------------------------------------------------------------------------------
# Part 1: changes


def codes_of(word):
    """The exit codes for a class."""
    return {"ok": {0}, "locked": {LOCKED}, "newer": {1}, "pre-release": {1},
            attacks.ANY: {0, 1, 2, 4, DAMAGED}}.get(word, {DAMAGED})


def locked_word(change, guard):
    """By the key file, which names the vault and the slot."""
    if change.slot in (0, 3) or "other-id" in change.name:
        return "locked"
    return change.guarded if guard else change.locked


def root_word(change, guard=True):
    if change.slot in (0, 1) or "other-id" in change.name:
        return "locked"
    return change.guarded_root if guard else change.root


class Changes:
    """Each changed file with `verify`, and with other commands in turn."""

    def __init__(self, runner, controls):
        self.runner, self.controls = runner, controls
        self.turns = collections.Counter()
        self.outcomes = {}

    def next(self, kind):
        found = self.controls[kind]
        self.turns[kind] += 1
        return found[self.turns[kind] % len(found)]

    def check(self, change, state, chance, short=False):
        runner = self.runner
        attacker = runner.stage.attackers[state]
        raw = change.file(attacker)
        self.verify(change, raw, state)
        by_root, locked = codes_of(root_word(change)), codes_of(locked_word(change, True))
        if change.opened_by in ("all", "root") and by_root <= {DAMAGED, LOCKED, 1}:
            for kind in (chance.choice(("values", "writes", "sends")),) if short else (
                    "values", "writes", "sends"):
                runner.refused(change.name, raw, self.next(kind), ROOT, state, by_root)
            by = chance.choice((KEYS, UNLOCKED))
            if change.slot is None:
                command = self.next(chance.choice(("values", "writes")))
                runner.refused(change.name, raw, command, by, state, codes_of(
                    change.guarded_root) | ({LOCKED} if asks_always(command) else set()))
        if change.opened_by in ("all", "locked"):
            if locked <= {DAMAGED, LOCKED, 1}:
                runner.refused(change.name, raw, self.next("lists"), NAMES, state, locked)
            if not short or chance.random() < .5:
                self.without_guard(change, raw, state)
        if change.opened_by in ("value", "section"):
            self.of_a_block(change, raw, state, short)
        runner.done += 1

    def of_a_block(self, change, raw, state, short):
        """A chunk, or a section, that the index does not name: someone who opens it refuses, the others
        do what they did before. A section is also not copied by a writer."""
        runner, section = self.runner, change.opened_by == "section"
        reading = [(command, ROOT) for command in named("reveal", "run", "export")]
        if section:
            reading = reading[:1] if short else reading
            reading.append((LISTS[0], NAMES))
        for command, by in reading:
            before = self.outcome_before(command, by, state)
            runner.fresh(state, raw)
            tree = runner.home.tree()
            outcome = runner.run(command, by, state)
            if outcome.code == command.refusal:
                runner.nothing_done(change.name, by, command.name, outcome, tree, state)
            elif without_ages(outcome) != without_ages(before):
                runner.fail(change.name, by, command.name,
                            f"exit code {outcome.code}, and does something else: {said(outcome)}")
        if section:
            writes = named("set", "import", "rm", "rename", "config")
            self.turns["section"] += 1
            runner.refused(change.name, raw, writes[self.turns["section"] % len(writes)], ROOT, state)

    def outcome_before(self, command, by, state):
        """With the file as it is."""
        if (command.name, by, state) not in self.outcomes:
            self.runner.fresh(state)
            self.outcomes[command.name, by, state] = self.runner.run(command, by, state)
        return self.outcomes[command.name, by, state]

    def verify(self, change, raw, state):
        """The class of a check of the whole file."""
        runner, word = self.runner, root_word(change)
        runner.fresh(state, raw)
        outcome = runner.home.run("verify", "--json")
        runner.runs += 1
        codes = codes_of(word)
        if outcome.code not in codes:
            runner.fail(change.name, ROOT, "verify --json", f"exit code {outcome.code} instead of "
                        f"{sorted(codes)}: {said(outcome)}")
            return
        try:
            problems = json.loads(outcome.out or b"{}").get("problems", [])
        except ValueError:
            problems = []
        found = [problem.get("class") or problem.get("where") for problem in problems]
        if outcome.code == DAMAGED and found and found[0] != word:
            runner.fail(change.name, ROOT, "verify --json", f"says {found}, and not {word}")
        if runner.home.raw() != raw:
            runner.fail(change.name, ROOT, "verify --json", "writes the vault")

    def without_guard(self, change, raw, state):
        """Row 2: a locked command that has no guard trusts the key that it finds."""
        runner = self.runner
        word = locked_word(change, False)
        listing = attacks.first(LISTS, lambda command: command.name == "list -p web")
        if word in ("ok", attacks.ANY):
            runner.fresh(state, raw, guard=False)
            outcome = runner.home.run(*listing.arguments, by=NAMES)
            runner.runs += 1
            codes = codes_of(word) | {4}  # a project that the attacker renamed
            if outcome.code not in codes:
                runner.fail(change.name, NAMES, "list, without a guard",
                            f"exit code {outcome.code} instead of {sorted(codes)}: {said(outcome)}")
            runner.prints_nothing(change.name, NAMES, "list, without a guard", outcome, state)
        else:
            runner.refused(change.name, raw, listing, NAMES, state, codes_of(word), guard=False)
        # With the root it is not even a question of the guard.
        word = root_word(change, guard=False)
        if word != "ok" and change.opened_by == "all":
            runner.refused(change.name, raw, self.next("values"), ROOT, state, codes_of(word),
                           guard=False)


# --------------------------------------------------------------------------------------------------
# Part 2: every command

REPRESENTATIVE = [
    "attack.projects.names-exchanged.kept", "attack.records.names-exchanged.kept",
    "attack.targets.widened.hidden", "attack.projects.same-binding.own",
    "attack.redirect-everything.own", "attack.accounts.twin.kept", "attack.agreement.claims-pushed.kept",
    "attack.journal.kind.kept", "attack.rotation.commands.own", "attack.directory.moved.kept",
    "planted.root", "planted.root.key-kept", "planted.index-key", "same-tag.a token",
    "file.older", "header.vk.flipped", "header.bytes.vk"]


def every_command(runner, changes, controls, names, share=1.0, chance=random):
    for name in names:
        change = attacks.first(changes, lambda change, name=name: change.name == name)
        state = "busy"
        try:
            raw = change.file(runner.stage.attackers[state])
        except attacks.NotApplicable:
            runner.fail(name, "", "", "does not apply to the vault")
            continue
        for kind, commands in controls.items():
            for command in commands:
                if chance.random() > share:
                    continue
                if kind == "lists" or name == "planted.root":
                    # A slot of the index key that gives a root must not unlock the values either.
                    runner.refused(name, raw, command, NAMES, state, {DAMAGED, LOCKED} if asks_always(
                        command) else None)
                runner.refused(name, raw, command, ROOT, state)
                if name != "file.older":  # which is what a guard is for
                    runner.refused(name, raw, command, ROOT, state, guard=False)
                if kind != "lists":
                    runner.refused(name, raw, command, UNLOCKED, state,
                                   {DAMAGED, LOCKED} if asks_always(command) else None)
                runner.done += 1


def asks_always(command):
    """Those that need the passphrase also while unlocked."""
    return command.name.startswith((
        "reveal", "passwd", "rekey", "slot add", "slot remove", "log --accept", "unlock", "verify"))


# --------------------------------------------------------------------------------------------------
# Part 3: races


class Races:
    """The file is exchanged while a command waits."""

    def __init__(self, runner, state="plain"):
        self.runner, self.home, self.state = runner, runner.home, state
        self.written = {}

    def fresh(self):
        self.runner.fresh(self.state)

    def control(self, command, prompts):
        """With the file as it is, the command asks what is expected, and does what it is for."""
        self.fresh()
        outcome = self.home.at_terminal(*command.split(), prompts=[
            (pattern, lambda text=text: text) for pattern, text in prompts])
        # Also a conflict with what other tests sent, or what follows from a refused request.
        if outcome.code not in (0, 1, 5, 6, 10):
            self.runner.fail("control", NOTHING, command,
                             f"at a terminal: exit code {outcome.code}: {said(outcome)}")
            return False
        return True

    def at_prompt(self, change, raw, command, prompts, exchanged_at):
        """At which prompt: 0 is the passphrase."""
        runner = self.runner
        self.fresh()
        before = self.home.tree()

        def typed(at, text):
            def answer():
                if at == exchanged_at:
                    self.home.put(raw)
                return text
            return answer
        found = [(pattern, typed(at, text)) for at, (pattern, text) in enumerate(prompts)]
        outcome = self.home.at_terminal(*command.split(), prompts=found)
        runner.runs += 1
        runner.done += 1
        self.judge(f"{change}, at prompt {exchanged_at}", raw, command, outcome, before)

    def by_program(self, change, raw, command, given=b"", terminal=False, also=(), **environment):
        """While a program runs that the user named: for the passphrase, or to edit."""
        runner = self.runner
        self.fresh()
        new = os.path.join(self.home.folder, "exchanged.zgv")
        with open(new, "wb") as file:
            file.write(raw)
        script = f'#!/bin/sh\ncp "{new}" "{self.home.vault}.x" && chmod 600 "{self.home.vault}.x" && ' \
            f'mv "{self.home.vault}.x" "{self.home.vault}"\n'
        self.home.write("exchange", script, 0o700)
        before = self.home.tree()
        if terminal:
            outcome = self.home.at_terminal(*command.split(), prompts=[], **environment)
        else:
            outcome = self.home.run(*command.split(), given=given, by=NOTHING, **environment)
        runner.runs += 1
        runner.done += 1
        self.judge(f"{change}, by a program", raw, command, outcome, before, also=also)

    def on_network(self, change, raw, command, at, by=ROOT):
        """Before request number `at` is answered. Whether there was such a request."""
        runner, honest = self.runner, self.runner.stage.honest
        if by == UNLOCKED:
            runner.unlock(self.state)
        writes = self.writes(command, by)
        self.fresh()
        before = self.home.tree()
        place = []

        def exchange(number):
            if number == at:
                place.append(number)
                self.home.put(raw)
        honest.before = exchange
        try:
            outcome = self.home.run(*command.split(), by=by)
        finally:
            honest.before = None
        if not place:
            return False
        runner.runs += 1
        runner.done += 1
        late = [request for request in honest.requests[at:]
                if request["method"] not in ("GET", "HEAD")]
        # A webhook is created before its secret can be stored; it is the one of the index before.
        if late and not command.startswith("webhook create") and not change.startswith("same-tag"):
            runner.fail(f"{change}, at request {at}", by, command,
                        f"sends {late[0]['method']} {late[0]['path'][:60]} after it")
        # What the listener refused before has an exit code of its own.
        refused = any(request["method"] not in ("GET", "HEAD") for request in honest.requests)
        also = ({1, 5, 6, 7, 10, 11} if refused else set()) | (set() if writes else {0})
        self.judge(f"{change}, at request {at}", raw, command, outcome, before, by, also)
        return True

    def writes(self, command, by):
        """Whether it writes the vault when no one exchanges it."""
        if (command, by) not in self.written:
            self.fresh()
            before = self.home.raw()
            self.home.run(*command.split(), by=by)
            self.written[command, by] = self.home.raw() != before
        return self.written[command, by]

    def went_on(self, change, command, by, raw):
        """Section 9, step 2: with the header and the tag as they were, a writer goes on with the table
        that it opened, or refuses the sections that this does not name. Nothing of the exchanged index
        is in what it writes."""
        if self.home.raw() == raw:
            return
        found = whole(self.home)
        if found["class"] == "locked":
            new = reader.vector_secret({"passphrase": NEW_PASSPHRASE})
            found = reader.check(self.home.vault, new)
        names = {item["record"]: item["key"] for item in self.runner.stage.read[self.state]["records"]}
        strange = [item["key"] for item in found.get("records", ())
                   if names.get(item["record"], item["key"]) not in (item["key"], "A_KEY")]
        if found["class"] != "ok" or (strange and not command.startswith("rename")):
            self.runner.fail(change, by, command,
                             f"writes the vault with {strange}: {found['class']} {found.get('message')}")

    def judge(self, change, raw, command, outcome, before, by=NOTHING, also=()):
        """A command that read the vault before may finish with what it read; nothing is written."""
        runner = self.runner
        reads = command.split()[0] in ("run", "export", "reveal", "diff", "scan", "status", "list")
        codes = {DAMAGED, NOT_DONE} | set(also) | ({0} if reads else set())
        if change.startswith("same-tag"):
            return self.went_on(change, command, by, raw)
        if outcome.code not in codes:
            runner.fail(change, by, command,
                        f"exit code {outcome.code} instead of {sorted(codes)}: {said(outcome)}")
        if self.home.raw() != raw:
            runner.fail(change, by, command, "writes the vault")
        if runner.stage.evil.requests:
            runner.fail(change, by, command, "sends something to another origin")
        if attacks.FORGED in outcome.out:
            runner.fail(change, by, command, "prints a value of the attacker")
        after = self.home.tree()
        # What a rotation, or a command at the network, wrote before the exchange moves the guard.
        guards = set(self.home.guards()) if by == NOTHING and not also else set()
        if any(before.get(path) != after.get(path) for path in guards):
            runner.fail(change, by, command, "changes the rollback guard")
        runner.ran_nothing(change, by, command)


YES = (rb"\[y/N\] ?$|\(y/n\)|\[Y/n\]|yes/no", b"y")
ASK = (rb"(?i)passphrase[^\n]*: ?$", PASSPHRASE.encode())
AT_PROMPT = [
    ("set A_KEY -p web -t production", [ASK, (rb"(?i)(value|A_KEY)[^\n]*: ?$", b"typed-value")]),
    ("rm A_KEY -p web --all", [ASK, YES]),
    ("rename A_KEY Z_KEY -p local -y", [ASK]),
    ("import .env -p web -t production -y", [ASK]),
    ("copy A_KEY -p web -t production --to-project dest -y", [ASK]),
    ("edit A_KEY -p local -y", [ASK]),
    ("push -p web", [ASK, YES]),
    ("pull -p web -y", [ASK]),
    ("harden -p web", [ASK, YES]),
    ("rotate B_KEY -p web --generate hex:32", [ASK, YES]),
    ("project remove api", [ASK, YES]),
    ("config set schema-env.qa preview", [ASK]),
    ("account use safe", [ASK]),
    ("slot add file new-key", [ASK]),
    ("passwd --kdf 8MiB,1", [ASK, (rb"(?i)new passphrase[^\n]*: ?$", NEW_PASSPHRASE.encode()),
                             (rb"(?i)confirm[^\n]*: ?$", NEW_PASSPHRASE.encode())]),
    ("link --local local -y", [ASK]),
    ("sync", [ASK]),
    (f"run -p web -t production --no-inherit -- {PRINT}", [ASK]),
    ("export -p web -t production --format json -y", [ASK]),
    ("reveal A_KEY -p web -t production", [ASK])]
ON_NETWORK = ["push -p web -y", "pull -p web -y", "harden -p web -y", "diff --remote -p web",
              "rotate B_KEY -p web --generate hex:32 -y", "push -p api --account safe -y",
              "webhook create https://hook.example/3 -p web -y"]
IN_RACES = ["attack.projects.names-exchanged.kept", "attack.targets.widened.hidden",
            "attack.redirect-everything.own", "same-tag.the names of two records", "same-tag.section",
            "planted.index-key", "file.older"]


def races(runner, changes, chance, most=None):
    """`most` is how many of each kind, of all."""
    found = Races(runner)
    raws = {name: attacks.first(changes, lambda change, name=name: change.name == name).file(
        runner.stage.attackers["plain"]) for name in IN_RACES}
    asking = [item for item in some(AT_PROMPT, most and 2 * most, chance) if found.control(*item)]
    plan = [(name, command, prompts, at) for name in IN_RACES
            for command, prompts in asking for at in range(len(prompts))]
    for name, command, prompts, at in some(plan, most, chance):
        found.at_prompt(name, raws[name], command, prompts, at)
    programs = [(name, command) for name in IN_RACES for command in (
        "set A_KEY -p web -t production", "rm A_KEY -p web --all -y", "push -p web -y",
        "account use safe", "rekey -y", f"run -p web -t production -- {PRINT}")]
    for name, command in some(programs, most, chance):
        found.by_program(name, raws[name], command, b"typed-by-the-user",
                         ZG_ENV_PASSPHRASE_COMMAND=f"{runner.home.file('exchange')}; cat "
                         f"{runner.home.file('passphrase')}")
    for name in some(IN_RACES, most and 1, chance):
        # While the editor is open.
        found.by_program(name, raws[name], "edit A_KEY -p local -y", terminal=True,
                         ZG_ENV_PASSPHRASE_FILE=runner.home.file("passphrase"))
        # A rotation that has begun needs attention then.
        found.by_program(name, raws[name], f"rotate B_KEY -p web --generate hex:32 -y --apply "
                         f"{runner.home.file('exchange')}", also={11},
                         ZG_ENV_PASSPHRASE_FILE=runner.home.file("passphrase"))
    plan = [(name, command, by) for name in IN_RACES for command in ON_NETWORK
            for by in (ROOT, UNLOCKED)]
    for name, command, by in some(plan, most, chance):
        for at in range(1, 40):
            if not found.on_network(name, raws[name], command, at, by):
                break


def some(items, most, chance):
    return items if most is None else chance.sample(items, min(most, len(items)))


# --------------------------------------------------------------------------------------------------
# Part 4: the threat model's rows


def guard_of(vault):
    return (f"zg-env-anchor-3 {vault.vault_id.hex()} {vault.generation} {vault.tag.hex()} "
            f"{vault.public.hex()}\n").encode()


def write_guards(home, vault):
    for path in home.guards():
        with open(path, "wb") as file:
            file.write(guard_of(vault))


def row_reading(runner):
    """Row 1: it reads names and unprotected tokens, and no protected one; a false listing of Vercel
    changes nothing that is sent."""
    stage, home = runner.stage, runner.home
    attacker = stage.attackers["plain"]
    vault = attacker.load()
    secrets = {account["name"]: account["secret"] for account in vault.index["accounts"]}
    token = stage.sandbox.token.encode()
    if token not in secrets.values() or secrets["safe"] == token or token in secrets["safe"]:
        yield "tokens", "an unprotected token is not readable, or a protected one is"
    if any(value in text for value in stage.values["plain"] for text in (attacker.raw, *vault.texts())):
        yield "values", "a value is readable with the index key"
    runner.fresh("plain")
    forged = forge_answers(home, attacker)
    if forged:
        stage.honest.requests.clear()
        wanted = home.run("run", "-p", "web", "-t", "production", "--no-inherit", "--", "/bin/cat",
                          "/proc/self/environ")
        if wanted.code or b"evil-listing" in wanted.out:
            yield "response cache", f"run: {said(wanted)}"
        pushed = home.run("push", "-p", "web", "-y")
        if pushed.code not in REFUSED or any(
                b"evil-listing" in request["body"] or "evil-listing" in request["path"]
                for request in stage.honest.requests):
            yield "response cache", f"push sends what a false listing says: {said(pushed)}"
    if stage.evil.requests:
        yield "response cache", "sends something to another origin"


def forge_answers(home, attacker):
    """Seals every table of the response cache with other texts. How many."""
    cache = writer.kdf(attacker.key, 3, b"zgv3sub_")
    key, vault_id = writer.kdf(cache, 2, b"zgv3answ"), attacker.raw[24:40]
    data = b"zgv3/answer".ljust(16, b"\0") + vault_id
    folder, found = home.file(".cache", "zg-env"), 0
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if not name.endswith(".answers"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            text = writer.unseal(key, file.read(), data)
        text = text[4:4 + int.from_bytes(text[:4], "little")]
        text = re.sub(rb'"(key|name)":"[^"]*"', rb'"\1":"evil-listing"', text)
        padded = writer.U32.put(len(text)) + text
        padded += bytes(-len(padded) % 4096)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(writer.seal(key, padded, data))
        found += 1
    return found


LIST = ("list", "-p", "web", "--json")
RUN = ("run", "-p", "web", "-t", "production", "--no-inherit", "--", "/bin/cat", "/proc/self/environ")


def row_older(runner):
    """An older whole file: exit 8 where a guard is, else a warning that none is; and row 2, with the
    guards written, no refusal. A mixture of two generations is always one."""
    stage, home = runner.stage, runner.home
    attacker = stage.attackers["plain"]
    old = writer.Vault.load(stage.older, attacker.key)
    for by, words in ((ROOT, RUN), (NAMES, LIST)):
        refusal = NOT_DONE if words is RUN else DAMAGED
        runner.fresh("plain", stage.older)
        outcome = home.run(*words, by=by)
        if outcome.code != refusal:
            yield words[0], f"an older file has exit code {outcome.code} with a guard: {said(outcome)}"
        runner.fresh("plain", stage.older, guard=False)
        outcome = home.run(*words, by=by)
        if outcome.code != 0:
            yield words[0], f"an older file has exit code {outcome.code} without one: {said(outcome)}"
        runner.fresh("plain", stage.older)
        write_guards(home, old)
        outcome = home.run(*words, by=by)
        if outcome.code != 0:
            yield words[0], f"exit code {outcome.code} with the guards written: {said(outcome)}"
        for name in ("file.older.as-new", "file.older.records", "file.older.accounts"):
            raw = attacks.first(runner.changes, lambda change, name=name: change.name == name).file(attacker)
            vault = writer.Vault.load(raw, attacker.key)
            runner.fresh("plain", raw)
            write_guards(home, vault)
            outcome = home.run(*words, by=by)
            if outcome.code != refusal:
                yield words[0], f"{name} with the guards written: exit code {outcome.code}"
    # While unlocked, the cache knows the newer one.
    runner.unlock("plain")
    runner.fresh("plain", stage.older)
    write_guards(home, old)
    outcome = home.run(*RUN, by=UNLOCKED)
    if outcome.code != NOT_DONE:
        yield "run", f"an older file has exit code {outcome.code} while unlocked: {said(outcome)}"


def row_another_vault(runner):
    """Row 2: where the guards are written, or there are none, locked commands show another vault; with
    the root it is damage."""
    stage, home = runner.stage, runner.home
    attacker = stage.attackers["plain"]

    def rename(vault):
        for record in vault.all("records"):
            if record["name"] == "A_KEY":
                record["name"] = "PLANTED"
    raw = attacks.planted(1, rename)(attacker)
    vault = writer.Vault.load(raw, writer.index_key(OWN_ROOT, attacker.load().epoch))
    for how in ("guards written", "no guards"):
        def begin():
            runner.fresh("plain", raw, guard=how == "guards written")
            if how == "guards written":
                write_guards(home, vault)
        begin()
        outcome = home.run(*LIST, by=NAMES)
        if outcome.code or b"PLANTED" not in outcome.out:
            yield "list", f"{how}: exit code {outcome.code}: {said(outcome)}"
        for command in named("run", "export", "reveal", "set", "import", "rm", "rename", "push"):
            for by in (ROOT, KEYS):
                begin()
                before = home.tree()
                outcome = runner.run(command, by, "plain")
                if outcome.code != command.refusal:
                    yield command.name, f"{how} ({by}): exit code {outcome.code}: {said(outcome)}"
                runner.nothing_done("another vault", by, command.name, outcome, before, "plain")


def row_planted_cache(runner):
    """Row 3: with guards and unlock cache written, a root of the attacker's is used until the
    passphrase is typed. Without the guards it is not."""
    stage, home = runner.stage, runner.home
    attacker = stage.attackers["plain"]
    raw = attacks.planted(1)(attacker)
    key = writer.index_key(OWN_ROOT, attacker.load().epoch)
    vault = writer.Vault.load(raw, key)
    home.must("lock", by=UNLOCKED)
    runner.unlocked = None

    def begin(guards):
        runner.fresh("plain", raw)
        if guards:
            write_guards(home, vault)
        plant_unlock_cache(vault, OWN_ROOT)
    try:
        begin(guards=True)
        outcome = home.run(*RUN, by=UNLOCKED)
        if outcome.code or attacks.FORGED not in outcome.out:
            yield "run", f"the control of row 3: exit code {outcome.code}: {said(outcome)}"
        outcome = home.run("set", "A_KEY", "-p", "local", by=UNLOCKED, given=b"stored-for-the-attacker")
        found = reader.check(home.vault, lambda: RootItself(OWN_ROOT))
        if outcome.code or "stored-for-the-attacker" not in json.dumps(found):
            yield "set", f"the control of row 3: exit code {outcome.code}: {said(outcome)}"
        for command in named("run", "reveal", "set", "passwd", "rekey", "slot", "push", "log"):
            begin(guards=True)
            before = home.tree()
            outcome = home.run(*runner.words(command, "plain"), by=UNLOCKED, given=command.given,
                               ZG_ENV_PASSPHRASE_FILE=home.file("passphrase"))
            if asks_always(command) and outcome.code != command.refusal:
                yield command.name, f"after typing: exit code {outcome.code}: {said(outcome)}"
            elif outcome.code == command.refusal:
                runner.nothing_done("planted cache", ROOT, command.name, outcome, before, "plain")
        for command in named("run", "set", "push", "rm"):
            begin(guards=False)
            before = home.tree()
            outcome = runner.run(command, UNLOCKED, "plain")
            if outcome.code != command.refusal:
                yield command.name, ("with the guards as they were, a planted unlock cache is used: exit "
                                     f"code {outcome.code}: {said(outcome)}")
            else:
                runner.nothing_done("planted cache", UNLOCKED, command.name, outcome, before, "plain")
    finally:
        home.run("lock", by=UNLOCKED)


class RootItself:
    """For the second reader: a root, whatever the slots hold."""

    def __init__(self, root):
        self.root = root

    def keks(self, header):
        for slot in header.slots:
            slot.tier, slot.kind = reader.TIER_ROOT, reader.PASSPHRASE
            nonce, data = bytes(24), b"zgv3/slot" + header.vault_id + slot.raw[:72] + slot.raw[120:]
            slot.nonce, slot.wrapped = nonce, writer.seal(bytes(32), self.root, data, nonce)[24:]
            yield slot, bytes(32)


def row_change_and_back(runner):
    """Class A of the reviews: a change, a write of the user's, and the change taken back. The write
    is refused, so that nothing is left of it."""
    stage, home = runner.stage, runner.home
    attacker = stage.attackers["plain"]
    for name in ("projects.names-exchanged", "records.names-exchanged", "targets.widened",
                 "directory.moved", "projects.same-binding"):
        raw = attacks.first(runner.changes, lambda change: change.name == f"attack.{name}.kept").file(attacker)
        for command in named("set", "import", "rm", "copy", "link", "group", "pull", "webhook"):
            runner.fresh("plain", raw)
            outcome = runner.run(command, ROOT, "plain")
            home.put(attacker.raw)
            if outcome.code != DAMAGED:
                yield command.name, f"{name}: exit code {outcome.code}: {said(outcome)}"
            if home.must("verify", "--json").code or whole(home) != stage.read["plain"]:
                yield command.name, f"{name}: the vault is not as it was"


def row_old_keys(runner):
    """The index key of an epoch before `rekey`, and the whole file of that time."""
    stage, home = runner.stage, runner.home
    runner.fresh("plain")
    runner.unlocked = None
    home.must("lock", by=UNLOCKED)
    home.must("rekey", "-y", ZG_ENV_KEY_FILE=home.file("key"), codes=(0, 2, 3))
    if home.raw()[48:52] == stage.attackers["plain"].raw[48:52]:
        yield "rekey", "the control: there are no new keys"
    home.put(stage.attackers["plain"].raw)
    outcome = home.run(*RUN)
    if outcome.code != NOT_DONE:
        yield "run", f"the file before rekey has exit code {outcome.code}: {said(outcome)}"


ROWS = (row_reading, row_older, row_another_vault, row_planted_cache, row_change_and_back,
        row_old_keys)

# --------------------------------------------------------------------------------------------------


def controls_of(runner, state, chance, short):
    """The commands that work with the unchanged vault."""
    found = {}
    for kind, commands in EVERY.items():
        if short:
            commands = chance.sample(commands, min(len(commands), 9))
        by = NAMES if kind == "lists" else ROOT
        found[kind] = [command for command in commands if runner.control(command, by, state)]
    return found


def main():
    parser = argparse.ArgumentParser(description="Run zg-env with tampered vaults.")
    parser.add_argument("program", metavar="ZG_ENV")
    parser.add_argument("--short", action="store_true", help="a sample, in about a minute")
    parser.add_argument("--seed", type=int, default=None, help="of the samples")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="such as 'attack.*' or 'rows'")
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
    seed = int(time.time()) if options.seed is None else options.seed
    chance = random.Random(seed)
    join_session_keyring()

    folder = tempfile.mkdtemp(prefix="zg-env-attacks-")
    stage = None
    start = time.monotonic()
    part, of_parts = map(int, options.part.split("/"))

    def wanted(name):
        return fnmatch.fnmatchcase(name, options.only)
    try:
        stage = Stage(options, os.path.realpath(folder))
        stage.make()
        runner = Runner(stage, options.verbose)
        runner.changes = attacks.every_change(stage.attackers["busy"], seed)
        counted, left = 0, []
        runner.can_fail("busy")
        controls = controls_of(runner, "busy", chance, options.short)
        changes = Changes(runner, controls)
        chosen = runner.changes[part - 1::of_parts]
        if options.short:
            chosen = attacks.some_changes(chosen, 60, seed)
        for change in chosen:
            if not wanted(change.name):
                continue
            before = len(runner.failures)
            try:
                changes.check(change, "busy", chance, options.short)
                counted += 1
            except attacks.NotApplicable:
                left.append(change.name)
            if options.verbose and len(runner.failures) == before:
                print(f"ok   {change.name}", flush=True)
        if part == 1 and wanted("commands"):
            names = chance.sample(REPRESENTATIVE, 2) if options.short else REPRESENTATIVE
            every_command(runner, runner.changes, controls, names, .3 if options.short else 1, chance)
        if part == 1 and wanted("races"):
            runner.changes = attacks.every_change(stage.attackers["plain"], seed)
            races(runner, runner.changes, chance, 2 if options.short else None)
        if part == 1:
            runner.changes = attacks.every_change(stage.attackers["plain"], seed)
            for row in ROWS:
                if wanted("rows") or wanted(row.__name__):
                    runner.done += 1
                    for command, message in row(runner):
                        runner.fail(row.__name__, "", command, message)
    except Failed as reason:
        print(f"attacks: {reason}", file=sys.stderr)
        return 2
    finally:
        if stage:
            stage.close()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{counted} changes, {runner.done} in all with commands, races and rows, "
          f"{runner.runs} runs in {time.monotonic() - start:.0f} seconds, seed {seed}: "
          f"{len(runner.failures)} failures, {len(left)} not applicable to the vault")
    if left:
        print("not applicable: " + " ".join(left))
    return 1 if runner.failures or not runner.done else 0


if __name__ == "__main__":
    sys.exit(main())
