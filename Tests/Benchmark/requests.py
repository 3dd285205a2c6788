#!/usr/bin/env python3
"""Counts the requests of commands that talk to Vercel, and times them with 100 ms per response.

    requests.py ZG_ENV ZG_ENV_SANDBOX [--before ZG_ENV] [--latency S] [--runs N]

Each row runs in a vault and a sandbox of its own: once without a latency, to count, and then N times with
one, both programs by turns; the medians are printed. Ends with status 1 where a command fails.
"""

import argparse
import contextlib
import json
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

PASSPHRASE = "correct horse battery staple"
COUNT = 50
PROJECTS = 20


class World:
    """A vault connected to a sandbox."""

    def __init__(self, directory, program, sandbox, seed=None, build=0.2):
        self.path = pathlib.Path(directory)
        self.program = program
        (self.path / "passphrase").write_text(PASSPHRASE)
        (self.path / "passphrase").chmod(0o600)
        words = [sandbox, "--port", "0", "--build-seconds", str(build)]
        if seed:
            (self.path / "seed.json").write_text(json.dumps(seed))
            words += ["--seed", self.path / "seed.json"]
        self.sandbox = subprocess.Popen(words, stdout=subprocess.PIPE)
        # A sandbox that does not start must not block this.
        if not select.select([self.sandbox.stdout], [], [], 20)[0]:
            sys.exit("requests: the sandbox does not start")
        start = json.loads(self.sandbox.stdout.readline())
        self.url = start["url"]
        self.token = start["token"]
        self.environment = {
            "HOME": str(self.path), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
            "ZG_ENV_API_URL": self.url, "ZG_ENV_PASSPHRASE_FILE": str(self.path / "passphrase"),
            "SWIFT_BACKTRACE": "enable=no"}
        self.run("init", "--kdf", "8MiB,1")
        self.run("login", text=start["token"])

    def close(self):
        self.sandbox.terminate()
        self.sandbox.wait()

    def run(self, *words, text="", codes=(0,)):
        done = subprocess.run(
            [self.program, *words], input=text, text=True, cwd=self.path, capture_output=True,
            env=self.environment)
        if done.returncode not in codes:
            sys.exit(f"requests: {words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.url}/_sandbox/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def requests(self):
        found = self.control("GET", "requests")
        return len(found["requests"] if isinstance(found, dict) else found)


def file_of(world, text, count=COUNT):
    path = world.path / "variables.env"
    path.write_text("".join(f"KEY_{place}={text}-{place}\n" for place in range(count)))
    return str(path)


def imported(world, text, targets):
    world.run("import", file_of(world, text), "-p", "web", "-t", targets, "--yes")


def pushed(world, targets="production,preview"):
    imported(world, "first-value", targets)
    world.run("push", "-p", "web", "--yes")


def new(world):
    imported(world, "first-value", "production,preview")


def changed(world):
    pushed(world)
    imported(world, "second-value", "production,preview")


def removed(world):
    pushed(world)
    for place in range(COUNT):
        world.run("rm", f"KEY_{place}", "-p", "web", "--yes")


def one(world):
    pushed(world)


def many(world):
    for place in range(PROJECTS):
        world.run(
            "set", "KEY", "-p", f"p{place}", "-t", "production", "--push", "--yes", text="old")


PUSH = ["push", "-p", "web", "--yes"]
HARDEN = ["harden", "-p", "web", "--yes"]
ROWS = [
    ("push, 50 new", new, PUSH, ""),
    ("push, nothing to do", pushed, PUSH, ""),
    ("pull, nothing to do", pushed, ["pull", "-p", "web", "--yes"], ""),
    ("push, 50 changed values", changed, PUSH, ""),
    ("push, 50 removals", removed, PUSH, ""),
    ("harden, 50 for production and preview", pushed, HARDEN, ""),
    ("harden, 50 that are for development too",
     lambda world: pushed(world, "production,preview,development"), HARDEN, ""),
    ("set --push, one", one,
     ["set", "KEY_1", "-p", "web", "-t", "production,preview", "--push", "--yes"], "third"),
    ("rotate --redeploy, 20 projects", many,
     ["rotate", "KEY", "-p", "p0", "--everywhere", "--redeploy", "--yes", "--json"], "new"),
]


def measure(program, sandbox, row, latency):
    """The seconds and the requests of a row's command."""
    _, prepare, words, text = row
    seed = None
    if prepare is many:
        seed = {"projects": [
            {"name": f"p{place}", "deployments": [{"target": "production"}]}
            for place in range(PROJECTS)]}
    with tempfile.TemporaryDirectory() as directory:
        world = World(directory, program, sandbox, seed)
        try:
            prepare(world)
            before = world.requests()
            if latency:
                world.control("PUT", "settings", {"latencySeconds": latency})
            begin = time.monotonic()
            world.run(*words, text=text)
            seconds = time.monotonic() - begin
            if latency:
                world.control("PUT", "settings", {"latencySeconds": 0})
            return seconds, world.requests() - before
        finally:
            world.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("sandbox")
    parser.add_argument("--before")
    parser.add_argument("--latency", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rows")
    options = parser.parse_args()
    programs = [os.path.abspath(program) for program in
                ([options.before] if options.before else []) + [options.program]]
    sandbox = os.path.abspath(options.sandbox)
    print("| work | " + " | ".join(
        (["requests before", "seconds before"] if options.before else [])
        + ["requests", "seconds"]) + " |")
    for row in ROWS:
        if options.rows and not any(part in row[0] for part in options.rows.split(";")):
            continue
        counts = [measure(program, sandbox, row, 0)[1] for program in programs]
        seconds = [[] for _ in programs]
        for _ in range(options.runs):
            for place, program in enumerate(programs):
                seconds[place].append(measure(program, sandbox, row, options.latency)[0])
        cells = [
            f"{count} | {statistics.median(found):.2f}" for count, found in zip(counts, seconds)]
        print(f"| {row[0]} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
