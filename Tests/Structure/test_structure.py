#!/usr/bin/env python3
"""Tests of folders.py, layers.py, writes.py and reach.py on small trees and tables with planted mistakes."""

import tempfile
import unittest
from pathlib import Path

import folders
import layers
import reach
import writes


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


class WriteTests(unittest.TestCase):
    SESSION = """final class VaultSession {
    let options: Options
    private var vault: Vault?
    private(set) var told = News()
    @Lazy private(set) lazy var guards = Guards()
    static var shared = 1
    var path: String { options.path }
    var keys: Keys {
        get throws { held }
    }
}
"""

    def complaints(self, session=SESSION, limit=4, **files):
        return list(writes.complaints({k.replace("__", "/") + ".swift": v for k, v in files.items()}, session, limit))

    def test_takes_what_is_right(self):
        self.assertEqual(self.complaints(
            Session__KeyWrites="replaceVault(with: keys)", Sync__Push="import VercelAPI\ncommit { $1.add(news) }"), [])

    def test_names_each_side_door(self):
        for files, sentence in [
            ({"Sync__Push": "Vault.update(path)"}, "Sync/Push.swift: calls Vault.update"),
            ({"Sync__Push": "replaceVault(with: keys)"}, "Sync/Push.swift: replaces the vault file"),
            ({"Sync__Push": "session.commit { _, _ in }"}, "Sync/Push.swift: an empty write"),
            ({"Sync__Push": "session.commit { [self] transaction, _ in\n}"}, "Sync/Push.swift: an empty write"),
            ({"Sync__Push": "session.changeKeys {}"}, "Sync/Push.swift: an empty write"),
            ({"Session__Names": "internal import Groups"}, "Session/Names.swift: imports Groups"),
            ({"Surroundings__Names": "import DotEnv"}, "Surroundings/Names.swift: imports DotEnv"),
        ]:
            found = self.complaints(**files)
            self.assertEqual(len(found), 1, files)
            self.assertTrue(found[0].startswith(sentence), found)

    def test_names_properties_of_the_session(self):
        open_door = self.SESSION.replace("private var vault", "var vault")
        self.assertEqual(self.complaints(open_door), ["VaultSession.vault can be set from outside"])
        self.assertEqual(self.complaints(limit=3), ["VaultSession has 4 stored properties, more than 3"])


class ReachTests(unittest.TestCase):
    def test_follows_names_through_imported_targets(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name, text in {
                "App/Lock": "import Base\nstruct Lock { let store: Store }\n",
                "App/Other": "struct Other { let lock: Lock }\n",
                "Base/Store": "struct Store { let shelf: Shelf }\nprivate struct Hidden {}\n",
                "Base/Shelf": "struct Shelf {}\n", "Far/Shelf": "struct Shelf { let far: Far }\n",
            }.items():
                path = root / (name + ".swift")
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            types, files = reach.reached(root / "App/Lock.swift", reach.graph(root))
        self.assertEqual(types, {("App", "Lock"), ("Base", "Store"), ("Base", "Shelf")})
        self.assertEqual(len(files), 3)


if __name__ == "__main__":
    unittest.main()
