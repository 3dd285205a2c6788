package import Vault

/// The type, comment and rotation period that a value takes over in a scope, so that no value gets
/// weaker because it replaces only a part of another one.
package struct Inheritance: Equatable {
    /// nil if the key has never had a type.
    package private(set) var kind: VariableAttributes.Kind?
    package private(set) var comment: String?
    package private(set) var rotationSeconds: UInt64 = 0

    /// In each place of the scope the value of that place counts, even if it was removed since: the
    /// strictest type of them. If no place ever had one, the strictest type of the key's other
    /// values counts that the scope may have.
    ///
    /// - Parameters:
    ///   - records: All records of one key, including removed ones.
    ///   - declared: The type that a schema gives a value in a place that never had one.
    package init(
        in scope: Scope, among records: [Variable], declared: VariableAttributes.Kind? = nil
    ) {
        var before: [Variable] = []
        for place in scope.places {
            let there = records.filter { $0.attributes.scope.overlaps(place) }
            let last =
                there.first(where: \.isLive)
                ?? there.max {
                    ($0.deletedAt ?? 0, $0.updatedAt) < ($1.deletedAt ?? 0, $1.updatedAt)
                }
            if let last, !before.contains(where: { $0.id == last.id }) { before.append(last) }
        }
        kind = before.map(\.attributes.kind).max { $0.strictness < $1.strictness }
        // A value that replaces others describes what they did.
        let replaced = before.filter(\.isLive)
        comment = replaced.lazy.compactMap(\.attributes.comment).first
        rotationSeconds = replaced.lazy.map(\.rotationSeconds).first { $0 > 0 } ?? 0
        guard kind == nil else { return }
        let others = records.filter { record in
            record.attributes.kind != .sensitive || !scope.isOnlyDevelopment
        }
        let live = others.filter(\.isLive)
        let kinds = (live.isEmpty ? others : live).map(\.attributes.kind)
        kind = (kinds + [declared].compactMap(\.self)).max { $0.strictness < $1.strictness }
    }
}

extension Inheritance {
    /// The scope of a value for which no targets were given and that no record has: production and
    /// preview for a sensitive one, which Vercel does not allow in development.
    ///
    /// - Parameters:
    ///   - kind: The type that was asked for.
    ///   - records: The removed records of the key.
    package static func standardScope(
        _ kind: VariableAttributes.Kind?, among records: [Variable]
    ) -> Scope {
        let all = Scope(targets: .all)
        let kind = kind ?? Inheritance(in: all, among: records).kind
        return kind == .sensitive ? Scope(targets: [.production, .preview]) : all
    }
}

extension Scope {
    /// One scope for each target and custom environment.
    fileprivate var places: [Scope] {
        [Targets.production, .preview, .development].filter(targets.contains).map {
            Scope(targets: $0, branch: branch)
        }
            + customEnvironments.map {
                Scope(targets: [], customEnvironments: [$0], branch: branch)
            }
    }

    /// Whether development is its only target, where no type is sensitive by itself.
    package var isOnlyDevelopment: Bool { targets == .development && customEnvironments.isEmpty }
}
