#!/usr/bin/env python3
"""Tests of folders.py and layers.py on small trees and tables with planted mistakes."""

import tempfile
import unittest
from pathlib import Path

import folders
import layers


class FolderTests(unittest.TestCase):
    def complaints(self, **files):
        """The findings for a target Planted; files by their paths, with __ for /."""
        with tempfile.TemporaryDirectory() as directory:
            target = Path(directory) / "Planted"
            for name, text in files.items():
                path = target / (name.replace("__", "/") + ".swift")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return folders.complaints(target)

    def test_names_a_pair_with_file_and_type(self):
        self.assertEqual(
            self.complaints(
                Store__Shelf="package struct Shelf { var a: Route; var b: Route }\n",
                Routes__Route="struct Route {}\nfinal class Table { var shelf: Shelf? }\n",
                Routes__Deep__Way="enum Way { case to(Shelf) }\n"),
            ["Planted: the folders Routes and Store know each other; Store knows Routes by\n"
             "  Planted/Store/Shelf.swift: Route"])

    def test_takes_files_beside_the_folders_as_one(self):
        self.assertEqual(len(self.complaints(
            Server="struct Server { let store: Store }\n", Store__Store="class Store: Server {}\n")), 1)

    def test_takes_one_direction(self):
        self.assertEqual(self.complaints(
            Server="struct Server { let store: Store }\n", Store__Store="class Store {}\n"), [])

    def test_takes_no_part_of_comments_and_texts(self):
        for text in [
            "// Server\n", "/* a /* b */ Server */\n", 'let a = "Server \\" Server"\n',
            'let a = """\n    "Server"\n    """\n', 'let a = #"\\(Server()) " Server"#\n',
            'let a = "\\(b("Server") + ")") Server"\n',
        ]:
            self.assertEqual(self.complaints(
                Server="struct Server { let store: Store }\n",
                Store__Store="class Store {}\n" + text), [], text)

    def test_takes_what_texts_interpolate(self):
        for text in [
            'let a = "\\(b((Server()), "c"))"\n', 'let a = """\n    \\(Server())\n    """\n',
            'let a = #"\\#(Server())"#\n', 'let a = "\\(b) \\(c)" + Server()\n',
            'let a = "//" + Server()\n', 'let a = try /["x]/\nlet b = Server()\n',
        ]:
            self.assertEqual(len(self.complaints(
                Server="struct Server { let store: Store }\n",
                Store__Store="class Store {}\n" + text)), 1, text)

    def test_takes_no_private_and_no_nested_types(self):
        for text in [
            "private struct Shelf {}\n", "fileprivate enum Shelf {}\n", "enum Way {\n    struct Shelf {}\n}\n",
        ]:
            self.assertEqual(self.complaints(
                Store__Store="class Store { let shelf: Shelf }\n", Store__Shelf="struct Shelf {}\n",
                Routes__Route=text + "struct Route { let store: Store; let shelf: Way.Shelf }\n"), [], text)

    def test_finds_types_behind_attributes_and_modifiers(self):
        for text in [
            "@available(*, deprecated) package final class Route {}\n", "indirect enum Route {}\n",
            "@safe public struct Route: Sendable {}\n", "package actor Route {}\n",
            "package protocol Route: AnyObject {}\n", "typealias Route = Int\n",
        ]:
            self.assertEqual(len(self.complaints(
                Store__Store="class Store { let route: Route }\n",
                Routes__Route=text, Routes__Table="let store: Store? = nil\n")), 1, text)

    def test_finds_a_circle_of_three(self):
        self.assertEqual(self.complaints(
            Store__Store="class Store { let shelf: Shelf }\n", Shelves__Shelf="class Shelf { let room: Room }\n",
            Rooms__Room="class Room { let store: Store }\n", Server="let server: Room? = nil\n"),
            ["Planted: each of these folders knows the next one: Rooms, Store, Shelves, Rooms"])


class LayerTests(unittest.TestCase):
    PACKAGE = {"targets": [
        {"name": "Base", "type": "regular", "dependencies": []},
        {"name": "CBase", "type": "system", "dependencies": []},
        {"name": "Middle", "type": "regular", "dependencies": [{"byName": ["Base", None]}]},
        {"name": "Helper", "type": "regular", "path": "Tests/Helper", "dependencies": []},
        {"name": "BaseTests", "type": "test", "dependencies": [{"byName": ["Base", None]}]},
    ]}
    ROWS = ["| `Middle` | does `much` | `Base` |", "| `Base`, `CBase` | | nothing |"]

    def complaints(self, *lines):
        page = "\n".join(["# Page", layers.HEADING, "|---|---|---|", *lines, "", "| `Other` | | |"])
        return layers.complaints(layers.targets(self.PACKAGE), layers.rows(page))

    def test_takes_a_table_that_is_right(self):
        self.assertEqual(self.complaints(*self.ROWS), [])

    def test_names_the_row_of_each_mistake(self):
        middle, base = self.ROWS
        for lines, sentence in [
            ([base], "a row for `Middle` is missing; it imports `Base`"),
            ([middle.replace("`Base`", "nothing"), base], "the row of `Middle` lacks `Base` among its imports"),
            ([middle.replace("`Base`", "`Base`, `CBase`"), base],
             "the row of `Middle` has `CBase` among its imports, which Package.swift has not"),
            ([middle, base, "| `Gone` | | nothing |"],
             "the row of `Gone`: Package.swift has no such target in Sources"),
            ([middle, base, "| `Base` | | nothing |"], "the row of `Base`: the target has another row too"),
        ]:
            self.assertEqual(self.complaints(*lines), [sentence])


if __name__ == "__main__":
    unittest.main()
