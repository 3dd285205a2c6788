import GroupPlaces
import Groups
import TestSupport
import Testing

@testable import SharedProjects

/// The exchange between a place and this machine's copy of it.
@Suite("Exchanging objects")
struct ObjectExchangeTests {
    private let directory: TemporaryDirectory
    private let place: DirectoryPlace
    private let copy: DirectoryPlace
    private let group = GroupHash(of: [1])

    init() throws {
        directory = try TemporaryDirectory()
        place = DirectoryPlace(try directory.makeDirectory("place"))
        copy = DirectoryPlace(try directory.makeDirectory("copy"))
    }

    private func object(_ path: ObjectPath, _ bytes: [UInt8]) throws -> PlaceObject {
        try #require(PlaceObject(path, bytes))
    }

    private func run(outgoing: [[UInt8]] = []) throws -> ObjectExchange.Result {
        try ObjectExchange(group, place: place, copy: copy).run(outgoing: outgoing)
    }

    @Test func `each side gets what it lacks`() throws {
        let (mine, theirs, sent): ([UInt8], [UInt8], [UInt8]) = ([2], [3], [4])
        _ = try copy.publish(
            [try object(.entry(1), [1]), try object(.change(GroupHash(of: mine)), mine)], to: group)
        _ = try place.publish([try object(.change(GroupHash(of: theirs)), theirs)], to: group)
        let result = try run(outgoing: [sent])
        #expect(result.fetchedCount == 1 && result.suppliedCount == 2)
        #expect(result.changes == Set([mine, theirs, sent].map { GroupHash(of: $0) }))
        #expect(try place.paths(of: group) == copy.paths(of: group))
        let again = try run(outgoing: [sent])
        #expect(again.fetchedCount == 0 && again.suppliedCount == 0)
        #expect(again.changes == result.changes)
    }

    @Test func `nothing is published once the entries forbid it`() throws {
        let (theirs, sent): ([UInt8], [UInt8]) = ([3], [4])
        _ = try place.publish([try object(.entry(1), theirs)], to: group)
        let result = try ObjectExchange(group, place: place, copy: copy).run(
            outgoing: [sent]
        ) { $0.fetchedCount == 0 }
        #expect(result.changes.isEmpty)
        #expect(try place.paths(of: group) == [.entry(1)])
        // Nor later, by supplying what the copy has.
        #expect(try copy.paths(of: group) == [.entry(1)])
    }

    @Test(arguments: [true, false])
    func `two entries with one number are kept on both sides`(isKnown: Bool) throws {
        // The place has another entry than this machine: since before, or since a moment ago.
        let (ours, theirs): ([UInt8], [UInt8]) = ([5], [6])
        _ = try place.publish([try object(.entry(2), theirs)], to: group)
        _ = try copy.publish([try object(.entry(2), ours)], to: group)
        if !isKnown { _ = try copy.publish([try object(.entry(1), [1])], to: group) }
        _ = try run()
        _ = try run()
        let both: Set<ObjectPath> = [
            .losingEntry(2, GroupHash(of: ours)), .losingEntry(2, GroupHash(of: theirs)),
        ]
        #expect(both.isSubset(of: try copy.paths(of: group)))
        #expect(try place.paths(of: group).contains(.losingEntry(2, GroupHash(of: ours))))
        let content = try ObjectExchange.content(of: group, in: copy)
        #expect(Set(content.entries).isSuperset(of: [ours, theirs]))
    }

    @Test func `entries that do not fit into one reading are compared too`() throws {
        for number in UInt64(1)...5 {
            let common = [UInt8(number)]
            _ = try copy.publish(
                [try object(.entry(number), number == 4 ? [40] : common)], to: group)
            _ = try place.publish(
                [try object(.entry(number), number == 4 ? [41] : common)], to: group)
        }
        let exchange = ObjectExchange(
            group, place: SmallReadings(of: place), copy: SmallReadings(of: copy))
        _ = try exchange.run(outgoing: [])
        let both: Set<ObjectPath> = [
            .losingEntry(4, GroupHash(of: [40])), .losingEntry(4, GroupHash(of: [41])),
        ]
        #expect(try copy.paths(of: group).subtracting((1...5).map { .entry($0) }) == both)
    }
}

/// A place that reads one object at a time, as one does whose objects are large.
private final class SmallReadings: GroupPlace {
    private let place: any GroupPlace

    init(of place: any GroupPlace) {
        self.place = place
    }

    func groups() throws(PlaceError) -> [GroupHash] { try place.groups() }

    func refresh(_ group: GroupHash, since token: String?) throws(PlaceError) -> PlaceRefresh {
        try place.refresh(group, since: token)
    }

    func paths(of group: GroupHash) throws(PlaceError) -> Set<ObjectPath> {
        try place.paths(of: group)
    }

    func read(
        _ paths: [ObjectPath], of group: GroupHash, upTo limit: Int
    ) throws(PlaceError) -> PlaceReading {
        try place.read(paths, of: group, upTo: 1)
    }

    func publish(
        _ objects: [PlaceObject], to group: GroupHash
    ) throws(PlaceError) -> Set<ObjectPath> {
        try place.publish(objects, to: group)
    }

    func probe() throws(PlaceError) -> PlaceTraits { try place.probe() }
}
