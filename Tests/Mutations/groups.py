#!/usr/bin/env python3
"""Takes rules out of the fold of groups, one at a time, and expects its model test to notice.

group_rules.py says what is taken out: in a copy of the sources each rule's text is replaced by one in which
WITHOUT stands for "this rule is left out". The tests of groups are built once in the copy, with a manifest of
only the targets that they need, and an environment variable says which rule is out. The rules are in the copy
only: the product has no switch.

First the model must find nothing in the runs with every rule in its place; then, for each rule, it must find
something. A text that is not in its file exactly once is an error.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from group_rules import RULES

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / ".build" / "group-mutations"
TREE = WORK / "tree"
VARIABLE = "ZG_ENV_WITHOUT_RULE"
TARGETS = ["CSodium", "CLinux", "JSON", "Threads", "SystemFiles", "Sealing", "Vault", "Groups"]
TESTS = ["CTestSupport", "TestSupport", "GroupsTests"]
HELPER = f"""internal import Glibc

/// The rule that is left out.
private let leftOut: String? = unsafe getenv("{VARIABLE}").map {{ unsafe String(cString: $0) }}

/// Tells whether a rule is left out.
func isWithout(_ rule: String) -> Bool {{ leftOut == rule }}
"""


def manifest():
    """Package.swift with only the targets that the tests of groups need."""
    text = (ROOT / "Package.swift").read_text()
    begin = text.index("let package = Package(")
    targets = []
    for match in re.finditer(r"^        \.(?:systemLibrary|target|testTarget)\(\s*name: \"(\w+)\".*?^(?=        \.|    \]|$)",
                             text[begin:], re.MULTILINE | re.DOTALL):
        if match.group(1) in TARGETS + TESTS:
            targets.append(re.sub(r"\n\s*//[^\n]*", "", match.group(0)).rstrip().rstrip(","))
    if len(targets) != len(TARGETS + TESTS):
        sys.exit("groups.py: Package.swift lacks a target")
    return (text[:begin] + 'let package = Package(\n    name: "zg-env",\n    targets: [\n'
            + ",\n".join(targets) + "\n    ])\n")


def changed_sources():
    """The texts of all files that rules change, by path, with the helper that they call."""
    originals, texts = {}, {}
    for rule in RULES:
        path = "Sources/Groups/" + rule.file
        original = originals.setdefault(path, (ROOT / path).read_text())
        if original.count(rule.old) != 1:
            sys.exit(f"{rule.name}: its text is in {path} {original.count(rule.old)} times, not once")
        if "WITHOUT" not in rule.new:
            sys.exit(f"{rule.name}: the new text has no WITHOUT")
    for rule in RULES:
        path = "Sources/Groups/" + rule.file
        text = texts.get(path, originals[path])
        new = rule.new.replace("WITHOUT", f'isWithout("{rule.name}")')
        if text.count(rule.old) != 1:
            sys.exit(f"{rule.name}: another rule changes its text")
        texts[path] = text.replace(rule.old, new)
    texts["Sources/Groups/WithoutRule.swift"] = HELPER
    texts["Package.swift"] = manifest()
    return texts


def make_tree(changes):
    """Brings the copy to the sources as they are now, with the changes; what is the same keeps its time."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        capture_output=True).stdout.decode().split("\0")
    wanted = {}
    for name in filter(None, listed):
        parts = name.split("/")
        if (ROOT / name).is_file() and len(parts) > 1 and (
                parts[0] == "Sources" and parts[1] in TARGETS or parts[0] == "Tests" and parts[1] in TESTS):
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
    command = ["swift", "build", "--package-path", str(TREE), "--scratch-path", str(WORK / "build"), "--build-tests"]
    if subprocess.run(command).returncode != 0:
        sys.exit("the changed tests were not built")
    return next((WORK / "build" / "debug").glob("*PackageTests.xctest"))


def run(tests, rule, seed, first, count):
    """Runs the model; returns whether it found something, its words and the seconds."""
    environment = dict(os.environ, ZG_ENV_PROOF_SEED=str(seed), ZG_ENV_MODEL_FIRST=str(first),
                       ZG_ENV_MODEL_SEQUENCES=str(count), SWIFT_BACKTRACE="enable=no")
    environment.pop("ZG_ENV_PROOF", None)
    environment.pop(VARIABLE, None)
    if rule:
        environment[VARIABLE] = rule
    begun = time.monotonic()
    result = subprocess.run(
        [str(tests), "--testing-library", "swift-testing", "--filter", "GroupsTests.ModelTests"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    has_found = "ZG_ENV_MODEL_FIRST=" in result.stdout
    if not has_found and result.returncode not in (0, 1):
        # The process trapped, which is noticed too.
        has_found = rule is not None
    return has_found, result.stdout, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="take out this rule alone (repeatable)")
    parser.add_argument("--search", type=int, metavar="N",
                        help="try the first N runs, to find which one fails without a rule")
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
    tests = build()
    count = options.search or 200
    has_found, words, seconds = run(tests, None, options.seed, 0, count if not options.search else 200)
    if has_found:
        sys.exit(f"with every rule in its place:\n{words}")
    print(f"with every rule: nothing found, {seconds:.0f} s", flush=True)
    print(f"{'rule':18} {'run':>6} {'seconds':>7}  what broke")
    missed = []
    for rule in rules:
        first, number = (0, options.search) if options.search else (rule.first, rule.count)
        has_found, words, seconds = run(tests, rule.name, options.seed, first, number)
        found = re.search(r"ZG_ENV_MODEL_FIRST=(\d+) .*after (\d+) steps\n(.*)", words)
        if has_found:
            place, what = (found[1], found[3].strip()) if found else ("?", "the test trapped")
            print(f"{rule.name:18} {place:>6} {seconds:7.1f}  {what[:80]}", flush=True)
        else:
            missed.append(rule.name)
            print(f"{rule.name:18} {'-':>6} {seconds:7.1f}  nothing was found", flush=True)
    if missed:
        sys.exit(f"taken out, and not noticed: {', '.join(missed)}")
    print(f"{len(rules)} rules, each noticed where it is taken out")


main()
