#!/usr/bin/env python3
"""Looks for cyclic dependencies between the folders of a target.

    Tests/Structure/folders.py [TARGET...]

A folder depends on another if one of its files names a type of the other in code; comments and string
literals do not count, but interpolations do. Types are those declared at the left margin, except private
ones. A folder is a direct subfolder of the target, with everything below it; files directly in the target
are the folder `.`. Without arguments all targets are checked. Exits with 1 if two folders depend on each
other, with the names that cause the smaller dependency, or if three or more form a cycle.
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent.parent / "Sources"

NAME = r"(?:struct|enum|class|actor|protocol|typealias) +(\w+)"
DECLARED = re.compile(r"^((?:[@a-z]\w*(?:\([^()\n]*\))? +)*?)" + NAME, re.MULTILINE)
NESTED = re.compile(r"^ +(?:[@a-z]\w*(?:\([^()\n]*\))? +)*?" + NAME, re.MULTILINE)
# After a dot comes a member: a nested type, or one of another target.
NAMED = re.compile(r"(?<![\w.])[A-Z]\w*")
COMMENT = re.compile(r"//[^\n]*")
COMMENT_EDGE = re.compile(r"/\*|\*/")
OPENING = re.compile(r'(#*)("""|")')


def comment_end(text, place):
    """Returns the end of a comment that begins with /*, which may be nested."""
    depth = 0
    for edge in COMMENT_EDGE.finditer(text, place):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


def code(text):
    """A file's text without its comments and literals; interpolations stay."""
    kept = []
    place = 0
    # The literal that `place` is in, as its hashes and quotes, or None in code; and for each interpolation
    # that is open the literal around it and how many parentheses are open in it.
    literal = None
    around = []
    while place < len(text):
        if literal is not None:
            hashes, quotes = literal
            if text.startswith(quotes + hashes, place):
                place += len(quotes + hashes)
                literal = None
            elif text.startswith("\\" + hashes + "(", place):
                place += len(hashes) + 2
                kept.append(" ")
                around.append([literal, 0])
                literal = None
            elif text.startswith("\\" + hashes, place):
                place += len(hashes) + 2
            elif text[place] == "\n" and quotes == '"':
                # A quote in a regular expression opens nothing that continues on the next line.
                literal = None
            else:
                place += 1
        elif match := COMMENT.match(text, place):
            place = match.end()
        elif text.startswith("/*", place):
            place = comment_end(text, place)
        elif match := OPENING.match(text, place):
            kept.append(" ")
            literal = match.groups()
            place = match.end()
        elif around and text[place] == ")" and around[-1][1] == 0:
            literal = around.pop()[0]
            place += 1
        else:
            if around:
                around[-1][1] += {"(": 1, ")": -1}.get(text[place], 0)
            kept.append(text[place])
            place += 1
    return "".join(kept)


def knowledge(target):
    """The dependencies between folders of the directory `target`: files and types by pairs of names."""
    files = {}
    for path in sorted(target.rglob("*.swift")):
        name = path.relative_to(target)
        files[name] = name.parts[0] if len(name.parts) > 1 else ".", code(path.read_text())
    homes = {}
    for folder, text in files.values():
        for modifiers, name in DECLARED.findall(text):
            if "private " not in modifiers:
                homes[name] = folder
    known = {}
    for file, (folder, text) in files.items():
        for name in sorted(set(NAMED.findall(text)) - set(NESTED.findall(text))):
            home = homes.get(name, folder)
            if home != folder:
                known.setdefault((folder, home), {}).setdefault(file, []).append(name)
    return known


def circle(known):
    """A cycle of folders, each depending on the next; empty if there are no cycles."""
    open_ones = {folder for pair in known for folder in pair}
    while True:
        lowest = {one for one in open_ones
                  if not any(a == one and b in open_ones for a, b in known)}
        if not lowest:
            break
        open_ones -= lowest
    way = sorted(open_ones)[:1]
    while way:
        following = min(b for a, b in known if a == way[-1] and b in open_ones)
        if following in way:
            return way[way.index(following):]
        way.append(following)
    return []


def complaints(target):
    """A text for each pair of mutually dependent folders of the directory `target`, or else for a cycle."""
    known = knowledge(target)
    texts = []
    for one, other in sorted(known):
        if one > other or (other, one) not in known:
            continue
        less, more = sorted(
            [(one, other), (other, one)], key=lambda pair: sum(map(len, known[pair].values())))
        lines = [
            f"{target.name}: the folders {more[0]} and {less[0]} know each other; {less[0]} knows"
            f" {less[1]} by"]
        lines += [f"  {target.name}/{file}: {', '.join(names)}" for file, names in known[less].items()]
        texts.append("\n".join(lines))
    if not texts and (way := circle(known)):
        texts.append(f"{target.name}: each of these folders knows the next one: {', '.join(way + way[:1])}")
    return texts


def main(names):
    targets = [SOURCES / name for name in names] or [
        path for path in sorted(SOURCES.iterdir()) if path.is_dir()]
    for target in targets:
        if not target.is_dir():
            sys.exit(f"folders.py: unknown target {target.name}")
    texts = [text for target in targets for text in complaints(target)]
    if texts:
        sys.exit("\n".join(texts))


if __name__ == "__main__":
    main(sys.argv[1:])
