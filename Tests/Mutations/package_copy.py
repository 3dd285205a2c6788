"""A copy of a part of the package, in which an environment variable says which rule is left out.

In the copy each rule's text is replaced by one in which WITHOUT stands for "this rule is left out". The tests are
built there once, with a manifest of only the targets that they need. The product has no switch.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VARIABLE = "ZG_ENV_WITHOUT_RULE"
HELPER = f"""internal import Glibc

/// The rule that is left out.
private let leftOut: String? = unsafe getenv("{VARIABLE}").map {{ unsafe String(cString: $0) }}

/// Tells whether a rule is left out.
func isWithout(_ rule: String) -> Bool {{ leftOut == rule }}
"""


class PackageCopy:
    def __init__(self, name, module, targets, tests, rules):
        """`module` has the rules; `targets` are the folders of Sources that it needs, `tests` those of Tests."""
        self.work = ROOT / ".build" / name
        self.tree = self.work / "tree"
        self.module, self.targets, self.tests, self.rules = module, targets, tests, rules

    def changed_sources(self):
        """The texts of all files that rules change, by path, with the helper that they call."""
        edits = {}
        for rule in self.rules:
            path = f"Sources/{self.module}/{rule.file}"
            text = (ROOT / path).read_text()
            if text.count(rule.old) != 1:
                sys.exit(f"{rule.name}: its text is in {path} {text.count(rule.old)} times, not once")
            if "WITHOUT" not in rule.new:
                sys.exit(f"{rule.name}: the new text has no WITHOUT")
            edits.setdefault(path, []).append(edit(rule, text))
        texts = {}
        for path, changes in edits.items():
            text = (ROOT / path).read_text()
            end = len(text) + 1
            for first, last, new, name in sorted(changes, reverse=True):
                if last > end or first == end:
                    sys.exit(f"{name}: another rule changes its text")
                text = text[:first] + new + text[last:]
                end = first
            texts[path] = text
        texts[f"Sources/{self.module}/WithoutRule.swift"] = HELPER
        texts["Package.swift"] = self.manifest()
        return texts

    def manifest(self):
        """Package.swift with only the targets that the tests need."""
        text = (ROOT / "Package.swift").read_text()
        begin = text.index("let package = Package(")
        targets = []
        for match in re.finditer(
                r"^        \.(?:systemLibrary|target|testTarget)\(\s*name: \"(\w+)\".*?^(?=        \.|    \]|$)",
                text[begin:], re.MULTILINE | re.DOTALL):
            if match.group(1) in self.targets + self.tests:
                targets.append(re.sub(r"\n\s*//[^\n]*", "", match.group(0)).rstrip().rstrip(","))
        if len(targets) != len(self.targets + self.tests):
            sys.exit("Package.swift lacks a target")
        return (text[:begin] + 'let package = Package(\n    name: "zg-env",\n    targets: [\n'
                + ",\n".join(targets) + "\n    ])\n")

    def make(self):
        """Brings the copy to the sources as they are now, with the changes; what is the same keeps its time."""
        changes = self.changed_sources()
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
            capture_output=True).stdout.decode().split("\0")
        wanted = {}
        for name in filter(None, listed):
            parts = name.split("/")
            if (ROOT / name).is_file() and len(parts) > 1 and (
                    parts[0] == "Sources" and parts[1] in self.targets
                    or parts[0] == "Tests" and parts[1] in self.tests):
                wanted[name] = (ROOT / name).read_bytes()
        wanted.update({name: text.encode() for name, text in changes.items()})
        for path in [path for path in self.tree.rglob("*") if path.is_file()]:
            if str(path.relative_to(self.tree)) not in wanted:
                path.unlink()
        for name, content in wanted.items():
            path = self.tree / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def build(self):
        """Builds the changed tests; returns their path."""
        command = ["swift", "build", "--package-path", str(self.tree), "--scratch-path", str(self.work / "build"),
                   "--build-tests"]
        if subprocess.run(command).returncode != 0:
            sys.exit("the changed tests were not built")
        return next((self.work / "build" / "debug").glob("*PackageTests.xctest"))


    def choice(self, description, **others):
        """Reads a tool's options: those that the tools share, and `others`, which have the settings of each.

        Returns the options and the rules to take out. For `--list`, prints these and ends.
        """
        parser = argparse.ArgumentParser(description=description.split("\n")[0])
        parser.add_argument("--only", action="append", metavar="NAME", help="take out this rule alone (repeatable)")
        for name, settings in others.items():
            parser.add_argument(f"--{name}", **settings)
        parser.add_argument("--seed", type=int, default=1, help="ZG_ENV_PROOF_SEED (1)")
        parser.add_argument("--list", action="store_true", help="print the rules, and what each one says")
        options = parser.parse_args()
        rules = [rule for rule in self.rules if not options.only or rule.name in options.only]
        unknown = set(options.only or []) - {rule.name for rule in self.rules}
        if unknown:
            sys.exit(f"no such rule: {', '.join(sorted(unknown))}")
        if options.list:
            self.changed_sources()
            for rule in rules:
                print(f"{rule.name:20} {rule.promise}")
            sys.exit()
        return options, rules


def finish(rules, missed):
    """Prints the result; `missed` are the names of the rules that nothing noticed."""
    if missed:
        sys.exit(f"taken out, and not noticed: {', '.join(missed)}")
    print(f"{len(rules)} rules, each noticed where it is taken out")


def edit(rule, text):
    """What a rule changes: the place in the text without what its old and new text have in common, and the new."""
    old, new = rule.old, rule.new
    begin = len(os.path.commonprefix([old, new]))
    end = len(os.path.commonprefix([old[begin:][::-1], new[begin:][::-1]]))
    first = text.index(old)
    return (first + begin, first + len(old) - end,
            new[begin:len(new) - end].replace("WITHOUT", f'isWithout("{rule.name}")'), rule.name)


def run_tests(tests, name, rule, settings, is_cut=False, limit=3600):
    """Runs tests without a rule, or with every one; returns the result and the seconds.

    If `is_cut` is set, nothing more is run after the first issue. After `limit` seconds the tests are killed:
    without some rules a loop has no end.
    """
    environment = dict(os.environ, SWIFT_BACKTRACE="enable=no", **settings)
    environment.pop("ZG_ENV_PROOF", None)
    environment.pop(VARIABLE, None)
    if rule:
        environment[VARIABLE] = rule
    command = [str(tests), "--testing-library", "swift-testing", "--filter", name]
    begun = time.monotonic()
    words = []
    with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        timer = threading.Timer(limit, process.kill)
        timer.start()
        for line in process.stdout:
            words.append(line)
            if is_cut and "recorded an issue" in line:
                process.kill()
        timer.cancel()
    return subprocess.CompletedProcess(command, process.returncode, "".join(words)), time.monotonic() - begun
