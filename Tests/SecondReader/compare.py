#!/usr/bin/env python3
"""Compares the program's `verify` with the second reader: both must name the same class for every
file that the second reader's tests make, and for many mutations of a sealed index.

    compare.py ZG_ENV [MUTATIONS]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import test_second_reader as tests

PROGRAM = os.path.realpath(sys.argv[1])
MUTATIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 200
NOT_DAMAGE = {0: "ok", 3: "locked"}


def secret_of(secret):
    """The environment variable, and the content of the file that it names."""
    for name, variable, end in (("passphrase", "ZG_ENV_PASSPHRASE_FILE", "\n"),
                                ("recoveryCode", "ZG_ENV_PASSPHRASE_FILE", "\n"),
                                ("keyFile", "ZG_ENV_KEY_FILE", "")):
        if name in secret:
            return variable, secret[name] + end
    return None


def program_says(vault, secret):
    """The class, and the program's whole output."""
    home = tempfile.mkdtemp()
    try:
        variable, content = secret
        path = os.path.join(home, "secret")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(content)
        done = subprocess.run(
            [PROGRAM, "verify", "--json", "--vault", vault], capture_output=True, timeout=120,
            stdin=subprocess.DEVNULL,
            env={"HOME": home, "PATH": os.environ["PATH"], variable: path})
    finally:
        shutil.rmtree(home)
    said = json.loads(done.stdout or done.stderr)
    # These vaults have no audit log.
    problems = [item for item in said.get("problems", []) if item["where"] != "audit-log"]
    if problems:
        return problems[0]["class"], said
    message = said.get("error", {}).get("message", "")
    if done.returncode == 1:
        return "pre-release" if "pre-release" in message else "newer", said
    return "ok" if "problems" in said else NOT_DAMAGE.get(done.returncode, str(said)), said


class Compared:
    """Replaces the tests' own reading with reading by both."""

    count, differ, mutations = 0, 0, 0
    read = tests.Case.read

    def __call__(self, case, raw, secret=tests.BY_CODE, **kept):
        found = Compared.read(case, raw, secret, **kept)
        given = secret_of(secret)
        if kept or given is None or found["class"] == "wrong-use":
            return found
        if isinstance(case, tests.Hostile):
            self.mutations += 1
            if self.mutations > MUTATIONS:
                return found
        os.chmod(case.path, 0o600)
        self.count += 1
        word, said = program_says(case.path, given)
        if word != found["class"]:
            self.differ += 1
            print(f"{case.id()}: the program says {word} and the second reader {found}: {said}")
        return found


def main():
    compared = Compared()
    tests.Case.read = lambda *arguments, **kept: compared(*arguments, **kept)
    result = unittest.TextTestRunner(stream=open(os.devnull, "w")).run(
        unittest.defaultTestLoader.loadTestsFromModule(tests))
    print(f"{compared.count} files compared, {compared.differ} differ")
    return 0 if result.wasSuccessful() and compared.count and not compared.differ else 1


if __name__ == "__main__":
    sys.exit(main())
