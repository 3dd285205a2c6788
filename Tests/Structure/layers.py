#!/usr/bin/env python3
"""Compares the table of layers in docs/architecture.md with Package.swift.

    Tests/Structure/layers.py

Each target of Sources is in one row, and the row's last column names all its dependencies in
Package.swift. Targets with the same dependencies may share a row. Text outside backquotes is ignored.
Exits with 1 if the table differs, and prints the rows to change.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"`([^`]+)`")
HEADING = "| target | does | imports |"


def targets(package):
    """The dependencies of each target of Sources, from `swift package dump-package`."""
    return {
        target["name"]: {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
        for target in package["targets"]
        if target["type"] != "test" and target.get("path", "Sources").startswith("Sources")}


def rows(page):
    """The names of the first and of the last column of each row."""
    lines = page.split(HEADING + "\n", 1)[1].splitlines()[1:]
    cells = []
    for line in lines:
        if not line.startswith("|"):
            break
        columns = line.strip("|").split("|")
        cells.append((NAME.findall(columns[0]), NAME.findall(columns[-1])))
    return cells


def quoted(names):
    return ", ".join(f"`{name}`" for name in sorted(names)) or "nothing"


def complaints(dependencies, table):
    """A sentence for each row that differs from `dependencies`, and for each target without a row."""
    sentences = []
    seen = set()
    for named, imports in table:
        for name in named:
            row = f"the row of `{name}`"
            if name not in dependencies:
                sentences.append(f"{row}: Package.swift has no such target in Sources")
                continue
            if name in seen:
                sentences.append(f"{row}: the target has another row too")
            seen.add(name)
            if missing := dependencies[name] - set(imports):
                sentences.append(f"{row} lacks {quoted(missing)} among its imports")
            if surplus := set(imports) - dependencies[name]:
                sentences.append(f"{row} has {quoted(surplus)} among its imports, which Package.swift has not")
    for name in sorted(dependencies.keys() - seen):
        sentences.append(f"a row for `{name}` is missing; it imports {quoted(dependencies[name])}")
    return sentences


def main():
    printed = subprocess.run(
        ["swift", "package", "--ignore-lock", "dump-package"], cwd=ROOT, check=True, capture_output=True).stdout
    page = (ROOT / "docs" / "architecture.md").read_text()
    if HEADING not in page:
        sys.exit(f"docs/architecture.md: there is no table {HEADING}")
    sentences = complaints(targets(json.loads(printed)), rows(page))
    if sentences:
        sys.exit("\n".join(f"docs/architecture.md: {sentence}" for sentence in sentences))


if __name__ == "__main__":
    main()
