#!/usr/bin/env python3
"""Measures what sharing costs, against the goals of docs/performance.md.

    groups.py ZG_ENV [--changes N] [--long N] [--runs N]

Counts the instructions of `run` and `list` in a vault whose project is shared and in one whose is
not (valgrind), times `set` in both, and times syncs over a bare git repository by path: without news,
after one `set`, and of a newcomer who has nothing. `--long` adds a newcomer to that many changes; they
take about 15 ms each to make. A missed goal is shown, not failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import benchmark  # noqa: E402

CANNOT_EXECUTE = 126
# Of the unlock cache: a session keyring of this process, or the user's.
SCOPE = [] if benchmark.own_session_keyring() else ["--scope", "user"]


def show(name, goal, is_met, found):
    print(f"{name}\n  goal: {goal}: {'met' if is_met else 'MISSED'}\n  {found}", flush=True)


class Member:
    """Somebody's home, with an unlocked vault."""

    def __init__(self, directory, name, zg_env):
        path = pathlib.Path(directory) / name
        path.mkdir()
        self.home = benchmark.Home(path, zg_env, None)
        self.home.environment["PATH"] = "/usr/bin:/bin"
        self.home.unlock_scope = SCOPE
        self.name = name
        self.path = path

    def vault(self, file=None):
        self.made = self.home.vault("vault", file=file, settled=file is not None)
        self.made.unlock()
        return self

    @property
    def environment(self):
        return self.home.environment | {"ZG_ENV_VAULT": str(self.made.path)}

    def do(self, *words, stdin=b"", extra=None):
        """Runs a command without the passphrase: the vault is unlocked."""
        done = subprocess.run(
            [str(self.home.zg_env), *map(str, words)], input=stdin, capture_output=True,
            cwd=self.path, env=self.environment | (extra or {}))
        if done.returncode != 0:
            sys.exit(f"groups: {self.name}: {words[0]} ended with {done.returncode}: "
                     f"{done.stderr.decode()}")
        return done.stdout.decode()

    def timed(self, *words, stdin=b""):
        start = time.perf_counter()
        self.do(*words, stdin=stdin)
        return time.perf_counter() - start

    def instructions(self, program, words, status):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *words],
            capture_output=True, cwd=self.path, text=True,
            env=self.environment | {"SWIFT_DETERMINISTIC_HASHING": "1"})
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != status or not found:
            sys.exit(f"groups: {words[0]} ended with {done.returncode}: {done.stderr}")
        return int(found.group(1))

    def share(self, place):
        self.do("share", "bench", "--group", "acme", "--at", place, "--as", self.name, "--yes")
        self.do("sync", "-q")

    def admit(self, other, place):
        invite = self.do("group", "invite", other.name, "--yes")
        code = invite.splitlines()[-1] + "\n"
        other.do("group", "join", place, "--group", "acme", stdin=code.encode())
        self.do("sync", "--admit")


def repository(directory, name="place.git"):
    path = pathlib.Path(directory) / name
    subprocess.run(["git", "init", "--quiet", "--bare", path], check=True)
    return path


def bytes_below(path):
    return sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file())


def count_instructions(directory, zg_env, members):
    """`run` and `list`, with 50 variables."""
    stripped = pathlib.Path(directory) / "zg-env"
    shutil.copy(zg_env, stripped)
    subprocess.run(["strip", stripped], check=True)
    target = pathlib.Path(directory) / "no-program"
    target.write_bytes(b"\0no program")
    target.chmod(0o700)
    commands = {
        "run": (["run", "-q", "-t", "production", "--", str(target)], CANNOT_EXECUTE),
        "list": (["list", "-q"], 0)}
    counts = {}
    for member in members:
        # A command compares the vault with the one that was unlocked, if it was written since.
        member.made.unlock()
        for name, (words, status) in commands.items():
            # The first run creates the directories of the audit log.
            counts[member.name, name] = min(
                member.instructions(stripped, words, status) for _ in range(3))
    for name in commands:
        plain, shared = counts["plain", name], counts["shared", name]
        more = 100 * (shared - plain) / plain
        show(f"{name}, 50 variables, shared with a group", "at most 5 % more instructions",
             more <= 5, f"{shared:,} instead of {plain:,} instructions ({more:+.1f} %)")


def time_set(plain, shared, runs):
    times = {plain: [], shared: []}
    for number in range(runs):
        for member in (plain, shared):
            times[member].append(
                member.timed("set", "SETTLED", "-q", stdin=f"value {number}".encode()))
        # The change has left before the next one.
        shared.do("sync", "-q")
    medians = [statistics.median(times[member]) * 1e3 for member in (plain, shared)]
    show("set, 50 variables, shared with a group", "at most 2 ms more",
         medians[1] - medians[0] <= 2, f"{medians[1]:.1f} ms instead of {medians[0]:.1f} ms")


def time_syncs(directory, member, runs):
    tools = pathlib.Path(directory) / "bin"
    tools.mkdir()
    log = pathlib.Path(directory) / "calls"
    (tools / "git").write_text(f'#!/bin/sh\necho "$@" >>{log}\nexec /usr/bin/git "$@"\n')
    (tools / "git").chmod(0o700)
    member.do("sync", extra={"PATH": f"{tools}:/usr/bin:/bin"})
    requests = [word for line in log.read_text().splitlines()
                for word in ("ls-remote", "fetch", "push") if f" {word} " in line]
    nothing = statistics.median(member.timed("sync", "-q") for _ in range(runs)) * 1e3
    show("sync, nothing new", "one ls-remote", requests == ["ls-remote"],
         f"requests: {', '.join(requests)}; {nothing:.0f} ms")
    times = []
    for number in range(runs):
        start = time.perf_counter()
        member.do("set", "SETTLED", "-q", stdin=f"again {number}".encode())
        member.do("sync", "-q")
        times.append(time.perf_counter() - start)
    both = statistics.median(times) * 1e3
    show("set and sync over a path", "150 ms", both <= 150, f"{both:.0f} ms")


def newcomer(directory, zg_env, variables, changes, goal, megabytes=None):
    author = Member(directory, f"author-{changes}", zg_env)
    author.vault(author.home.dotenv("few.env", variables, 64))
    place = repository(directory, f"place-{changes}.git")
    author.share(place)
    other = Member(directory, f"newcomer-{changes}", zg_env).vault()
    # The import and the setting are there; the rest are renames, which keep the vault small.
    done, names = 2, ["SETTLED", "RENAMED"]
    start = time.perf_counter()
    while done < changes:
        author.do("rename", *names, "-q")
        names.reverse()
        done += 1
        if done % 2000 == 0:
            author.do("sync", "-q")
            print(f"  {done} changes after {time.perf_counter() - start:.0f} s", file=sys.stderr)
    author.do("sync", "-q")
    author.admit(other, place)
    seconds = other.timed("sync", "-q")
    listed = other.do("list", "-p", "bench@acme", "--json")
    if listed.count('"key"') < variables:
        sys.exit("groups: the newcomer did not get the variables")
    copies = other.path / "state/zg-env/groups"
    git = bytes_below(copies / "repositories")
    again = other.timed("sync", "-q")
    text = (f"{seconds:.2f} s, {git / 1e6:.2f} MB of git (objects: "
            f"{bytes_below(copies / 'objects') / 1e6:.2f} MB); nothing new: {again * 1e3:.0f} ms")
    is_met = seconds <= goal and (megabytes is None or git <= megabytes * 1e6)
    size = "" if megabytes is None else f", {megabytes} MB"
    show(f"first sync of a newcomer, {variables} variables, {changes} changes", f"{goal} s{size}",
         is_met, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zg_env", type=pathlib.Path)
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    zg_env = options.zg_env.resolve()
    os.umask(0o077)
    with tempfile.TemporaryDirectory(prefix="zg-env-groups-") as directory:
        place = repository(directory)
        members = []
        for name in ("plain", "shared"):
            member = Member(directory, name, zg_env)
            members.append(member.vault(member.home.dotenv("few.env", 50, 64)))
        plain, shared = members
        shared.share(place)
        if shutil.which("valgrind"):
            count_instructions(directory, zg_env, members)
        else:
            print("groups: there is no valgrind; make setup-count installs it")
        time_set(plain, shared, options.runs)
        time_syncs(directory, shared, options.runs)
        newcomer(directory, zg_env, 500, options.changes, 1, 2)
        if options.long:
            newcomer(directory, zg_env, 500, options.long, 15)


if __name__ == "__main__":
    main()
