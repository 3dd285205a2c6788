package import GroupPlaces
package import Groups
internal import Vault

/// Keeps this machine's copy of a group's objects and the place alike: fetches what is new, and
/// supplies again what the place lacks.
///
/// The copy is a cache. It may be deleted at any time, and is complete again after the next fetch. It
/// is a directory, so it needs no refresh.
package struct ObjectExchange {
    /// What an exchange did.
    package struct Result: Sendable {
        package var fetchedCount = 0
        /// Objects that the place lacked, besides those to be published for the first time.
        package var suppliedCount = 0
        /// Objects that the place has and that do not fit their paths.
        package var refused: Set<ObjectPath> = []
        /// The changes that the place was seen to hold.
        package var changes: Set<GroupHash> = []
    }

    private let group: GroupHash
    private let place: any GroupPlace
    private let copy: any GroupPlace

    package init(_ group: GroupHash, place: any GroupPlace, copy: any GroupPlace) {
        (self.group, self.place, self.copy) = (group, place, copy)
    }

    /// Brings both to the same objects.
    ///
    /// - Parameters:
    ///   - outgoing: Finished changes of the vault, oldest first.
    ///   - checksCopy: Whether to read the whole copy, and fetch again what is damaged in it.
    ///   - mayPublish: Tells, when the copy has what is new, whether this vault may still add
    ///     anything.
    package func run(
        outgoing: [[UInt8]], checksCopy: Bool = false,
        mayPublish: (Result) throws -> Bool = { _ in true }
    ) throws -> Result {
        var result = Result()
        _ = try place.refresh(group, since: nil)
        let remote = try place.paths(of: group)
        var local = try copy.paths(of: group)
        if checksCopy { local = try intact(local) }
        try fetch(remote.subtracting(local), &result)
        try compareEntries(remote.intersection(local))
        guard try mayPublish(result) else {
            for case .change(let name) in remote { result.changes.insert(name) }
            return result
        }
        let new = outgoing.map { (ObjectPath.change(GroupHash(of: $0)), $0) }
        try keep(new)
        try supply(local.union(new.map(\.0)), remote, new: Set(new.map(\.0)), &result)
        return result
    }

    /// Objects of the copy whose content fits their path.
    private func intact(_ paths: Set<ObjectPath>) throws -> Set<ObjectPath> {
        var found: Set<ObjectPath> = []
        try copy.readParts(of: paths, of: group) { found.formUnion($0.objects.keys) }
        return found
    }

    private func fetch(_ paths: Set<ObjectPath>, _ result: inout Result) throws {
        try place.readParts(of: paths, of: group) { reading in
            result.refused.formUnion(reading.refused)
            result.fetchedCount += reading.objects.count
            try keep(reading.objects.map { ($0.key, $0.value) })
        }
    }

    private func keep(_ objects: [(ObjectPath, [UInt8])]) throws {
        _ = try copy.publish(objects.compactMap { PlaceObject($0.0, $0.1) }, to: group)
    }

    /// Publishes what the place lacks: entries first, then changes after those they build on.
    private func supply(
        _ local: Set<ObjectPath>, _ remote: Set<ObjectPath>, new: Set<ObjectPath>,
        _ result: inout Result
    ) throws {
        let objects = try copy.objects(at: local.subtracting(remote), of: group)
        let ordered = Self.ordered(objects)
        let taken = try place.publish(
            ordered.compactMap { path in
                objects[path].flatMap { PlaceObject(path, $0) }
            }, to: group)
        result.suppliedCount = ordered.count { !taken.contains($0) && !new.contains($0) }
        for path in remote.union(ordered).subtracting(taken) {
            if case .change(let name) = path { result.changes.insert(name) }
        }
        for path in taken {
            guard case .entry = path, let ours = objects[path],
                let theirs = try place.read([path], of: group).objects[path]
            else { continue }
            try keepBoth(path, ours, theirs)
        }
    }

    /// Finds numbers for which the place has another entry than this machine, as after the place was
    /// restored from a backup.
    private func compareEntries(_ paths: Set<ObjectPath>) throws {
        let entries = paths.filter { if case .entry = $0 { true } else { false } }
        try copy.readParts(of: entries, of: group) { reading in
            let theirs = try place.objects(at: reading.objects.keys, of: group)
            for (path, ours) in reading.objects {
                guard let other = theirs[path], other != ours else { continue }
                try keepBoth(path, ours, other)
            }
        }
    }

    /// Keeps two entries with one number on both sides, for an entry that joins them.
    private func keepBoth(_ path: ObjectPath, _ ours: [UInt8], _ theirs: [UInt8]) throws {
        guard case .entry(let number) = path else { return }
        let mine = ObjectPath.losingEntry(number, GroupHash(of: ours))
        try keep([(mine, ours), (.losingEntry(number, GroupHash(of: theirs)), theirs)])
        if let object = PlaceObject(mine, ours) { _ = try place.publish([object], to: group) }
    }

    /// Entries by number, then invites and joins, then changes in an order in which those before
    /// come first.
    static func ordered(_ objects: [ObjectPath: [UInt8]]) -> [ObjectPath] {
        var entries: [(UInt64, ObjectPath)] = []
        var others: [ObjectPath] = []
        var changes: [GroupHash: [GroupHash]] = [:]
        for (path, bytes) in objects {
            switch path {
            case .entry(let number), .losingEntry(let number, _): entries.append((number, path))
            case .invite, .join: others.append(path)
            case .change(let name):
                changes[name] = (try? Change(bytes))?.header.predecessors ?? []
            }
        }
        var ordered = entries.sorted { ($0.0, $0.1.text) < ($1.0, $1.1.text) }.map(\.1)
        ordered += others.sorted { $0.text < $1.text }
        var placed: Set<GroupHash> = []
        for name in changes.keys.sorted() {
            // Without recursion: a chain can be long. Hashes cannot form a circle.
            var open = [name]
            while let next = open.last {
                let before = (changes[next] ?? []).filter {
                    changes[$0] != nil && !placed.contains($0)
                }
                if before.isEmpty || placed.contains(next) {
                    if placed.insert(next).inserted { ordered.append(.change(next)) }
                    open.removeLast()
                } else {
                    open += before
                }
            }
        }
        return ordered
    }

    /// Returns the group's entries, and the names of its changes, from this machine's copy.
    package static func content(
        of group: GroupHash, in copy: any GroupPlace
    ) throws -> (entries: [[UInt8]], changes: [GroupHash], others: [ObjectPath]) {
        var (entries, others): ([ObjectPath], [ObjectPath]) = ([], [])
        var changes: [GroupHash] = []
        for path in try copy.paths(of: group) {
            switch path {
            case .entry, .losingEntry: entries.append(path)
            case .change(let name): changes.append(name)
            case .invite, .join: others.append(path)
            }
        }
        let objects = try copy.objects(at: entries, of: group)
        return (Array(objects.values), changes, others)
    }
}
