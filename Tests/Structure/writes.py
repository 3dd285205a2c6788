#!/usr/bin/env python3
"""Checks that there is one way to write the vault, and that the session of a command knows no feature.

    Tests/Structure/writes.py

- Only VaultSession+Commit.swift calls `Vault.update`; only it and KeyWrites.swift call what replaces the file.
- No write has an empty body: what a write must tell is part of it.
- No property of the session can be set from outside, and it has at most 12 stored ones.
- Session and Surroundings import no platform, no groups and no `.env`.
- One file words the error for a vault that changed between a plan and its write.

Exits with 1 and a line for each violation.
"""

import re
import sys
from pathlib import Path

from folders import SOURCES, code

COMMANDS = SOURCES / "ZGEnvCommands"
FEATURES = {
    "DotEnv", "EnvOperations", "EnvSchema", "GroupPlaces", "Groups", "PostalDevice", "PostalProtocol",
    "SharedProjects", "VercelAPI"}
EMPTY = re.compile(r"\b(?:commit|changeKeys)\s*\{\s*(?:\[[^\]]*\]\s*)?(?:[\w, ]+\s+in)?\s*\}")
STORED = re.compile(r"^    ((?:[@a-z]\w*(?:\([^()\n]*\))? +)*)(let|var) +(\w+)([^\n]*)", re.MULTILINE)
IMPORT = re.compile(r"^(?:[a-z]+ +)?import +(\w+)", re.MULTILINE)


def stored(text, type_name):
    """The stored properties of a class: modifiers, keyword and name of each."""
    body = text.split(f"class {type_name} {{\n", 1)[1].split("\n}", 1)[0]
    found = []
    for modifiers, keyword, name, rest in STORED.findall(body):
        # A computed property opens its body on the line, and has no initial value before it.
        computed = "{" in rest and "=" not in rest.split("{", 1)[0]
        if not computed and "static" not in modifiers:
            found.append((modifiers.split(), keyword, name))
    return found


def complaints(files, session, limit=12):
    """The violations in files, by their paths below the folder of the commands."""
    for path, text in files.items():
        name = Path(path).name
        if "Vault.update(" in text and name != "VaultSession+Commit.swift":
            yield f"{path}: calls Vault.update, which only VaultSession+Commit.swift may"
        if "replaceVault(" in text and name not in ("VaultSession+Commit.swift", "KeyWrites.swift"):
            yield f"{path}: replaces the vault file, which only commit and KeyWrites.swift may"
        for match in EMPTY.findall(text):
            yield f"{path}: an empty write: {match}"
        if path.split("/")[0] in ("Session", "Surroundings"):
            for module in IMPORT.findall(text):
                if module in FEATURES:
                    yield f"{path}: imports {module}, a feature"
    properties = stored(session, "VaultSession")
    for modifiers, keyword, name in properties:
        if keyword == "var" and not {"private", "private(set)", "fileprivate"} & set(modifiers):
            yield f"VaultSession.{name} can be set from outside"
    if len(properties) > limit:
        yield f"VaultSession has {len(properties)} stored properties, more than {limit}"


def main():
    paths = sorted(COMMANDS.rglob("*.swift"))
    files = {str(path.relative_to(COMMANDS)): code(path.read_text()) for path in paths}
    found = list(complaints(files, files["Session/VaultSession.swift"]))
    for path in paths:
        if path.name != "ChangedMeanwhile.swift" and "vault changed while" in path.read_text().lower():
            found.append(f"{path.name}: words the error for a changed vault; use ChangedMeanwhile")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
