import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing

@Suite("Directories as places")
struct DirectoryPlaceTests {
    @Test
    func `hostile files are ignored or refused, and then replaced`() throws {
        let fixture = try PlaceFixture(.directory)
        let place = try fixture.open()
        let objects = try ["a", "b", "c", "d"].map { try change($0) }
        _ = try place.publish(objects + [try entry(1, "first")], to: fixture.group)
        let folder = "\(fixture.place)/\(fixture.group.hexadecimal)"
        func file(_ object: PlaceObject) -> String { "\(folder)/\(object.path.text)" }
        let secret = try fixture.directory.write("d", to: "secret")
        let files = FileManager.default
        for object in objects { try files.removeItem(atPath: file(object)) }
        try Data("wrong".utf8).write(to: URL(fileURLWithPath: file(objects[0])))
        #expect(unsafe mkfifo(file(objects[1]), 0o600) == 0)
        try Data(count: (8 << 20) + 1).write(to: URL(fileURLWithPath: file(objects[2])))
        // The bytes fit, but a link could also lead to a device.
        #expect(unsafe symlink(secret, file(objects[3])) == 0)
        for name in ["changes/zz", "entries/1", "README", "changes/00.txt"] {
            try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        let reading = try place.read(objects.map(\.path) + [.entry(1)], of: fixture.group)
        #expect(reading.refused == Set(objects.map(\.path)))
        #expect(reading.objects.count == 1)
        #expect(try place.publish(objects, to: fixture.group).isEmpty)
        #expect(try place.read(objects.map(\.path), of: fixture.group).objects.count == 4)
        #expect(try String(contentsOfFile: secret, encoding: .utf8) == "d")
    }

    @Test
    func `a path that a folder takes is reported, not fatal`() throws {
        let fixture = try PlaceFixture(.directory)
        let place = try fixture.open()
        let (first, second) = (try change("a"), try change("b"))
        try fixture.directory.makeDirectory(
            "place/\(fixture.group.hexadecimal)/\(first.path.text)/x")
        #expect(try place.publish([first, second], to: fixture.group) == [first.path])
        #expect(try place.read([second.path], of: fixture.group).objects.count == 1)
    }

    @Test
    func `links to other folders are not followed`() throws {
        let fixture = try PlaceFixture(.directory)
        let elsewhere = try fixture.directory.makeDirectory("elsewhere")
        let folder = try fixture.directory.makeDirectory("place/\(fixture.group.hexadecimal)")
        #expect(unsafe symlink(elsewhere, "\(folder)/changes") == 0)
        let place = try fixture.open()
        #expect(throws: PlaceError.self) {
            try place.publish([try change("a")], to: fixture.group)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
        #expect(try place.paths(of: fixture.group).isEmpty)
    }

    @Test
    func `the directory's permissions are those of new files`() throws {
        let fixture = try PlaceFixture(.directory)
        #expect(unsafe chmod(fixture.place, 0o2770) == 0)
        let object = try change("a")
        _ = try fixture.open().publish([object], to: fixture.group)
        let folder = "\(fixture.place)/\(fixture.group.hexadecimal)"
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode("\(folder)/\(object.path.text)") == 0o660)
        #expect(try mode(folder) == 0o2770)
        #expect(try mode("\(folder)/changes") == 0o2770)
    }

    @Test(arguments: [
        (".stfolder", "a", "Syncthing"), (".dropbox.cache", "a", "Dropbox"),
        (".sync_0123.db", "a", "Nextcloud"), (nil, "OneDrive - Company", "OneDrive"),
        (nil, "Google Drive", "Google Drive"), (nil, "megaproject", nil), (nil, "a", nil),
    ])
    func `synchronized folders are recognized`(mark: String?, name: String, program: String?) throws
    {
        let directory = try TemporaryDirectory()
        let place = try directory.makeDirectory("\(name)/below")
        if let mark { try directory.makeDirectory("\(name)/\(mark)") }
        #expect(try DirectoryPlace(place).probe().synchronizer == program)
    }

    @Test
    func `a missing place is unreachable`() throws {
        let place = DirectoryPlace("/nonexistent/place")
        #expect(code { _ = try place.groups() } == .unreachable)
        #expect(code { _ = try place.probe() } == .unreachable)
    }
}
