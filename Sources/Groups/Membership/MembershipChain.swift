/// The valid entries of a group, and what each one leads to. The result depends on the set of
/// entries, not on their order of arrival.
package struct MembershipChain: Sendable {
    /// A valid entry.
    package struct Link: Sendable {
        /// The hash of the entry.
        package let name: GroupHash
        package let entry: Entry
        /// The membership after it.
        package let state: MembershipState
    }

    package let group: GroupHash
    private var links: [GroupHash: Link] = [:]
    private var waitingObjects: [GroupHash: (entry: Entry, object: [UInt8])] = [:]
    package private(set) var refused: [GroupHash: EntryRefusal] = [:]
    /// Valid entries that no valid entry follows, ascending. One, unless the membership is forked.
    package private(set) var heads: [GroupHash] = []
    private var numbers: Set<UInt64> = []
    /// The entries that introduced a public key.
    private var keyOrigins: [[UInt8]: [GroupHash]] = [:]

    /// Creates a chain without entries.
    ///
    /// - Parameter group: The hash of entry 1.
    package init(group: GroupHash) { self.group = group }

    /// Creates a chain from objects in any order. Those that are not entries are left out.
    package init(group: GroupHash, entries: [[UInt8]]) {
        self.init(group: group)
        do throws(GroupError) { try insert(entries) } catch {
            // One that is not an entry must not hide the others.
            for entry in entries { try? insert([entry]) }
        }
    }

    /// Entries whose predecessors are missing, ascending.
    package var waiting: [GroupHash] { waitingObjects.keys.sorted() }

    /// Whether two valid entries compete, so that nobody may add another until an admin joins them.
    package var isForked: Bool { heads.count > 1 }

    /// Returns a valid entry.
    package func link(_ name: GroupHash) -> Link? { links[name] }

    /// All valid entries, on every side of a fork, by number and then hash: each one after its
    /// predecessors.
    package var linksInOrder: [Link] {
        links.values.sorted { ($0.entry.number, $0.name) < ($1.entry.number, $1.name) }
    }

    /// The membership after each head.
    package var headStates: [MembershipState] { heads.compactMap { links[$0]?.state } }

    /// Returns whether a valid entry has the number.
    package func hasEntry(numbered number: UInt64) -> Bool { numbers.contains(number) }

    /// Returns whether `earlier` is `later`, or in its past.
    package func isSameOrBefore(_ earlier: GroupHash, _ later: GroupHash) -> Bool {
        guard let lowest = links[earlier]?.entry.number else { return false }
        var open = [later]
        var seen: Set<GroupHash> = []
        while let name = open.popLast() {
            if name == earlier { return true }
            // Numbers fall on the way back, so nothing below `earlier` leads to it.
            guard let link = links[name], link.entry.number > lowest, seen.insert(name).inserted
            else { continue }
            open += link.entry.predecessors
        }
        return false
    }

    /// Adds entries. What was valid or refused stays so; what waits is tried again.
    ///
    /// - Throws: ``GroupError`` if an object is not an entry; then nothing was added.
    package mutating func insert(_ objects: [[UInt8]]) throws(GroupError) {
        var new: [(GroupHash, Entry, [UInt8])] = []
        for object in objects {
            let entry = try Entry.decode(object)
            new.append((GroupHash(of: object), entry, object))
        }
        for (name, entry, object) in new where links[name] == nil && refused[name] == nil {
            waitingObjects[name] = (entry, object)
        }
        placeAll()
        let followed = Set(links.values.flatMap(\.entry.predecessors))
        heads = links.keys.filter { !followed.contains($0) }.sorted()
    }

    /// Judges what can be judged; a verdict may let others be judged.
    private mutating func placeAll() {
        var followers: [GroupHash: [GroupHash]] = [:]
        for (name, waiting) in waitingObjects {
            for predecessor in waiting.entry.predecessors {
                followers[predecessor, default: []].append(name)
            }
        }
        var open = Array(waitingObjects.keys)
        while let name = open.popLast() {
            guard waitingObjects[name] != nil else { continue }
            place(name)
            if waitingObjects[name] == nil { open += followers[name] ?? [] }
        }
    }

    private mutating func place(_ name: GroupHash) {
        guard let (entry, object) = waitingObjects[name] else { return }
        let isOurs = entry.number == 1 ? name == group : entry.group == group
        let predecessors = entry.predecessors
        if !isOurs {
            refuse(name, .group)
        } else if predecessors.contains(where: { refused[$0] != nil }) {
            refuse(name, .previous)
        } else {
            let found = predecessors.compactMap { links[$0] }
            guard found.count == predecessors.count else { return }
            judge(name, entry, object, found)
        }
    }

    private mutating func refuse(_ name: GroupHash, _ reason: EntryRefusal) {
        refused[name] = reason
        waitingObjects[name] = nil
    }

    private mutating func judge(
        _ name: GroupHash, _ entry: Entry, _ object: [UInt8], _ found: [Link]
    ) {
        let isRelated =
            entry.other.map {
                isSameOrBefore($0, entry.previous) || isSameOrBefore(entry.previous, $0)
            } ?? false
        let rules = EntryRules(
            entry: entry, object: object, name: name, previous: found.first,
            other: found.dropFirst().first, arePredecessorsRelated: isRelated,
            reusesKeys: entry.newKeys.contains { hasKey($0, inPastOf: entry.predecessors) })
        let (state, refusal) = rules.judge()
        if let refusal { return refuse(name, refusal) }
        links[name] = Link(name: name, entry: entry, state: state)
        waitingObjects[name] = nil
        numbers.insert(entry.number)
        for key in entry.newKeys { keyOrigins[key, default: []].append(name) }
    }

    /// Returns whether one of these valid entries, or one in their past, introduced a public key.
    package func hasKey(_ key: [UInt8], inPastOf entries: [GroupHash]) -> Bool {
        (keyOrigins[key] ?? []).contains { origin in
            entries.contains { isSameOrBefore(origin, $0) }
        }
    }
}
