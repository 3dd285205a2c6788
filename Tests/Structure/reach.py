#!/usr/bin/env python3
"""Counts what a command file reaches: the types that it names, the types that their files name, and so on.

    Tests/Structure/reach.py [COMMAND...]

A type is one declared at the left margin of a file in Sources, except private ones, of the same target or
one that the file imports; it leads to the file that declares it, not to files that extend it. Prints a line for each command: its file's name without
.swift, the number of types, and the lines of their files. Without arguments: Lock, ConfigGet and List.
"""

import re
import sys
from pathlib import Path

from folders import DECLARED, NAMED, SOURCES, code


IMPORT = re.compile(r"^(?:[a-z]+ +)?import +(\w+)", re.MULTILINE)


def graph(sources=SOURCES):
    """The files that each file leads to, with the types that it names there."""
    declared, texts = {}, {}
    for path in sorted(sources.rglob("*.swift")):
        texts[path] = code(path.read_text())
        for modifiers, name in DECLARED.findall(texts[path]):
            if "private" not in modifiers:
                declared.setdefault((target(path, sources), name), path)
    edges = {}
    for path, text in texts.items():
        known = [target(path, sources), *IMPORT.findall(text)]
        edges[path] = {
            key: declared[key] for name in set(NAMED.findall(text)) for module in known
            if (key := (module, name)) in declared}
    return edges


def target(path, sources):
    return path.relative_to(sources).parts[0]


def reached(file, edges):
    """The types that a file reaches, and their files with its own."""
    types, files, waiting = set(), {file}, [file]
    while waiting:
        for name, path in edges[waiting.pop()].items():
            types.add(name)
            if path not in files:
                files.add(path)
                waiting.append(path)
    return types, files


def main():
    edges = graph()
    for command in sys.argv[1:] or ["Lock", "ConfigGet", "List"]:
        file, = [path for path in edges if path.stem == command and "ZGEnvCommands" in path.parts]
        types, files = reached(file, edges)
        lines = sum(len(path.read_text().splitlines()) for path in files)
        print(f"{command}: {len(types)} types, {lines} lines of {len(files)} files")


if __name__ == "__main__":
    main()
