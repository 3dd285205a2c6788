import Foundation
import GroupPlaces
import Groups
import TestSupport
import Testing
import Vault

/// What both kinds of places promise.
@Suite("Places")
struct PlaceTests {
    @Test(arguments: PlaceFixture.Kind.allCases)
    func `what one member publishes, another reads`(kind: PlaceFixture.Kind) throws {
        let fixture = try PlaceFixture(kind)
        let (alice, bob) = (try fixture.open("alice"), try fixture.open("bob"))
        #expect(try alice.groups().isEmpty)
        let empty = try bob.refresh(fixture.group, since: nil)
        #expect(try bob.paths(of: fixture.group).isEmpty)

        let invite = Identifier.random()
        let join = Array("join".utf8)
        let objects = [
            try entry(1, "entry"), try change("change\0\nwith any bytes"),
            try #require(PlaceObject(.invite(invite), [0, 1, 2])),
            try #require(PlaceObject(.join(invite: invite, GroupHash(of: join)), join)),
            try #require(PlaceObject(.losingEntry(1, GroupHash(of: join)), join)),
        ]
        #expect(try alice.publish(objects, to: fixture.group).isEmpty)
        #expect(try alice.publish(objects, to: fixture.group).isEmpty, "again")
        #expect(try alice.groups() == [fixture.group])

        let filled = try bob.refresh(fixture.group, since: empty.token)
        #expect(filled.hasChanged)
        let paths = try bob.paths(of: fixture.group)
        #expect(paths == Set(objects.map(\.path)))
        let absent = ObjectPath.entry(2)
        let reading = try bob.read(objects.map(\.path) + [absent], of: fixture.group)
        #expect(reading.refused.isEmpty && reading.remaining.isEmpty)
        #expect(reading.objects == .init(uniqueKeysWithValues: objects.map { ($0.path, $0.bytes) }))
        let same = try fixture.open("bob").refresh(fixture.group, since: filled.token)
        #expect(!same.hasChanged && same.token == filled.token)
        #expect(try bob.publish(objects, to: fixture.group).isEmpty)
        #expect(!(try bob.refresh(fixture.group, since: filled.token).hasChanged))
    }

    @Test(arguments: PlaceFixture.Kind.allCases)
    func `reading stops at its limit`(kind: PlaceFixture.Kind) throws {
        let fixture = try PlaceFixture(kind)
        let place = try fixture.open()
        let objects = try (0..<4).map { try change(String(repeating: "\($0)", count: 100)) }
        _ = try place.publish(objects, to: fixture.group)
        let reading = try place.read(objects.map(\.path), of: fixture.group, upTo: 150)
        #expect(reading.objects.count == 2)
        #expect(reading.remaining == objects[2...].map(\.path))
    }

    @Test(arguments: PlaceFixture.Kind.allCases)
    func `an entry's number is taken once`(kind: PlaceFixture.Kind) throws {
        let fixture = try PlaceFixture(kind)
        let (alice, bob) = (try fixture.open("alice"), try fixture.open("bob"))
        _ = try alice.refresh(fixture.group, since: nil)
        _ = try bob.refresh(fixture.group, since: nil)
        let (first, second) = (try entry(1, "alice's"), try entry(1, "bob's"))
        let other = try change("bob's change")
        #expect(try alice.publish([first], to: fixture.group).isEmpty)
        #expect(try bob.publish([second, other], to: fixture.group) == [.entry(1)])
        _ = try alice.refresh(fixture.group, since: nil)
        let reading = try alice.read([.entry(1), other.path], of: fixture.group)
        #expect(reading.objects == [.entry(1): first.bytes, other.path: other.bytes])
    }

    @Test(.timeLimit(.minutes(30)), arguments: PlaceFixture.Kind.allCases)
    func `of ten processes, one gets an entry's number, and all know`(
        kind: PlaceFixture.Kind
    ) throws {
        let fixture = try PlaceFixture(kind)
        for number in 1...Proof.count(short: 1, full: 20) {
            let answers = try fixture.runTogether(
                try (0..<10).map { member in
                    try fixture.publisher(
                        "member\(member)", ["entry", "\(number)", "by \(member)"])
                })
            #expect(answers.sorted() == Array(repeating: "lost", count: 9) + ["won"])
        }
    }

    @Test(.timeLimit(.minutes(30)), arguments: PlaceFixture.Kind.allCases)
    func `changes of ten processes are all there`(kind: PlaceFixture.Kind) throws {
        let fixture = try PlaceFixture(kind)
        let count = Proof.count(short: 2, full: 20)
        // Half of them share a copy.
        let paths = try fixture.runTogether(
            try (0..<10).map { member in
                try fixture.publisher(
                    "member\(member / 2)", ["changes", "seed\(member)", "\(count)"])
            }
        ).map { ObjectPath($0) }
        #expect(paths.count == 10 * count)
        let place = try fixture.open("reader")
        _ = try place.refresh(fixture.group, since: nil)
        #expect(try place.paths(of: fixture.group) == Set(paths))
    }

    @Test(arguments: PlaceFixture.Kind.allCases)
    func `a probe leaves nothing`(kind: PlaceFixture.Kind) throws {
        let fixture = try PlaceFixture(kind)
        let place = try fixture.open()
        let traits = try place.probe()
        #expect(!traits.isSynchronized && !traits.usesBranches)
        #expect(try place.groups().isEmpty)
        if kind == .directory {
            #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.place).isEmpty)
        } else {
            #expect(try fixture.git(["--git-dir", fixture.place, "for-each-ref"]) == "")
        }
    }
}
