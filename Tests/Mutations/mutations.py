#!/usr/bin/env python3
"""Takes rules out of the write path, one at a time, and expects the model test to notice.

rules.py says what is taken out: in a copy of the sources each rule's text is replaced by one in which WITHOUT
stands for "this rule is left out". The program is built once, with all of them, and an environment variable
says which one is out. The tests are those of .build/debug, built from the sources as they are.

First the tests must find nothing with every rule in its place; then, for each rule, the sequences of the model
or the suite that the rule names must find something. A text that is not in its file exactly once is an error.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from rules import RULES

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / ".build" / "mutations"
TREE = WORK / "tree"
RUN = WORK / "run"
VARIABLE = "ZG_ENV_WITHOUT_RULE"
HELPER = f"""internal import Glibc

/// Tells whether a rule is left out.
func isWithout(_ rule: String) -> Bool {{
    guard let name = unsafe getenv("{VARIABLE}") else {{ return false }}
    return unsafe String(cString: name) == rule
}}
"""


def changed_sources():
    """The texts of all files that rules change, by path, with the helper that they call."""
    texts = {}
    for rule in RULES:
        path = "Sources/" + rule.file
        text = texts.get(path) or (ROOT / path).read_text()
        if text.count(rule.old) != 1:
            sys.exit(f"{rule.name}: its text is in {path} {text.count(rule.old)} times, not once")
        if "WITHOUT" not in rule.new:
            sys.exit(f"{rule.name}: the new text has no WITHOUT")
        texts[path] = text.replace(rule.old, rule.new.replace("WITHOUT", f'isWithout("{rule.name}")'))
        module = path.split("/")[1]
        texts[f"Sources/{module}/WithoutRule.swift"] = HELPER
    return texts


def make_tree(changes):
    """Brings the copy to the sources as they are now, with the changes; what is the same keeps its time."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        capture_output=True).stdout.decode().split("\0")
    wanted = {}
    for name in filter(None, listed):
        if (ROOT / name).is_file() and name.split("/")[0] in ("Package.swift", "Sources", "Tests"):
            wanted[name] = (ROOT / name).read_bytes()
    wanted.update({name: text.encode() for name, text in changes.items()})
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in wanted:
            path.unlink()
    for name, content in wanted.items():
        path = TREE / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def build():
    """Builds the changed program, and puts the tests beside it."""
    command = ["swift", "build", "--package-path", str(TREE), "--scratch-path", str(WORK / "build"),
               "--product", "zg-env"]
    if subprocess.run(command).returncode != 0:
        sys.exit("the changed program was not built")
    bundles = list((ROOT / ".build" / "debug").glob("*PackageTests.xctest"))
    if not bundles:
        sys.exit("build the tests first: swift build --build-tests")
    RUN.mkdir(parents=True, exist_ok=True)
    shutil.copy2(bundles[0], RUN / "tests.xctest")


class Runs:
    """Runs of tests with the changed program."""

    def __init__(self, seed):
        self.seed = seed

    def run(self, rule, first, count):
        """Runs sequences; returns whether the model found something, its words and the seconds."""
        result, seconds = self.test(rule, "CommandLineTests.ModelTests", {
            "ZG_ENV_MODEL_FIRST": str(first), "ZG_ENV_MODEL_SEQUENCES": str(count), "ZG_ENV_MODEL_SHORTEN": "no"})
        has_found = "ZG_ENV_MODEL_FIRST=" in result.stdout
        if has_found != (result.returncode != 0):
            sys.exit(f"{rule or 'every rule'}: the test itself did not work:\n{result.stdout[-4000:]}")
        return has_found, result.stdout, seconds

    def run_suite(self, rule, suite):
        """Runs a suite; returns whether it found something, its words and the seconds."""
        result, seconds = self.test(rule, suite, {})
        has_found = "recorded an issue" in result.stdout
        if has_found != (result.returncode != 0) or " 0 tests" in result.stdout:
            sys.exit(f"{rule or 'every rule'}: the test itself did not work:\n{result.stdout[-4000:]}")
        return has_found, result.stdout, seconds

    def test(self, rule, name, settings):
        """Runs tests with the program that leaves out a rule; returns the result and the seconds."""
        directory = RUN / (rule or "every-rule")
        directory.mkdir(exist_ok=True)
        tests = directory / "tests.xctest"
        tests.unlink(missing_ok=True)
        os.link(RUN / "tests.xctest", tests)
        # The tests start the program that lies beside them.
        setting = f"{VARIABLE}={rule} " if rule else ""
        program = directory / "zg-env"
        program.write_text(f'#!/bin/sh\n{setting}exec {WORK}/build/debug/zg-env "$@"\n')
        program.chmod(0o755)
        environment = dict(os.environ, ZG_ENV_PROOF_SEED=str(self.seed), **settings)
        environment.pop("ZG_ENV_PROOF", None)
        begun = time.monotonic()
        result = subprocess.run(
            [str(tests), "--testing-library", "swift-testing", "--filter", name],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        (directory / "output").write_text(result.stdout)
        return result, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="take out this rule alone (repeatable)")
    parser.add_argument("--search", type=int, metavar="N",
                        help="try the first N sequences, to find which one fails without a rule")
    parser.add_argument("--seed", type=int, default=1, help="ZG_ENV_PROOF_SEED (1)")
    parser.add_argument("--list", action="store_true", help="print the rules, and what each one says")
    options = parser.parse_args()
    rules = [rule for rule in RULES if not options.only or rule.name in options.only]
    unknown = set(options.only or []) - {rule.name for rule in RULES}
    if unknown:
        sys.exit(f"no such rule: {', '.join(sorted(unknown))}")
    changes = changed_sources()
    if options.list:
        for rule in rules:
            print(f"{rule.name:18} {rule.promise}")
        return
    make_tree(changes)
    build()
    runs = Runs(options.seed)

    def sequences(rule):
        return (0, options.search) if options.search else (rule.first, rule.count)

    modelled = [rule for rule in rules if not rule.suite]
    if modelled:
        first = min(sequences(rule)[0] for rule in modelled)
        last = max(sum(sequences(rule)) for rule in modelled) - 1
        has_found, words, seconds = runs.run(None, first, last - first + 1)
        if has_found:
            sys.exit(f"with every rule in its place:\n{words}")
        print(f"with every rule: sequences {first} to {last}, nothing found, {seconds:.0f} s", flush=True)
    for suite in sorted({rule.suite for rule in rules if rule.suite}):
        has_found, words, seconds = runs.run_suite(None, suite)
        if has_found:
            sys.exit(f"with every rule in its place:\n{words}")
        print(f"with every rule: {suite}, nothing found, {seconds:.0f} s", flush=True)
    print(f"{'rule':18} {'sequence':>8} {'steps':>5} {'seconds':>7}  what broke")
    missed = []
    for rule in rules:
        if rule.suite:
            has_found, words, seconds = runs.run_suite(rule.name, rule.suite)
            found = re.search(r"()()Test (.*?) recorded an issue", words)
        else:
            has_found, words, seconds = runs.run(rule.name, *sequences(rule))
            found = re.search(r"ZG_ENV_MODEL_FIRST=(\d+) .*after (\d+) steps\n(.*)", words)
        if has_found and found:
            print(f"{rule.name:18} {found[1]:>8} {found[2]:>5} {seconds:7.0f}  {found[3][:80]}", flush=True)
        else:
            missed.append(rule.name)
            print(f"{rule.name:18} {'-':>8} {'-':>5} {seconds:7.0f}  nothing was found", flush=True)
    if missed:
        sys.exit(f"taken out, and not noticed: {', '.join(missed)}")
    print(f"{len(rules)} rules, each noticed where it is taken out")


main()
