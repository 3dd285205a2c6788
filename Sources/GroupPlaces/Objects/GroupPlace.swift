package import Groups

/// A place that holds the objects of groups. Places are not trusted: a place can withhold objects,
/// and the caller checks every signature.
///
/// One place object is used by one thread at a time; any number of processes share a place.
package protocol GroupPlace: AnyObject {
    /// Returns the groups in the place, in ascending order. Anybody who can write to the place can
    /// add some.
    func groups() throws(PlaceError) -> [GroupHash]

    /// Fetches the present content of a group, which ``paths(of:)`` and ``read(_:of:upTo:)`` then
    /// see. A group that is not in the place is empty.
    ///
    /// - Parameter token: That of an earlier refresh, also by another process.
    func refresh(_ group: GroupHash, since token: String?) throws(PlaceError) -> PlaceRefresh

    /// Returns the paths of a group's objects. Other files are ignored.
    func paths(of group: GroupHash) throws(PlaceError) -> Set<ObjectPath>

    /// Reads objects, in the given order. Paths that do not exist are in no part of the result.
    ///
    /// - Parameter limit: The total size of the objects in bytes. The first object is read anyway.
    func read(
        _ paths: [ObjectPath], of group: GroupHash, upTo limit: Int
    ) throws(PlaceError) -> PlaceReading

    /// Publishes objects in the given order, so ancestors come first. An object is published as a
    /// whole or not at all, and one that is there already counts as published. The call may be
    /// repeated at any time, also after a kill.
    ///
    /// - Returns: The paths at which the place has other bytes: another entry with this number, or
    ///   an invite that was changed. All other objects were seen in the place.
    func publish(
        _ objects: [PlaceObject], to group: GroupHash
    ) throws(PlaceError) -> Set<ObjectPath>

    /// Checks by trying that the place never replaces an object that was created only if absent.
    ///
    /// - Throws: ``PlaceError`` with what failed, and ``PlaceError/Code/notExclusive`` if the place
    ///   replaced the object.
    func probe() throws(PlaceError) -> PlaceTraits
}

extension GroupPlace {
    /// Reads objects of at most 256 MiB.
    package func read(
        _ paths: [ObjectPath], of group: GroupHash
    ) throws(PlaceError) -> PlaceReading {
        try read(paths, of: group, upTo: 256 << 20)
    }

    /// Reads any number of objects, and passes them to `body` in parts of at most 256 MiB.
    package func readParts(
        of paths: some Sequence<ObjectPath>, of group: GroupHash,
        _ body: (PlaceReading) throws -> Void
    ) throws {
        var rest = Array(paths)
        while !rest.isEmpty {
            let reading = try read(rest, of: group)
            try body(reading)
            rest = reading.remaining
        }
    }

    /// Reads any number of objects.
    package func objects(
        at paths: some Sequence<ObjectPath>, of group: GroupHash
    ) throws -> [ObjectPath: [UInt8]] {
        var objects: [ObjectPath: [UInt8]] = [:]
        try readParts(of: paths, of: group) { reading in
            objects.merge(reading.objects) { first, _ in first }
        }
        return objects
    }
}

/// The result of a refresh.
package struct PlaceRefresh: Equatable, Sendable {
    /// Whether the content may differ from that at the token.
    package let hasChanged: Bool
    /// Stands for the present content: at most 128 ASCII characters.
    package let token: String
}

/// What matters about a place before a group is shared there.
package struct PlaceTraits: Equatable, Sendable {
    /// The program that copies the folder between machines, such as "Dropbox". Two machines can then
    /// create one entry at the same time, so a group may have one admin only.
    package var synchronizer: String?
    /// Whether the host rejects refs outside of branches and tags, so that groups are branches.
    package var usesBranches = false

    package var isSynchronized: Bool { synchronizer != nil }
}
