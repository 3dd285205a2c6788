/// Where a variable applies: targets, custom environments, and at most one git branch.
package struct Scope: Hashable, Sendable {
    /// Vercel's three fixed targets.
    package struct Targets: OptionSet, Hashable, Sendable {
        /// Bit 0 production, bit 1 preview, bit 2 development.
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Deployments of the production branch.
        package static let production = Targets(rawValue: 1)
        /// Deployments of other branches.
        package static let preview = Targets(rawValue: 2)
        /// Local work.
        package static let development = Targets(rawValue: 4)
        package static let all: Targets = [.production, .preview, .development]

        private static let words: [(Targets, String)] = [
            (.production, "production"), (.preview, "preview"), (.development, "development"),
        ]

        /// The names for each combination, computed once because a long listing repeats them.
        private static let combinations: [[String]] = (0..<8).map { bits in
            words.filter { Targets(rawValue: bits).contains($0.0) }.map(\.1)
        }
        fileprivate static let descriptions = combinations.map { $0.joined(separator: ", ") }

        /// Vercel's names for the targets, in its order.
        package var names: [String] { Self.combinations[Int(rawValue & 7)] }

        package init?(name: some StringProtocol) {
            guard let match = Self.words.first(where: { $0.1 == name }) else { return nil }
            self = match.0
        }
    }

    package var targets: Targets
    /// Ids or slugs of Vercel's custom environments, sorted, without duplicates.
    package private(set) var customEnvironments: [String]
    /// The git branch; only for preview variables.
    package var branch: String?

    /// Creates a scope. Sorts custom environments and removes duplicates.
    package init(targets: Targets, customEnvironments: [String] = [], branch: String? = nil) {
        self.targets = targets
        self.customEnvironments = Set(customEnvironments).sorted(by: bytesPrecede)
        self.branch = branch
    }

    // An index has thousands of them, already sorted.
    private init(targets: Targets, ascending names: [String], branch: String?) {
        self.targets = targets
        customEnvironments = names
        self.branch = branch
    }

    /// Whether the scope contains nothing.
    package var isEmpty: Bool { targets.isEmpty && customEnvironments.isEmpty }

    /// Returns whether one name cannot have both scopes: they share a target or custom environment,
    /// with the same branch or both without one.
    package func overlaps(_ other: Scope) -> Bool {
        branch == other.branch
            && (!targets.isDisjoint(with: other.targets)
                || !Set(customEnvironments).isDisjoint(with: other.customEnvironments))
    }

    /// Returns this scope without what it shares with `other`. Different branches share nothing.
    package func subtracting(_ other: Scope) -> Scope {
        guard branch == other.branch else { return self }
        return Scope(
            targets: targets.subtracting(other.targets),
            customEnvironments: customEnvironments.filter {
                !other.customEnvironments.contains($0)
            }, branch: branch)
    }

    /// Adds another scope of the same branch.
    package mutating func formUnion(_ other: Scope) {
        self = Scope(
            targets: targets.union(other.targets),
            customEnvironments: customEnvironments + other.customEnvironments, branch: branch)
    }

    /// Whether a value of the other scope applies in no place outside of this one.
    package func contains(_ other: Scope) -> Bool {
        let own = Scope(
            targets: other.targets, customEnvironments: other.customEnvironments,
            branch: branch == nil ? nil : other.branch)
        return own.subtracting(self).isEmpty
    }

    /// The scope for display: "production, preview (branch x)".
    package var description: String {
        let places =
            customEnvironments.isEmpty
            ? Targets.descriptions[Int(targets.rawValue & 7)]
            : (targets.names + customEnvironments).joined(separator: ", ")
        return branch.map { "\(places) (branch \($0))" } ?? places
    }

    /// Appends the encoding of docs/vault-format.md, section 5.3.
    package func encode(into writer: inout ByteWriter) {
        writer.byte(targets.rawValue)
        writer.uint32(UInt32(customEnvironments.count))
        for name in customEnvironments { writer.text(name) }
        writer.optionalText(branch)
    }

    /// Reads what ``encode(into:)`` writes.
    package static func decode(from reader: inout ByteReader) throws(VaultError) -> Scope {
        let targets = Targets(rawValue: try reader.byte())
        guard targets.isSubset(of: .all) else {
            throw VaultError(damaged: .encoding, "a variable has an unknown target")
        }
        let count = try reader.count(limit: 1_000, minimumByteCount: 4, of: "custom environments")
        var names: [String] = []
        for _ in 0..<count {
            let name = try reader.text(limit: VaultFormat.textLimit)
            guard names.last.map({ bytesPrecede($0, name) }) ?? true else {
                throw VaultError(damaged: .order, "custom environments are not in order")
            }
            names.append(name)
        }
        return Scope(
            targets: targets, ascending: names, branch: try reader.optionalText(limit: 1_024))
    }
}
