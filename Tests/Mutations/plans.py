#!/usr/bin/env python3
"""Takes rules out of the planner, one at a time, and expects the short form of its proof to notice.

plan_rules.py says what is taken out, package_copy.py how. First the proof must find nothing with every rule in its
place; then, for each rule, it must find something.
"""

import re
import sys

from package_copy import PackageCopy, finish, run_tests
from plan_rules import RULES

COPY = PackageCopy("plan-mutations", "SyncPlan", ["SyncPlan", "CLinux", "CSodium", "Threads", "Sealing",
                   "SystemFiles", "Vault"], ["CTestSupport", "TestSupport", "SyncPlanTests"], RULES)
PROOF = "SyncPlanTests"


def main():
    options, rules = COPY.choice(__doc__)
    COPY.make()
    tests = COPY.build()
    settings = {"ZG_ENV_PROOF_SEED": str(options.seed)}
    result, seconds = run_tests(tests, PROOF, None, settings)
    if result.returncode != 0 or " 0 tests" in result.stdout:
        sys.exit(f"with every rule in its place:\n{result.stdout[-4000:]}")
    print(f"with every rule: nothing found, {seconds:.0f} s", flush=True)
    missed = []
    for rule in rules:
        result, seconds = run_tests(tests, PROOF, rule.name, settings, is_cut=True, limit=300)
        found = re.search(r"Test (.*?) recorded an issue", result.stdout)
        if result.returncode != 0:
            # Without an issue the process trapped or was killed, which is noticed too.
            print(f"{rule.name:20} {seconds:5.0f}  {found[1][:80] if found else 'trapped, or found no end'}", flush=True)
        else:
            missed.append(rule.name)
            print(f"{rule.name:20} {seconds:5.0f}  nothing was found", flush=True)
    finish(rules, missed)


main()
