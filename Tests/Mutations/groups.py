#!/usr/bin/env python3
"""Takes rules out of the fold of groups, one at a time, and expects its model test to notice.

group_rules.py says what is taken out, package_copy.py how. First the model must find nothing in the runs with
every rule in its place; then, for each rule, it must find something. A text that is not in its file exactly once
is an error.
"""

import re
import sys

from group_rules import RULES
from package_copy import PackageCopy, finish, run_tests

COPY = PackageCopy(
    "group-mutations", "Groups",
    ["CSodium", "CLinux", "JSON", "Threads", "SystemFiles", "Sealing", "Vault", "Groups"],
    ["CTestSupport", "TestSupport", "GroupsTests"], RULES)


def run(tests, rule, seed, first, count):
    """Runs the model; returns whether it found something, its words and the seconds."""
    result, seconds = run_tests(tests, "GroupsTests.ModelTests", rule, {
        "ZG_ENV_PROOF_SEED": str(seed), "ZG_ENV_MODEL_FIRST": str(first), "ZG_ENV_MODEL_SEQUENCES": str(count)})
    has_found = "ZG_ENV_MODEL_FIRST=" in result.stdout
    if not has_found and result.returncode not in (0, 1):
        # The process trapped, which is noticed too.
        has_found = rule is not None
    return has_found, result.stdout, seconds


def main():
    options, rules = COPY.choice(__doc__, search={
        "type": int, "metavar": "N", "help": "try the first N runs, to find which one fails without a rule"})
    COPY.make()
    tests = COPY.build()
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
    finish(rules, missed)


main()
