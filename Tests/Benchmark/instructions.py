#!/usr/bin/env python3
"""Counts the instructions of `zg-env run` and compares them with a budget.

    instructions.py ZG_ENV [--write]

Unlike a time, a count does not depend on the load of the machine. The vault has 50 variables and is
unlocked; the program to run is a file that the kernel refuses, since the count would continue across
exec. Exceeding the budget is a failure. So is staying far below it: the budget is then too large to
notice the next regression, and must be rewritten (--write).
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import benchmark  # noqa: E402

BUDGET = pathlib.Path(__file__).parent / "instructions.json"
NAME = "run with 50 variables, unlocked and settled"
CANNOT_EXECUTE = 126


def count(home, program, vault, target):
    """Instructions of one run. The hash seeds of Swift are fixed, so that hash tables are the same."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "run", "-q",
         "-t", "production", "--", target],
        capture_output=True, cwd=home.path, text=True,
        env=home.environment | {"ZG_ENV_VAULT": str(vault.path), "SWIFT_DETERMINISTIC_HASHING": "1"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != CANNOT_EXECUTE or not found:
        sys.exit(f"instructions: run ended with {done.returncode}: {done.stderr}")
    return int(found.group(1))


def measured(zg_env):
    with tempfile.TemporaryDirectory(prefix="zg-env-count-") as directory:
        home = benchmark.Home(directory, zg_env, None)
        # The environment is part of what is counted.
        home.environment["PATH"] = "/usr/bin:/bin"
        home.unlock_scope = [] if benchmark.own_session_keyring() else ["--scope", "user"]
        # Reading all symbols of the program takes longer than running it.
        stripped = home.path / "zg-env"
        shutil.copy(zg_env, stripped)
        subprocess.run(["strip", stripped], check=True)
        target = home.path / "no-program"
        target.write_bytes(b"\0no program")
        target.chmod(0o700)
        vault = home.vault("few", file=home.dotenv("few.env", 50, 64), settled=True)
        vault.unlock()
        # The first run creates the directories of the audit log, and its lines become as long as the
        # ones before.
        counts = [count(home, stripped, vault, target) for _ in range(3)]
        return min(counts[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zg_env", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions: there is no valgrind; make setup-count installs it")
    now = measured(options.zg_env.resolve())
    if options.write:
        BUDGET.write_text(
            json.dumps({NAME: {"instructions": now, "tolerancePercent": 10}}, indent=2) + "\n")
        print(f"{NAME}: {now:,} instructions, kept as the budget")
        return
    budget = json.loads(BUDGET.read_text())[NAME]
    allowed, tolerance = budget["instructions"], budget["tolerancePercent"]
    difference = 100 * (now - allowed) / allowed
    print(f"{NAME}: {now:,} instructions, {difference:+.1f} % of a budget of {allowed:,} "
          f"(± {tolerance} %)")
    if difference > tolerance:
        sys.exit("instructions: run has become slower; see docs/performance.md")
    if difference < -3 * tolerance:
        sys.exit("instructions: run has become faster; keep that with make instructions-budget")


if __name__ == "__main__":
    main()
